// SPDX-License-Identifier: Apache-2.0
// Until the emulator's core links programs and runs launches, both are named errors here, so that all of the
// API that runs no kernel works. Goes when emu/ptx/core defines these.
#include "emu/ptx/core/launch.h"

namespace understudy::emu::ptx {

namespace {
absl::Status Pending(const char* what) {
  return absl::UnimplementedError(std::string(what) + ": the PTX emulator's core is not part of this build");
}
}  // namespace

struct Program::Impl {
  std::shared_ptr<const Module> module;
  std::vector<BoundFunction> functions;
};

Program::Program() : impl_(std::make_unique<Impl>()) {}
Program::~Program() = default;

absl::StatusOr<std::shared_ptr<const Program>> Program::Build(std::shared_ptr<const Module>,
                                                              const SymbolAddresses&) {
  return Pending("binding a module");
}
const Module& Program::module() const { return *impl_->module; }
const std::vector<BoundFunction>& Program::functions() const { return impl_->functions; }
uint32_t Program::static_shared_bytes(const BoundFunction&) const { return 0; }
uint32_t Program::param_block_bytes(const BoundFunction&) const { return 0; }
std::vector<uint32_t> Program::param_offsets(const BoundFunction&) const { return {}; }
uint64_t Program::function_address(int) const { return 0; }

absl::StatusOr<LaunchResult> RunLaunch(const Program&, const BoundFunction&, const LaunchConfig&,
                                       AddressSpace*, const LaunchOptions&) {
  return Pending("a launch");
}

}  // namespace understudy::emu::ptx
