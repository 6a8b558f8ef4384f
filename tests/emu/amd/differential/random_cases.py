# SPDX-License-Identifier: Apache-2.0
"""Writes C functions of random, well-defined arithmetic in the form of cases.h: random_cases.py SEED COUNT.

Every expression has one meaning in C: unsigned arithmetic, masked shifts, guarded divisions, conversions in range, and
floats without NaN payloads. The host's compiler and clang for gfx1100 must agree on all of it. Byte swaps are left out:
clang 22 at -O0 copies the low half of a 32-bit register alone (v_mov_b16) before the v_perm_b32 of a 64-bit swap.
"""

import random
import sys

TYPES = {"u8": "uint8_t", "u16": "uint16_t", "u32": "uint32_t", "u64": "uint64_t", "f32": "float", "f64": "double"}
BITS = {"u8": 8, "u16": 16, "u32": 32, "u64": 64}


class Function:
    def __init__(self, rng, name):
        self.rng = rng
        self.name = name
        self.lines = []
        self.variables = {t: [] for t in TYPES}
        self.next = 0
        self.depth = 1

    def emit(self, text):
        self.lines.append("  " * self.depth + text)

    def declare(self, kind, value):
        name = "x%d" % self.next
        self.next += 1
        self.emit("%s %s = (%s)(%s);" % (TYPES[kind], name, TYPES[kind], value))
        self.variables[kind].append(name)
        return name

    def pick(self, kind):
        return self.rng.choice(self.variables[kind])

    def integer(self, kind, depth):
        r = self.rng
        if depth == 0:
            return self.pick(kind) if r.random() < 0.8 else "(%s)0x%xu" % (TYPES[kind], r.getrandbits(BITS[kind]))
        a = lambda: self.integer(kind, depth - 1)
        t, bits = TYPES[kind], BITS[kind]
        wide = "(uint32_t)" if bits < 32 else ""  # or the operands would be promoted to int, and overflow
        s = t[1:]  # the signed type
        choice = r.randrange(17)
        if choice < 5:
            return "(%s)(%s%s %s %s)" % (t, wide, a(), r.choice(["+", "-", "*", "&", "|", "^"]), a())
        if choice == 5:
            return "(%s)(%s%s << (%s & %du))" % (t, wide, a(), a(), bits - 1)
        if choice == 6:
            return "(%s)(%s >> (%s & %du))" % (t, a(), a(), bits - 1)
        if choice == 7:
            return "(%s)((%s)%s >> (%s & %du))" % (t, s, a(), a(), bits - 1)
        if choice == 8:
            return "(%s)(%s %s (%s | 1u))" % (t, a(), r.choice(["/", "%"]), a())
        if choice == 9:
            other = r.choice([k for k in BITS if k != kind])
            return "(%s)%s" % (t, self.integer(other, depth - 1))
        if choice == 10:
            other = r.choice([k for k in BITS if k != kind])
            return "(%s)(%s)%s" % (t, TYPES[other][1:], self.integer(other, depth - 1))
        if choice == 11:
            return "(%s ? %s : %s)" % (self.condition(depth - 1), a(), a())
        if choice == 12 and bits >= 32:
            suffix = "ll" if bits == 64 else ""
            return "(%s)%s" % (t, r.choice(["__builtin_popcount%s(%s)", "__builtin_clz%s(%s | 1u)", "__builtin_ctz%s(%s | 1u)"])
                               % (suffix, a()))
        if choice == 13 and bits >= 32:
            n = r.randrange(1, bits)
            x = self.pick(kind)
            return "(%s << %d | %s >> %d)" % (x, n, x, bits - n)
        if choice == 15:
            return "(%s)(~%s)" % (t, a())
        return "(%s)(%s %s %s ? %s : %s)" % (t, self.pick(kind), r.choice(["<", ">"]), self.pick(kind), a(), a())

    def condition(self, depth):
        r = self.rng
        kind = r.choice(list(TYPES))
        op = r.choice(["<", "<=", ">", ">=", "==", "!="])
        if kind in BITS:
            if r.random() < 0.4:
                s = TYPES[kind][1:]
                return "((%s)%s %s (%s)%s)" % (s, self.integer(kind, depth), op, s, self.integer(kind, depth))
            return "(%s %s %s)" % (self.integer(kind, depth), op, self.integer(kind, depth))
        return "(%s %s %s)" % (self.real(kind, depth), op, self.real(kind, depth))

    def real(self, kind, depth):
        r = self.rng
        suffix = "f" if kind == "f32" else ""
        if depth == 0:
            return self.pick(kind) if r.random() < 0.85 else repr(round(r.uniform(-8, 8), 3)) + suffix
        a = lambda: self.real(kind, depth - 1)
        choice = r.randrange(13)
        if choice < 5:
            return "(%s %s %s)" % (a(), r.choice(["+", "-", "*"]), a())
        if choice == 5:
            return "(%s / %s)" % (a(), a())
        if choice == 6:
            return "__builtin_sqrt%s(__builtin_fabs%s(%s))" % (suffix, suffix, a())
        if choice == 7:
            return "__builtin_%s%s(%s)" % (r.choice(["floor", "ceil", "trunc", "rint"]), suffix, a())
        if choice == 8:
            return "__builtin_fma%s(%s, %s, %s)" % (suffix, a(), a(), a())
        if choice == 9:
            source = r.choice(list(BITS))
            signed = r.choice(["", "(%s)" % TYPES[source][1:]])
            return "(%s)%s%s" % (TYPES[kind], signed, self.integer(source, depth - 1))
        if choice == 10:
            other = "f64" if kind == "f32" else "f32"
            return "(%s)%s" % (TYPES[kind], self.real(other, depth - 1))
        if choice == 11:
            return "(%s ? %s : %s)" % (self.condition(depth - 1), a(), a())
        return "(-(%s))" % a()

    def expression(self, kind, depth):
        return self.integer(kind, depth) if kind in BITS else self.real(kind, depth)

    def statement(self, depth):
        r = self.rng
        kind = r.choice(list(TYPES))
        choice = r.randrange(8)
        if choice < 4 or depth == 0:
            if r.random() < 0.5:
                self.declare(kind, self.expression(kind, 3))
            else:
                self.emit("%s = (%s)(%s);" % (self.pick(kind), TYPES[kind], self.expression(kind, 3)))
            return
        saved = {t: list(v) for t, v in self.variables.items()}
        if choice == 4:
            self.emit("if %s {" % self.condition(2))
        elif choice == 5:
            self.emit("for (uint32_t k%d = 0; k%d < (%s & 7u); ++k%d) {" % (self.next, self.next, self.pick("u32"), self.next))
            self.next += 1
        elif choice == 6:
            self.emit("t[%s & 15u] = %s;" % (self.pick("u32"), self.expression("u32", 2)))
            self.emit("%s ^= t[%s & 15u];" % (self.pick("u32"), self.expression("u32", 1)))
            return
        else:
            self.emit("switch (%s & 3u) {" % self.pick("u32"))
            for value in range(3):
                self.emit("case %d: {" % value)
                self.block(depth - 1, 2)
                self.emit(r.choice(["break; }", "}  // falls through" if value < 2 else "break; }"]))
                self.variables = {t: list(v) for t, v in saved.items()}
            self.emit("}")
            return
        self.block(depth - 1, 3)
        self.emit("}")
        self.variables = saved

    def block(self, depth, count):
        self.depth += 1
        for _ in range(self.rng.randrange(1, count + 1)):
            self.statement(depth)
        self.depth -= 1

    def write(self):
        print("CASE(%s) {" % self.name)
        self.emit("uint32_t t[16];")
        self.emit("for (uint32_t k = 0; k < 16; ++k) t[k] = IN(k + 20u);")
        for k, kind in enumerate(TYPES):
            for copy in range(2):
                at = 3 * k + copy * 17
                if kind == "f32":
                    value = "AsFloat((IN(%d) & 0x83ffffffu) | 0x3c000000u)" % at
                elif kind == "f64":
                    value = "AsDouble((IN64(%d) & 0x803fffffffffffffu) | 0x3fc0000000000000u)" % at
                else:
                    value = "IN64(%d)" % at if kind == "u64" else "IN(%d)" % at
                self.declare(kind, value)
        for _ in range(14):
            self.statement(2)
        self.emit("uint32_t h = 0;")
        self.emit("for (uint32_t k = 0; k < 16; ++k) h = h * 31u + t[k];")
        words = [
            "(uint32_t)%s ^ (uint32_t)%s << 16" % (self.pick("u8"), self.pick("u16")), self.pick("u32"),
            "(uint32_t)(%s >> 32)" % self.pick("u64"), "(uint32_t)%s" % self.pick("u64"),
            "FloatBits(%s)" % self.variables["f32"][-1],
            "(uint32_t)(DoubleBits(%s) >> 32)" % self.variables["f64"][-1], "(uint32_t)DoubleBits(%s)" % self.variables["f64"][-1], "h"
        ]
        for k, word in enumerate(words):
            self.emit("out[%d] = %s;" % (k, word))
        print("\n".join(self.lines))
        print("}\n")


def main():
    seed, count = int(sys.argv[1]), int(sys.argv[2])
    print("// Generated by random_cases.py %d %d." % (seed, count))
    for i in range(count):
        Function(random.Random(seed * 1000003 + i), "Random%d" % i).write()


main()
