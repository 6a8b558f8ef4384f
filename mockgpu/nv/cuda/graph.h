// SPDX-License-Identifier: Apache-2.0
#pragma once
// Graphs: nodes that hold commands, edges, clones, and the order in which an instantiated graph runs. Used by
// the graph entry points and by stream capture.

#include <vector>

#include "mockgpu/nv/cuda/driver.h"

namespace understudy::mockgpu::nv {

Graph* NewGraph(Driver& driver);
Node* AddNode(Graph* graph, Command command, Context* context);
// False where the edge exists already, with the same data, or one end is in another graph.
bool AddEdge(Graph* graph, Node* from, Node* to, const CUgraphEdgeData& data);
bool RemoveEdge(Graph* graph, Node* from, Node* to);
void RemoveNode(Node* node);
CUgraphNodeType TypeOf(const Command& command);
// Whether a node allocates or frees: such graphs are neither cloned nor made children.
bool HasMemoryNodes(const Graph& graph);
std::vector<Node*> Before(const Node* node);
// The clone's nodes say what they were cloned from. Deep: child graphs are cloned.
std::unique_ptr<Graph> CloneGraph(const Graph& graph);
// In an order that the edges allow; made first comes first. Empty with nodes left over: a cycle.
bool Order(const Graph& graph, std::vector<Node*>* out);
void ReleaseUserObject(Driver& driver, UserObject* object, int64_t count);
CUresult LaunchGraph(Driver& driver, const Graph& graph, const std::vector<Node*>& order, Stream* stream);
// A graph's node, or nullptr for a handle that is none.
Node* FindNode(Driver& driver, CUgraphNode handle);

}  // namespace understudy::mockgpu::nv
