/*
 * The integrate kernels in plain C for one dtype: included by each instruction set's file once a
 * dtype, with
 *   T          the C type            NAME(f)   f with the dtype and the set in its name
 *   T_FLOAT    1 for f32 and f64     LANES     frames side by side of the wide kernels
 * and undefines T, NAME, T_FLOAT. integrate_tmpl_common.h holds what does not depend on the dtype.
 */

/* All entries of one group from the general matrix. */
static AIRY_ALWAYS_INLINE void NAME(sum_group)(const struct airy_lanes *t, size_t group,
                                               const unsigned lanes, const bool poisson)
{
    const struct airy_matrix *m = &t->integrator->matrix;
    const float *weight = t->integrator->weight;
    const size_t step = lanes * (poisson ? 2 : 1);
    const size_t end = airy_min_size(t->count, (group + 1) * AIRY_GROUP);
    for (size_t i = group * AIRY_GROUP; i < end; i++) {
        const uint32_t last = m->start[t->first + i + 1];
        double x[AIRY_MAX_LANES], above[AIRY_MAX_LANES];
        for (unsigned l = 0; l < lanes; l++) {
            x[l] = (double)((const T *)t->pixels[l])[i];
            above[l] = (x[l] > 1.0 ? x[l] : 1.0) - 1.0;
        }
        for (uint32_t e = m->start[t->first + i]; e < last; e++) {
            const double w = (double)weight[e];
            double *row = t->sums + (size_t)(t->place[e] - t->place_lo) * step;
            for (unsigned l = 0; l < lanes; l++)
                row[l] = fma(w, x[l], row[l]);
            for (unsigned l = 0; l < lanes && poisson; l++)
                row[lanes + l] = fma(w * w, above[l], row[lanes + l]);
        }
    }
}

static AIRY_MAYBE_UNUSED void NAME(sum_wide)(const struct airy_lanes *t)
{
    const uint8_t *kind = t->matrix->kind + t->first / AIRY_GROUP;
    for (size_t g = 0; g * AIRY_GROUP < t->count; g++) {
        if (kind[g] == AIRY_GROUP_EMPTY)
            continue;
        if (t->poisson)
            NAME(sum_group)(t, g, LANES, true);
        else
            NAME(sum_group)(t, g, LANES, false);
    }
}

/* One frame: entries of the compact matrix where it has them. */
static AIRY_ALWAYS_INLINE void NAME(sum_compact)(const struct airy_lanes *t, size_t group,
                                                 const unsigned per_pixel, const bool poisson)
{
    const T *x = (const T *)t->pixels[0] + group * AIRY_GROUP;
    const size_t first = t->first + group * AIRY_GROUP;
    const uint16_t *bin = t->matrix->bin + first;
    const float *weight = t->matrix->weight + first * per_pixel;
    const size_t end = airy_min_size(t->count - group * AIRY_GROUP, AIRY_GROUP);
    for (size_t k = 0; k < end; k++) {
        const double v = (double)x[k], above = (v > 1.0 ? v : 1.0) - 1.0;
        double *row = t->sums + (poisson ? 2 : 1) * (size_t)bin[k];
        for (unsigned e = 0; e < per_pixel; e++) {
            const double w = (double)weight[k * per_pixel + e];
            if (poisson) {
                row[2 * e] = fma(w, v, row[2 * e]);
                row[2 * e + 1] = fma(w * w, above, row[2 * e + 1]);
            } else {
                row[e] = fma(w, v, row[e]);
            }
        }
    }
}

static AIRY_ALWAYS_INLINE void NAME(sum_one)(const struct airy_lanes *t, const unsigned per_pixel,
                                             const bool poisson)
{
    const uint8_t *kind = t->matrix->kind + t->first / AIRY_GROUP;
    for (size_t g = 0; g * AIRY_GROUP < t->count; g++) {
        if (kind[g] == AIRY_GROUP_COMPACT)
            NAME(sum_compact)(t, g, per_pixel, poisson);
        else if (kind[g] == AIRY_GROUP_ANY)
            NAME(sum_group)(t, g, 1, poisson);
    }
}

static void NAME(sum_single)(const struct airy_lanes *t)
{
    switch (t->matrix->per_pixel * 2 + t->poisson) {
    case 2:
        NAME(sum_one)(t, 1, false);
        break;
    case 3:
        NAME(sum_one)(t, 1, true);
        break;
    case 5:
        NAME(sum_one)(t, 2, true);
        break;
    case 6:
        NAME(sum_one)(t, 3, false);
        break;
    case 7:
        NAME(sum_one)(t, 3, true);
        break;
    case 4:
        NAME(sum_one)(t, 2, false);
        break;
    default: /* more; or 0, where no group is compact */
        NAME(sum_one)(t, t->matrix->per_pixel, t->poisson);
    }
}

/* Of entry e: d = weight (raw - dark) - coef norm mean; sums += d^2. Pixels left out give d = 0. */
static AIRY_ALWAYS_INLINE void NAME(second_group)(const struct airy_lanes *t, size_t group,
                                                  const unsigned lanes)
{
    const airy_integrator *integrator = t->integrator;
    const struct airy_matrix *m = &integrator->matrix;
    const size_t end = airy_min_size(t->count, (group + 1) * AIRY_GROUP);
    for (size_t i = group * AIRY_GROUP; i < end; i++) {
        const size_t pixel = t->first + i;
        const double dark = integrator->dark ? (double)integrator->dark[pixel] : 0.0;
        const double norm = (double)integrator->norm[pixel];
        double x[AIRY_MAX_LANES], keep[AIRY_MAX_LANES];
        for (unsigned l = 0; l < lanes; l++) {
            x[l] = (double)((const T *)t->pixels[l])[i] - dark;
            keep[l] = t->invalid[l] && (t->invalid[l][group] >> (i % AIRY_GROUP) & 1) ? 0.0 : 1.0;
        }
        for (uint32_t e = m->start[pixel]; e < m->start[pixel + 1]; e++) {
            const double w = (double)integrator->weight[e], omega = (double)m->coef[e] * norm;
            const double *mean = t->means + (size_t)m->bin[e] * lanes;
            double *row = t->sums + (size_t)(t->place[e] - t->place_lo) * lanes;
            for (unsigned l = 0; l < lanes; l++) {
                const double d = keep[l] * fma(w, x[l], -(omega * mean[l]));
                row[l] = fma(d, d, row[l]);
            }
        }
    }
}

static void NAME(second_wide)(const struct airy_lanes *t)
{
    for (size_t g = 0; g * AIRY_GROUP < t->count; g++)
        if (t->matrix->kind[t->first / AIRY_GROUP + g] != AIRY_GROUP_EMPTY)
            NAME(second_group)(t, g, LANES);
}

static void NAME(second_single)(const struct airy_lanes *t)
{
    for (size_t g = 0; g * AIRY_GROUP < t->count; g++)
        if (t->matrix->kind[t->first / AIRY_GROUP + g] != AIRY_GROUP_EMPTY)
            NAME(second_group)(t, g, 1);
}

#if T_FLOAT

static AIRY_MAYBE_UNUSED bool NAME(scan)(struct airy_raw_stats *stats, bool *zero,
                                         const void *pixels, const uint16_t *valid, size_t count,
                                         const struct airy_raw_rules *rules)
{
    const T *x = pixels;
    double partial[AIRY_GROUP], max = -INFINITY;
    memcpy(partial, stats->partial, sizeof(partial));
    bool counts = false, nonzero = false;
    for (size_t i = 0; i < count; i += AIRY_GROUP) {
        const size_t n = airy_min_size(count - i, AIRY_GROUP);
        const unsigned bits = valid[i / AIRY_GROUP];
        bool bad = false;
        for (size_t k = 0; k < n; k++) {
            const double v = (double)x[i + k];
            bad |= !(fabs(v) <= DBL_MAX);
            bad |= (bits >> k & 1) &&
                   ((v >= rules->float_lo && v <= rules->float_hi) || v >= rules->float_saturation);
        }
        if (bad)
            return false;
        for (size_t k = 0; k < n; k++) {
            const double v = (double)x[i + k];
            if (bits >> k & 1) {
                partial[k] += v;
                max = v > max ? v : max;
                nonzero |= v != 0.0;
            }
        }
        counts |= bits != 0;
    }
    memcpy(stats->partial, partial, sizeof(partial));
    if (counts)
        airy_raw_stats_max(stats, max);
    *zero = !nonzero;
    return true;
}

static AIRY_MAYBE_UNUSED void NAME(clean)(struct airy_raw_stats *stats, void *pixels,
                                          uint16_t *invalid, const uint16_t *valid, size_t count,
                                          const struct airy_raw_rules *rules)
{
    T *x = pixels;
    for (size_t i = 0; i < count; i++) {
        const double v = (double)x[i];
        const bool counts = valid[i / AIRY_GROUP] >> (i % AIRY_GROUP) & 1;
        const bool leave = !(fabs(v) <= DBL_MAX) || (v >= rules->float_lo && v <= rules->float_hi);
        if (counts && v >= rules->float_saturation)
            stats->saturated++;
        if (leave)
            x[i] = 0;
        if (leave && counts) {
            stats->invalid++;
            invalid[i / AIRY_GROUP] |= (uint16_t)(1u << (i % AIRY_GROUP));
        } else if (counts) {
            stats->partial[i % AIRY_GROUP] += v;
            airy_raw_stats_max(stats, v);
        }
    }
}

#else

static AIRY_MAYBE_UNUSED bool NAME(scan)(struct airy_raw_stats *stats, bool *zero,
                                         const void *pixels, const uint16_t *valid, size_t count,
                                         const struct airy_raw_rules *rules)
{
    const T *x = pixels;
    uint32_t max = 0;
    uint64_t total = 0;
    bool counts = false;
    for (size_t i = 0; i < count; i += AIRY_GROUP) {
        const size_t n = airy_min_size(count - i, AIRY_GROUP);
        const unsigned bits = valid[i / AIRY_GROUP];
        counts |= bits != 0;
        for (size_t k = 0; k < n; k++) {
            const uint32_t v = bits >> k & 1 ? (uint32_t)(int32_t)x[i + k] : 0;
            max = v > max ? v : max;
            total += v;
        }
    }
    if (max >= rules->suspicious)
        return false;
    stats->total += (int64_t)total;
    if (counts)
        airy_raw_stats_max(stats, (double)max);
    *zero = max == 0;
    return true;
}

static AIRY_MAYBE_UNUSED void NAME(clean)(struct airy_raw_stats *stats, void *pixels,
                                          uint16_t *invalid, const uint16_t *valid, size_t count,
                                          const struct airy_raw_rules *rules)
{
    T *x = pixels;
    int64_t max = INT64_MIN;
    for (size_t i = 0; i < count; i += AIRY_GROUP) {
        const size_t n = airy_min_size(count - i, AIRY_GROUP);
        const unsigned bits = valid[i / AIRY_GROUP];
        unsigned leave = 0, saturated = 0;
        for (size_t k = 0; k < n; k++) {
            const T v = x[i + k];
            leave |= (unsigned)((uint32_t)(int32_t)v - rules->lo <= rules->span) << k;
            saturated |= (unsigned)((int64_t)v >= rules->saturation) << k;
        }
        leave &= rules->has_interval ? bits : 0;
        stats->saturated += (uint32_t)__builtin_popcount(saturated & bits);
        stats->invalid += (uint32_t)__builtin_popcount(leave);
        invalid[i / AIRY_GROUP] |= (uint16_t)leave;
        for (size_t k = 0; k < n; k++) {
            if (leave >> k & 1)
                x[i + k] = 0;
            else if (bits >> k & 1) {
                stats->total += (int64_t)x[i + k];
                max = (int64_t)x[i + k] > max ? (int64_t)x[i + k] : max;
            }
        }
    }
    if (max != INT64_MIN)
        airy_raw_stats_max(stats, (double)max);
}

#endif

#undef T
#undef NAME
#undef T_FLOAT
