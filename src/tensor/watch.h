// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a recorder of programs (src/runtime/capture.h) must know of tensors that a graph does not say: which
// handles a piece of code reads and assigns to, which of them outlive it, and what work of the host belongs
// to it. Runs nothing and changes no values.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "src/tensor/tensor.h"

namespace understudy {

// A tensor that may be gone: as std::weak_ptr to all handles that are the same tensor.
class WeakTensor {
 public:
  explicit WeakTensor(const Tensor& t);
  // The same for all handles of one tensor while one of them or a WeakTensor is alive.
  const void* id() const { return id_; }
  std::optional<Tensor> Lock() const;
  // Handles of the tensor, and views of it.
  int64_t holders() const;

  // The tensor that `t` is a view of, if any.
  static std::optional<Tensor> BaseOf(const Tensor& t);
  // What a view shows when its tensor's value is `of` (of the same dtype and shape).
  static UOpRef Shown(const Tensor& view, const UOpRef& of);
  // A view that was made while its tensor was being computed, and that tensor has storage now: the view shows
  // that storage and lets go of what computed it.
  static void LookAgain(Tensor& t);
  // `t`, which is no view, has new contents in `storage` (same dtype and shape): its views look again.
  static void Replace(Tensor& t, UOpRef storage);

 private:
  std::weak_ptr<Tensor::State> state_;
  const void* id_;
};

// Told of what happens on its thread while it is installed. The functions must not touch the tensor's value.
class TensorWatch {
 public:
  using HostWork = std::function<absl::Status()>;
  using HostContents = std::function<absl::StatusOr<std::vector<uint8_t>>()>;

  virtual ~TensorWatch() = default;
  // The value of `t` was asked for, by the program or for a view: this one.
  virtual void OnRead(const Tensor& t, const UOpRef& value) = 0;
  virtual void OnAssigned(const Tensor& t) = 0;
  // Work that was done and belongs to every run of the program, in the order of these calls.
  virtual void OnHostWork(HostWork again) = 0;
  // The same for contents: those of the BUFFER `node`.
  virtual void OnHostContents(const UOpRef& node, HostContents again) = 0;

  static TensorWatch* Current();
  // Installs for the scope's life; what was installed before comes back then. Null: nobody watches.
  class Scope {
   public:
    explicit Scope(TensorWatch* watch);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    TensorWatch* const before_;
  };
};

// Does `work` now, and again at every replay when a captured function is being recorded: a counter, a step of
// a schedule. What it refers to must live as long as the captured function, or `work` must find out that it
// does not.
absl::Status HostWorkNow(std::function<absl::Status()> work);

// A tensor of contents that the host makes (elements as stored, row-major): `contents` is called now, and
// again at every replay of a captured function that makes the tensor.
Tensor HostTensor(TensorWatch::HostContents contents, DType dtype, Shape shape, const std::string& device);

}  // namespace understudy
