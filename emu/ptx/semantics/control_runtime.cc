// SPDX-License-Identifier: Apache-2.0
// What the CUDA device runtime defines: vprintf (CUDA C++ Programming Guide, "Formatted Output"), malloc and
// free on the device heap, __assertfail.
#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <string>

#include "absl/strings/str_format.h"
#include "emu/ptx/core/launch_state.h"
#include "emu/ptx/semantics/control.h"

namespace understudy::emu::ptx {
namespace {

constexpr size_t kMaxText = 64 * 1024;

// Reads generic memory of a lane; false where there is none.
bool ReadGeneric(const Warp& warp, int lane, uint64_t address, void* out, uint64_t size) {
  if (address >= kLocalWindow && address - kLocalWindow < kLocalWindowSize) {
    const uint64_t offset = address - kLocalWindow;
    if (offset + size > warp.local_bytes) return false;
    std::memcpy(out, warp.local + static_cast<size_t>(lane) * warp.local_bytes + offset, size);
    return true;
  }
  if (address >= kSharedWindow && address - kSharedWindow < kSharedWindowSize) {
    const uint64_t offset = address - kSharedWindow;
    if (offset + size > warp.shared_bytes) return false;
    std::memcpy(out, warp.shared + offset, size);
    return true;
  }
  return warp.mem->Read(address, out, size);
}

bool ReadString(const Warp& warp, int lane, uint64_t address, std::string* out) {
  out->clear();
  for (char c = 0; out->size() < kMaxText; out->push_back(c)) {
    if (!ReadGeneric(warp, lane, address + out->size(), &c, 1)) return false;
    if (c == 0) return true;
  }
  return true;
}

uint64_t Argument(const uint8_t* params, uint32_t stride, int lane, size_t index) {
  uint64_t value = 0;
  std::memcpy(&value, params + static_cast<size_t>(lane) * stride + 8 * index, 8);
  return value;
}

// The text of one lane's vprintf.
class Formatter {
 public:
  Formatter(Warp& warp, int lane, uint64_t arguments) : warp_(warp), lane_(lane), next_(arguments) {}

  bool Format(const std::string& format, std::string* out) {
    for (size_t i = 0; i < format.size();) {
      if (format[i] != '%') {
        out->push_back(format[i++]);
        continue;
      }
      if (!Conversion(format, &i, out)) return false;
    }
    return true;
  }
  int count() const { return count_; }
  uint64_t next() const { return next_; }

 private:
  template <class T>
  bool Take(T* value) {
    next_ = (next_ + sizeof(T) - 1) / sizeof(T) * sizeof(T);
    if (!ReadGeneric(warp_, lane_, next_, value, sizeof(T))) return false;
    next_ += sizeof(T);
    return true;
  }

  template <class T>
  static void Print(const std::string& spec, T value, std::string* out) {
    const int size = std::snprintf(nullptr, 0, spec.c_str(), value);
    if (size <= 0) return;
    std::string text(static_cast<size_t>(size) + 1, 0);
    std::snprintf(text.data(), text.size(), spec.c_str(), value);
    text.pop_back();
    *out += text;
  }

  // A '*' takes an int argument; digits are kept (four at most, enough for any width that is shown).
  bool Number(const std::string& format, size_t* i, std::string* spec) {
    if (*i < format.size() && format[*i] == '*') {
      ++*i;
      int32_t value = 0;
      if (!Take(&value)) return false;
      ++count_;
      *spec += std::to_string(std::min(std::max(value, -9999), 9999));
      return true;
    }
    for (int digits = 0; *i < format.size() && format[*i] >= '0' && format[*i] <= '9'; ++*i)
      if (digits++ < 4) spec->push_back(format[*i]);
    return true;
  }

  bool Conversion(const std::string& format, size_t* i, std::string* out) {
    const size_t begin = (*i)++;
    std::string spec = "%";
    while (*i < format.size() && std::strchr("-+ #0", format[*i]) != nullptr && spec.size() < 16)
      spec.push_back(format[(*i)++]);
    if (!Number(format, i, &spec)) return false;
    if (*i < format.size() && format[*i] == '.') {
      spec.push_back('.');
      ++*i;
      if (!Number(format, i, &spec)) return false;
    }
    int longs = 0, shorts = 0;
    for (; *i < format.size() && std::strchr("hlzjt", format[*i]) != nullptr; ++*i) {
      if (format[*i] == 'h') ++shorts;
      if (format[*i] != 'h') ++longs;
    }
    if (*i == format.size()) {
      *out += format.substr(begin);
      return true;
    }
    const char type = format[(*i)++];
    if (type == '%') {
      out->push_back('%');
      return true;
    }
    ++count_;
    switch (type) {
      case 'd':
      case 'i': {
        int64_t value = 0;
        int32_t narrow = 0;
        if (longs > 0 ? !Take(&value) : !Take(&narrow)) return false;
        if (longs == 0) value = shorts == 0 ? narrow : shorts == 1 ? int16_t(narrow) : int8_t(narrow);
        Print(spec + "lld", static_cast<long long>(value), out);
        return true;
      }
      case 'u':
      case 'o':
      case 'x':
      case 'X': {
        uint64_t value = 0;
        uint32_t narrow = 0;
        if (longs > 0 ? !Take(&value) : !Take(&narrow)) return false;
        if (longs == 0) value = shorts == 0 ? narrow : shorts == 1 ? uint16_t(narrow) : uint8_t(narrow);
        Print(spec + "ll" + type, static_cast<unsigned long long>(value), out);
        return true;
      }
      case 'c': {
        int32_t value = 0;
        if (!Take(&value)) return false;
        Print(spec + 'c', value, out);
        return true;
      }
      case 'p': {
        uint64_t value = 0;
        if (!Take(&value)) return false;
        Print(spec + 'p', reinterpret_cast<void*>(value), out);
        return true;
      }
      case 's': {
        uint64_t address = 0;
        std::string text;
        if (!Take(&address)) return false;
        if (address == 0)
          text = "(null)";
        else if (!ReadString(warp_, lane_, address, &text))
          return false;
        Print(spec + 's', text.c_str(), out);
        return true;
      }
      case 'f':
      case 'F':
      case 'e':
      case 'E':
      case 'g':
      case 'G':
      case 'a':
      case 'A': {
        double value = 0;
        if (!Take(&value)) return false;
        Print(spec + type, value, out);
        return true;
      }
      default:
        // Not a conversion: shown as it stands.
        --count_;
        *out += format.substr(begin, *i - begin);
        return true;
    }
  }

  Warp& warp_;
  int lane_;
  uint64_t next_;
  int count_ = 0;
};

void Emit(Launch& launch, const std::string& text) {
  const std::lock_guard<std::mutex> lock(launch.host_mutex);
  if (launch.options.print) {
    launch.options.print(text);
  } else {
    std::fwrite(text.data(), 1, text.size(), stdout);
  }
}

ExecResult BadPointer(Warp& warp, int lane, const char* what, uint64_t address) {
  warp.fault->memory = warp.mem->Explain(address, 1, Access::kRead);
  return warp.Fail(FaultKind::kMemory, lane, absl::StrFormat("%s at 0x%x cannot be read", what, address));
}

}  // namespace

ExecResult CallBuiltin(WarpState& warp, const BoundFunction& function, uint8_t* params, uint32_t stride) {
  Launch& launch = *warp.launch;
  const size_t result_at = 8 * function.text->parameters.size();
  for (uint32_t m = warp.mask; m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    uint64_t result = 0;
    switch (function.builtin) {
      case BoundFunction::Builtin::kVprintf: {
        const uint64_t format_at = Argument(params, stride, lane, 0);
        std::string format, text;
        if (format_at == 0) {
          result = static_cast<uint32_t>(-1);
          break;
        }
        if (!ReadString(warp, lane, format_at, &format))
          return BadPointer(warp, lane, "the format of vprintf", format_at);
        Formatter formatter(warp, lane, Argument(params, stride, lane, 1));
        if (!formatter.Format(format, &text))
          return BadPointer(warp, lane, "an argument of vprintf", formatter.next());
        Emit(launch, text);
        result = static_cast<uint32_t>(formatter.count());
        break;
      }
      case BoundFunction::Builtin::kMalloc: {
        const std::lock_guard<std::mutex> lock(launch.host_mutex);
        if (launch.options.allocate) result = launch.options.allocate(Argument(params, stride, lane, 0));
        break;
      }
      case BoundFunction::Builtin::kFree: {
        const uint64_t address = Argument(params, stride, lane, 0);
        const std::lock_guard<std::mutex> lock(launch.host_mutex);
        if (address == 0) break;
        if (!launch.options.release)
          return warp.Fail(FaultKind::kHeap, lane,
                           absl::StrFormat("free of 0x%x: the launch has no device heap", address));
        if (const absl::Status freed = launch.options.release(address); !freed.ok())
          return warp.Fail(FaultKind::kHeap, lane, std::string(freed.message()));
        break;
      }
      case BoundFunction::Builtin::kAssertFail: {
        std::string message, file, where;
        ReadString(warp, lane, Argument(params, stride, lane, 0), &message);
        ReadString(warp, lane, Argument(params, stride, lane, 1), &file);
        ReadString(warp, lane, Argument(params, stride, lane, 3), &where);
        const Dim3 block = launch.config.block;
        const uint32_t thread = warp.index * kWarpSize + static_cast<uint32_t>(lane);
        const std::string text =
            absl::StrFormat("%s:%d: %s: block: [%d,%d,%d], thread: [%d,%d,%d] Assertion `%s` failed.", file,
                            static_cast<uint32_t>(Argument(params, stride, lane, 2)), where, warp.cta->id[0],
                            warp.cta->id[1], warp.cta->id[2], thread % block.x, thread / block.x % block.y,
                            thread / block.x / block.y, message);
        Emit(launch, text + "\n");
        return warp.Fail(FaultKind::kAssert, lane, text);
      }
      case BoundFunction::Builtin::kNone:
        break;
    }
    if (!function.text->returns.empty())
      std::memcpy(params + static_cast<size_t>(lane) * stride + result_at, &result, 8);
  }
  return ExecResult::kNext;
}

}  // namespace understudy::emu::ptx
