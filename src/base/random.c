#include "base/random.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

/* Salmon et al. 2011, table 2 and section 4.3: Philox4x32-10. */
static const uint32_t multiplier[2] = {0xD2511F53u, 0xCD9E8D57u};
static const uint32_t weyl[2] = {0x9E3779B9u, 0xBB67AE85u};

void airy_random_block(uint32_t out[4], uint64_t seed, uint64_t stream, uint64_t counter)
{
    uint32_t c0 = (uint32_t)counter, c1 = (uint32_t)(counter >> 32);
    uint32_t c2 = (uint32_t)stream, c3 = (uint32_t)(stream >> 32);
    uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);
    for (int round = 0; round < 10; round++) {
        const uint64_t a = (uint64_t)multiplier[0] * c0, b = (uint64_t)multiplier[1] * c2;
        c0 = (uint32_t)(b >> 32) ^ c1 ^ k0;
        c1 = (uint32_t)b;
        c2 = (uint32_t)(a >> 32) ^ c3 ^ k1;
        c3 = (uint32_t)a;
        k0 += weyl[0];
        k1 += weyl[1];
    }
    out[0] = c0;
    out[1] = c1;
    out[2] = c2;
    out[3] = c3;
}

/* Uniform in (0, 1) in steps of 2^-52, both ends excluded, no rounding. */
static double unit52(uint32_t high, uint32_t low)
{
    const uint64_t word = (uint64_t)high << 32 | low;
    return ((double)(word >> 12) + 0.5) * 0x1p-52;
}

/*
 * ln 2 = high + low; high has 33 significant bits, so that its product with an exponent is exact.
 */
static const double ln2_high = 0x1.62e42feep-1, ln2_low = 0x1.a39ef35793c76p-33;

static double from_bits(uint64_t bits)
{
    double v;
    memcpy(&v, &bits, sizeof(v));
    return v;
}

/*
 * exp(x), -700 < x <= 0: Taylor series of degree 13 for |r| <= ln(2) / 2, remainder below r^14 /
 * 14! = 4.2e-18.
 */
static double exp_exact(double x)
{
    const double n = floor(x * 1.4426950408889634 + 0.5);
    const double r = (x - n * ln2_high) - n * ln2_low, r2 = r * r, r4 = r2 * r2;
    const double a = 1 + r + r2 * (1.0 / 2 + r * (1.0 / 6));
    const double b = 1.0 / 24 + r * (1.0 / 120) + r2 * (1.0 / 720 + r * (1.0 / 5040));
    const double c = 1.0 / 40320 + r * (1.0 / 362880) + r2 * (1.0 / 3628800 + r * (1.0 / 39916800));
    const double d = 1.0 / 479001600 + r * (1.0 / 6227020800);
    return (a + r4 * (b + r4 * (c + r4 * d))) * from_bits((uint64_t)(1023 + (int)n) << 52);
}

/*
 * ln(x), x a normal positive number: x = 2^e m with m in [sqrt(1/2), sqrt(2)), ln m = 2 atanh(f),
 * f = (m - 1) / (m + 1),
 * |f| <= 0.1716: the first term left out is 2 f^25 / 25 < 6e-21.
 */
static double log_exact(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof(bits));
    int e = (int)(bits >> 52) - 1023;
    double m = from_bits((bits & 0xfffffffffffffu) | (uint64_t)1023 << 52);
    if (m > 1.4142135623730951) {
        m *= 0.5;
        e++;
    }
    const double f = (m - 1) / (m + 1), square = f * f;
    static const double inverse[] = {1.0 / 3,  1.0 / 5,  1.0 / 7,  1.0 / 9,  1.0 / 11, 1.0 / 13,
                                     1.0 / 15, 1.0 / 17, 1.0 / 19, 1.0 / 21, 1.0 / 23};
    double sum = 0;
    for (int i = 10; i >= 0; i--)
        sum = square * (inverse[i] + sum);
    return e * ln2_high + (2 * f * (1 + sum) + e * ln2_low);
}

/*
 * k ln(k / mean) + mean - k without cancellation near k = mean.
 * Source: C. Loader, "Fast and accurate computation of binomial probabilities" (2000), section 3,
 *         D_0.
 */
static double deviance(double k, double mean)
{
    if (fabs(k - mean) > 0.1 * (k + mean))
        return k * log_exact(k / mean) + mean - k;
    const double v = (k - mean) / (k + mean), square = v * v;
    double sum = (k - mean) * v, term = 2 * k * v;
    /* |v| <= 0.1: ten terms leave 1e-20 of the sum. */
    for (int i = 3; i <= 21; i += 2) {
        term *= square;
        sum += term / i;
    }
    return sum;
}

/*
 * ln of the probability of k; below 16 from the factorial itself, above by Stirling's series
 * (error < 1e-14).
 */
static double log_probability(double k, double mean)
{
    if (k < 16) {
        double factorial = 1;
        for (int i = 2; i <= (int)k; i++)
            factorial *= i;
        return k * log_exact(mean) - mean - log_exact(factorial);
    }
    const double two_pi = 6.283185307179586;
    const double s = 1 / (k * k);
    const double stirling =
        (1.0 / 12 - s * (1.0 / 360 - s * (1.0 / 1260 - s * (1.0 / 1680 - s / 1188)))) / k;
    return -deviance(k, mean) - stirling - 0.5 * log_exact(two_pi * k);
}

static uint64_t invert(double mean, double u)
{
    double p = exp_exact(-mean);
    uint64_t k = 0;
    /*
     * The probability of more than 255 at mean 30 is below 1e-130: only rounding could get there.
     */
    while (u > p && k < 255) {
        u -= p;
        k++;
        p *= mean / (double)k;
    }
    return k;
}

/* One attempt of algorithm PTRS, Hoermann 1993, p. 43: true if k is taken. */
static bool attempt(double *k, double mean, const uint32_t words[4])
{
    const double b = 0.931 + 2.53 * sqrt(mean);
    const double a = -0.059 + 0.02483 * b;
    const double u = unit52(words[0], words[1]) - 0.5, v = unit52(words[2], words[3]);
    const double us = 0.5 - fabs(u);
    *k = floor((2 * a / us + b) * u + mean + 0.43);
    if (us >= 0.07 && v <= 0.9277 - 3.6224 / (b - 2))
        return true;
    if (*k < 0 || (us < 0.013 && v > us))
        return false;
    const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
    return log_exact(v * inverse_alpha / (a / (us * us) + b)) <= log_probability(*k, mean);
}

uint64_t airy_random_poisson(double mean, uint64_t seed, uint64_t stream, uint64_t counter)
{
    uint32_t words[4];
    if (!(mean > 0))
        return 0;
    airy_random_block(words, seed, stream, counter);
    if (mean < 30)
        return invert(mean, unit52(words[0], words[1]));
    if (mean > 0x1p53)
        mean = 0x1p53;
    double k = 0;
    /*
     * Attempts are told apart in the counter's top byte. One in seven or fewer fails, so 256
     * failures in a row do not happen.
     */
    for (uint64_t i = 1; !attempt(&k, mean, words); i++) {
        if (i == 256)
            return (uint64_t)mean;
        airy_random_block(words, seed, stream, counter | i << 56);
    }
    return (uint64_t)k;
}
