// SPDX-License-Identifier: Apache-2.0
#include "emu/ptx/semantics/fragment_layout.h"

#include <map>
#include <memory>
#include <mutex>
#include <tuple>

namespace understudy::emu::ptx {
namespace {

// A lane is `group` of eight and `thread` of four in its group, as the manual names them.
constexpr int GroupOf(int lane) { return lane >> 2; }
constexpr int ThreadOf(int lane) { return lane & 3; }

int RegisterBits(Type type) { return type == Type::kF64 ? 64 : 32; }

FragmentLayout Empty(int rows, int cols, int registers, Type type) {
  FragmentLayout layout;
  layout.rows = rows;
  layout.cols = cols;
  layout.registers = layout.distinct = registers;
  layout.bits = TypeBits(type);
  layout.elements = RegisterBits(type) / layout.bits;
  layout.places.resize(registers * 32 * layout.elements);
  return layout;
}

template <class Fn>
FragmentLayout Fill(FragmentLayout layout, Fn place) {
  ElementPlace* out = layout.places.data();
  for (int reg = 0; reg < layout.registers; ++reg)
    for (int lane = 0; lane < 32; ++lane)
      for (int element = 0; element < layout.elements; ++element) *out++ = place(reg, lane, element);
  return layout;
}

ElementPlace At(int row, int col) { return {static_cast<uint16_t>(row), static_cast<uint16_t>(col)}; }

// M is 8 or a multiple of 16. Tiles of 16 rows follow one another; in a tile, row group and group + 8
// alternate and each pair of registers covers 4 registers' worth of columns.
FragmentLayout RowFragment(int m, int k, Type type) {
  const int per = RegisterBits(type) / TypeBits(type), steps = k / (4 * per);
  const int in_tile = (m == 8 ? 1 : 2) * steps;
  return Fill(Empty(m, k, m == 8 ? steps : m / 8 * steps, type), [=](int reg, int lane, int element) {
    const int tile = reg / in_tile, r = reg % in_tile;
    const int row = m == 8 ? 0 : 16 * tile + 8 * (r & 1), step = m == 8 ? r : r >> 1;
    return At(row + GroupOf(lane), (4 * step + ThreadOf(lane)) * per + element);
  });
}

// N is a multiple of 8: tiles of 8 columns follow one another.
FragmentLayout ColumnFragment(int k, int n, Type type) {
  const int per = RegisterBits(type) / TypeBits(type), steps = k / (4 * per);
  return Fill(Empty(k, n, n / 8 * steps, type), [=](int reg, int lane, int element) {
    return At((4 * (reg % steps) + ThreadOf(lane)) * per + element, 8 * (reg / steps) + GroupOf(lane));
  });
}

// Tiles of 16 (or 8) rows and 8 columns, those of a row band first.
FragmentLayout AccumulatorFragment(int m, int n, Type type) {
  const int halves = m == 8 ? 1 : 2, per = RegisterBits(type) / TypeBits(type), in_row = 2 / per,
            in_tile = halves * in_row;
  return Fill(Empty(m, n, m / (8 * halves) * (n / 8) * in_tile, type), [=](int reg, int lane, int element) {
    const int tile = reg / in_tile, r = reg % in_tile;
    const int row = tile / (n / 8) * 16 + 8 * (r / in_row) + GroupOf(lane);
    const int col = tile % (n / 8) * 8 + 2 * ThreadOf(lane) + r % in_row + element;
    return At(row, col);
  });
}

FragmentLayout Transposed(FragmentLayout layout) {
  std::swap(layout.rows, layout.cols);
  for (ElementPlace& place : layout.places) std::swap(place.row, place.col);
  return layout;
}

// The registers again and again until there are `registers`.
FragmentLayout Repeated(FragmentLayout layout, int registers) {
  const size_t once = layout.places.size();
  layout.places.resize(once / layout.registers * registers);
  for (size_t i = once; i < layout.places.size(); ++i) layout.places[i] = layout.places[i - once];
  layout.registers = registers;
  return layout;
}

// m8n8k4.f16: lanes 4b..4b+3 and 4b+16..4b+19 hold block b.
FragmentLayout QuadPairFragment(Fragment which, Type type, bool row_major) {
  const auto block = [](int lane) { return (lane & 15) >> 2; };
  const auto half = [](int lane) { return lane >> 4; };
  if (which == Fragment::kA)
    return Fill(Empty(32, 4, 2, Type::kF16), [=](int reg, int lane, int element) {
      const int i = 2 * reg + element, t = ThreadOf(lane);
      return At(8 * block(lane) + 4 * half(lane) + (row_major ? t : i), row_major ? i : t);
    });
  if (which == Fragment::kB)
    return Fill(Empty(4, 32, 2, Type::kF16), [=](int reg, int lane, int element) {
      const int i = 2 * reg + element, t = ThreadOf(lane);
      return At(row_major ? t : i, 8 * block(lane) + 4 * half(lane) + (row_major ? i : t));
    });
  if (type == Type::kF16)
    return Fill(Empty(32, 8, 4, type), [=](int reg, int lane, int element) {
      return At(8 * block(lane) + 4 * half(lane) + ThreadOf(lane), 2 * reg + element);
    });
  return Fill(Empty(32, 8, 8, type), [=](int reg, int lane, int) {
    return At(8 * block(lane) + 4 * half(lane) + (lane & 1) + (reg & 2), (reg & 4) + (lane & 2) + (reg & 1));
  });
}

using Key = std::tuple<int, Fragment, int, int, int, Type, bool, bool>;

void Index(FragmentLayout* layout) {
  for (const ElementPlace& place : layout->places)
    layout->index.push_back(static_cast<uint16_t>(place.row * layout->cols + place.col));
  const auto runs_of = [&](size_t run) {
    for (size_t i = 0; i < layout->index.size(); ++i)
      if (layout->index[i] != layout->index[i - i % run] + i % run) return false;
    return true;
  };
  while (layout->run < 16 && runs_of(2 * layout->run)) layout->run *= 2;
}

// Layouts live for the process: executors keep pointers to them.
template <class Make>
const FragmentLayout* Cached(const Key& key, Make make) {
  static std::mutex mutex;
  static std::map<Key, std::unique_ptr<const FragmentLayout>>* const cache =
      new std::map<Key, std::unique_ptr<const FragmentLayout>>;
  const std::lock_guard<std::mutex> lock(mutex);
  std::unique_ptr<const FragmentLayout>& entry = (*cache)[key];
  if (entry == nullptr) {
    auto layout = std::make_unique<FragmentLayout>(make());
    Index(layout.get());
    entry = std::move(layout);
  }
  return entry.get();
}

bool IsElement(Type type) {
  const int bits = TypeBits(type);
  return bits != 0 && (bits & (bits - 1)) == 0 && bits <= 64;
}

bool IsPowerOfTwo(int v) { return v > 0 && (v & (v - 1)) == 0; }

bool IsAccumulator(Type type) {
  return type == Type::kF16 || type == Type::kF32 || type == Type::kF64 || type == Type::kS32;
}

}  // namespace

const FragmentLayout* FindMmaLayout(Fragment which, int m, int n, int k, Type type, bool sparse,
                                    bool row_major) {
  if (which == Fragment::kC ? !IsAccumulator(type) : !IsElement(type)) return nullptr;
  const bool quad_pairs =
      m == 8 && k == 4 && (which == Fragment::kC ? type != Type::kF64 : type == Type::kF16);
  if ((m != 8 && m != 16) || n != 8 || !IsPowerOfTwo(k) || (sparse && m != 16)) return nullptr;
  const int per = RegisterBits(type) / TypeBits(type), stored = sparse && which == Fragment::kA ? k / 2 : k;
  if (!quad_pairs && which != Fragment::kC && (stored < 4 * per || stored > 32 * per)) return nullptr;
  return Cached({0, which, m, n, k, type, sparse, row_major}, [&] {
    if (quad_pairs) return QuadPairFragment(which, type, row_major);
    if (which == Fragment::kA) return RowFragment(m, stored, type);
    if (which == Fragment::kB) return ColumnFragment(k, n, type);
    return AccumulatorFragment(m, n, type);
  });
}

const FragmentLayout* FindWmmaLayout(Fragment which, int m, int n, int k, Type type, bool row_major) {
  struct Shape {
    int m, n, k;
  };
  const bool wide = (m == 16 && n == 16) || (m == 32 && n == 8) || (m == 8 && n == 32);
  if (which == Fragment::kC) {
    const bool small = m == 8 && n == 8;
    if (!(wide ? type == Type::kF16 || type == Type::kF32 || type == Type::kS32
               : small && (type == Type::kS32 || type == Type::kF64)))
      return nullptr;
  } else {
    const int bits = TypeBits(type);
    const bool legal =
        wide ? (k == 16 &&
                (type == Type::kF16 || type == Type::kBf16 || type == Type::kS8 || type == Type::kU8)) ||
                   (k == 8 && m == 16 && type == Type::kTf32)
             : m == 8 && n == 8 &&
                   ((k == 4 && bits == 64) || (k == 32 && bits == 4) || (k == 128 && bits == 1));
    if (!legal) return nullptr;
  }
  return Cached({1, which, m, n, k, type, false, row_major}, [&] {
    // Eight rows and 32 columns are computed as the transposed product.
    const bool flipped = m == 8 && n == 32;
    const int rows = flipped ? n : m, cols = flipped ? m : n;
    const Fragment role = !flipped || which == Fragment::kC ? which
                          : which == Fragment::kA           ? Fragment::kB
                                                            : Fragment::kA;
    FragmentLayout layout = role == Fragment::kA   ? RowFragment(rows, k, type)
                            : role == Fragment::kB ? ColumnFragment(k, cols, type)
                                                   : AccumulatorFragment(rows, cols, type);
    if (flipped) layout = Transposed(std::move(layout));
    if (which != Fragment::kC && type == Type::kF16) layout = Repeated(std::move(layout), 8);
    return layout;
  });
}

const FragmentLayout* FindWgmmaLayout(Fragment which, int n, int k, Type type) {
  if (which == Fragment::kB || n % 8 != 0 || n < 8 || n > 256) return nullptr;
  if (which == Fragment::kC ? !IsAccumulator(type) : !IsElement(type)) return nullptr;
  return Cached({2, which, 16, n, k, type, false, true}, [&] {
    return which == Fragment::kA ? RowFragment(16, k, type) : AccumulatorFragment(16, n, type);
  });
}

MetadataPlace FindMetadataPlace(Type type, int k, int selector, int row, int col) {
  const int bits = TypeBits(type), group = row & 7, half = row >> 3;
  MetadataPlace place;
  if (bits >= 16) {
    // 16 bits of each of a row's lanes, row group in the low half, row group + 8 in the high one.
    const int bit = col * (bits == 32 ? 4 : 2), row_bits = k / 2 * (bits == 32 ? 4 : 2);
    place.lane = static_cast<uint8_t>(4 * group + (row_bits <= 16 ? selector : 2 * selector) + bit / 16);
    place.shift = static_cast<uint8_t>(16 * half + bit % 16);
  } else {
    // All 32 bits of a lane, those of row group + 8 in the next lane. Two 4-bit elements share an index.
    const int bit = 2 * (bits == 4 ? col / 2 : col);
    place.lane = static_cast<uint8_t>(4 * group + 2 * selector + half + bit / 32 * 2);
    place.shift = static_cast<uint8_t>(bit % 32);
  }
  return place;
}

int SparseColumn(Type type, int col, int index) {
  switch (TypeBits(type)) {
    case 32:
      return 2 * col + (index >> 1);
    case 4:
      return 8 * (col / 4) + 2 * index + col % 2;
    default:
      return 4 * (col / 2) + index;
  }
}

ElementPlace RowMatrixPlace(RowMatrix matrix, int reg, int lane, int e) {
  const int group = lane / 4, thread = lane % 4;
  const auto place = [](int row, int col) {
    return ElementPlace{static_cast<uint16_t>(row), static_cast<uint16_t>(col)};
  };
  switch (matrix) {
    case RowMatrix::kM8n8:
      return place(8 * reg + group, 2 * thread + e);
    case RowMatrix::kM8n8Trans:
      return place(8 * reg + 2 * thread + e, group);
    case RowMatrix::kM8n16:
      return place(8 * reg + group, 4 * thread + e);
    case RowMatrix::kM16n16Trans:
      // Two registers a matrix: two rows of the transposed one, eight apart.
      return place(16 * (reg / 2) + 4 * thread + e, group + 8 * (reg % 2));
    case RowMatrix::kM16n8Trans:
      // As mma's accumulator of that shape, whose columns are the rows in memory.
      return place(8 * reg + 2 * thread + e % 2, group + 8 * (e / 2));
  }
  return {};
}

}  // namespace understudy::emu::ptx
