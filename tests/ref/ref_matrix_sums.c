#include "ref_matrix_sums.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int left_out(double v, const struct ref_rules *rules)
{
    return !isfinite(v) || (v >= rules->lo && v <= rules->hi);
}

static void clear(struct ref_sums *s, size_t bins)
{
    double *all[] = {s->signal,       s->variance,     s->normalization, s->normalization2,
                     s->count,        s->magnitude[0], s->magnitude[1],  s->magnitude[2],
                     s->magnitude[3], s->magnitude[4], s->recurrence,    s->ordered,
                     s->above,        s->all_dark};
    for (size_t k = 0; k < sizeof(all) / sizeof(all[0]); k++)
        memset(all[k], 0, bins * sizeof(double));
    memset(s->entries, 0, bins * sizeof(*s->entries));
    s->total = s->max = 0;
    s->invalid = s->saturated = 0;
}

static void sum_stats(struct ref_sums *s, const struct ref_matrix *m, const double *frame,
                      const struct ref_rules *rules)
{
    int any = 0;
    for (size_t i = 0; i < m->pixels; i++) {
        if (!m->valid[i])
            continue;
        if (frame[i] >= rules->saturation)
            s->saturated++;
        if (left_out(frame[i], rules)) {
            s->invalid++;
            continue;
        }
        s->total += frame[i];
        if (!any || frame[i] > s->max)
            s->max = frame[i];
        any = 1;
    }
}

static void sum_planes(struct ref_sums *s, const struct ref_matrix *m, const double *frame,
                       const struct ref_rules *rules, enum ref_model model)
{
    for (size_t i = 0; i < m->pixels; i++) {
        const int out = left_out(frame[i], rules);
        const double raw = out ? 0 : frame[i], dark = m->dark ? (double)m->dark[i] : 0;
        double v = 0;
        if (model == REF_MODEL_POISSON)
            v = raw > 1 ? raw : 1;
        else if (model == REF_MODEL_VARIANCE)
            v = (double)m->variance[i];
        for (uint32_t e = m->start[i]; e < m->start[i + 1]; e++) {
            const uint32_t b = m->bin[e];
            const double c = (double)m->coef[e], w = (double)m->weight[e],
                         n = c * (double)m->norm[i];
            const double term[5] = {w * (raw - dark), w * w * v, n, n * n, c};
            s->all_dark[b] += fabs(w * dark);
            if (out)
                continue;
            s->magnitude[0][b] += fabs(w * raw) + fabs(w * dark);
            for (int k = 1; k < 5; k++)
                s->magnitude[k][b] += fabs(term[k]);
            s->signal[b] += term[0];
            s->variance[b] += term[1];
            s->normalization[b] += term[2];
            s->normalization2[b] += term[3];
            s->count[b] += term[4];
            s->entries[b]++;
        }
    }
}

/*
 * Around the means, and by the recurrence; magnitude[1]: what rounding errors of the variance are
 * relative to.
 */
static void sum_azimuthal(struct ref_sums *s, const struct ref_matrix *m, const double *frame,
                          const struct ref_rules *rules)
{
    double *signal = calloc(m->bins, sizeof(double)),
           *normalization = calloc(m->bins, sizeof(double));
    for (size_t i = 0; i < m->pixels; i++) {
        if (left_out(frame[i], rules))
            continue;
        const double value = frame[i] - (m->dark ? (double)m->dark[i] : 0);
        for (uint32_t e = m->start[i]; e < m->start[i + 1]; e++) {
            const uint32_t b = m->bin[e];
            const double omega = (double)m->coef[e] * (double)m->norm[i],
                         t = (double)m->weight[e] * value;
            const double mean = s->signal[b] / s->normalization[b], d = t - omega * mean;
            const double large = fabs(t) +
                                 fabs(omega) * (s->magnitude[0][b] / fabs(s->normalization[b]));
            s->variance[b] += d * d;
            s->magnitude[1][b] += large * large;
            if (omega == 0)
                continue;
            const double before = signal[b] / normalization[b], x = t / omega;
            const int first = normalization[b] == 0;
            signal[b] += t;
            normalization[b] += omega;
            if (!first)
                s->recurrence[b] += omega * omega * (x - before) *
                                    (x - signal[b] / normalization[b]);
        }
    }
    free(signal);
    free(normalization);
}

static void sum_ordered(struct ref_sums *s, const struct ref_matrix *m, const double *frame,
                        const struct ref_rules *rules, const size_t *slice_end, size_t slices)
{
    double *signal = malloc(m->bins * sizeof(double)), *above = malloc(m->bins * sizeof(double));
    size_t i = 0;
    for (size_t k = 0; k < slices; k++) {
        memset(signal, 0, m->bins * sizeof(double));
        memset(above, 0, m->bins * sizeof(double));
        for (; i < slice_end[k]; i++) {
            const double raw = left_out(frame[i], rules) ? 0 : frame[i],
                         more = (raw > 1 ? raw : 1) - 1;
            for (uint32_t e = m->start[i]; e < m->start[i + 1]; e++) {
                const double w = (double)m->weight[e];
                signal[m->bin[e]] = fma(w, raw, signal[m->bin[e]]);
                above[m->bin[e]] = fma(w * w, more, above[m->bin[e]]);
            }
        }
        for (size_t b = 0; b < m->bins; b++) {
            s->ordered[b] += signal[b];
            s->above[b] += above[b];
        }
    }
    free(signal);
    free(above);
}

void ref_matrix_sums(struct ref_sums *sums, const struct ref_matrix *matrix, const double *frame,
                     const struct ref_rules *rules, enum ref_model model, const size_t *slice_end,
                     size_t slices)
{
    clear(sums, matrix->bins);
    sum_stats(sums, matrix, frame, rules);
    sum_planes(sums, matrix, frame, rules, model);
    if (model == REF_MODEL_AZIMUTHAL)
        sum_azimuthal(sums, matrix, frame, rules);
    sum_ordered(sums, matrix, frame, rules, slice_end, slices);
}
