#include "pipeline/merge_input.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/size.h"

enum { BLOCK_BYTES = 4 << 20, MAX_CELLS = 1 << 22 };

static const char *const plane_names[AIRY_SUM_PLANES] = {
    "merged/sum_signal", "merged/sum_variance", "merged/sum_normalization",
    "merged/sum_normalization2", "merged/count"};
static const char *const number_names[4] = {"frame/total", "frame/max", "frame/saturated",
                                            "frame/invalid"};

/* A file that does not say has chi in degrees. */
static airy_status take_axes(struct merge_input *input)
{
    airy_result_axis axis;
    AIRY_TRY(airy_result_get_axis(input->result, 0, &axis));
    input->radial = axis.values;
    input->bins = axis.count;
    if (airy_unit_parse(&input->unit, axis.unit_name) != AIRY_OK)
        return airy_fail_context(AIRY_ERR_FORMAT, "'%s': unit of the %s axis", input->path,
                                 axis.name);
    input->azimuth_unit = AIRY_UNIT_CHI_DEG;
    airy_result_info info;
    AIRY_TRY(airy_result_get_info(input->result, &info));
    if (info.axes > 1) {
        AIRY_TRY(airy_result_get_axis(input->result, 1, &axis));
        input->azimuth = axis.values;
        input->azimuth_bins = axis.count;
        if (*axis.unit_name &&
            airy_unit_parse_azimuthal(&input->azimuth_unit, axis.unit_name) != AIRY_OK)
            return airy_fail_context(AIRY_ERR_FORMAT, "'%s': unit of the %s axis", input->path,
                                     axis.name);
    }
    AIRY_FAIL_ON_IF(
        airy_mul_size(&input->cells, input->bins, airy_max_size(input->azimuth_bins, 1)) ||
            input->cells > MAX_CELLS,
        AIRY_ERR_FORMAT, AIRY_SUBJECT_FILE, "'%s' has more than %d bins", input->path,
        (int)MAX_CELLS);
    return AIRY_OK;
}

/* Sums of each row, or normalizations that rows share. */
static airy_status check_plane(struct merge_input *input, int k)
{
    airy_result_plane plane;
    AIRY_FAIL_ON_IF(airy_result_find_plane(input->result, plane_names[k], &plane) != AIRY_OK,
                    AIRY_ERR_FORMAT, AIRY_SUBJECT_FILE,
                    "'%s' has no %s: it is no result of an integration", input->path,
                    plane_names[k]);
    input->shared[k] = !plane.has_rows;
    AIRY_FAIL_ON_IF(plane.text || plane.is_complex || plane.cells != input->cells ||
                        plane.ndim != (input->azimuth_bins ? 2 : 1) ||
                        (k < AIRY_SUM_NORMALIZATION && input->shared[k]),
                    AIRY_ERR_FORMAT, AIRY_SUBJECT_FILE,
                    "'%s': %s has another shape than the axes and rows", input->path, plane.path);
    return AIRY_OK;
}

/* One number a row. */
static airy_status check_number(const struct merge_input *input, const char *name)
{
    airy_result_plane plane;
    AIRY_FAIL_ON_IF(airy_result_find_plane(input->result, name, &plane) != AIRY_OK ||
                        !plane.has_rows || plane.ndim || plane.text,
                    AIRY_ERR_FORMAT, AIRY_SUBJECT_FILE, "'%s' has no %s with a number for each row",
                    input->path, name);
    return AIRY_OK;
}

static airy_status check_planes(struct merge_input *input)
{
    airy_result_plane plane;
    AIRY_TRY(check_number(input, "frame/index"));
    for (int k = 0; k < 4; k++)
        AIRY_TRY(check_number(input, number_names[k]));
    input->errors = airy_result_find_plane(input->result, plane_names[AIRY_SUM_VARIANCE], &plane) ==
                    AIRY_OK;
    for (int k = 0; k < AIRY_SUM_PLANES; k++)
        if (k != AIRY_SUM_VARIANCE || input->errors)
            AIRY_TRY(check_plane(input, k));
    input->shared[AIRY_SUM_VARIANCE] = !input->errors; /* zeros */
    input->grouped = airy_result_find_plane(input->result, "frame/frames", &plane) == AIRY_OK;
    return input->grouped ? check_number(input, "frame/frames") : AIRY_OK;
}

static airy_status take_fingerprint(struct merge_input *input)
{
    const airy_status status =
        airy_result_get_text(input->result, "fingerprint", &input->fingerprint);
    if (status != AIRY_ERR_NOT_FOUND)
        return status;
    input->fingerprint = calloc(1, 1);
    AIRY_FAIL_IF(!input->fingerprint, AIRY_ERR_MEMORY, "out of memory for a fingerprint");
    return AIRY_OK;
}

airy_status airy_merge_input_open(struct merge_input *input, const char *path)
{
    static const char *const holds[AIRY_RESULT_COUNT] = {
        [AIRY_RESULT_SPARSE] = "holds peaks: densify makes frames of them",
        [AIRY_RESULT_FRAMES] = "holds frames: integrate makes patterns of them",
        [AIRY_RESULT_IMAGE] = "holds one image, expected patterns"};
    airy_result_info info;
    *input = (struct merge_input){.path = path};
    AIRY_TRY(airy_result_open(&input->result, path));
    AIRY_TRY(airy_result_get_info(input->result, &info));
    AIRY_FAIL_HINT_IF(info.kind != AIRY_RESULT_PATTERNS, AIRY_ERR_FORMAT, AIRY_HINT_STATED,
                      AIRY_SUBJECT_FILE, "'%s' %s", path, holds[info.kind]);
    AIRY_FAIL_ON_IF(info.rows == 0, AIRY_ERR_FORMAT, AIRY_SUBJECT_FILE, "'%s' has no rows", path);
    AIRY_FAIL_HINT_IF(info.grows && !info.complete, AIRY_ERR_FORMAT, AIRY_HINT_UNFINISHED,
                      AIRY_SUBJECT_FILE, "'%s' is not complete: more rows may come", info.path);
    input->rows = info.rows;
    input->file = info.path;
    AIRY_TRY(take_axes(input));
    AIRY_TRY(check_planes(input));
    return take_fingerprint(input);
}

void airy_merge_input_close(struct merge_input *input)
{
    airy_result_close(&input->result);
    for (int k = 0; k < AIRY_SUM_PLANES; k++)
        free(input->sums[k]);
    for (int k = 0; k < 4; k++)
        free(input->numbers[k]);
    free(input->frames);
    free(input->fingerprint);
    *input = (struct merge_input){0};
}

airy_status airy_merge_input_index(struct merge_input *input, uint64_t *index, size_t count)
{
    return airy_result_read(input->result, "frame/index", 0, count, AIRY_DTYPE_U64, index,
                            count * sizeof(*index));
}

/* Memory of a block; planes that rows share are read at once. */
static airy_status open_block(struct merge_input *input)
{
    const size_t row = input->cells * AIRY_SUM_PLANES * sizeof(double);
    const size_t most = airy_max_size(airy_min_size(BLOCK_BYTES / row, input->rows), 1);
    for (int k = 0; k < AIRY_SUM_PLANES; k++) {
        const size_t rows = input->shared[k] ? 1 : most;
        AIRY_TRY(airy_memory_calloc((void **)&input->sums[k], rows * input->cells, sizeof(double),
                                    "sums"));
        if (input->shared[k] && (k != AIRY_SUM_VARIANCE || input->errors))
            AIRY_TRY(airy_result_read(input->result, plane_names[k], 0, 1, AIRY_DTYPE_F64,
                                      input->sums[k], input->cells * sizeof(double)));
    }
    for (int k = 0; k < 4; k++)
        AIRY_TRY(airy_memory_calloc((void **)&input->numbers[k], most, sizeof(double), "numbers"));
    AIRY_TRY(airy_memory_calloc((void **)&input->frames, most, sizeof(uint32_t), "numbers"));
    input->most = most;
    return AIRY_OK;
}

static airy_status read_block(struct merge_input *input, size_t first)
{
    airy_result *result = input->result;
    if (!input->most)
        AIRY_TRY(open_block(input));
    const size_t count = airy_min_size(input->most, input->rows - first);
    input->count = 0;
    for (int k = 0; k < AIRY_SUM_PLANES; k++)
        if (!input->shared[k])
            AIRY_TRY(airy_result_read(result, plane_names[k], first, count, AIRY_DTYPE_F64,
                                      input->sums[k], count * input->cells * sizeof(double)));
    for (int k = 0; k < 4; k++)
        AIRY_TRY(airy_result_read(result, number_names[k], first, count, AIRY_DTYPE_F64,
                                  input->numbers[k], count * sizeof(double)));
    if (input->grouped)
        AIRY_TRY(airy_result_read(result, "frame/frames", first, count, AIRY_DTYPE_U32,
                                  input->frames, count * sizeof(uint32_t)));
    input->first = first;
    input->count = count;
    return AIRY_OK;
}

/* A count out of a file, which may hold anything. */
static uint32_t bounded(double v)
{
    return (uint32_t)(v >= 0 ? fmin(v, UINT32_MAX) : 0);
}

airy_status airy_merge_input_row(struct merge_input *input, size_t row, double *sums,
                                 airy_frame_stats *stats, uint32_t *frames)
{
    if (row < input->first || row - input->first >= input->count)
        AIRY_TRY(read_block(input, row));
    const size_t at = row - input->first, cells = input->cells;
    for (int k = 0; k < AIRY_SUM_PLANES; k++)
        memcpy(sums + (size_t)k * cells, input->sums[k] + (input->shared[k] ? 0 : at * cells),
               cells * sizeof(double));
    *stats = (airy_frame_stats){
        .total = input->numbers[0][at],
        .max = input->numbers[1][at],
        .saturated = bounded(input->numbers[2][at]),
        .invalid = bounded(input->numbers[3][at]),
        .status = airy_result_get_row(input->result, row) == AIRY_ROW_GOOD ? AIRY_FRAME_GOOD : 0,
    };
    *frames = input->grouped ? input->frames[at] : 1;
    return AIRY_OK;
}
