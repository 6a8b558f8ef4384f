// SPDX-License-Identifier: Apache-2.0
// Every form of tests/data/conformance/ptx/h200.jsonl as PTX text: parsed, its executors found, run in a
// straight line over one warp at a time, and compared with what an H200 answered. Prints what differs (with
// the distance of floats in units of the last place) and what has no executor yet; the floor only rises.
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "emu/ptx/core/program.h"
#include "emu/ptx/core/warp.h"
#include "emu/ptx/parse/parse.h"
#include "emu/ptx/semantics/find_exec.h"

namespace understudy::emu::ptx {
namespace {

constexpr int kFloor = 538;

// A kernel's body without control flow, bound to rows in one buffer.
class StraightLine {
 public:
  explicit StraightLine(std::shared_ptr<const Module> module) : module_(std::move(module)) {
    const Function& function = module_->functions[0];
    memory_.resize(1 << 14);
    for (const Register& r : function.registers) registers_.push_back(AddRow(RegisterBytes(r.type)));
    ExecContext context;
    context.module = module_.get();
    context.function = &function;
    for (const Instruction& text : function.body) {
      if (text.op == Op::kRet) continue;
      const Exec exec = FindExec(text, context);
      // Instructions of the whole warp want a launch around them.
      const bool collective = FindControlExec(text, context).fn != nullptr;
      if (exec.fn == nullptr || collective) {
        missing_ = collective ? "runs in a launch only" : exec.note;
        return;
      }
      auto inst = std::make_unique<Bound>();
      inst->inst.exec = exec.fn;
      inst->inst.aux[0] = exec.aux[0];
      inst->inst.aux[1] = exec.aux[1];
      inst->inst.text = &text;
      inst->operands = Bind(text.operands);
      inst->inst.operands = inst->operands;
      inst->inst.num_operands = static_cast<uint16_t>(text.operands.size());
      code_.push_back(std::move(inst));
    }
    warp_.base[0] = reinterpret_cast<uint8_t*>(memory_.data());
    warp_.fault = &fault_;
    warp_.lanes = ~0u;
  }

  const std::string& missing() const { return missing_; }

  bool Run(const std::map<std::string, std::vector<uint64_t>>& sources, std::vector<uint64_t>* out) {
    const Function& function = module_->functions[0];
    size_t lanes = 0;
    Src destination;
    for (size_t i = 0; i < registers_.size(); ++i) {
      if (function.registers[i].name == "%d") destination = registers_[i];
      const auto it = sources.find(function.registers[i].name);
      if (it == sources.end()) continue;
      lanes = it->second.size();
      for (size_t lane = 0; lane < lanes; ++lane)
        warp_.SetLane(registers_[i], static_cast<int>(lane), it->second[lane]);
    }
    warp_.mask = lanes == 32 ? ~0u : (1u << lanes) - 1;
    for (const auto& bound : code_)
      if (bound->inst.exec(warp_, bound->inst) != ExecResult::kNext) return false;
    for (size_t lane = 0; lane < lanes; ++lane)
      out->push_back(warp_.Lane(destination, static_cast<int>(lane)));
    return true;
  }

 private:
  struct Bound {
    Inst inst;
    BoundOperand* operands = nullptr;
  };

  static int RegisterBytes(Type type) { return type == Type::kPred ? 0 : TypeBytes(type); }

  Src AddRow(int bytes) {
    Src s;
    s.offset = used_;
    s.bytes = static_cast<uint8_t>(bytes);
    used_ += 256;
    return s;
  }

  BoundOperand* Bind(const std::vector<Operand>& operands) {
    blocks_.push_back(std::make_unique<BoundOperand[]>(operands.size()));
    BoundOperand* bound = blocks_.back().get();
    for (size_t i = 0; i < operands.size(); ++i) {
      const Operand& o = operands[i];
      bound[i].kind = o.kind;
      switch (o.kind) {
        case Operand::Kind::kRegister:
          bound[i].row = registers_[static_cast<size_t>(o.index)];
          bound[i].row.negated = o.negated;
          break;
        case Operand::Kind::kImmediate:
          bound[i].row = AddRow(8);
          for (int lane = 0; lane < kWarpSize; ++lane)
            memory_[bound[i].row.offset / 8 + static_cast<size_t>(lane)] = o.bits;
          break;
        case Operand::Kind::kSink:
          bound[i].row = AddRow(8);
          bound[i].row.sink = true;
          break;
        default:
          bound[i].elements = Bind(o.elements);
          bound[i].num_elements = static_cast<uint16_t>(o.elements.size());
      }
    }
    return bound;
  }

  std::shared_ptr<const Module> module_;
  std::vector<uint64_t> memory_;
  uint32_t used_ = 0;
  std::vector<Src> registers_;
  std::vector<std::unique_ptr<BoundOperand[]>> blocks_;
  std::vector<std::unique_ptr<Bound>> code_;
  std::string missing_;
  Warp warp_;
  Fault fault_;
};

std::string Text(const nlohmann::json& row) {
  const auto declare = [](char kind, const std::string& name) {
    const char* type = kind == 'p' ? "pred" : kind == 'h' ? "b16" : kind == 'r' ? "b32" : "b64";
    return std::string(".reg .") + type + " " + name + ";\n";
  };
  std::string text = ".version 8.4\n.target sm_90\n.address_size 64\n.visible .entry form()\n{\n";
  text += declare(row["d"].get<std::string>()[0], "%d");
  const std::string sources = row["s"];
  for (size_t i = 0; i < sources.size(); ++i) text += declare(sources[i], std::string("%") + "abce"[i]);
  return text + row["op"].get<std::string>() + "\nret;\n}\n";
}

// How far two floats of a type are from each other, counting numbers between them.
int64_t Distance(const std::string& type, uint64_t a, uint64_t b) {
  const int bits = type == "f64" ? 64 : type == "f32" ? 32 : type == "f16" || type == "bf16" ? 16 : 0;
  if (bits == 0) return -1;
  const auto key = [&](uint64_t v) {
    const uint64_t sign = uint64_t{1} << (bits - 1);
    return (v & sign) != 0 ? -static_cast<int64_t>(v & (sign - 1)) : static_cast<int64_t>(v);
  };
  const int64_t d = key(a) - key(b);
  return d < 0 ? -d : d;
}

TEST(PtxConform, FormsAnswerWhatAnH200Answered) {
  std::ifstream file("tests/data/conformance/ptx/h200.jsonl");
  ASSERT_TRUE(file.good());
  int forms = 0, equal = 0, missing = 0;
  std::string line;
  while (std::getline(file, line)) {
    const nlohmann::json row = nlohmann::json::parse(line);
    const std::string op = row["op"];
    ++forms;
    auto module = ParseModule(Text(row));
    if (!module.ok()) {
      ADD_FAILURE() << op << ": " << module.status().ToString();
      continue;
    }
    StraightLine code(*module);
    if (!code.missing().empty()) {
      ++missing;
      continue;
    }
    const size_t count = row["out"].size();
    int wrong = 0;
    int64_t farthest = 0;
    bool ran = true;
    for (size_t begin = 0; begin < count && ran; begin += 32) {
      std::map<std::string, std::vector<uint64_t>> sources;
      for (size_t k = 0; k < row["in"].size(); ++k) {
        for (size_t i = begin; i < std::min(begin + 32, count); ++i)
          sources[std::string("%") + "abce"[k]].push_back(
              std::stoull(row["in"][k][i].get<std::string>(), nullptr, 16));
      }
      std::vector<uint64_t> out;
      ran = code.Run(sources, &out);
      for (size_t i = 0; i < out.size(); ++i) {
        const uint64_t want = std::stoull(row["out"][begin + i].get<std::string>(), nullptr, 16);
        if (out[i] == want) continue;
        ++wrong;
        farthest = std::max(farthest, Distance(row["dt"], out[i], want));
      }
    }
    if (ran && wrong == 0) {
      ++equal;
    } else if (!ran) {
      std::printf("%s: not run\n", op.c_str());
    } else {
      std::printf("%s: %d of %zu differ, by at most %lld ulp\n", op.c_str(), wrong, count,
                  static_cast<long long>(farthest));
    }
  }
  std::printf("%d of %d forms bit-equal, %d without an executor\n", equal, forms, missing);
  EXPECT_EQ(forms, 954);
  EXPECT_GE(equal, kFloor);
}

}  // namespace
}  // namespace understudy::emu::ptx
