/*
 * What the vector kernels of the instruction sets have in common, as macros: the set's file
 * defines FAST(f, dtype) = f_fast_<dtype>_<set>, SUFFIX, LANES and its own sum_group,
 * sum_any_group and second_group.
 */
#ifndef AIRY_CPU_INTEGRATE_FAST_H
#define AIRY_CPU_INTEGRATE_FAST_H

/*
 * Sums in 32 bits hold while values are below this: a tile gives at most 128 values to one of 16
 * sums.
 */
#define AIRY_SCAN_LIMIT (1u << 25)

/*
 * Compact groups by the set's sum_group, others by its sum_any_group; per_pixel, up to 3, and
 * poisson become constants.
 */
#define AIRY_SUM_FAST(dtype, DTYPE)                                                                \
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
    }

/*
 * The second pass: full compact groups by the set's second_group, of weighted means and where no
 * pixel of the tile is left out; others by the plain one.
 */
#define AIRY_SECOND_FAST(dtype, DTYPE)                                                             \
    static AIRY_ALWAYS_INLINE void second_tile_##dtype(const struct airy_lanes *t,                 \
                                                       const unsigned per_pixel)                   \
    {                                                                                              \
        const uint8_t *kind = t->matrix->kind + t->first / AIRY_GROUP;                             \
        for (size_t g = 0; g * AIRY_GROUP < t->count; g++) {                                       \
            if (kind[g] == AIRY_GROUP_COMPACT && (g + 1) * AIRY_GROUP <= t->count)                 \
                second_group(t, g, DTYPE, per_pixel);                                              \
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
            second_tile_##dtype(t, 2);                                                             \
        else                                                                                       \
            second_tile_##dtype(t, t->matrix->per_pixel);                                          \
    }

/* The set's scan_int, and where its sums of 32 bits do not hold the plain one. */
#define AIRY_SCAN_FAST(dtype, DTYPE)                                                               \
    static bool FAST(scan, dtype)(struct airy_raw_stats * stats, bool *zero, const void *pixels,   \
                                  const uint16_t *valid, size_t count,                             \
                                  const struct airy_raw_rules *rules)                              \
    {                                                                                              \
        bool wide = false;                                                                         \
        if (!scan_int(stats, zero, pixels, valid, count, rules, DTYPE, &wide))                     \
            return false;                                                                          \
        return !wide || SUFFIX(scan, dtype)(stats, zero, pixels, valid, count, rules);             \
    }

#define AIRY_CLEAN_FAST(dtype, DTYPE)                                                              \
    static void FAST(clean, dtype)(struct airy_raw_stats * stats, void *pixels, uint16_t *invalid, \
                                   const uint16_t *valid, size_t count,                            \
                                   const struct airy_raw_rules *rules)                             \
    {                                                                                              \
        clean_int(stats, pixels, invalid, valid, count, rules, DTYPE);                             \
    }

#endif
