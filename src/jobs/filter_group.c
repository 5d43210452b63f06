#include "jobs/filter_group.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "base/word.h"

/* Any number, inf and nan too. */
static bool parse_any(double *value, const char *text)
{
    static const struct airy_job_row any = {
        {.name = "value", .type = AIRY_PARAMETER_REAL, .any = true}, 0, NULL};
    return airy_value_parse(&any, value, text) == AIRY_OK;
}

static const char *parse_border(void *field, const char *text)
{
    struct airy_border_value *b = field;
    const char *words[AIRY_BORDER_COUNT];
    char list[128];
    if (strncmp(text, "value=", 6) == 0 && parse_any(&b->value, text + 6)) {
        b->border = AIRY_BORDER_VALUE;
        return NULL;
    }
    if (strncmp(text, "value", 5) == 0)
        return "expected value=V with a number V";
    for (int i = 0; i < AIRY_BORDER_COUNT; i++) {
        words[i] = i == AIRY_BORDER_VALUE ? "value=V" : airy_border_name((airy_border)i);
        if (strcmp(text, words[i]) == 0) {
            b->border = (airy_border)i;
            return NULL;
        }
    }
    const char *near = airy_suggest_word(text, words, AIRY_BORDER_COUNT);
    airy_join_words(list, sizeof(list), words, AIRY_BORDER_COUNT);
    (void)airy_fail(AIRY_ERR_PARAM, "expected %s%s%s%s", list, near ? "; did you mean '" : "",
                    near ? near : "", near ? "'?" : "");
    return airy_last_error();
}

static void print_border(char *text, size_t size, const void *field)
{
    const struct airy_border_value *b = field;
    char number[AIRY_NUMBER_TEXT];
    if (b->border == AIRY_BORDER_VALUE)
        snprintf(text, size, "value=%s", airy_number_text(number, b->value, false));
    else
        snprintf(text, size, "%s", airy_border_name(b->border));
}

const struct airy_job_record airy_border_record = {sizeof(struct airy_border_value), parse_border,
                                                   print_border};

const char *const airy_filter_dtypes[] = {"float32", "float64", NULL};

#define ROW(member, ...) AIRY_JOB_ROW(struct airy_filter_values, member, __VA_ARGS__)
/* holds: bits of the dtypes of results, 0: any */
#define RESULT_ROWS(holds)                                                                         \
    ROW(plan, .name = "plan", .type = AIRY_PARAMETER_FLAG, .affects = AIRY_AFFECTS_HOW,            \
        .help = "reports how the image would be cut and what memory that takes, and does "         \
                "nothing; no output is needed"),                                                   \
        ROW(output.path, .name = "output", .type = AIRY_PARAMETER_PATH, .letter = 'o',             \
            .role = AIRY_ROLE_WRITTEN, .affects = AIRY_AFFECTS_WHERE, .argument = "OUT",           \
            .help = "writes the result into this file", .dtypes = (holds)),                        \
        ROW(output.force, .name = "force", .type = AIRY_PARAMETER_FLAG,                            \
            .affects = AIRY_AFFECTS_WHERE, .help = "overwrites the output"),                       \
    {                                                                                              \
        {0}, 0, NULL                                                                               \
    }
const struct airy_job_row airy_filter_rows[] = {
    ROW(dtype, .name = "dtype", .type = AIRY_PARAMETER_DTYPE, .words = airy_filter_dtypes,
        .fallback = "float64 for float64 images, else float32", .computed = true,
        .help = "sets the type of the result and of the arithmetic"),
    RESULT_ROWS(1u << AIRY_DTYPE_F32)};
const struct airy_job_row airy_filter_any_rows[] = {RESULT_ROWS(0)};
#undef RESULT_ROWS
#undef ROW

airy_dtype airy_filter_dtype(const airy_job *job, const struct airy_filter_values *v,
                             airy_dtype from)
{
    return airy_job_is_set(job, "dtype") ? v->dtype
           : from == AIRY_DTYPE_F64      ? AIRY_DTYPE_F64
                                         : AIRY_DTYPE_F32;
}

airy_status airy_filter_open(struct airy_job_image *d, const struct airy_filter_values *v)
{
    /* Integers become what is computed from them. */
    AIRY_TRY(airy_job_image_open_host(d, airy_filter_dtype(d->job, v, AIRY_DTYPE_F32)));
    return v->plan ? AIRY_OK
                   : airy_job_image_check_format(d, "output", v->output.path,
                                                 airy_filter_dtype(d->job, v, d->image.dtype));
}

airy_status airy_filter_axes(int *axes, const char *parameter, const struct airy_job_tuple *numbers,
                             int ndim)
{
    static const char *const expected[] = {"1 number", "1 or 2 numbers", "1 to 3 numbers",
                                           "1 or 3 numbers"};
    const int most = ndim < 3 ? ndim : 3, count = (int)numbers->count;
    char text[96];
    *axes = count == 1 ? most : count;
    AIRY_FAIL_HINT_IF(*axes > most || *axes < ndim - 1, AIRY_ERR_UNSUPPORTED, AIRY_HINT_STATED,
                      AIRY_SUBJECT_PARAMETER, "%s %s: expected %s for an image of %d dimension%s",
                      parameter, airy_tuple_text(text, numbers),
                      expected[(ndim < 4 ? ndim : 4) - 1], ndim, ndim == 1 ? "" : "s");
    return AIRY_OK;
}

airy_status airy_filter_check_reach(const char *parameter, const struct airy_job_tuple *sigma,
                                    double truncate)
{
    char text[96];
    for (size_t i = 0; i < sigma->count; i++) {
        const double reach = floor(truncate * sigma->values[i] + 0.5);
        AIRY_FAIL_ON_IF(
            reach > AIRY_BLUR_RADIUS_MAX, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
            "%s %s: a sigma of %g needs a radius of %g px, expected at most %d; give "
            "a smaller truncate=T, or blur more than once, by sigmas whose squares add up",
            parameter, airy_tuple_text(text, sigma), sigma->values[i], reach, AIRY_BLUR_RADIUS_MAX);
    }
    return AIRY_OK;
}

/* "3 x 4", and the lengths as numbers. */
void airy_filter_put_plan(airy_job *job, const airy_tile_plan *plan, bool only,
                          const char *sentence)
{
    char tile[AIRY_SHAPE_TEXT], all[AIRY_SHAPE_TEXT], first[128], copied[32] = "nothing";
    airy_shape_text(all, plan->shape, plan->ndim);
    airy_shape_text(tile, plan->tile, plan->ndim);
    airy_job_put_shape(job, "shape", plan->shape, plan->ndim);
    airy_job_put_shape(job, "tile", plan->tile, plan->ndim);
    airy_job_put_number(job, "tiles", (double)plan->tiles);
    airy_job_put_number(job, "device_bytes", (double)plan->device_bytes);
    airy_job_put_number(job, "copied_bytes", (double)plan->copied_bytes);
    if (plan->copied_bytes)
        snprintf(copied, sizeof(copied), "%.1f MB", (double)plan->copied_bytes * 1e-6);
    snprintf(first, sizeof(first), "%s", only ? "" : sentence ? sentence : airy_job_summary(job));
    if (only || plan->tiles > 1)
        airy_job_sum_up(job, "%s%s%s in %llu tile%s of %s: %.1f MB on the device, %s copied to it",
                        first, *first ? "; " : "", all, (unsigned long long)plan->tiles,
                        plan->tiles == 1 ? "" : "s", tile, (double)plan->device_bytes * 1e-6,
                        copied);
    else
        airy_job_sum_up(job, "%s", first);
}

airy_status airy_filter_put(const struct airy_job_image *d, airy_image *result,
                            const struct airy_filter_values *v, const char *advice)
{
    airy_job_work_ends(d->job);
    airy_job_warn_nan(d, result, v->output.path, advice);
    return airy_job_image_put(d, result, "image", &v->output);
}
