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
    # t = x / (x + 2) - 1/2
    x = (1 + 2 * t) / (mpf("0.5") - t)
    return mp.erfc(x) * mp.exp(x * x) * (x + 2)


def t_of(x):
    return mpf(x) / (mpf(x) + 2) - mpf("0.5")


def lgamma_q(t):
    return mp.loggamma(2 + t) / t


DIGAMMA_ROOT = mp.findroot(mp.digamma, mpf("1.4616"))


def digamma_q(x):
    d = x - DIGAMMA_ROOT
    return mp.polygamma(1, DIGAMMA_ROOT) if abs(d) < mpf(10) ** -25 else mp.digamma(x) / d


def erfcinv_of(w):
    """z with erfc(z) = y, where y (2 - y) = e^-w."""
    y = mp.exp(-w) / (1 + mp.sqrt(-mp.expm1(-w)))
    z = mp.sqrt(w) if w > 1 else mp.erfinv(1 - y)
    for _ in range(100):
        # Newton on log erfc
        e = mp.erfc(z)
        step = (mp.log(e) - mp.log(y)) * e * mp.sqrt(mp.pi) / 2 * mp.exp(z * z)
        z += step
        if abs(step) < mpf(10) ** -50 * z:
            return z
    raise ValueError("no root")


def erfinv_q(u):
    w = u + mpf("3.125")
    if abs(w) < mpf(10) ** -18:
        return mp.sqrt(mp.pi) / 2
    return erfcinv_of(w) / mp.sqrt(-mp.expm1(-w))


def erfinv_middle_q(u):
    return erfcinv_of((u + 4) ** 2) / (u + 4)


def erfinv_tail_q(t):
    s = 12 * (1 + t) / (1 - t)
    return erfcinv_of(s * s) / s


def s_of(s):
    return (mpf(s) - 12) / (mpf(s) + 12)


def bessel_large(order):
    # Their relative error is that of e^-x sqrt(x) I(x), which tends to 1/sqrt(2 pi).
    def f(v):
        x = 1 / (v + mpf("0.0625"))
        return mp.sqrt(x) * mp.exp(-x) * mp.besseli(order, x)

    return f


ROWS = [
    # name, what it is, function, weight relative to the result, interval (its end for f64 where that differs)
    ("Expm1", "(e^r - 1 - r) / r^2, |r| <= 0.36", lambda r: (mp.expm1(r) - r) / r**2,
     lambda r: r * r / mp.expm1(r), mpf("-0.36"), mpf("0.36")),
    ("Sinh", "(sinh x - x) / x^3 in x^2, |x| <= 1", sinh_q, lambda z: z, mpf(0), mpf(1)),
    ("Atan", "(atan x - x) / x^3 in x^2, |x| <= 0.4143", atan_q, lambda z: z, mpf(0), mpf("0.4143") ** 2),
    ("Asin", "(asin x - x) / x^3 in x^2, |x| <= 0.5", asin_q, lambda z: z, mpf(0), mpf("0.25")),
    ("Erf", "erf x / x - 1 in x^2, |x| <= 1", erf_q, lambda z: mpf(1), mpf(0), mpf(1)),
    ("Erfcx", "(x + 2) e^(x^2) erfc x in x / (x + 2) - 1/2, 0 <= x <= 10.6 (f64: 28)", erfcx_q,
     lambda t: 1 / erfcx_q(t), t_of(0), t_of("10.6"), t_of(28)),
]

# Functions that are computed in f64 for f32 too.
WIDE_ROWS = [
    ("Lgamma", "log gamma(2 + t) / t, -0.5 <= t <= 1", lgamma_q, lambda t: 1 / lgamma_q(t), mpf("-0.5"), mpf(1)),
    ("Digamma", "digamma(x) / (x - root) in x - 1.5, 1 <= x <= 2", lambda u: digamma_q(u + mpf("1.5")),
     lambda u: 1 / digamma_q(u + mpf("1.5")), mpf("-0.5"), mpf("0.5")),
    ("Erfinv", "erfinv(x) / x in w - 3.125, w = -log(1 - x^2) <= 6.25", erfinv_q, lambda u: 1 / erfinv_q(u), mpf("-3.125"),
     mpf("3.125")),
    ("ErfinvMiddle", "erfinv(x) / s in s - 4, s^2 = -log(1 - x^2), 2.5 <= s <= 6", erfinv_middle_q,
     lambda u: 1 / erfinv_middle_q(u), mpf("-1.5"), mpf(2)),
    ("ErfinvTail", "erfinv(x) / s in (s - 12) / (s + 12), 6 <= s <= 27.3", erfinv_tail_q, lambda t: 1 / erfinv_tail_q(t),
     s_of(6), s_of("27.3")),
    ("BesselI0", "I0(x) in x^2 / 4, |x| <= 8", lambda z: mp.besseli(0, 2 * mp.sqrt(z)),
     lambda z: 1 / mp.besseli(0, 2 * mp.sqrt(z)), mpf(0), mpf(16)),
    ("BesselI0Large", "e^-x sqrt(x) I0(x) in 1 / x - 1 / 16, x >= 8", bessel_large(0), lambda v: 1 / bessel_large(0)(v),
     mpf("-0.0624"), mpf("0.0625")),
    ("BesselI1", "2 I1(x) / x in x^2 / 4, |x| <= 8", lambda z: mp.besseli(1, 2 * mp.sqrt(z)) / mp.sqrt(z),
     lambda z: mp.sqrt(z) / mp.besseli(1, 2 * mp.sqrt(z)), mpf(0), mpf(16)),
    ("BesselI1Large", "e^-x sqrt(x) I1(x) in 1 / x - 1 / 16, x >= 8", bessel_large(1), lambda v: 1 / bessel_large(1)(v),
     mpf("-0.0624"), mpf("0.0625")),
]


def main():
    print("// SPDX-License-Identifier: Apache-2.0")
    print("// Made by fit_math.py: coefficients from the constant term up, and the error of the fit relative to the")
    print("// function it serves.")
    rows = [(row, (("F32", 27.5), ("F64", 57))) for row in ROWS] + [(row, (("F64", 57),)) for row in WIDE_ROWS]
    for (name, what, f, weight, lo, *ends), types in rows:
        for suffix, bits in types:
            c, worst = least(f, weight, lo, ends[0] if suffix == "F32" else ends[-1], bits)
            print(f"// {what}: 2^{mp.nstr(mp.log(worst, 2), 4)}")
            print(f"constexpr double k{name}{suffix}[] = {{")
            print(",\n".join("    " + float(k).hex() for k in c) + "};")


if __name__ == "__main__":
    main()
