# SPDX-License-Identifier: Apache-2.0
"""Prints math_coefficients.inc: the polynomials of src/tensor/math.cc.

Each is the interpolant at Chebyshev nodes (within a small factor of the minimax error) of the least degree
whose error, relative to the function that it serves, is below 2^-27.5 for f32 and 2^-57 for f64. Needs
mpmath 1.3.0. Run: python3 src/tensor/fit_math.py > src/tensor/math_coefficients.inc
"""
from mpmath import lu_solve, matrix, mp, mpf

mp.dps = 60


def series(f, at, order):
    """f, with its removable singularity at 0 replaced by nearby points."""
    return f(at if at != 0 else mpf(10) ** -20)


def fit(f, lo, hi, degree):
    n = degree + 1
    xs = [(lo + hi) / 2 + (hi - lo) / 2 * mp.cos(mp.pi * (2 * k + 1) / (2 * n)) for k in range(n)]
    a = matrix(n, n)
    b = matrix(n, 1)
    for i, x in enumerate(xs):
        p = mpf(1)
        for j in range(n):
            a[i, j] = p
            p *= x
        b[i] = series(f, x, n)
    return list(lu_solve(a, b))


def value(c, x):
    r = mpf(0)
    for k in reversed(c):
        r = r * x + k
    return r


def least(f, weight, lo, hi, bits):
    for degree in range(1, 40):
        c = fit(f, lo, hi, degree)
        worst = mpf(0)
        for k in range(400):
            x = lo + (hi - lo) * (mpf(k) + mpf("0.5")) / 400
            worst = max(worst, abs((value(c, x) - series(f, x, 0)) * series(weight, x, 0)))
        if worst < mpf(2) ** -bits:
            return c, worst
    raise ValueError("no degree below 40 is enough")


def atan_q(z):
    x = mp.sqrt(z)
    return (mp.atan(x) - x) / (x * z)


def asin_q(z):
    x = mp.sqrt(z)
    return (mp.asin(x) - x) / (x * z)


def sinh_q(z):
    x = mp.sqrt(z)
    return (mp.sinh(x) - x) / (x * z)


def erf_q(z):
    x = mp.sqrt(z)
    return mp.erf(x) / x - 1


def erfcx_q(t):
    # t = (x - 2) / (x + 2)
    x = 2 * (1 + t) / (1 - t)
    return mp.erfc(x) * mp.exp(x * x) * (1 + 2 * x)


def t_of(x):
    return (mpf(x) - 2) / (mpf(x) + 2)


ROWS = [
    # name, what it is, function, weight relative to the result, interval
    ("Expm1", "(e^r - 1 - r) / r^2, |r| <= 0.36", lambda r: (mp.expm1(r) - r) / r**2,
     lambda r: r * r / mp.expm1(r), mpf("-0.36"), mpf("0.36")),
    ("Sinh", "(sinh x - x) / x^3 in x^2, |x| <= 1", sinh_q, lambda z: z, mpf(0), mpf(1)),
    ("Atan", "(atan x - x) / x^3 in x^2, |x| <= 0.4143", atan_q, lambda z: z, mpf(0), mpf("0.4143") ** 2),
    ("Asin", "(asin x - x) / x^3 in x^2, |x| <= 0.5", asin_q, lambda z: z, mpf(0), mpf("0.25")),
    ("Erf", "erf x / x - 1 in x^2, |x| <= 1", erf_q, lambda z: mpf(1), mpf(0), mpf(1)),
    ("Erfcx", "(1 + 2 x) e^(x^2) erfc x in (x - 2) / (x + 2), 0.5 <= x <= 28", erfcx_q,
     lambda t: 1 / erfcx_q(t), t_of("0.49"), t_of(28)),
]


def main():
    print("// SPDX-License-Identifier: Apache-2.0")
    print("// Made by fit_math.py: coefficients from the constant term up, and the error of the fit relative to the")
    print("// function it serves.")
    for name, what, f, weight, lo, hi in ROWS:
        for suffix, bits in (("F32", 27.5), ("F64", 57)):
            c, worst = least(f, weight, lo, hi, bits)
            print(f"// {what}: 2^{mp.nstr(mp.log(worst, 2), 4)}")
            print(f"constexpr double k{name}{suffix}[] = {{")
            print(",\n".join("    " + float(k).hex() for k in c) + "};")


main()
