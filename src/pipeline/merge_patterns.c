/* Patterns of several runs put together from their sums. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "airy/pipeline.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/size.h"
#include "io/result/file.h"
#include "io/result/layout.h"
#include "pipeline/merge_input.h"
#include "pipeline/merge_patterns.h"

struct merging {
    const char *path, *const *inputs; /* path: NULL: no file */
    size_t count;
    struct airy_merged *merged; /* or NULL */
    const airy_patterns_params *params;
    struct merge_input *parts;      /* [count] */
    const struct merge_input *axes; /* the first */
    size_t rebin, bins, cells;      /* bins, cells: that are written */
    size_t rows, bad;
    airy_pattern_file *file;
    airy_accumulator *sum; /* with join */
    uint64_t frames;       /* of its rows */
    double *sums, *fewer;  /* of a row as read, and as written */
    float *values;         /* [3][cells] */
};

/* Elements agree to 10^-9 of the distance between the first two. */
static airy_status compare_axis(const struct merging *m, size_t input, const char *what,
                                const double *a, const double *b, size_t count)
{
    const double width = count > 1 ? fabs(a[1] - a[0]) : fabs(a[0]);
    for (size_t i = 0; i < count; i++)
        AIRY_FAIL_ON_IF(!(fabs(a[i] - b[i]) <= 1e-9 * width), AIRY_ERR_FORMAT, AIRY_SUBJECT_FILE,
                        "'%s': its %s[%zu] is %.12g, that of '%s' %.12g", m->inputs[input], what, i,
                        b[i], m->inputs[0], a[i]);
    return AIRY_OK;
}

static airy_status compare_axes(const struct merging *m, size_t input)
{
    const struct merge_input *a = m->axes, *b = &m->parts[input];
    const char *name = m->inputs[input], *first = m->inputs[0];
    AIRY_FAIL_ON_IF(a->unit != b->unit, AIRY_ERR_FORMAT, AIRY_SUBJECT_FILE,
                    "'%s' is in %s, '%s' in %s", name, airy_unit_name(b->unit), first,
                    airy_unit_name(a->unit));
    AIRY_FAIL_IF(a->azimuth_bins && b->azimuth_bins && a->azimuth_unit != b->azimuth_unit,
                 AIRY_ERR_FORMAT, "the second axis of '%s' is in %s, that of '%s' in %s", name,
                 airy_unit_name(b->azimuth_unit), first, airy_unit_name(a->azimuth_unit));
    AIRY_FAIL_ON_IF(a->bins != b->bins || a->azimuth_bins != b->azimuth_bins, AIRY_ERR_FORMAT,
                    AIRY_SUBJECT_FILE, "'%s' has %zu x %zu bins, '%s' %zu x %zu", name, b->bins,
                    airy_max_size(b->azimuth_bins, 1), first, a->bins,
                    airy_max_size(a->azimuth_bins, 1));
    AIRY_FAIL_ON_IF(a->errors != b->errors, AIRY_ERR_FORMAT, AIRY_SUBJECT_FILE,
                    "'%s' has %s variances, '%s' has %s", name, b->errors ? "its" : "no", first,
                    a->errors ? "them" : "none");
    char owners[2][1024];
    snprintf(owners[0], sizeof(owners[0]), "'%s'", name);
    snprintf(owners[1], sizeof(owners[1]), "'%s'", first);
    AIRY_TRY(airy_fingerprint_compare((struct airy_fingerprint_of){b->fingerprint, owners[0]},
                                      (struct airy_fingerprint_of){a->fingerprint, owners[1]},
                                      false));
    AIRY_TRY(compare_axis(m, input, "radial", a->radial, b->radial, a->bins));
    return a->azimuth_bins
               ? compare_axis(m, input, "azimuthal", a->azimuth, b->azimuth, a->azimuth_bins)
               : AIRY_OK;
}

/* Rows that are counted, and all of which are done. */
static airy_status count_rows(struct merging *m, const struct merge_input *part)
{
    for (size_t row = 0; row < part->rows; row++) {
        const airy_row status = airy_result_get_row(part->result, row);
        AIRY_FAIL_HINT_IF(status == AIRY_ROW_PENDING, AIRY_ERR_FORMAT, AIRY_HINT_UNFINISHED,
                          AIRY_SUBJECT_FILE, "'%s' is not complete: its row %zu is not done",
                          part->file, row);
        m->bad += status == AIRY_ROW_BAD;
    }
    m->rows += part->rows;
    return AIRY_OK;
}

static airy_status open_inputs(struct merging *m)
{
    AIRY_TRY(airy_memory_calloc((void **)&m->parts, m->count, sizeof(*m->parts), "inputs"));
    m->axes = m->parts;
    for (size_t i = 0; i < m->count; i++) {
        AIRY_FAIL_IF(!m->inputs[i], AIRY_ERR_PARAM, "airy_patterns_merge: inputs[%zu] is NULL", i);
        AIRY_TRY(airy_merge_input_open(&m->parts[i], m->inputs[i]));
        const airy_status differs = compare_axes(m, i);
        if (differs != AIRY_OK)
            return airy_hinted(AIRY_HINT_SAME_OPTIONS, differs);
        AIRY_TRY(count_rows(m, &m->parts[i]));
    }
    AIRY_FAIL_ON_IF(m->rebin > m->axes->bins, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s = %zu, expected 1 to %zu, the bins of the inputs", "rebin", m->rebin,
                    m->axes->bins);
    AIRY_FAIL_IF(m->params->join && m->bad == m->rows, AIRY_ERR_FORMAT,
                 "all %zu rows are bad: there is nothing to put together", m->rows);
    m->bins = m->axes->bins / m->rebin;
    m->cells = m->bins * airy_max_size(m->axes->azimuth_bins, 1);
    return AIRY_OK;
}

/* Hand over the axes and frame numbers, and make room for the values. */
static airy_status fill_merged(struct merging *m, double **radial, uint64_t **index)
{
    const size_t azimuth = m->axes->azimuth_bins;
    struct airy_merged *to = m->merged;
    size_t values = 0;
    *to = (struct airy_merged){.rows = m->params->join ? 1 : m->rows,
                               .bins = m->bins,
                               .azimuth_bins = azimuth,
                               .unit = m->axes->unit,
                               .azimuth_unit = m->axes->azimuth_unit,
                               .radial = *radial,
                               .index = *index};
    *radial = NULL;
    *index = NULL;
    AIRY_FAIL_IF(airy_mul_size(&values, to->rows, m->cells), AIRY_ERR_MEMORY,
                 "out of memory for %zu patterns", to->rows);
    for (int k = 0; k < (m->axes->errors ? AIRY_MERGED_PLANES : 1); k++)
        AIRY_TRY(airy_memory_calloc((void **)&to->values[k], values, sizeof(float), "patterns"));
    if (azimuth) {
        AIRY_TRY(airy_memory_calloc((void **)&to->azimuth, azimuth, sizeof(double), "an axis"));
        memcpy(to->azimuth, m->axes->azimuth, azimuth * sizeof(double));
    }
    return AIRY_OK;
}

/* Centres of bins that are joined. */
static void join_axis(double *radial, const struct merging *m)
{
    for (size_t b = 0; b < m->bins; b++) {
        double sum = 0;
        for (size_t i = 0; i < m->rebin; i++)
            sum += m->axes->radial[b * m->rebin + i];
        radial[b] = m->rebin > 1 ? sum / (double)m->rebin : sum;
    }
}

static airy_status number_rows(uint64_t *index, struct merging *m)
{
    if (m->params->join)
        return airy_merge_input_index(&m->parts[0], index, 1);
    size_t at = 0;
    for (size_t i = 0; i < m->count; i++) {
        AIRY_TRY(airy_merge_input_index(&m->parts[i], index + at, m->parts[i].rows));
        at += m->parts[i].rows;
    }
    return AIRY_OK;
}

static airy_status open_output(struct merging *m)
{
    const size_t rows = m->params->join ? 1 : m->rows;
    double *radial = NULL;
    uint64_t *index = NULL;
    airy_status status;
    AIRY_TRY_OR(out, airy_memory_calloc((void **)&radial, m->bins, sizeof(double), "an axis"));
    AIRY_TRY_OR(out, airy_memory_calloc((void **)&index, rows, sizeof(*index), "frame numbers"));
    join_axis(radial, m);
    AIRY_TRY_OR(out, number_rows(index, m));
    const struct airy_pattern_spec spec = {
        .frames = rows,
        .bins = m->cells,
        .radial = radial,
        .azimuth_bins = m->axes->azimuth_bins,
        .azimuth = m->axes->azimuth,
        .unit = m->axes->unit,
        .azimuth_unit = m->axes->azimuth_unit,
        .errors = m->axes->errors,
        .index = index,
        .configuration = m->params->configuration ? m->params->configuration : "{}",
        .fingerprint = m->axes->fingerprint,
        .grouped = true,
    };
    if (m->path)
        AIRY_TRY_OR(out,
                    airy_pattern_file_create(&m->file, m->path, &spec, m->params->force, false));
    if (m->merged)
        AIRY_TRY_OR(out, fill_merged(m, &radial, &index));
out:
    free(radial);
    free(index);
    return status;
}

static airy_status open_scratch(struct merging *m)
{
    const size_t all = m->axes->bins * airy_max_size(m->axes->azimuth_bins, 1);
    AIRY_TRY(airy_memory_calloc((void **)&m->sums, AIRY_SUM_PLANES * all, sizeof(double), "sums"));
    AIRY_TRY(
        airy_memory_calloc((void **)&m->fewer, AIRY_SUM_PLANES * m->cells, sizeof(double), "sums"));
    AIRY_TRY(airy_memory_calloc((void **)&m->values, 3 * m->cells, sizeof(float), "a pattern"));
    return m->params->join ? airy_accumulator_create(&m->sum, m->cells, m->params->model) : AIRY_OK;
}

/* m->fewer, or NaN where the row is bad, to a row of the file. */
static airy_status write_row(struct merging *m, size_t row, const airy_frame_stats *stats,
                             uint32_t frames, const char *message)
{
    const size_t n = m->cells;
    const bool errors = m->axes->errors;
    const double empty = m->params->has_empty ? m->params->empty : (double)NAN;
    float *intensity = m->values, *std = intensity + n, *sem = std + n;
    AIRY_TRY(airy_sums_finish(m->fewer, n, empty, intensity, std, sem));
    for (size_t i = 0; message && i < 3 * n; i++)
        m->values[i] = NAN;
    const struct airy_pattern_row data = {
        .intensity = intensity,
        .std = errors ? std : NULL,
        .sem = errors ? sem : NULL,
        .signal = m->fewer,
        .variance = errors ? m->fewer + AIRY_SUM_VARIANCE * n : NULL,
        .norms = m->fewer + AIRY_SUM_NORMALIZATION * n,
        .stats = *stats,
        .frames = frames,
        .message = message,
    };
    for (int k = 0; m->merged && k < (errors ? AIRY_MERGED_PLANES : 1); k++)
        memcpy(m->merged->values[k] + row * n, m->values + (size_t)k * n, n * sizeof(float));
    return m->file ? airy_pattern_file_write(m->file, row, &data) : AIRY_OK;
}

static airy_status take_row(struct merging *m, size_t input, size_t row, size_t to)
{
    airy_frame_stats stats;
    uint32_t frames = 0;
    AIRY_TRY(airy_merge_input_row(&m->parts[input], row, m->sums, &stats, &frames));
    const bool bad = stats.status != AIRY_FRAME_GOOD;
    if (m->rebin == 1)
        memcpy(m->fewer, m->sums, AIRY_SUM_PLANES * m->cells * sizeof(double));
    else
        AIRY_TRY(airy_sums_rebin(m->fewer, m->sums, airy_max_size(m->axes->azimuth_bins, 1),
                                 m->axes->bins, m->rebin, m->params->model));
    if (!m->params->join) {
        char message[AIRY_PATTERN_MESSAGE_BYTES];
        snprintf(message, sizeof(message), "row %zu of %.150s is bad", row, m->inputs[input]);
        return write_row(m, to, &stats, bad ? 0 : frames, bad ? message : NULL);
    }
    m->frames += bad ? 0 : frames;
    return bad ? AIRY_OK : airy_accumulator_add(m->sum, m->fewer, &stats, 1);
}

static airy_status take_rows(struct merging *m)
{
    const airy_patterns_params *params = m->params;
    size_t to = 0;
    for (size_t i = 0; i < m->count; i++) {
        for (size_t row = 0; row < m->parts[i].rows; row++) {
            AIRY_TRY(take_row(m, i, row, to++));
            AIRY_FAIL_IF(params->progress && !params->progress(params->user, to, m->rows),
                         AIRY_ERR_CANCELLED, "cancelled after %zu of %zu rows", to, m->rows);
        }
    }
    if (!m->params->join)
        return AIRY_OK;
    airy_frame_stats stats;
    AIRY_TRY(airy_accumulator_get(m->sum, m->params->merge, m->fewer, &stats));
    return write_row(m, 0, &stats, (uint32_t)(m->frames < UINT32_MAX ? m->frames : UINT32_MAX),
                     NULL);
}

static airy_status merge_all(struct merging *m)
{
    AIRY_TRY(open_inputs(m));
    AIRY_TRY(open_scratch(m));
    AIRY_TRY(open_output(m));
    AIRY_TRY(take_rows(m));
    return m->file ? airy_pattern_file_finish(m->file, NULL) : AIRY_OK;
}

void airy_merged_free(struct airy_merged *merged)
{
    free(merged->radial);
    free(merged->azimuth);
    free(merged->index);
    for (int k = 0; k < AIRY_MERGED_PLANES; k++)
        free(merged->values[k]);
    *merged = (struct airy_merged){.rows = 0};
}

airy_status airy_patterns_merge(const char *path, const char *const *inputs, size_t count,
                                const airy_patterns_params *params, airy_patterns_info *info)
{
    AIRY_FAIL_IF(!path, AIRY_ERR_PARAM, "airy_patterns_merge: path is NULL");
    return airy_patterns_merge_into(NULL, path, inputs, count, params, info);
}

airy_status airy_patterns_merge_into(struct airy_merged *merged, const char *path,
                                     const char *const *inputs, size_t count,
                                     const airy_patterns_params *params, airy_patterns_info *info)
{
    static const airy_patterns_params defaults;
    AIRY_FAIL_IF(!inputs || count == 0, AIRY_ERR_PARAM,
                 "airy_patterns_merge: inputs is NULL, or there are none");
    struct merging m = {.path = path,
                        .inputs = inputs,
                        .count = count,
                        .merged = merged,
                        .params = params ? params : &defaults};
    AIRY_FAIL_ON_IF((unsigned)m.params->merge >= AIRY_MERGE_COUNT, AIRY_ERR_PARAM,
                    AIRY_SUBJECT_PARAMETER, "%s = %d, expected 0 to %d", "merge",
                    (int)m.params->merge, AIRY_MERGE_COUNT - 1);
    m.rebin = airy_max_size(m.params->rebin, 1);
    if (merged)
        *merged = (struct airy_merged){.rows = 0};
    const airy_status status = merge_all(&m);
    airy_error error = {.status = AIRY_OK};
    (void)airy_error_first(&error, status);
    if (m.file)
        airy_pattern_file_destroy(&m.file, false);
    for (size_t i = 0; m.parts && i < count; i++)
        airy_merge_input_close(&m.parts[i]);
    free(m.parts);
    free(m.sums);
    free(m.fewer);
    free(m.values);
    airy_accumulator_destroy(&m.sum);
    if (status != AIRY_OK && merged)
        airy_merged_free(merged);
    if (status != AIRY_OK)
        return airy_error_restore(&error);
    if (info)
        *info = (airy_patterns_info){
            .rows = m.rows, .bad = m.bad, .written = m.params->join ? 1 : m.rows, .bins = m.bins};
    return AIRY_OK;
}
