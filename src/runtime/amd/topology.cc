// SPDX-License-Identifier: Apache-2.0
#include "src/runtime/amd/topology.h"

#include <algorithm>
#include <sstream>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "src/base/status.h"

namespace understudy::amd {
namespace {

absl::StatusOr<uint32_t> Required(const GpuNode& node, const std::string& path, const char* name,
                                  bool nonzero) {
  const auto it = node.properties.find(name);
  if (it == node.properties.end())
    return absl::InvalidArgumentError(absl::StrCat(path, ": no property ", name));
  if (it->second > UINT32_MAX || (nonzero && it->second == 0)) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": ", name, " is ", it->second, ", expected ",
                                                   nonzero ? "1" : "0", " to ", UINT32_MAX));
  }
  return static_cast<uint32_t>(it->second);
}

absl::Status FillFields(GpuNode& node, const std::string& path) {
  const struct {
    const char* name;
    uint32_t GpuNode::* field;
    bool nonzero;
  } kFields[] = {
      {"gfx_target_version", &GpuNode::gfx_target_version, true},
      {"drm_render_minor", &GpuNode::drm_render_minor, true},
      {"simd_count", &GpuNode::simd_count, true},
      {"simd_per_cu", &GpuNode::simd_per_cu, true},
      {"array_count", &GpuNode::array_count, true},
      {"simd_arrays_per_engine", &GpuNode::simd_arrays_per_engine, true},
      {"max_waves_per_simd", &GpuNode::max_waves_per_simd, true},
      {"max_slots_scratch_cu", &GpuNode::max_slots_scratch_cu, true},
      {"wave_front_size", &GpuNode::wave_front_size, true},
      {"lds_size_in_kb", &GpuNode::lds_size_in_kb, true},
  };
  for (const auto& f : kFields) {
    US_ASSIGN_OR_RETURN(node.*f.field, Required(node, path, f.name, f.nonzero));
  }
  if (node.simd_count < node.simd_per_cu || node.array_count < node.simd_arrays_per_engine) {
    return absl::InvalidArgumentError(absl::StrCat(
        path, ": simd_count ", node.simd_count, " / simd_per_cu ", node.simd_per_cu, " or array_count ",
        node.array_count, " / simd_arrays_per_engine ", node.simd_arrays_per_engine, " is below one"));
  }
  return absl::OkStatus();
}

}  // namespace

std::string GpuNode::isa() const {
  return absl::StrFormat("gfx%d%x%x", gfx_target_version / 10000, gfx_target_version / 100 % 100,
                         gfx_target_version % 100);
}

std::string GpuNode::render_path() const { return absl::StrCat("/dev/dri/renderD", drm_render_minor); }

absl::StatusOr<std::map<std::string, uint64_t>> ParseProperties(const std::string& text,
                                                                const std::string& path) {
  std::map<std::string, uint64_t> out;
  std::istringstream lines(text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    if (line.empty()) continue;
    std::istringstream words(line);
    std::string name, value, rest;
    words >> name >> value;
    uint64_t v = 0;
    if (value.empty() || words >> rest || !absl::SimpleAtoi(value, &v)) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, ":", number, ": '", line, "', expected a name and an unsigned decimal number"));
    }
    if (!out.emplace(name, v).second) {
      return absl::InvalidArgumentError(absl::StrCat(path, ":", number, ": ", name, " appears twice"));
    }
  }
  return out;
}

absl::StatusOr<std::vector<GpuNode>> ReadTopology(os::Syscalls& sys) {
  std::vector<os::DirEntry> entries;
  if (const int rc = sys.ReadDir(kTopologyNodes, &entries); rc < 0) {
    return os::ErrnoStatus(rc, absl::StrCat("readdir ", kTopologyNodes));
  }
  std::vector<GpuNode> nodes;
  for (const os::DirEntry& entry : entries) {
    GpuNode node;
    if (!absl::SimpleAtoi(entry.name, &node.node)) {
      return absl::InvalidArgumentError(
          absl::StrCat(kTopologyNodes, ": entry '", entry.name, "', expected a node number"));
    }
    const std::string base = absl::StrCat(kTopologyNodes, "/", entry.name);
    US_ASSIGN_OR_RETURN(const std::string id_text, os::ReadTextFile(sys, base + "/gpu_id"));
    if (!absl::SimpleAtoi(id_text, &node.gpu_id)) {
      return absl::InvalidArgumentError(
          absl::StrCat(base, "/gpu_id: '", id_text, "', expected a decimal number"));
    }
    if (node.gpu_id == 0) continue;  // a node of CPUs
    const std::string path = base + "/properties";
    US_ASSIGN_OR_RETURN(const std::string text, os::ReadTextFile(sys, path));
    US_ASSIGN_OR_RETURN(node.properties, ParseProperties(text, path));
    US_RETURN_IF_ERROR(FillFields(node, path));
    nodes.push_back(std::move(node));
  }
  std::sort(nodes.begin(), nodes.end(), [](const GpuNode& a, const GpuNode& b) { return a.node < b.node; });
  return nodes;
}

}  // namespace understudy::amd
