// SPDX-License-Identifier: Apache-2.0
#include "tools/rig/cuda_devices.h"

#include <filesystem>
#include <map>

#include "absl/strings/str_cat.h"
#include "src/base/status.h"
#include "src/base/use_hardware.h"
#include "tools/cpp/runfiles/runfiles.h"

namespace understudy {
namespace {

using bazel::tools::cpp::runfiles::Runfiles;

absl::StatusOr<std::string> MockLibrary() {
  std::string error;
  const std::unique_ptr<Runfiles> runfiles(
      Runfiles::Create(std::filesystem::read_symlink("/proc/self/exe").string(), &error));
  if (runfiles == nullptr) return absl::NotFoundError(absl::StrCat("the program's data files: ", error));
  return runfiles->Rlocation("understudy/mockgpu/nv/cuda/libcuda.so.1");
}

// Of the cards opened so far, by device name.
std::map<std::string, std::string>& Titles() {
  static auto* const titles = new std::map<std::string, std::string>;
  return *titles;
}

}  // namespace

absl::StatusOr<std::vector<std::shared_ptr<CudaDevice>>> OpenCudaDevices() {
  std::vector<std::shared_ptr<CudaDevice>> devices;
  // First, since the loader takes a library of the same soname that is already there for the one meant.
  if (UseHardware()) {
    CudaOptions options;
    options.name = "CUDA:HW";
    US_ASSIGN_OR_RETURN(const auto card, CudaDevice::Open(0, options));
    Titles()[options.name] = absl::StrCat("CUDA (", card->description(), ")");
    devices.push_back(card);
  }
  CudaOptions options;
  US_ASSIGN_OR_RETURN(options.library, MockLibrary());
  US_ASSIGN_OR_RETURN(auto mock, CudaDevice::Open(0, options));
  Titles()[options.name] = "CUDA (mock)";
  devices.insert(devices.begin(), std::move(mock));
  return devices;
}

std::string DeviceTitle(const std::string& name) {
  const auto it = Titles().find(name);
  return it == Titles().end() ? name : it->second;
}

}  // namespace understudy
