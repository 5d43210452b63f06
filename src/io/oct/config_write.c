/* OCT plans into JSON, so that oct/config.c reads back the same numbers. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "airy/oct_config.h"
#include "base/error.h"
#include "io/oct/words.h"
#include "io/file/plain_file.h"

/* The plan being written. */
struct writer {
    json_t *plan;
    bool failed; /* memory was short */
};

static void put(struct writer *w, const char *key, json_t *value)
{
    w->failed |= json_object_set_new(w->plan, key, value) != 0;
}

static void put_count(struct writer *w, const char *key, uint64_t count)
{
    if (count)
        put(w, key, json_integer((json_int_t)count));
}

static json_t *numbers(const double *values, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        if (json_array_append_new(list, json_real(values[i])) != 0) {
            json_decref(list);
            return NULL;
        }
    return list;
}

static void put_raw(struct writer *w, const airy_oct_config *config)
{
    const airy_oct_params *p = &config->params;
    static const char *const types[AIRY_DTYPE_COUNT] = {
        [AIRY_DTYPE_F32] = "f32", [AIRY_DTYPE_U8] = "u8",  [AIRY_DTYPE_U16] = "u16",
        [AIRY_DTYPE_I16] = "i16", [AIRY_DTYPE_I8] = "i8",  [AIRY_DTYPE_U32] = "u32",
        [AIRY_DTYPE_I32] = "i32", [AIRY_DTYPE_F64] = "f64"};
    put_count(w, "samples", p->samples);
    put_count(w, "lines", p->lines);
    if (p->packing != AIRY_OCT_PACKING_NONE)
        put(w, "packing", json_integer(p->packing == AIRY_OCT_PACKING_10 ? 10 : 12));
    else if (config->has_dtype || p->dtype != AIRY_DTYPE_F32)
        put(w, "dtype", json_string(types[config->converted ? config->converted : p->dtype]));
    if (p->big_endian)
        put(w, "byte_order", json_string(oct_byte_orders[1]));
    put_count(w, "header_bytes", config->header_bytes);
    put_count(w, "bit_shift", (uint64_t)p->bit_shift);
}

static void put_background(struct writer *w, const airy_oct_params *p)
{
    char rolling[40];
    snprintf(rolling, sizeof(rolling), "rolling:%zu", p->rolling);
    if (p->background == AIRY_OCT_BACKGROUND_LINE)
        put(w, "background", numbers(p->background_line, p->samples));
    else if (p->background == AIRY_OCT_BACKGROUND_MEAN)
        put(w, "background", json_string("mean"));
    else if (p->background == AIRY_OCT_BACKGROUND_ROLLING)
        put(w, "background", json_string(rolling));
}

static void put_axis(struct writer *w, const airy_oct_params *p)
{
    static const char *const names[] = {NULL, "wavelength", "k", "curve", "poly"};
    const bool poly = p->axis == AIRY_OCT_AXIS_POLY;
    if (p->axis != AIRY_OCT_AXIS_NONE)
        put(w, "axis",
            json_pack("{s:o}", names[p->axis],
                      numbers(poly ? p->poly : p->axis_table, poly ? AIRY_OCT_TERMS : p->samples)));
    if (p->interpolation != AIRY_OCT_LINEAR)
        put(w, "interpolation", json_string(oct_interpolations[p->interpolation]));
}

static void put_window(struct writer *w, const airy_oct_params *p)
{
    const bool table = p->window == AIRY_OCT_WINDOW_TABLE;
    if (p->window == AIRY_OCT_WINDOW_RECT && p->window_center == 0 && p->window_fill == 0)
        return;
    struct writer window = {.plan = json_object()};
    put(&window, "kind",
        table ? numbers(p->window_table, p->samples) : json_string(oct_windows[p->window]));
    if (p->window_center != 0)
        put(&window, "center", json_real(p->window_center));
    if (p->window_fill != 0)
        put(&window, "fill", json_real(p->window_fill));
    if (p->window_first)
        put(&window, "before_resampling", json_true());
    w->failed |= window.failed;
    put(w, "window", window.plan);
}

static void put_lines(struct writer *w, const airy_oct_params *p)
{
    if (p->has_dispersion && p->phase_table)
        put(w, "dispersion", json_pack("{s:o}", "table", numbers(p->phase_table, p->samples)));
    else if (p->has_dispersion)
        put(w, "dispersion", numbers(p->dispersion, AIRY_OCT_TERMS));
    put(w, "output", json_string(oct_outputs[p->output]));
    if (p->depth_last)
        put(w, "depth", json_pack("[I,I]", (json_int_t)p->depth_first, (json_int_t)p->depth_last));
    put_count(w, "fixed_pattern", p->fixed_pattern);
}

static void put_display(struct writer *w, const airy_oct_config *config)
{
    const airy_oct_params *p = &config->params;
    if (config->has_range)
        put(w, "db_range", json_pack("[f,f]", p->low, p->high));
    if (!p->display)
        return;
    put(w, "display",
        json_string(p->to == AIRY_DTYPE_U8    ? "u8"
                    : p->to == AIRY_DTYPE_U16 ? "u16"
                                              : "f32"));
    if (p->multiply != 0)
        put(w, "multiply", json_real(p->multiply));
    if (p->add != 0)
        put(w, "add", json_real(p->add));
    if (p->post_background)
        put(w, "post_background",
            json_pack("{s:f, s:f}", "weight", p->post_weight, "offset", p->post_offset));
}

static void put_frames(struct writer *w, const airy_oct_params *p)
{
    put_count(w, "average_lines", p->average_lines);
    put_count(w, "average_frames", p->average_frames);
    if (p->flow != AIRY_OCT_FLOW_NONE)
        put(w, "flow",
            json_pack("{s:s, s:I, s:s}", "kind", oct_flows[p->flow], "repeats",
                      (json_int_t)p->repeats, "of", oct_repeats[p->flow_frames]));
    if (p->flip != AIRY_OCT_FLIP_NONE)
        put(w, "flip", json_string(oct_flips[p->flip]));
    if (p->sinusoidal)
        put(w, "sinusoidal", json_true());
    if (p->compat != AIRY_OCT_COMPAT_NONE)
        put(w, "compat", json_string(oct_compats[p->compat]));
}

static airy_status check_numbers(const airy_oct_params *p)
{
    const double scalars[] = {p->window_center, p->window_fill, p->low,         p->high,
                              p->multiply,      p->add,         p->post_weight, p->post_offset};
    for (size_t i = 0; i < sizeof(scalars) / sizeof(scalars[0]) + 2 * AIRY_OCT_TERMS; i++) {
        const double v = i < AIRY_OCT_TERMS       ? p->poly[i]
                         : i < 2 * AIRY_OCT_TERMS ? p->dispersion[i - AIRY_OCT_TERMS]
                                                  : scalars[i - 2 * AIRY_OCT_TERMS];
        AIRY_FAIL_IF(!isfinite(v), AIRY_ERR_PARAM,
                     "a number of the plan is %g, expected a finite "
                     "one",
                     v);
    }
    return AIRY_OK;
}

static airy_status check_tables(const airy_oct_params *p)
{
    AIRY_FAIL_ON_IF(p->samples > AIRY_OCT_MAX_SAMPLES, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s = %zu, expected at most %d", "samples", p->samples, AIRY_OCT_MAX_SAMPLES);
    AIRY_FAIL_IF(p->background == AIRY_OCT_BACKGROUND_LINE && !p->background_line, AIRY_ERR_PARAM,
                 "background_line is missing");
    AIRY_FAIL_IF(p->axis > AIRY_OCT_AXIS_NONE && p->axis < AIRY_OCT_AXIS_POLY && !p->axis_table,
                 AIRY_ERR_PARAM, "axis_table is missing");
    AIRY_FAIL_IF(p->window == AIRY_OCT_WINDOW_TABLE && !p->window_table, AIRY_ERR_PARAM,
                 "window_table is missing");
    const double *const tables[] = {
        p->background == AIRY_OCT_BACKGROUND_LINE ? p->background_line : NULL,
        p->axis == AIRY_OCT_AXIS_NONE || p->axis == AIRY_OCT_AXIS_POLY ? NULL : p->axis_table,
        p->window == AIRY_OCT_WINDOW_TABLE ? p->window_table : NULL,
        p->has_dispersion ? p->phase_table : NULL};
    for (size_t k = 0; k < sizeof(tables) / sizeof(tables[0]); k++)
        for (size_t i = 0; tables[k] && i < p->samples; i++)
            AIRY_FAIL_IF(!isfinite(tables[k][i]), AIRY_ERR_PARAM,
                         "a table's number %zu is %g, expected a finite one", i, tables[k][i]);
    return AIRY_OK;
}

/* Enums from outside; the JSON has words for these. */
static airy_status check_words(const airy_oct_params *p)
{
    const struct {
        const char *name;
        unsigned value, count;
    } words[] = {
        {"packing", (unsigned)p->packing, AIRY_OCT_PACKING_COUNT},
        {"background", (unsigned)p->background, AIRY_OCT_BACKGROUND_COUNT},
        {"axis", (unsigned)p->axis, AIRY_OCT_AXIS_COUNT},
        {"interpolation", (unsigned)p->interpolation, AIRY_OCT_INTERPOLATION_COUNT},
        {"window", (unsigned)p->window, AIRY_OCT_WINDOW_COUNT},
        {"output", (unsigned)p->output, AIRY_OCT_OUTPUT_COUNT},
        {"flow", (unsigned)p->flow, AIRY_OCT_FLOW_COUNT},
        {"flip", (unsigned)p->flip, AIRY_OCT_FLIP_COUNT},
        {"compat", (unsigned)p->compat, AIRY_OCT_COMPAT_COUNT},
    };
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        AIRY_FAIL_ON_IF(words[i].value >= words[i].count, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                        "%s = %u, expected below %u", words[i].name, words[i].value,
                        words[i].count);
    AIRY_FAIL_ON_IF(p->dtype != AIRY_DTYPE_F32 && p->dtype != AIRY_DTYPE_U8 &&
                        p->dtype != AIRY_DTYPE_U16 && p->dtype != AIRY_DTYPE_I16,
                    AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s = %s, expected uint8, uint16, int16 or float32", "dtype",
                    airy_dtype_name(p->dtype));
    return AIRY_OK;
}

/* NULL when memory is short. */
static json_t *to_json(const airy_oct_config *config)
{
    const airy_oct_params *p = &config->params;
    struct writer w = {.plan = json_object()};
    put_raw(&w, config);
    put_background(&w, p);
    put_axis(&w, p);
    put_window(&w, p);
    put_lines(&w, p);
    put_display(&w, config);
    put_frames(&w, p);
    if (!w.failed)
        return w.plan;
    json_decref(w.plan);
    return NULL;
}

/* One key a line; tables stay on theirs. malloc'ed. */
static char *to_text(const json_t *plan)
{
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    if (!file)
        return NULL;
    const char *key;
    json_t *value;
    const char *between = "{\n";
    json_object_foreach((json_t *)plan, key, value)
    {
        /* 17 digits give back every double. */
        fprintf(file, "%s  \"%s\": ", between, key);
        json_dumpf(value, file, JSON_ENCODE_ANY | JSON_REAL_PRECISION(17));
        between = ",\n";
    }
    fputs("\n}\n", file);
    const bool good = !ferror(file);
    if (fclose(file) == 0 && good)
        return text;
    free(text);
    return NULL;
}

airy_status airy_oct_config_text(char **text, const airy_oct_config *config)
{
    AIRY_FAIL_IF(!config || !text, AIRY_ERR_PARAM,
                 "airy_oct_config_text: config or text is missing");
    AIRY_TRY(check_words(&config->params));
    AIRY_TRY(check_numbers(&config->params));
    AIRY_TRY(check_tables(&config->params));
    json_t *plan = to_json(config);
    char *made = plan ? to_text(plan) : NULL;
    json_decref(plan);
    AIRY_FAIL_IF(!made, AIRY_ERR_MEMORY, "out of memory for a plan");
    *text = made;
    return AIRY_OK;
}

airy_status airy_oct_config_write(const airy_oct_config *config, const char *path, bool force)
{
    char *text;
    AIRY_FAIL_IF(!path || !*path, AIRY_ERR_PARAM, "airy_oct_config_write: path is missing");
    AIRY_TRY(airy_oct_config_text(&text, config));
    const void *const parts[] = {text};
    const size_t size = strlen(text);
    const airy_status status = airy_file_put(path, parts, &size, 1, force);
    free(text);
    return status;
}
