/*
 * The vector kernels of integrate, for the instruction set of the file that includes this behind
 * integrate_tmpl_dtypes.c. That file also defines
 *   FAST(f, dtype)          f_fast_<dtype>_<set>
 *   doubles, DOUBLES        a vector of so many doubles; LANES is a multiple of it
 *     load_doubles(p) store_doubles(p, v)   aligned; load_means(p): not so
 *     all_doubles(x) multiply(a, b) subtract(a, b) larger(a, b)
 *     add_product(a, b, c) = a b + c, subtract_product(a, b, c) = a b - c, fused
 *   struct group            16 pixels of all lanes, transposed
 *     transpose_group(out, lanes, group, dtype)   bit h set: half h has a pixel that is not 0, and
 *                           is written
 *     clear_half(out, half, dtype)                make it 0
 *     group_values(group, pixel, vector, dtype)   `doubles` number `vector` of the lanes
 *   words, WORDS            a vector of so many uint32_t, at most 16
 *     load_words(pixels, i, dtype)   pixels from i on, sign- or zero-extended
 *     keep_words(v, bits)   0 where the bit is not set
 *     all_words(x) add_words(a, b) subtract_words(a, b) turn_words(a, b): exclusive or
 *     larger_word(a, b), largest_word(v)   unsigned
 *     at_most(a, b)         bits where a <= b, unsigned
 *   longs                   sums of words in 64 bits: no_longs(), add_longs(sum, words),
 *                           sum_longs(sum)
 *   SCAN_U8, SCAN_U16       functions that scan these dtypes
 *   KERNELS, ENGINE, WORTH, FEWER   name and members of the set's struct airy_integrate_kernels
 */

enum { VECTORS = LANES / DOUBLES };

static AIRY_ALWAYS_INLINE void load_values(doubles x[VECTORS], const struct group *group,
                                           unsigned pixel, const airy_dtype dtype)
{
    for (unsigned v = 0; v < VECTORS; v++)
        x[v] = group_values(group, pixel, v, dtype);
}

/* What a Poisson variance is above 1. */
static AIRY_ALWAYS_INLINE void above_one(doubles above[VECTORS], const doubles x[VECTORS])
{
    const doubles one = all_doubles(1.0);
    for (unsigned v = 0; v < VECTORS; v++)
        above[v] = subtract(larger(x[v], one), one);
}

static AIRY_ALWAYS_INLINE void add_entry(double *row, doubles w, const doubles x[VECTORS])
{
    for (unsigned v = 0; v < VECTORS; v++) {
        double *at = row + (size_t)v * DOUBLES;
        store_doubles(at, add_product(w, x[v], load_doubles(at)));
    }
}

/* Of a group: the first pixel to look at, and behind the last. */
static AIRY_ALWAYS_INLINE unsigned first_pixel(unsigned halves)
{
    return halves & 1 ? 0 : AIRY_GROUP / 2;
}

static AIRY_ALWAYS_INLINE unsigned end_pixel(unsigned halves)
{
    return halves & 2 ? AIRY_GROUP : AIRY_GROUP / 2;
}

/* A compact group. */
static AIRY_ALWAYS_INLINE void sum_group(const struct airy_lanes *t, size_t group,
                                         const airy_dtype dtype, const unsigned per_pixel,
                                         const bool poisson)
{
    const size_t first = t->first + group * AIRY_GROUP, step = poisson ? 2 * LANES : LANES;
    const uint16_t *bin = t->matrix->bin + first;
    const float *weight = t->matrix->weight + first * per_pixel;
    double *const sums = t->sums;
    struct group pixels;
    const unsigned halves = transpose_group(&pixels, t, group, dtype);
    for (unsigned k = first_pixel(halves); k < end_pixel(halves); k++) {
        doubles x[VECTORS], above[VECTORS];
        load_values(x, &pixels, k, dtype);
        if (poisson)
            above_one(above, x);
        double *row = sums + bin[k] * step;
        for (unsigned e = 0; e < per_pixel; e++, row += step) {
            const doubles w = all_doubles((double)weight[k * per_pixel + e]);
            add_entry(row, w, x);
            if (poisson)
                add_entry(row + LANES, multiply(w, w), above);
        }
    }
}

/* A group that the compact matrix does not have. */
static AIRY_ALWAYS_INLINE void sum_any_group(const struct airy_lanes *t, size_t group,
                                             const airy_dtype dtype, const bool poisson)
{
    const struct airy_matrix *m = &t->integrator->matrix;
    const size_t left = t->count - group * AIRY_GROUP, step = poisson ? 2 * LANES : LANES;
    const uint32_t *start = m->start + t->first + group * AIRY_GROUP;
    const float *weight = t->integrator->weight;
    double *const sums = t->sums;
    struct group pixels;
    const unsigned halves = transpose_group(&pixels, t, group, dtype);
    for (unsigned k = first_pixel(halves); k < airy_min_size(end_pixel(halves), left); k++) {
        doubles x[VECTORS], above[VECTORS];
        load_values(x, &pixels, k, dtype);
        above_one(above, x);
        for (uint32_t e = start[k]; e < start[k + 1]; e++) {
            const doubles w = all_doubles((double)weight[e]);
            double *row = sums + (size_t)(t->place[e] - t->place_lo) * step;
            add_entry(row, w, x);
            if (poisson)
                add_entry(row + LANES, multiply(w, w), above);
        }
    }
}

/*
 * A full compact group of the second pass. Entries of weight 0 fill up a pixel: their means may be
 * any number, their rows are not looked at.
 */
static AIRY_ALWAYS_INLINE void add_squares(const struct airy_lanes *t, size_t group,
                                           const airy_dtype dtype, const unsigned per_pixel)
{
    const size_t first = t->first + group * AIRY_GROUP;
    const uint16_t *bin = t->matrix->bin + first;
    const float *weight = t->matrix->weight + first * per_pixel;
    const float *dark = t->integrator->dark ? t->integrator->dark + first : NULL;
    const float *norm = t->integrator->norm + first;
    const double *means = t->means + t->slice->bin_lo * LANES;
    struct group pixels;
    const unsigned halves = transpose_group(&pixels, t, group, dtype);
    for (unsigned half = 0; half < 2; half++)
        if (!(halves >> half & 1))
            clear_half(&pixels, half, dtype);
    for (unsigned k = 0; k < AIRY_GROUP; k++) {
        const doubles shift = all_doubles(dark ? (double)dark[k] : 0.0);
        doubles x[VECTORS];
        load_values(x, &pixels, k, dtype);
        for (unsigned e = 0; e < per_pixel; e++) {
            const double *mean = means + (bin[k] + e) * (size_t)LANES;
            double *row = t->sums + (bin[k] + e) * (size_t)LANES;
            const doubles w = all_doubles((double)weight[k * per_pixel + e]);
            const doubles omega = multiply(w, all_doubles((double)norm[k]));
            for (unsigned v = 0; v < VECTORS; v++) {
                const size_t at = (size_t)v * DOUBLES;
                const doubles expected = multiply(omega, load_means(mean + at));
                const doubles d = subtract_product(w, subtract(x[v], shift), expected);
                store_doubles(row + at, add_product(d, d, load_doubles(row + at)));
            }
        }
    }
}

/* Sums in 32 bits hold while values are below this: a tile gives 2048 / WORDS values to each. */
#define SCAN_LIMIT ((uint32_t)WORDS << 21)

static AIRY_ALWAYS_INLINE bool scan_int(struct airy_raw_stats *stats, bool *zero,
                                        const void *pixels, const uint16_t *valid, size_t count,
                                        const struct airy_raw_rules *rules, const airy_dtype dtype,
                                        bool *wide)
{
    words max = all_words(0), total = max;
    unsigned counts = 0;
    for (size_t i = 0; i < count; i += AIRY_GROUP) {
        const unsigned bits = valid[i / AIRY_GROUP];
        counts |= bits;
        if (bits == 0)
            continue;
        for (unsigned k = 0; k < AIRY_GROUP; k += WORDS) {
            const words x = keep_words(load_words(pixels, i + k, dtype), bits >> k);
            max = larger_word(max, x);
            total = add_words(total, x);
        }
    }
    const uint32_t largest = largest_word(max);
    if (largest >= rules->suspicious)
        return false;
    *wide = largest >= SCAN_LIMIT;
    if (*wide)
        return true;
    stats->total += sum_longs(add_longs(no_longs(), total));
    if (counts)
        airy_raw_stats_max(stats, (double)largest);
    *zero = largest == 0;
    return true;
}

static AIRY_ALWAYS_INLINE void clear_pixel(void *pixels, size_t i, const airy_dtype dtype)
{
    if (dtype == AIRY_DTYPE_U8 || dtype == AIRY_DTYPE_I8)
        ((uint8_t *)pixels)[i] = 0;
    else if (dtype == AIRY_DTYPE_U16 || dtype == AIRY_DTYPE_I16)
        ((uint16_t *)pixels)[i] = 0;
    else
        ((uint32_t *)pixels)[i] = 0;
}

/*
 * Signed values are looked at with the top bit turned, in the order of unsigned ones: 2^31 more
 * than they are.
 */
static AIRY_ALWAYS_INLINE void clean_int(struct airy_raw_stats *stats, void *pixels,
                                         uint16_t *invalid, const uint16_t *valid, size_t count,
                                         const struct airy_raw_rules *rules, const airy_dtype dtype)
{
    const bool is_signed = dtype == AIRY_DTYPE_I8 || dtype == AIRY_DTYPE_I16 ||
                           dtype == AIRY_DTYPE_I32;
    const int64_t bias = is_signed ? (int64_t)1 << 31 : 0, most = UINT32_MAX;
    const bool saturates = rules->saturation <= most - bias;
    const int64_t from = rules->saturation > -bias ? rules->saturation + bias : 0;
    const words turn = all_words(is_signed ? (uint32_t)1 << 31 : 0);
    const words limit = all_words((uint32_t)(saturates ? from : 0));
    const words lo = all_words(rules->lo), span = all_words(rules->span);
    words max = all_words(0);
    longs total = no_longs();
    int64_t kept = 0;
    for (size_t i = 0; i < count; i += WORDS) {
        const unsigned bits = valid[i / AIRY_GROUP] >> i % AIRY_GROUP & ((1u << WORDS) - 1);
        if (bits == 0)
            continue;
        const words x = load_words(pixels, i, dtype), u = turn_words(x, turn);
        const unsigned leave = rules->has_interval ? at_most(subtract_words(x, lo), span) & bits
                                                   : 0;
        if (saturates)
            stats->saturated += (uint32_t)__builtin_popcount(at_most(limit, u) & bits);
        const words keep = keep_words(u, bits & ~leave);
        kept += __builtin_popcount(bits & ~leave);
        max = larger_word(max, keep);
        total = add_longs(total, keep);
        if (leave) {
            stats->invalid += (uint32_t)__builtin_popcount(leave);
            invalid[i / AIRY_GROUP] |= (uint16_t)(leave << i % AIRY_GROUP);
            for (unsigned rest = leave; rest; rest &= rest - 1)
                clear_pixel(pixels, i + (unsigned)__builtin_ctz(rest), dtype);
        }
    }
    stats->total += sum_longs(total) - kept * bias;
    if (kept)
        airy_raw_stats_max(stats, (double)((int64_t)largest_word(max) - bias));
}

/*
 * Compact groups by sum_group, others by sum_any_group; per_pixel, up to 3, and poisson become
 * constants. The second pass: full compact groups by add_squares, of weighted means and where no
 * pixel of the tile is left out; others by the plain one.
 */
#define SUM_FAST(dtype, DTYPE)                                                                     \
    static AIRY_ALWAYS_INLINE void sum_tile_##dtype(const struct airy_lanes *t,                    \
                                                    const unsigned per_pixel, const bool poisson)  \
    {                                                                                              \
        const uint8_t *kind = t->matrix->kind + t->first / AIRY_GROUP;                             \
        for (size_t g = 0; g * AIRY_GROUP < t->count; g++) {                                       \
            if (kind[g] == AIRY_GROUP_COMPACT)                                                     \
                sum_group(t, g, DTYPE, per_pixel, poisson);                                        \
            else if (kind[g] == AIRY_GROUP_ANY)                                                    \
                sum_any_group(t, g, DTYPE, poisson);                                               \
        }                                                                                          \
    }                                                                                              \
    static void FAST(sum, dtype)(const struct airy_lanes *t)                                       \
    {                                                                                              \
        switch (t->matrix->per_pixel * 2 + t->poisson) {                                           \
        case 2:                                                                                    \
            sum_tile_##dtype(t, 1, false);                                                         \
            break;                                                                                 \
        case 3:                                                                                    \
            sum_tile_##dtype(t, 1, true);                                                          \
            break;                                                                                 \
        case 4:                                                                                    \
            sum_tile_##dtype(t, 2, false);                                                         \
            break;                                                                                 \
        case 5:                                                                                    \
            sum_tile_##dtype(t, 2, true);                                                          \
            break;                                                                                 \
        case 6:                                                                                    \
            sum_tile_##dtype(t, 3, false);                                                         \
            break;                                                                                 \
        case 7:                                                                                    \
            sum_tile_##dtype(t, 3, true);                                                          \
            break;                                                                                 \
        default:                                                                                   \
            sum_tile_##dtype(t, t->matrix->per_pixel, t->poisson);                                 \
        }                                                                                          \
    }                                                                                              \
    static AIRY_ALWAYS_INLINE void square_tile_##dtype(const struct airy_lanes *t,                 \
                                                       const unsigned per_pixel)                   \
    {                                                                                              \
        const uint8_t *kind = t->matrix->kind + t->first / AIRY_GROUP;                             \
        for (size_t g = 0; g * AIRY_GROUP < t->count; g++) {                                       \
            if (kind[g] == AIRY_GROUP_COMPACT && (g + 1) * AIRY_GROUP <= t->count)                 \
                add_squares(t, g, DTYPE, per_pixel);                                               \
            else if (kind[g] != AIRY_GROUP_EMPTY)                                                  \
                SUFFIX(second_group, dtype)(t, g, LANES);                                          \
        }                                                                                          \
    }                                                                                              \
    static void FAST(second, dtype)(const struct airy_lanes *t)                                    \
    {                                                                                              \
        bool plain = t->integrator->weight != t->integrator->matrix.coef;                          \
        for (unsigned l = 0; l < LANES; l++)                                                       \
            plain |= t->invalid[l] != NULL;                                                        \
        if (plain || t->matrix->per_pixel == 0)                                                    \
            SUFFIX(second_wide, dtype)(t);                                                         \
        else if (t->matrix->per_pixel == 2)                                                        \
            square_tile_##dtype(t, 2);                                                             \
        else                                                                                       \
            square_tile_##dtype(t, t->matrix->per_pixel);                                          \
    }

SUM_FAST(u8, AIRY_DTYPE_U8)
SUM_FAST(i8, AIRY_DTYPE_I8)
SUM_FAST(u16, AIRY_DTYPE_U16)
SUM_FAST(i16, AIRY_DTYPE_I16)
SUM_FAST(u32, AIRY_DTYPE_U32)
SUM_FAST(i32, AIRY_DTYPE_I32)
SUM_FAST(f32, AIRY_DTYPE_F32)

/* scan_int, and where its sums of 32 bits do not hold the plain one. */
#define SCAN_FAST(dtype, DTYPE)                                                                    \
    static AIRY_MAYBE_UNUSED bool FAST(scan, dtype)(                                               \
        struct airy_raw_stats * stats, bool *zero, const void *pixels, const uint16_t *valid,      \
        size_t count, const struct airy_raw_rules *rules)                                          \
    {                                                                                              \
        bool wide = false;                                                                         \
        if (!scan_int(stats, zero, pixels, valid, count, rules, DTYPE, &wide))                     \
            return false;                                                                          \
        return !wide || SUFFIX(scan, dtype)(stats, zero, pixels, valid, count, rules);             \
    }                                                                                              \
    static void FAST(clean, dtype)(struct airy_raw_stats * stats, void *pixels, uint16_t *invalid, \
                                   const uint16_t *valid, size_t count,                            \
                                   const struct airy_raw_rules *rules)                             \
    {                                                                                              \
        clean_int(stats, pixels, invalid, valid, count, rules, DTYPE);                             \
    }

SCAN_FAST(u8, AIRY_DTYPE_U8)
SCAN_FAST(i8, AIRY_DTYPE_I8)
SCAN_FAST(u16, AIRY_DTYPE_U16)
SCAN_FAST(i16, AIRY_DTYPE_I16)
SCAN_FAST(u32, AIRY_DTYPE_U32)
SCAN_FAST(i32, AIRY_DTYPE_I32)

#define RAW_FAST(dtype, look, clear)                                                               \
    {                                                                                              \
        .wide = {FAST(sum, dtype), FAST(second, dtype)},                                           \
        .single = {SUFFIX(sum_single, dtype), SUFFIX(second_single, dtype)}, .scan = look,         \
        .clean = clear                                                                             \
    }

const struct airy_integrate_kernels KERNELS = {
    .narrowest = SUFFIX(narrowest, planes),
    .lanes = LANES,
    .worth = WORTH,
    .fewer = FEWER,
    .engine = ENGINE,
    .raw = {[AIRY_DTYPE_U8] = RAW_FAST(u8, SCAN_U8, FAST(clean, u8)),
            [AIRY_DTYPE_I8] = RAW_FAST(i8, FAST(scan, i8), FAST(clean, i8)),
            [AIRY_DTYPE_U16] = RAW_FAST(u16, SCAN_U16, FAST(clean, u16)),
            [AIRY_DTYPE_I16] = RAW_FAST(i16, FAST(scan, i16), FAST(clean, i16)),
            [AIRY_DTYPE_U32] = RAW_FAST(u32, FAST(scan, u32), FAST(clean, u32)),
            [AIRY_DTYPE_I32] = RAW_FAST(i32, FAST(scan, i32), FAST(clean, i32)),
            [AIRY_DTYPE_F32] = RAW_FAST(f32, SUFFIX(scan, f32), SUFFIX(clean, f32)),
            [AIRY_DTYPE_F64] = {.wide = {SUFFIX(sum_wide, f64), SUFFIX(second_wide, f64)},
                                .single = {SUFFIX(sum_single, f64), SUFFIX(second_single, f64)},
                                .scan = SUFFIX(scan, f64),
                                .clean = SUFFIX(clean, f64)}},
};
