#include <float.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "airy/random.h"
#include "base/cgroup.h"
#include "base/md5.h"
#include "base/cpu.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/numa.h"
#include "base/number.h"
#include "base/random.h"
#include "base/size.h"
#include "base/thread.h"
#include "base/word.h"
#include "check_core.h"
#include "cli/words.h"
#include "core/profile.h"

static void check_names(struct check *c)
{
    if (!check_case(c, "status_names"))
        return;
    CHECK(c, strcmp(airy_status_name(AIRY_OK), "AIRY_OK") == 0);
    CHECK(c, strcmp(airy_status_name(AIRY_ERR_MEMORY), "AIRY_ERR_MEMORY") == 0);
    CHECK(c, strcmp(airy_status_name(AIRY_ERR_CANCELLED), "AIRY_ERR_CANCELLED") == 0);
    CHECK(c, strcmp(airy_status_name(AIRY_ERR_TIMED_OUT), "AIRY_ERR_TIMED_OUT") == 0);
    CHECK(c, strcmp(airy_status_name(AIRY_ERR_ENDED), "AIRY_ERR_ENDED") == 0);
    CHECK(c, strcmp(airy_status_name((airy_status)-99), "AIRY_ERR_?") == 0);
    static const airy_status of_frame[] = {AIRY_ERR_CORRUPT, AIRY_ERR_IO, AIRY_ERR_FORMAT,
                                           AIRY_ERR_NOT_FOUND, AIRY_ERR_UNWRITTEN};
    size_t count = 0;
    for (int s = AIRY_ERR_ENDED - 9; s <= 9; s++)
        count += airy_status_is_of_frame((airy_status)s);
    CHECK(c, count == sizeof(of_frame) / sizeof(of_frame[0]));
    for (size_t i = 0; i < sizeof(of_frame) / sizeof(of_frame[0]); i++)
        CHECK(c, airy_status_is_of_frame(of_frame[i]));
    CHECK(c, strcmp(airy_status_name((airy_status)2), "AIRY_ERR_?") == 0);
    char version[32];
    snprintf(version, sizeof(version), "%d.%d.%d", AIRY_VERSION_MAJOR, AIRY_VERSION_MINOR,
             AIRY_VERSION_PATCH);
    CHECK(c, strcmp(airy_version(), version) == 0);
    CHECK(c, strstr(airy_build_info(), "hdf5") && strstr(airy_build_info(), airy_cpu_name()));
}

struct pair {
    double a, b;
};

__attribute__((noinline)) static void round_pair(struct pair *p, double x, double y, double z)
{
    p->b = (double)(float)(10 * y / z);
    p->a = (double)(float)(x - 5 * y);
}

/* The compiler, with the flags of the build: see meson.build. */
static void check_rounding_pair(struct check *c)
{
    struct pair p;
    if (!check_case(c, "rounding_pair"))
        return;
    round_pair(&p, 1.6789123456, 2.3456789, 35);
    volatile float a = (float)p.a, b = (float)p.b;
    CHECK(c, (double)a == p.a && (double)b == p.b);
}

static void check_dtypes(struct check *c)
{
    if (!check_case(c, "dtype_names"))
        return;
    static const struct {
        airy_dtype dtype;
        const char *names[4];
        size_t size;
        bool is_float, is_signed;
    } rows[] = {
        {AIRY_DTYPE_F32, {"float32", "f32", "<f4", "=f4"}, 4, true, true},
        {AIRY_DTYPE_U8, {"uint8", "u8", "|u1", "<u1"}, 1, false, false},
        {AIRY_DTYPE_I8, {"int8", "i8", "|i1", "=i1"}, 1, false, true},
        {AIRY_DTYPE_U16, {"uint16", "u16", "<u2", "=u2"}, 2, false, false},
        {AIRY_DTYPE_I16, {"int16", "i16", "<i2", "=i2"}, 2, false, true},
        {AIRY_DTYPE_U32, {"uint32", "u32", "<u4", "=u4"}, 4, false, false},
        {AIRY_DTYPE_I32, {"int32", "i32", "<i4", "=i4"}, 4, false, true},
        {AIRY_DTYPE_U64, {"uint64", "u64", "<u8", "=u8"}, 8, false, false},
        {AIRY_DTYPE_I64, {"int64", "i64", "<i8", "=i8"}, 8, false, true},
        {AIRY_DTYPE_F64, {"float64", "f64", "<f8", "=f8"}, 8, true, true},
    };
    airy_dtype got = AIRY_DTYPE_U8;
    for (size_t r = 0; r < sizeof(rows) / sizeof(rows[0]); r++) {
        const airy_dtype d = rows[r].dtype;
        for (int i = 0; i < 4; i++) {
            CHECK_OK(c, airy_dtype_parse(&got, rows[r].names[i]));
            CHECK(c, got == d);
        }
        CHECK(c, airy_dtype_size(d) == rows[r].size &&
                     strcmp(airy_dtype_name(d), rows[r].names[0]) == 0);
        CHECK(c, airy_dtype_is_float(d) == rows[r].is_float &&
                     airy_dtype_is_signed(d) == rows[r].is_signed);
    }
    CHECK(c, airy_dtype_size(AIRY_DTYPE_COUNT) == 0 &&
                 strcmp(airy_dtype_name((airy_dtype)-1), "?") == 0);
    CHECK(c, !airy_dtype_is_float(AIRY_DTYPE_COUNT) && !airy_dtype_is_signed(AIRY_DTYPE_COUNT));
    CHECK(c, airy_dtype_nearest(AIRY_DTYPE_F32, 0.1) == (double)0.1f &&
                 airy_dtype_nearest(AIRY_DTYPE_F64, 0.1) == 0.1 &&
                 airy_dtype_nearest(AIRY_DTYPE_U32, 4294967295.0) == 4294967295.0);
    CHECK(c, airy_dtype_nearest(AIRY_DTYPE_F32, 3.4028235e38) == (double)FLT_MAX &&
                 airy_dtype_nearest(AIRY_DTYPE_F32, -1e300) == -1e300 &&
                 isnan(airy_dtype_nearest(AIRY_DTYPE_F32, NAN)));
    CHECK_FAILS(c, airy_dtype_parse(&got, "float16"), AIRY_ERR_DTYPE, "'float16' is not known");
    CHECK_FAILS(c, airy_dtype_parse(&got, ">u2"), AIRY_ERR_DTYPE, "'>u2'");
    CHECK_FAILS(c, airy_dtype_parse(&got, ""), AIRY_ERR_DTYPE, "''");
    CHECK_FAILS(c, airy_dtype_parse(&got, NULL), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_dtype_parse(NULL, "u8"), AIRY_ERR_PARAM, "NULL");
}

static void check_near_words(struct check *c)
{
    if (!check_case(c, "near_words"))
        return;
    static const char *const words[] = {"q_nm^-1",   "2th_deg", "d_nm", "reflect",
                                        "reflected", "no",      "x"};
    static const struct {
        const char *typed, *meant;
    } rows[] = {{"q_nm-1", "q_nm^-1"},
                {"Q_NM^-1", "q_nm^-1"},
                {"q_nm", "q_nm^-1"},
                {"2th", "2th_deg"},
                {"relfect", "reflect"},
                {"reflection", "reflect"},
                {"n", NULL},
                {"y", NULL},
                {"", NULL},
                {"wrap", NULL},
                {"2theta", NULL},
                {"ref", "reflect"},
                {"deflecked", "reflected"}};
    const size_t count = sizeof(words) / sizeof(words[0]);
    for (size_t r = 0; r < sizeof(rows) / sizeof(rows[0]); r++) {
        const char *near = airy_suggest_word(rows[r].typed, words, count);
        CHECK(c, rows[r].meant ? near && strcmp(near, rows[r].meant) == 0 : !near);
        CHECK(c, near == tool_suggest(rows[r].typed, words, count));
    }
    /* No other type of numbers than the one that was typed, which would read other bytes. */
    static const char *const types[] = {"f32", "u16", "i16", "uint16", "uint32", "float32"};
    static const char *const typed[] = {"u32", "i32", "f16", "u61", "uint33", "int32", "float16"};
    for (size_t i = 0; i < sizeof(typed) / sizeof(typed[0]); i++)
        CHECK(c, !airy_suggest_word(typed[i], types, sizeof(types) / sizeof(types[0])) &&
                     !tool_suggest(typed[i], types, sizeof(types) / sizeof(types[0])));
    const char *slip = airy_suggest_word("unit32", types, sizeof(types) / sizeof(types[0]));
    CHECK(c, slip && strcmp(slip, "uint32") == 0 &&
                 slip == tool_suggest("unit32", types, sizeof(types) / sizeof(types[0])));
    char many[101] = "";
    memset(many, 'q', 100);
    CHECK(c, !airy_suggest_word(many, words, count) && !airy_suggest_word(NULL, words, count));
    CHECK(c, !tool_suggest(many, words, count) && !tool_suggest(NULL, words, count));
    CHECK(c, airy_word_distance("kitten", "sitting") == 3 && airy_word_distance("csr", "scr") == 1);
    int index = -1;
    CHECK_OK(c, airy_find_word(&index, "border", "reflect", words, count));
    CHECK(c, index == 3);
    CHECK_FAILS(c, airy_find_word(&index, "border", "relfect", words, count), AIRY_ERR_PARAM,
                "border 'relfect' is unknown, did you mean 'reflect'?");
    CHECK_FAILS(
        c, airy_find_word(&index, "border", "wrap", words, count), AIRY_ERR_PARAM,
        "border 'wrap' is unknown; there are q_nm^-1, 2th_deg, d_nm, reflect, reflected, no or x");
    CHECK_FAILS(c, airy_find_word(&index, "unit", "q", words, count), AIRY_ERR_PARAM,
                "unit 'q' is not complete, expected q_nm^-1");
    CHECK_FAILS(c, airy_find_word(&index, "border", NULL, words, count), AIRY_ERR_PARAM, "NULL");
    CHECK(c, index == 3);
    char text[8];
    airy_join_words(text, sizeof(text), words, count);
    CHECK(c, strcmp(text, "q_nm^-1") == 0);
}

static void check_sizes(struct check *c)
{
    if (!check_case(c, "checked_sizes"))
        return;
    size_t v = 42;
    void *block = NULL;
    CHECK(c, airy_mul_size(&v, SIZE_MAX, 2) && v == 42);
    CHECK(c, airy_add_size(&v, SIZE_MAX, 1) && v == 42);
    CHECK(c, !airy_mul_size(&v, 6, 7) && v == 42 && !airy_add_size(&v, 1, 2) && v == 3);
    CHECK(c,
          airy_align_up(0, 64) == 0 && airy_align_up(1, 64) == 64 && airy_align_up(64, 64) == 64);
    CHECK_FAILS(c, airy_memory_alloc(&block, SIZE_MAX), AIRY_ERR_MEMORY, "bytes of host memory");
    CHECK_FAILS(c, airy_memory_alloc(&block, SIZE_MAX / 2), AIRY_ERR_MEMORY,
                "bytes of host memory");
    CHECK_FAILS(c, airy_memory_calloc(&block, SIZE_MAX / 2, 3, "a list"), AIRY_ERR_MEMORY,
                "a list");
    CHECK(c, block == NULL);
    CHECK_OK(c, airy_memory_alloc(&block, 0));
    CHECK(c, (uintptr_t)block % 64 == 0);
    airy_memory_release(block);
    CHECK_OK(c, airy_memory_alloc(&block, (size_t)4 << 20));
    CHECK(c, (uintptr_t)block % ((size_t)2 << 20) == 0);
    airy_memory_release(block);
}

/* What printf makes of the fewest digits that are read back. */
static void ref_number_text(char *text, size_t size, double value, bool is_float)
{
    for (int digits = is_float ? 6 : 15; digits <= 17; digits++) {
        snprintf(text, size, "%.*g", digits, value);
        if (is_float ? strtof(text, NULL) == (float)value : strtod(text, NULL) == value)
            break;
    }
}

static void check_number(struct check *c, double value)
{
    for (int is_float = 0; is_float < 2; is_float++) {
        const double v = is_float ? (double)(float)value : value;
        char got[AIRY_NUMBER_TEXT], want[40];
        ref_number_text(want, sizeof(want), v, is_float);
        if (strcmp(airy_number_text(got, v, is_float), want) != 0)
            check_failed(c, __FILE__, __LINE__, "%a as a %s is '%s', expected '%s'", v,
                         is_float ? "float" : "double", got, want);
    }
}

/* Random mantissas of any length at any exponent, short decimals, powers of two and ten. */
static void check_number_text(struct check *c)
{
    if (!check_case(c, "number_text"))
        return;
    static const double special[] = {0,
                                     1,
                                     0.1,
                                     123456,
                                     1234567,
                                     999999.5,
                                     1e-11,
                                     1.1e-11,
                                     1e-5,
                                     9999995,
                                     9.9999999999999995e15,
                                     1e15,
                                     1e16,
                                     1e300,
                                     5e-324,
                                     INFINITY};
    for (size_t i = 0; i < sizeof(special) / sizeof(special[0]); i++) {
        check_number(c, special[i]);
        check_number(c, -special[i]);
    }
    for (int e = -60; e < 80; e++) {
        const double two = ldexp(1, e), ten = pow(10, e / 2);
        const double near[] = {two, nextafter(two, 0), nextafter(two, 2 * two),
                               ten, nextafter(ten, 0), nextafter(ten, 2 * ten)};
        for (size_t i = 0; i < sizeof(near) / sizeof(near[0]); i++)
            check_number(c, near[i]);
    }
    for (uint64_t i = 0; i < 20000; i++) {
        uint32_t r[4];
        airy_random_block(r, c->seed, 0, i);
        const uint64_t bits = ((uint64_t)r[0] << 32 | r[1]) >> 11;
        check_number(c, ldexp((double)(bits >> r[2] % 53), (int)(r[3] % 128) - 90));
        check_number(c, (double)(r[0] % 2000000) / pow(10, r[3] % 9));
    }
}

static void check_cpu_mask(struct check *c)
{
    if (!check_case(c, "cpu_mask"))
        return;
    const char *mask = getenv("AIRY_CPU");
    const unsigned flags = airy_cpu_flags();
    CHECK(c, !mask || !*mask || strcmp(mask, airy_cpu_name()) == 0);
    CHECK(c, !(flags & AIRY_CPU_AVX2) || flags & AIRY_CPU_SSE2);
    CHECK(c, !(flags & AIRY_CPU_AVX512) || flags & AIRY_CPU_AVX2);
    CHECK(c, !(flags & AIRY_CPU_VBMI) || flags & AIRY_CPU_AVX512);
}

/*
 * Known answers of Random123's kat_vectors file, philox 4x32, 10 rounds (digits of pi in the
 * third).
 */
static void check_philox(struct check *c)
{
    if (!check_case(c, "random_philox_known_answers"))
        return;
    static const struct {
        uint64_t counter, stream, seed;
        uint32_t want[4];
    } rows[] = {
        {0, 0, 0, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {UINT64_MAX, UINT64_MAX, UINT64_MAX, {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {0x85a308d3243f6a88u,
         0x0370734413198a2eu,
         0x299f31d0a4093822u,
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        uint32_t got[4];
        airy_random_block(got, rows[i].seed, rows[i].stream, rows[i].counter);
        check_values(c, "block", AIRY_DTYPE_U32, got, rows[i].want, 4, NULL);
    }
    CHECK(c, airy_random_unit(0) > 0 && airy_random_unit(UINT32_MAX) < 1);
}

/*
 * n variates: their mean has variance m / n; their variance has variance (mu4 - m^2) / n with mu4
 * = m + 3 m^2, so (m + 2 m^2) / n. Six standard deviations, plus what 52-bit uniforms and doubles
 * can shift a mean: 1e-12 of it.
 */
static void check_poisson_moments(struct check *c, double mean)
{
    if (!check_case(c, "random_poisson_moments_%g", mean))
        return;
    const size_t n = 200000;
    double sum = 0, squares = 0;
    for (size_t i = 0; i < n; i++) {
        const double d = (double)airy_random_poisson(mean, c->seed, 7, i) - mean;
        sum += d;
        squares += d * d;
    }
    const double off = sum / (double)n, variance = squares / (double)n - off * off;
    if (fabs(off) > 6 * sqrt(mean / (double)n) + 1e-12 * mean)
        check_failed(c, __FILE__, __LINE__, "mean off by %g, allowed %g", off,
                     6 * sqrt(mean / (double)n));
    if (fabs(variance - mean) > 6 * sqrt((mean + 2 * mean * mean) / (double)n))
        check_failed(c, __FILE__, __LINE__, "variance %g, allowed %g around %g", variance,
                     6 * sqrt((mean + 2 * mean * mean) / (double)n), mean);
}

/*
 * Pearson's chi squared over the values expected at least 20 times: dof +- 6 sqrt(2 dof), and 10
 * for its skewness.
 */
static void check_poisson_shape(struct check *c, double mean)
{
    if (!check_case(c, "random_poisson_shape_%g", mean))
        return;
    enum { VALUES = 400, DRAWS = 400000 };
    double counts[VALUES] = {0}, chi = 0, left = DRAWS, seen = 0;
    int dof = 0;
    for (size_t i = 0; i < DRAWS; i++) {
        const uint64_t k = airy_random_poisson(mean, c->seed, 8, i);
        counts[k < VALUES ? k : VALUES - 1]++;
    }
    for (int k = 0; k < VALUES; k++) {
        const double expected = DRAWS * exp(k * log(mean) - mean - lgamma(k + 1.0));
        if (expected < 20)
            continue;
        chi += (counts[k] - expected) * (counts[k] - expected) / expected;
        left -= expected;
        seen += counts[k];
        dof++;
    }
    if (fabs(chi - dof) > 6 * sqrt(2.0 * dof) + 10)
        check_failed(c, __FILE__, __LINE__, "chi squared = %g with %d values", chi, dof);
    /* The tails together are a Poisson number of mean `left`. */
    if (fabs(DRAWS - seen - left) > 6 * sqrt(left) + 6)
        check_failed(c, __FILE__, __LINE__, "%g values in the tails, expected %g", DRAWS - seen,
                     left);
}

static void check_poisson_edges(struct check *c)
{
    if (!check_case(c, "random_poisson_edges"))
        return;
    CHECK(c, airy_random_poisson(0, 1, 2, 3) == 0 && airy_random_poisson(-5, 1, 2, 3) == 0);
    CHECK(c,
          airy_random_poisson(NAN, 1, 2, 3) == 0 && airy_random_poisson(-INFINITY, 1, 2, 3) == 0);
    CHECK(c, airy_random_poisson(1e-300, 1, 2, 3) == 0);
    /*
     * Above 2^53: a normal deviate of 2^53 with standard deviation 2^26.5, ten of which are 2^29.9.
     */
    const double most = (double)airy_random_poisson(INFINITY, 1, 2, 3);
    CHECK(c, fabs(most - 0x1p53) < 0x1p30 && airy_random_poisson(1e300, 1, 2, 3) == (uint64_t)most);
    /* Recorded values: every machine and compiler gives these. */
    static const double means[8] = {0.3, 1, 4, 29.99, 30, 57, 1234.5, 1e9};
    static const uint64_t want[8] = {0, 1, 2, 32, 23, 51, 1208, 999992378};
    uint64_t got[8];
    for (uint64_t i = 0; i < 8; i++)
        got[i] = airy_random_poisson(means[i], 42, 5, i);
    check_values(c, "recorded", AIRY_DTYPE_U64, got, want, 8, NULL);
}

/* Pieces of a stream are the same however they are cut. */
static void check_random_pieces(struct check *c)
{
    if (!check_case(c, "random_pieces"))
        return;
    enum { COUNT = 1000 };
    double *whole = check_alloc(c, COUNT * sizeof(*whole)),
           *part = check_alloc(c, COUNT * sizeof(*part));
    uint32_t *words = check_alloc(c, COUNT * sizeof(*words)),
             *cut = check_alloc(c, COUNT * sizeof(*cut)), block[4];
    for (size_t i = 0; i < COUNT; i++)
        whole[i] = part[i] = (double)i * 0.1;
    CHECK_OK(c, airy_random_poisson_fill(whole, COUNT, 3, 4, 500));
    CHECK_OK(c, airy_random_poisson_fill(part, 333, 3, 4, 500));
    CHECK_OK(c, airy_random_poisson_fill(part + 333, COUNT - 333, 3, 4, 833));
    check_values(c, "poisson", AIRY_DTYPE_F64, part, whole, COUNT, NULL);
    CHECK(c, whole[0] == 0 && whole[999] == (double)airy_random_poisson(999 * 0.1, 3, 4, 1499));
    airy_random_words(words, COUNT, 3, 4, 5);
    airy_random_words(cut, 7, 3, 4, 5);
    airy_random_words(cut + 7, COUNT - 7, 3, 4, 12);
    check_values(c, "words", AIRY_DTYPE_U32, cut, words, COUNT, NULL);
    airy_random_block(block, 3, 4, 2);
    check_values(c, "block", AIRY_DTYPE_U32, words + 3, block, 4, NULL);

    static const double bad[] = {-1, NAN, INFINITY, 0x1.8p53};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        double values[2] = {5, bad[i]};
        CHECK_FAILS(c, airy_random_poisson_fill(values, 2, 1, 1, 0), AIRY_ERR_PARAM,
                    "mean of value 1 = ");
        CHECK(c, values[0] == 5);
    }
    CHECK_FAILS(c, airy_random_poisson_fill(NULL, 1, 1, 1, 0), AIRY_ERR_PARAM, "values = NULL");
    CHECK_OK(c, airy_random_poisson_fill(NULL, 0, 1, 1, 0));
}

static void draw_frame(uint32_t *frame, const double *means, size_t n, uint64_t seed)
{
    for (size_t i = 0; i < n; i++)
        frame[i] = (uint32_t)airy_random_poisson(means[i], seed, 0, i);
}

/* The pixels of a 4M detector, with a pattern such as 100 / (1 + q^2). */
static void check_poisson_speed(struct check *c)
{
    if (!check_case(c, "random_poisson_frame"))
        return;
    const size_t n = c->bench ? 2167 * 2070 : 1000;
    uint32_t *frame = check_alloc(c, n * sizeof(*frame));
    double *means = check_alloc(c, n * sizeof(*means)), total = 0, got = 0;
    for (size_t i = 0; i < n; i++) {
        const double q = 14 * (double)(i % 2000) / 2000;
        means[i] = 100 / (1 + q * q);
        total += means[i];
    }
    draw_frame(frame, means, n, c->seed);
    for (size_t i = 0; i < n; i++)
        got += frame[i];
    CHECK(c, fabs(got - total) < 6 * sqrt(total));
    CHECK_BENCH(c, 4.0 * (double)n, 0, (draw_frame(frame, means, n, c->seed), 0));
}

struct counting {
    airy_pool *pool;
    size_t count;
    atomic_uint *visits;
    atomic_uint busy[64]; /* per worker: must never be taken twice at a time */
    unsigned size;
    atomic_bool wrong;
};

static void count_one(void *arg, size_t index, unsigned worker)
{
    struct counting *t = arg;
    if (worker >= t->size || index >= t->count || atomic_fetch_add(&t->busy[worker], 1) != 0) {
        atomic_store(&t->wrong, true);
        return;
    }
    atomic_fetch_add(&t->visits[index], 1);
    atomic_fetch_sub(&t->busy[worker], 1);
}

static void count_loop(struct check *c, airy_pool *pool, size_t count)
{
    static struct counting t;
    memset(&t, 0, sizeof(t));
    t.count = count;
    t.size = airy_pool_size(pool);
    t.visits = calloc(count + 1, sizeof(*t.visits));
    airy_pool_run(pool, count, count_one, &t);
    bool ok = !t.wrong;
    for (size_t i = 0; i < count; i++)
        ok = ok && t.visits[i] == 1;
    if (!ok)
        check_failed(c, __FILE__, __LINE__, "loop of %zu on %u threads", count, t.size);
    free(t.visits);
}

static void check_pool_counts(struct check *c)
{
    static const unsigned sizes[] = {1, 2, 3, 5, 8, 33};
    static const size_t counts[] = {0, 1, 2, 3, 7, 8, 9, 64, 1000, 20000};
    for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
        if (!check_case(c, "pool_counts_%u", sizes[s]))
            continue;
        airy_pool *pool = NULL;
        if (!CHECK_OK(c, airy_pool_create(&pool, sizes[s])))
            continue;
        CHECK(c, airy_pool_size(pool) == sizes[s]);
        for (int repeat = 0; repeat < 5; repeat++)
            for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
                count_loop(c, pool, counts[i]);
        airy_pool_destroy(&pool);
        CHECK(c, pool == NULL);
        airy_pool_destroy(&pool);
    }
}

/* Parts of any size, and nothing around them. */
static void check_pool_copy(struct check *c)
{
    static const size_t sizes[] = {0, 1, 262143, 262144, 262145, 1048579};
    enum { ROOM = 1048579 + 2 };
    if (!check_case(c, "pool_copy"))
        return;
    airy_pool *pool = NULL;
    uint8_t *src = check_alloc(c, ROOM), *dst = check_alloc(c, ROOM);
    for (size_t i = 0; i < ROOM; i++)
        src[i] = (uint8_t)(i * 2654435761u >> 13);
    if (!CHECK_OK(c, airy_pool_create(&pool, 4)))
        return;
    for (size_t k = 0; k < 2 * sizeof(sizes) / sizeof(sizes[0]); k++) {
        const size_t size = sizes[k / 2];
        memset(dst, 0xa5, ROOM);
        airy_pool_copy(k % 2 ? pool : NULL, dst + 1, src, size);
        CHECK(c, memcmp(dst + 1, src, size) == 0);
        CHECK(c, dst[0] == 0xa5 && dst[size + 1] == 0xa5);
    }
    airy_pool_destroy(&pool);
}

static void check_pool_errors(struct check *c)
{
    if (!check_case(c, "pool_errors"))
        return;
    airy_pool *pool = NULL;
    CHECK_FAILS(c, airy_pool_create(&pool, 1025), AIRY_ERR_PARAM,
                "threads = 1025, expected at most 1024");
    CHECK(c, pool == NULL && airy_pool_size(NULL) == 1);
    count_loop(c, NULL, 100);
    CHECK_OK(c, airy_pool_create(&pool, 0));
    CHECK(c, airy_pool_size(pool) == airy_thread_limit() && airy_thread_limit() >= 1);
    airy_pool_destroy(&pool);
}

struct nesting {
    airy_pool *pool;
    atomic_uint inner;
    atomic_bool wrong;
    pthread_t outer[64]; /* thread of each outer worker, while it is in its index */
};

struct nested {
    struct nesting *top;
    unsigned worker;
};

static void run_inner(void *arg, size_t index, unsigned worker)
{
    const struct nested *n = arg;
    (void)index;
    if (worker != 0 || !pthread_equal(pthread_self(), n->top->outer[n->worker]))
        atomic_store(&n->top->wrong, true);
    atomic_fetch_add(&n->top->inner, 1);
}

static void run_outer(void *arg, size_t index, unsigned worker)
{
    struct nesting *t = arg;
    struct nested n = {t, worker};
    (void)index;
    t->outer[worker] = pthread_self();
    airy_pool_run(t->pool, 10, run_inner, &n);
}

static void note_thread(void *arg, size_t index, unsigned worker)
{
    ((unsigned char *)arg)[index] = (unsigned char)(worker + 1);
}

struct lonely {
    airy_pool *pool;
    unsigned char seen[500];
};

static void run_lonely(void *arg, size_t index, unsigned worker)
{
    struct lonely *t = arg;
    (void)index;
    (void)worker;
    airy_pool_run(t->pool, sizeof(t->seen), note_thread, t->seen);
}

static void check_pool_nested(struct check *c)
{
    if (!check_case(c, "pool_nested"))
        return;
    static struct nesting t;
    memset(&t, 0, sizeof(t));
    struct lonely lonely = {NULL, {0}};
    if (!CHECK_OK(c, airy_pool_create(&t.pool, 4)))
        return;
    airy_pool_run(t.pool, 100, run_outer, &t);
    CHECK(c, t.inner == 1000 && !t.wrong);
    lonely.pool = t.pool;
    airy_pool_run(t.pool, 1, run_lonely, &lonely);
    for (size_t i = 0; i < sizeof(lonely.seen); i++)
        CHECK(c, lonely.seen[i] != 0);
    airy_pool_run_few(t.pool, 2, sizeof(lonely.seen), note_thread, lonely.seen);
    for (size_t i = 0; i < sizeof(lonely.seen); i++)
        CHECK(c, lonely.seen[i] == 1 || lonely.seen[i] == 2);
    airy_pool_destroy(&t.pool);
}

struct starter {
    airy_pool *pool;
    atomic_uint total;
};

static void add_one(void *arg, size_t index, unsigned worker)
{
    (void)index;
    (void)worker;
    atomic_fetch_add(&((struct starter *)arg)->total, 1);
}

enum { SHARED_POOL = 4 };

struct sharer {
    struct starter loops;
    atomic_bool at_work[SHARED_POOL]; /* under this number */
    atomic_uint wrong;
};

static void work_alone(void *arg, size_t index, unsigned worker)
{
    struct sharer *s = arg;
    if (worker >= SHARED_POOL || atomic_exchange(&s->at_work[worker], true)) {
        atomic_fetch_add(&s->wrong, 1);
        return;
    }
    for (volatile size_t i = 0; i < index % 7 * 500; i++)
        ;
    add_one(&s->loops, index, worker);
    atomic_store(&s->at_work[worker], false);
}

static void *start_loops(void *arg)
{
    struct sharer *s = arg;
    for (size_t i = 0; i < 200; i++)
        airy_pool_run(s->loops.pool, i % 50, work_alone, s);
    return NULL;
}

/* Callers that share a pool, fewer and more than it has threads: these rest, and go on. */
static void check_pool_concurrent(struct check *c, size_t callers)
{
    if (!check_case(c, "pool_concurrent_%zu", callers))
        return;
    airy_pool *pool = NULL;
    struct sharer sharers[8];
    pthread_t threads[8];
    if (!CHECK_OK(c, airy_pool_create(&pool, SHARED_POOL)))
        return;
    for (size_t i = 0; i < callers; i++) {
        memset(&sharers[i], 0, sizeof(sharers[i]));
        sharers[i].loops.pool = pool;
        CHECK(c, pthread_create(&threads[i], NULL, start_loops, &sharers[i]) == 0);
    }
    for (size_t i = 0; i < callers; i++) {
        pthread_join(threads[i], NULL);
        CHECK(c, sharers[i].loops.total == 4 * (49 * 50 / 2) && sharers[i].wrong == 0);
    }
    airy_pool_destroy(&pool);
}

static void check_pool_speed(struct check *c)
{
    if (!check_case(c, "pool_empty_loop"))
        return;
    struct starter s;
    atomic_init(&s.total, 0);
    CHECK_OK(c, airy_pool_create(&s.pool, 0));
    airy_pool_run(s.pool, 16, add_one, &s);
    CHECK(c, s.total == 16);
    CHECK_BENCH(c, 0, 0, (airy_pool_run(s.pool, 16, add_one, &s), 0));
    airy_pool_destroy(&s.pool);
}

/* A file below a made-up root, folders included. */
static void write_file(struct check *c, const char *root, const char *name, const char *text)
{
    char path[1024];
    snprintf(path, sizeof(path), "%s/%s", root, name);
    for (char *p = path + strlen(root) + 1; (p = strchr(p, '/')) != NULL; p++) {
        *p = 0;
        (void)mkdir(path, 0700);
        *p = '/';
    }
    FILE *f = fopen(path, "w");
    if (CHECK(c, f != NULL)) {
        fputs(text, f);
        fclose(f);
    }
}

static void check_numa(struct check *c)
{
    if (!check_case(c, "numa_nodes"))
        return;
    const char *root = check_tmp(c);
    const char *const pci = "0000:17:00.0";
    struct airy_numa_cpus cpus;
    CHECK(c, airy_numa_of_pci(root, pci) < 0 && !airy_numa_cpus(root, 1, &cpus));
    write_file(c, root, "sys/bus/pci/devices/0000:17:00.0/numa_node", "1\n");
    CHECK(c, airy_numa_of_pci(root, pci) < 0);
    write_file(c, root, "sys/devices/system/node/online", "0\n");
    CHECK(c, airy_numa_of_pci(root, pci) < 0); /* one node: nothing to choose */
    write_file(c, root, "sys/devices/system/node/online", "0-1\n");
    CHECK(c, airy_numa_of_pci(root, pci) == 1 && airy_numa_of_pci(root, "") < 0);
    write_file(c, root, "sys/bus/pci/devices/0000:17:00.0/numa_node", "-1\n");
    CHECK(c, airy_numa_of_pci(root, pci) < 0);
    write_file(c, root, "sys/bus/pci/devices/0000:17:00.0/numa_node", "1024\n");
    CHECK(c, airy_numa_of_pci(root, pci) < 0);
    write_file(c, root, "sys/devices/system/node/node1/cpulist", "2-4,9,1030-1031\n");
    CHECK(c, airy_numa_cpus(root, 1, &cpus));
    CHECK(c, CPU_COUNT_S(sizeof(cpus), cpus.sets) == 6 && CPU_ISSET_S(4, sizeof(cpus), cpus.sets) &&
                 CPU_ISSET_S(1031, sizeof(cpus), cpus.sets) &&
                 !CPU_ISSET_S(5, sizeof(cpus), cpus.sets));
    static const char *const odd[] = {"2-\n", "x\n", "1;2\n"};
    for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
        write_file(c, root, "sys/devices/system/node/node1/cpulist", odd[i]);
        CHECK(c, !airy_numa_cpus(root, 1, &cpus));
    }
    write_file(c, root, "sys/devices/system/node/node1/cpulist", "0-99999999999\n");
    CHECK(c,
          airy_numa_cpus(root, 1, &cpus) && CPU_COUNT_S(sizeof(cpus), cpus.sets) == AIRY_NUMA_CPUS);
}

static void *bind_here(void *arg)
{
    const int node = *(int *)arg;
    struct airy_numa_cpus before, after;
    struct airy_numa_policy policy;
    airy_numa_prefer(node, &policy);
    airy_numa_restore(&policy);
    const bool known = sched_getaffinity(0, sizeof(before), before.sets) == 0;
    airy_numa_bind(node);
    const bool still = sched_getaffinity(0, sizeof(after), after.sets) == 0 &&
                       CPU_COUNT_S(sizeof(after), after.sets) > 0 &&
                       CPU_COUNT_S(sizeof(after), after.sets) <=
                           CPU_COUNT_S(sizeof(before), before.sets);
    return known && still ? NULL : arg;
}

/* Whatever the machine has, a thread that was bound can still run. */
static void check_numa_bind(struct check *c)
{
    if (!check_case(c, "numa_bind"))
        return;
    for (int node = -1; node < 3; node++) {
        pthread_t thread;
        void *failed = c;
        if (CHECK(c, pthread_create(&thread, NULL, bind_here, &node) == 0))
            pthread_join(thread, &failed);
        CHECK(c, !failed);
    }
}

static void check_cgroup2(struct check *c)
{
    if (!check_case(c, "cgroup_version2"))
        return;
    const char *root = check_tmp(c);
    struct airy_cgroup_limits limits;
    airy_cgroup_read(&limits, root);
    CHECK(c, limits.cpus == 0 && limits.memory_limit == UINT64_MAX &&
                 limits.memory_available == UINT64_MAX);
    write_file(c, root, "proc/self/cgroup", "0::/a.slice/job\n");
    write_file(c, root, "proc/self/mountinfo",
               "22 1 0:20 / /proc rw - proc proc rw\n30 22 0:26 / /sys/fs/cgroup rw,nosuid "
               "shared:4 - cgroup2 cgroup2 rw\n");
    write_file(c, root, "sys/fs/cgroup/a.slice/job/cpu.max", "max 100000\n");
    write_file(c, root, "sys/fs/cgroup/a.slice/job/memory.max", "max\n");
    airy_cgroup_read(&limits, root);
    CHECK(c, limits.cpus == 0 && limits.memory_limit == UINT64_MAX);
    /* The parent's limits hold for its children. */
    write_file(c, root, "sys/fs/cgroup/a.slice/cpu.max", "250000 100000\n");
    write_file(c, root, "sys/fs/cgroup/a.slice/memory.max", "1000000\n");
    write_file(c, root, "sys/fs/cgroup/a.slice/memory.current", "700000\n");
    write_file(c, root, "sys/fs/cgroup/a.slice/memory.stat",
               "anon 1\ninactive_file 200000\nactive_file 50000\n");
    airy_cgroup_read(&limits, root);
    CHECK(c, limits.cpus == 2.5 && limits.memory_limit == 1000000 &&
                 limits.memory_available == 550000);
    write_file(c, root, "sys/fs/cgroup/a.slice/job/cpu.max", "50000 100000\n");
    write_file(c, root, "sys/fs/cgroup/a.slice/job/memory.max", "900000\n");
    write_file(c, root, "sys/fs/cgroup/a.slice/job/memory.current", "900001\n");
    airy_cgroup_read(&limits, root);
    CHECK(c, limits.cpus == 0.5 && limits.memory_limit == 900000 && limits.memory_available == 0);
    /* In a container: the membership names a folder outside of what is mounted. */
    write_file(c, root, "proc/self/mountinfo",
               "30 22 0:26 /elsewhere /sys/fs/cgroup/a.slice rw - cgroup2 cgroup2 rw\n");
    airy_cgroup_read(&limits, root);
    CHECK(c, limits.cpus == 2.5 && limits.memory_limit == 1000000);
    write_file(c, root, "proc/self/cgroup", "no colon here\n0:\n");
    airy_cgroup_read(&limits, root);
    CHECK(c, limits.cpus == 0);
}

static void check_cgroup1(struct check *c)
{
    if (!check_case(c, "cgroup_version1"))
        return;
    const char *root = check_tmp(c);
    struct airy_cgroup_limits limits;
    write_file(c, root, "proc/self/cgroup",
               "4:memory:/docker/x\n3:cpuset:/\n2:cpu,cpuacct:/docker/x\n0::/\n");
    write_file(c, root, "proc/self/mountinfo",
               "31 22 0:27 /docker/x /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n"
               "32 22 0:28 / /sys/fs/cgroup/cpuset ro - cgroup cgroup rw,cpuset\n"
               "33 22 0:29 / /sys/fs/cgroup/cpu,cpuacct ro - cgroup cgroup rw,cpu,cpuacct\n");
    write_file(c, root, "sys/fs/cgroup/cpu,cpuacct/docker/x/cpu.cfs_quota_us", "350000\n");
    write_file(c, root, "sys/fs/cgroup/cpu,cpuacct/docker/x/cpu.cfs_period_us", "100000\n");
    write_file(c, root, "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
    write_file(c, root, "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
    write_file(c, root, "sys/fs/cgroup/memory/memory.limit_in_bytes", "5000000\n");
    write_file(c, root, "sys/fs/cgroup/memory/memory.usage_in_bytes", "3000000\n");
    write_file(c, root, "sys/fs/cgroup/memory/memory.stat",
               "inactive_file 7\ntotal_inactive_file 500000\ntotal_active_file 500000\n");
    airy_cgroup_read(&limits, root);
    CHECK(c, limits.cpus == 3.5 && limits.memory_limit == 5000000 &&
                 limits.memory_available == 3000000);
    write_file(c, root, "sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    airy_cgroup_read(&limits, root);
    CHECK(c, limits.memory_limit == UINT64_MAX && limits.memory_available == UINT64_MAX);
    CHECK(c, airy_memory_total() > 0 && airy_memory_available() <= airy_memory_total());
}

static void check_profile_rows(struct check *c)
{
    if (!check_case(c, "profile_rows"))
        return;
    airy_profile *p = NULL;
    airy_profile_row *rows = NULL;
    size_t count = 0;
    airy_profile_add(NULL, "nothing", false, 1, 1);
    if (!CHECK_OK(c, airy_profile_create(&p)))
        return;
    static const double samples[] = {4, 1, 3, 2};
    for (int i = 0; i < 4; i++)
        airy_profile_add(p, "decode", false, samples[i], 1e6);
    airy_profile_add(p, "decode", true, 0.5, 10); /* another row: a copy may have a kernel's name */
    for (int i = 0; i < 100; i++)
        airy_profile_add(p,
                         "a name that is far longer than the field that has to hold it in the end",
                         false, 1, 0);
    CHECK_OK(c, airy_profile_rows(p, &rows, &count));
    if (CHECK(c, count == 3)) {
        CHECK(c, strlen(rows[0].name) == sizeof(rows[0].name) - 1 && rows[0].count == 100 &&
                     rows[0].bytes == 0);
        const airy_profile_row *r = &rows[1];
        CHECK(c, strcmp(r->name, "decode") == 0 && !r->transfer && r->count == 4);
        CHECK(c, r->min == 1 && r->max == 4 && r->median == 2.5 && r->mean == 2.5 &&
                     r->total == 10 && r->bytes == 4e6);
        CHECK(c, fabs(r->std - sqrt(1.25)) <= 1e-15);
        CHECK(c, rows[2].transfer && rows[2].median == 0.5);
    }
    airy_profile_free(rows);
    CHECK_OK(c, airy_profile_rows(NULL, &rows, &count));
    CHECK(c, count == 0);
    airy_profile_free(rows);
    airy_profile_destroy(&p);
    CHECK(c, p == NULL);
    airy_profile_destroy(&p);
}

/* Sums of RFC 1321, appendix A.5, whole and in pieces of each size. */
static void check_md5(struct check *c)
{
    static const struct {
        const char *text, *sum;
    } cases[] = {
        {"", "d41d8cd98f00b204e9800998ecf8427e"},
        {"a", "0cc175b9c0f1b6a831c399e269772661"},
        {"abc", "900150983cd24fb0d6963f7d28e17f72"},
        {"message digest", "f96b697d7cb7938d525a2f31aaf161d0"},
        {"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
         "d174ab98d277d9f5a5611c2c9f419d9f"},
        {"1234567890123456789012345678901234567890123456789012345678901234567890123456789"
         "0",
         "57edf4a22be3c955ac49da2e2107b67a"},
    };
    if (!check_case(c, "md5"))
        return;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const size_t size = strlen(cases[i].text);
        for (size_t step = 1; step <= size + 1; step++) {
            struct airy_md5 md5;
            uint8_t digest[AIRY_MD5_BYTES];
            char text[2 * AIRY_MD5_BYTES + 1];
            airy_md5_begin(&md5);
            for (size_t at = 0; at < size; at += step)
                airy_md5_add(&md5, cases[i].text + at, size - at < step ? size - at : step);
            airy_md5_end(digest, &md5);
            for (size_t k = 0; k < AIRY_MD5_BYTES; k++)
                sprintf(text + 2 * k, "%02x", digest[k]);
            if (!CHECK(c, strcmp(text, cases[i].sum) == 0))
                return;
        }
    }
}

void check_core_base(struct check *c)
{
    check_md5(c);
    check_names(c);
    check_rounding_pair(c);
    check_dtypes(c);
    check_near_words(c);
    check_sizes(c);
    check_number_text(c);
    check_cpu_mask(c);
    check_philox(c);
    static const double means[] = {0.01, 0.7, 5, 29.9, 30, 100, 12345.6, 1e8, 1e12};
    for (size_t i = 0; i < sizeof(means) / sizeof(means[0]); i++)
        check_poisson_moments(c, means[i]);
    static const double shapes[] = {0.1, 3, 29.999, 30, 55.5, 200};
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
        check_poisson_shape(c, shapes[i]);
    check_poisson_edges(c);
    check_random_pieces(c);
    check_poisson_speed(c);
    check_pool_counts(c);
    check_pool_copy(c);
    check_pool_errors(c);
    check_pool_nested(c);
    check_pool_concurrent(c, 2);
    check_pool_concurrent(c, 7);
    check_pool_speed(c);
    check_cgroup2(c);
    check_numa(c);
    check_numa_bind(c);
    check_cgroup1(c);
    check_profile_rows(c);
}
