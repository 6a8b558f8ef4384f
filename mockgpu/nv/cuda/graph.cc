// SPDX-License-Identifier: Apache-2.0
#include "mockgpu/nv/cuda/graph.h"

#include <algorithm>
#include <deque>

namespace understudy::mockgpu::nv {

Graph* NewGraph(Driver& driver) {
  Graph* const graph = driver.graphs.Make();
  graph->id = driver.NextId();
  return graph;
}

CUgraphNodeType TypeOf(const Command& command) {
  struct Visitor {
    CUgraphNodeType operator()(const EmptyCommand&) { return CU_GRAPH_NODE_TYPE_EMPTY; }
    CUgraphNodeType operator()(const KernelCommand&) { return CU_GRAPH_NODE_TYPE_KERNEL; }
    CUgraphNodeType operator()(const CopyCommand&) { return CU_GRAPH_NODE_TYPE_MEMCPY; }
    CUgraphNodeType operator()(const MemsetCommand&) { return CU_GRAPH_NODE_TYPE_MEMSET; }
    CUgraphNodeType operator()(const HostCommand&) { return CU_GRAPH_NODE_TYPE_HOST; }
    CUgraphNodeType operator()(const RecordCommand&) { return CU_GRAPH_NODE_TYPE_EVENT_RECORD; }
    CUgraphNodeType operator()(const WaitCommand&) { return CU_GRAPH_NODE_TYPE_WAIT_EVENT; }
    CUgraphNodeType operator()(const ChildCommand&) { return CU_GRAPH_NODE_TYPE_GRAPH; }
    CUgraphNodeType operator()(const AllocCommand&) { return CU_GRAPH_NODE_TYPE_MEM_ALLOC; }
    CUgraphNodeType operator()(const FreeCommand&) { return CU_GRAPH_NODE_TYPE_MEM_FREE; }
    CUgraphNodeType operator()(const ValueCommand&) { return CU_GRAPH_NODE_TYPE_BATCH_MEM_OP; }
    CUgraphNodeType operator()(const CallCommand&) { return CU_GRAPH_NODE_TYPE_EMPTY; }
  };
  return std::visit(Visitor{}, command);
}

Node* AddNode(Graph* graph, Command command, Context* context) {
  Driver& driver = Driver::Get();
  auto node = std::make_unique<Node>();
  node->graph = graph;
  node->id = driver.NextId();
  node->type = TypeOf(command);
  node->command = std::move(command);
  node->context = context;
  if (auto* child = std::get_if<ChildCommand>(&node->command)) child->graph->child = true;
  driver.nodes.insert(node.get());
  graph->nodes.push_back(std::move(node));
  return graph->nodes.back().get();
}

bool AddEdge(Graph* graph, Node* from, Node* to, const CUgraphEdgeData& data) {
  if (from->graph != graph || to->graph != graph || from == to) return false;
  for (const GraphEdge& e : graph->edges)
    if (e.from == from && e.to == to) return false;
  graph->edges.push_back({from, to, data});
  return true;
}

bool RemoveEdge(Graph* graph, Node* from, Node* to) {
  const auto it = std::find_if(graph->edges.begin(), graph->edges.end(),
                               [&](const GraphEdge& e) { return e.from == from && e.to == to; });
  if (it == graph->edges.end()) return false;
  graph->edges.erase(it);
  return true;
}

void RemoveNode(Node* node) {
  Graph* const graph = node->graph;
  std::erase_if(graph->edges, [&](const GraphEdge& e) { return e.from == node || e.to == node; });
  if (const auto* child = std::get_if<ChildCommand>(&node->command))
    Driver::Get().graphs.Destroy(child->graph);
  Driver::Get().nodes.erase(node);
  std::erase_if(graph->nodes, [&](const std::unique_ptr<Node>& n) { return n.get() == node; });
}

bool HasMemoryNodes(const Graph& graph) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [](const std::unique_ptr<Node>& n) {
    return n->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC || n->type == CU_GRAPH_NODE_TYPE_MEM_FREE;
  });
}

std::vector<Node*> Before(const Node* node) {
  std::vector<Node*> out;
  for (const GraphEdge& e : node->graph->edges)
    if (e.to == node) out.push_back(e.from);
  return out;
}

std::unique_ptr<Graph> CloneGraph(const Graph& graph) {
  auto out = std::make_unique<Graph>();
  out->id = Driver::Get().NextId();
  out->cloned_from = &graph;
  std::unordered_map<const Node*, Node*> clones;
  for (const auto& node : graph.nodes) {
    Command command = node->command;
    if (auto* child = std::get_if<ChildCommand>(&command)) {
      Graph* const copy = Driver::Get().graphs.Make();
      std::unique_ptr<Graph> inner = CloneGraph(*child->graph);
      std::swap(copy->nodes, inner->nodes);
      std::swap(copy->edges, inner->edges);
      for (const auto& n : copy->nodes) n->graph = copy;
      copy->id = inner->id;
      copy->cloned_from = child->graph;
      child->graph = copy;
    }
    Node* const clone = AddNode(out.get(), std::move(command), node->context);
    clone->attributes = node->attributes;
    clone->cloned_from = node.get();
    clones[node.get()] = clone;
  }
  for (const GraphEdge& e : graph.edges) out->edges.push_back({clones[e.from], clones[e.to], e.data});
  out->user_objects = graph.user_objects;
  for (const auto& [object, count] : out->user_objects) object->references += count;
  return out;
}

bool Order(const Graph& graph, std::vector<Node*>* out) {
  std::unordered_map<const Node*, size_t> waits;
  std::unordered_map<const Node*, std::vector<Node*>> after;
  for (const GraphEdge& e : graph.edges) {
    ++waits[e.to];
    after[e.from].push_back(e.to);
  }
  std::deque<Node*> ready;
  for (const auto& node : graph.nodes)
    if (waits[node.get()] == 0) ready.push_back(node.get());
  while (!ready.empty()) {
    Node* const node = ready.front();
    ready.pop_front();
    out->push_back(node);
    for (Node* next : after[node])
      if (--waits[next] == 0) ready.push_back(next);
  }
  return out->size() == graph.nodes.size();
}

void ReleaseUserObject(Driver& driver, UserObject* object, int64_t count) {
  object->references -= count;
  if (object->references > 0) return;
  const CUhostFn destroy = object->destroy;
  void* const data = object->data;
  driver.user_objects.Destroy(object);
  driver.Unlocked([&] { destroy(data); });
}

Node* FindNode(Driver& driver, CUgraphNode handle) {
  return driver.nodes.count(handle) != 0 ? handle : nullptr;
}

CUresult LaunchGraph(Driver& driver, const Graph&, const std::vector<Node*>& order, Stream* stream) {
  for (Node* node : order) {
    if (!node->enabled) continue;
    if (const auto* child = std::get_if<ChildCommand>(&node->command)) {
      std::vector<Node*> inner;
      Order(*child->graph, &inner);
      US_CUDA_TRY(LaunchGraph(driver, *child->graph, inner, stream));
      continue;
    }
    Command command = node->command;
    if (auto* record = std::get_if<RecordCommand>(&command)) {
      if (!driver.events.Has(record->event)) return CUDA_ERROR_INVALID_HANDLE;
      record->record = driver.Record(record->event, stream);
    }
    if (auto* wait = std::get_if<WaitCommand>(&command)) {
      if (!driver.events.Has(wait->event)) return CUDA_ERROR_INVALID_HANDLE;
      wait->record = wait->event->record;
    }
    US_CUDA_TRY(driver.Queue(stream, std::make_shared<const Command>(std::move(command))));
  }
  return CUDA_SUCCESS;
}

}  // namespace understudy::mockgpu::nv

CUgraph_st::~CUgraph_st() {
  auto& driver = understudy::mockgpu::nv::Driver::Get();
  for (const auto& node : nodes) {
    driver.nodes.erase(node.get());
    if (const auto* child = std::get_if<understudy::mockgpu::nv::ChildCommand>(&node->command))
      driver.graphs.Destroy(child->graph);
  }
  const auto objects = std::move(user_objects);
  for (const auto& [object, count] : objects)
    if (driver.user_objects.Has(object)) understudy::mockgpu::nv::ReleaseUserObject(driver, object, count);
}
