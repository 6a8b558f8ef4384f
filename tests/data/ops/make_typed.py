# SPDX-License-Identifier: Apache-2.0
"""The operations of all other vectors in the element types that those do not have: writes ../typed/*.json.zst.

Runs the make_*.py that are beside it and in ../nn and ../tensor_families, which tell of each case what PyTorch is asked. For every
type that an operation has no vector in, the inputs of its first fitting case are converted to the type and PyTorch is asked again:

* floats: computed in f64, rounded to the type once. What the type of a result is, PyTorch says in that type (for 8-bit floats, in which
  it does not compute: in f16). In f16, bf16 and f32 PyTorch's own result must be near.
* bool, u8, i8, i16, i32, i64: PyTorch's result in the type; floats that an integer gives are computed in f64 and rounded to f32. What
  PyTorch lacks for a type is exact arithmetic where f64 gives integers: they wrap; of bool, what is not 0 is true.
* u16, u32, u64 (which PyTorch stores and hardly computes with): PyTorch's result in i64, which wraps as the types do; of u8 it must
  give PyTorch's result in u8. Sums and products answer in u64, as NumPy's.

Needs torch 2.5.1, numpy, einops 0.8.2, mpmath 1.3.0 and the command zstd. A case that has no such answer is left out; --left-out lists
the pairs.
"""
import json
import os
import re
import runpy
import subprocess
import sys
import warnings

import numpy as np
import torch

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.path.dirname(HERE)
sys.path.insert(0, os.path.join(DATA, "nn"))
import vectors  # noqa: E402

warnings.simplefilter("ignore")
np.seterr(all="ignore")
TYPES = {"bool": torch.bool, "i8": torch.int8, "i16": torch.int16, "i32": torch.int32, "i64": torch.int64, "u8": torch.uint8, "u16": torch.uint16,
         "u32": torch.uint32, "u64": torch.uint64, "f8e4m3": torch.float8_e4m3fn, "f8e5m2": torch.float8_e5m2, "f16": torch.float16,
         "bf16": torch.bfloat16, "f32": torch.float32, "f64": torch.float64}
NAMES = {t: name for name, t in TYPES.items()}
vectors.NAMES.update(NAMES)
UNSIGNED = {"u16": 16, "u32": 32, "u64": 64}
EIGHT = ("f8e4m3", "f8e5m2")
SCRIPTS = [os.path.join(DATA, "nn", f"make_{n}.py") for n in ("attention", "conv", "decomposition", "embedding", "interpolate", "linalg", "loss", "norm", "pool")]
SCRIPTS += [os.path.join(HERE, f"make_{n}.py") for n in ("elementwise", "dtypes", "core", "special", "movement")]
SCRIPTS += [os.path.join(DATA, "tensor_families", "make_vectors.py")]
# A unit in the last place of 1.
ULP = {"f8e4m3": 2.0**-3, "f8e5m2": 2.0**-2, "f16": 2.0**-10, "bf16": 2.0**-7, "f32": 2.0**-23, "f64": 0.0}
# f32 is computed in f32, with sums in another order; what is narrower is rounded once at the end (but for chains of functions).
TOLERANCE = dict(ULP, f32=8e-6)
CHAINS = {"mha": 4}
# What depends on the type itself, not on the numbers alone.
IN_THE_TYPE = {"nan_to_num"}
# Answers in the wide type of the sign: as NumPy's of unsigned integers.
WIDE = {"trace", "sum", "prod", "cumsum", "cumprod", "nansum", "sum_method", "prod_method", "einops_reduce_sum", "einops_reduce_prod"}
# Floats of integers, where PyTorch has none for them: f32.
FLOAT_OF_INTEGERS = {"hypot", "logaddexp", "logaddexp2", "leaky_relu", "rrelu_eval", "elu", "celu", "selu", "gelu", "gelu_tanh", "quick_gelu",
                     "softplus", "softplus_beta", "softsign", "hardsigmoid", "hardswish", "hardshrink", "softshrink", "mvlgamma", "trapezoid",
                     "cumulative_trapezoid", "log_sigmoid", "mish", "silu", "relu6"}
# Not asked of integers: of floats alone. (PyTorch takes integers in a few of them, some losses and distances; here they are refused by
# name. Others truncate an argument to the type there, 1.5 to 1.)
FLOATS_ALONE = set("""
    masked_fill lerp lerp_number nanmean mean var std softmax log_softmax logcumsumexp histc vector_norm inverse det slogdet solve_triangular qr
    svdvals svd_signless svd_product avg_pool1d avg_pool2d avg_pool3d adaptive_avg_pool1d lp_pool1d lp_pool2d lp_pool3d local_response_norm
    normalize cosine_similarity pairwise_distance cdist gumbel_softmax sdpa mse l1 smooth_l1 nll bce kl_div poisson_nll gaussian_nll
    hinge_embedding margin_ranking cosine_embedding triplet_margin multi_margin embedding_bag embedding_bag_offsets embedding_bag_weighted
    grid_sample hardtanh threshold addcmul
""".split())
NO_BOOL = {"frac", "remainder", "fmod", "pow", "relu", "abs", "floor_div", "trunc_div", "sub", "mod", "relu6", "cross", "scatter_reduce",
           "trapezoid", "cumulative_trapezoid"}
INTEGERS_ALONE = {"bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_not", "shl", "shr"}
# Answers in i64 and takes nothing else in PyTorch.
OF_POSITIONS = {"one_hot"}
# Of floats, whose constants are not of the type of the input.
OWN_CONSTANTS = {"svd_product"}
# What has another type in PyTorch: f64 of narrow weights.
OTHER_TYPE = {"bincount"}
LIMIT = 200  # elements of a case


def TypeOf(inputs):
    return next((x.dtype for x in inputs if x.is_floating_point()), inputs[0].dtype)


def Lists(x):
    return list(x) if isinstance(x, (list, tuple)) else [x]


def Convert(x, name):
    t = TYPES[name]
    v = x.detach().double()
    if t.is_floating_point:
        # 8-bit floats have no infinity or a low one: what is finite stays finite.
        return (torch.where(v.isfinite(), v.clamp(-240, 240), v) if name in EIGHT else v).to(t)
    if name == "bool":
        return v > 0 if x.is_floating_point() else v != 0
    v = torch.where(v.isfinite(), v * 3 if x.is_floating_point() else v, torch.ones_like(v)).round()
    return (v.abs().clamp(0, 100) if name[0] == "u" else v.clamp(-100, 100)).to(torch.int64).to(t)


def Ranks(x, name):
    """The order of distinct numbers, where a conversion would make some equal."""
    order = torch.argsort(torch.argsort(x.detach().double().reshape(-1)))
    return (order - (0 if name[0] == "u" else x.numel() // 2)).reshape(x.shape).to(TYPES[name])


def Distinct(x):
    return torch.unique(x.double()).numel()


def Wide(x):
    return x.double() if x.is_floating_point() or x.dtype == torch.bool else x


def Ask(f, inputs):
    try:
        return Lists(f(*[x.clone() for x in inputs]))
    except Exception:  # noqa: BLE001: whatever PyTorch refuses it with
        return None


def Exact(outs, name):
    """Integers in f64 as the type holds them: wrapped, or what is not 0."""
    answers = []
    for o in outs:
        if o.dtype != torch.float64:
            answers.append(o)
            continue
        if not bool((o.isfinite() & (o == o.round()) & (o.abs() < 2.0**53)).all()):
            return None
        if name == "bool":
            if bool((o < 0).any()):
                return None
            answers.append(o != 0)
        else:
            answers.append(Wrapped(o.to(torch.int64), name))
    return answers


def Wrapped(x, name):
    if name in UNSIGNED:
        bits = UNSIGNED[name]
        return torch.from_numpy(x.numpy().astype(f"uint{bits}"))
    return x.to(TYPES[name])


def Near(a, b, tolerance):
    if a.shape != b.shape:
        return False
    a, b = a.double(), b.double()
    same = (a == b) | (a.isnan() & b.isnan()) | ((a - b).abs() <= tolerance * b.abs().clamp(min=1))
    return bool(same.all())


def OfFloats(op, f, inputs, name):
    direct = Ask(f, [x.to(torch.float16) if NAMES.get(x.dtype) in EIGHT else x for x in inputs])
    if op in IN_THE_TYPE:
        return None if name in EIGHT else direct
    wide = Ask(f, [Wide(x) if x.is_floating_point() else x for x in inputs])
    if wide is None:
        return None
    if direct is None or op in OWN_CONSTANTS:
        if name == "f32":
            return None
        types = [TYPES[name] if o.dtype == torch.float64 else o.dtype for o in wide]
    else:
        types = [TYPES[name] if name in EIGHT and o.dtype == torch.float16 else o.dtype for o in direct]
    answers = [o.to(t) for o, t in zip(wide, types)]
    if direct is not None and name not in EIGHT and op not in OWN_CONSTANTS:
        # PyTorch rounds between the steps of a composition.
        if not all(Near(d, a, 16 * ULP.get(NAMES[d.dtype], 0)) for d, a in zip(direct, answers)):
            return None
    return answers


def OfIntegers(op, f, inputs, name):
    """Inputs of PyTorch's integer types and bool."""
    if op in OF_POSITIONS:
        return None if name == "bool" else Ask(f, [x.to(torch.int64) for x in inputs])
    direct = Ask(f, inputs)
    if direct is not None and op in ("any", "all") and name == "u8":
        direct = [o.bool() for o in direct]  # PyTorch keeps u8, as before it had bool
    wide = Ask(f, [Wide(x) if x.is_floating_point() else x.double() if NAMES[x.dtype] == name else x for x in inputs])
    if direct is None:
        if wide is None:
            return None
        if op in FLOAT_OF_INTEGERS:
            return [w.float() if w.dtype == torch.float64 else w for w in wide]
        return Exact(wide, "i64" if op in WIDE else name)
    if any(o.is_floating_point() for o in direct):
        if wide is None or not all(Near(d, w, 1e-4) for d, w in zip(direct, wide)):
            return None
        return [w.to(d.dtype) if d.is_floating_point() else d for d, w in zip(direct, wide)]
    return direct


def OfUnsigned(op, f, inputs, name):
    if op in OF_POSITIONS:
        return Ask(f, [x.to(torch.int64) for x in inputs])

    def As(t):
        return [x.to(torch.int64).to(t) if NAMES[x.dtype] == name else x for x in inputs]

    bytes_, wide = OfIntegers(op, f, As(torch.uint8), "u8"), OfIntegers(op, f, As(torch.int64), "i64")
    if wide is None:
        return None
    answers = []
    for k, o in enumerate(wide):
        if o.dtype != torch.int64:
            if bytes_ is not None and not Near(bytes_[k], o, 1e-6):
                return None
            answers.append(o)
            continue
        of_type = op in WIDE or bytes_ is None or bytes_[k].dtype == torch.uint8
        if bytes_ is not None and not torch.equal(Wrapped(o, "u8"), bytes_[k].to(torch.uint8)):
            return None
        answers.append(Wrapped(o, "u64" if op in WIDE else name) if of_type else o)
    return answers


def Answer(op, f, inputs, name):
    if op in (INTEGERS_ALONE if TYPES[name].is_floating_point else FLOATS_ALONE):
        return None
    if op == "bitcast":
        return None  # pairs of types of one width, which core.json has
    if name == "bool" and op in NO_BOOL:
        return None
    if op in OTHER_TYPE and TYPES[name].is_floating_point and name not in ("f32", "f64"):
        return None
    # The sign of a NaN is not in a vector.
    if op in ("signbit", "copysign") and any(x.is_floating_point() and x.double().isnan().any() for x in inputs):
        return None
    if TYPES[name].is_floating_point:
        return OfFloats(op, f, inputs, name)
    if name in UNSIGNED:
        return OfUnsigned(op, f, inputs, name)
    answers = OfIntegers(op, f, inputs, name)
    if answers is not None and name == "u8" and op in WIDE:
        answers = [Wrapped(o, "u64") if o.dtype == torch.int64 else o for o in answers]
    return answers


def Titles():
    """The family of each file of vectors, from the table that the tests read."""
    text = open(os.path.join(DATA, "..", "src", "tensor", "calls", "calls.cc")).read()
    return {os.path.basename(file): title for title, file in re.findall(r'\{"([^"]+)", "tests/data/(?!typed)([^"]+)"', text)}


def Known(titles):
    """(family, operation) -> types that it has vectors with elements in."""
    known = {}
    for folder in ("nn", "ops", "tensor_families"):
        for file in os.listdir(os.path.join(DATA, folder)):
            if file not in titles:
                continue
            for c in json.load(open(os.path.join(DATA, folder, file))):
                have = known.setdefault((titles[file], c["op"]), set())
                if all(x["v"] for x in c["in"] + c["out"]):
                    floats = [x["t"] for x in c["in"] if x["t"][0] in "fb" and x["t"] != "bool"]
                    have.add(floats[0] if floats else c["in"][0]["t"] if c["in"] else c["out"][0]["t"])
    return known


told = {}  # (writer, op, type) -> case
operations = {}  # (writer, op) -> whether a case of floats was seen
writers = []


def Listen(writer, op, inputs, f, args):
    if writer not in writers:
        writers.append(writer)
    if not inputs or any(x.numel() == 0 for x in inputs):
        return
    frm = TypeOf(inputs)
    if NAMES.get(frm) in UNSIGNED:
        return  # NumPy's
    key = (writers.index(writer), op)
    wide = frm in (torch.float32, torch.float64)
    if frm.is_floating_point and not wide or (operations.get(key) and not wide):
        return
    if wide and not operations.get(key):
        # What integers gave before is replaced.
        for name in TYPES:
            told.pop(key + (name,), None)
    operations[key] = wide
    for name in TYPES:
        if key + (name,) in told:
            continue
        mine = [x.dtype == frm or (wide and x.is_floating_point()) for x in inputs]
        typed = [Convert(x, name) if m else x for x, m in zip(inputs, mine)]
        probe = Ask(f, inputs)
        if probe is None or any(o.numel() == 0 for o in probe) or sum(x.numel() for x in list(inputs) + probe) > LIMIT:
            continue
        indices = any(o.dtype == torch.int64 for o in probe) and wide
        if indices and any(m and Distinct(x) == x.numel() and Distinct(t) < x.numel() for m, x, t in zip(mine, inputs, typed)):
            typed = [Ranks(x, name) if m else x for x, m in zip(inputs, mine)]
            if any(m and Distinct(t) < x.numel() for m, x, t in zip(mine, inputs, typed)):
                continue
        answers = Answer(op, f, typed, name)
        if answers is None or any(o.dtype not in NAMES or o.numel() == 0 for o in answers):
            continue
        if any(o.dtype in (torch.int64, torch.uint64) and (o.double().abs() >= 2.0**53).any() for o in answers):
            continue
        tolerance = max([1e-9] + [TOLERANCE.get(NAMES[o.dtype], 0) for o in answers]) * CHAINS.get(op, 1)
        told[key + (name,)] = {"name": f"{op}_{name}", "op": op, "args": args, "in": [vectors.Dump(x) for x in typed],
                               "out": [vectors.Dump(o) for o in answers], "tol": tolerance, "own_types": True}


def main():
    titles = Titles()
    known = Known(titles)
    vectors.LISTENERS.append(Listen)
    for script in SCRIPTS:
        print(os.path.basename(script), file=sys.stderr)
        argv, sys.argv = sys.argv, [script]
        try:
            runpy.run_path(script, run_name="__main__")
        except SystemExit:
            pass
        sys.argv = argv
    files, count = {}, 0
    for (at, op, name), case in told.items():
        w = writers[at]
        file = (w if isinstance(w, str) else w.file.replace(".json", "")) + ".json"
        if name in known[(titles[file], op)]:
            continue
        known[(titles[file], op)].add(name)
        files.setdefault(file, []).append(case)
        count += 1
    os.makedirs(os.path.join(DATA, "typed"), exist_ok=True)
    total = 0
    for file, cases in files.items():
        text = "[\n" + ",\n".join(json.dumps(c, separators=(",", ":")) for c in cases) + "\n]\n"
        path = os.path.join(DATA, "typed", file + ".zst")
        subprocess.run(["zstd", "-q", "-f", "--ultra", "-22", "-", "-o", path], input=text.encode(), check=True)
        total += os.path.getsize(path)
        print(file, len(cases), "cases,", len(text), "bytes,", os.path.getsize(path), "compressed")
    print(count, "cases,", total, "bytes")
    if "--left-out" in sys.argv:
        for (title, op), have in sorted(known.items()):
            print(title, op, " ".join(t for t in TYPES if t not in have))


if __name__ == "__main__":
    main()
