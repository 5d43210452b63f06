/* OCT plans: what is read, round trips, and everything that can be wrong with them. */
#include "airy/image.h"
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "airy/oct_config.h"

static void put_file(struct check *c, const char *folder, const char *name, const void *bytes,
                     size_t size)
{
    char path[4300];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    if (!CHECK(c, file != NULL))
        return;
    CHECK(c, fwrite(bytes, 1, size, file) == size);
    fclose(file);
}

static void put_text(struct check *c, const char *folder, const char *name, const char *text)
{
    put_file(c, folder, name, text, strlen(text));
}

static void plan_path(char path[4300], const char *folder)
{
    snprintf(path, 4300, "%s/plan.json", folder);
}

static airy_status read_text(struct check *c, airy_oct_config *config, const char *folder,
                             const char *text)
{
    char path[4300];
    put_text(c, folder, "plan.json", text);
    plan_path(path, folder);
    return airy_oct_config_read(config, path);
}

static void put_npy(struct check *c, const char *folder, const char *name, airy_dtype dtype,
                    const void *data, size_t count)
{
    char path[4300];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    const airy_image image = {.dtype = dtype, .ndim = 2, .shape = {1, count}, .data = (void *)data};
    CHECK_OK(c, airy_image_write(&image, path, true));
}

static void check_all_keys(struct check *c)
{
    if (!check_case(c, "oct_config_keys"))
        return;
    const char *folder = check_tmp(c);
    static const float window[4] = {0.1f, 1, 1, 0.25f};
    static const double background[4] = {1, 2, 3, 4.5};
    put_npy(c, folder, "window.npy", AIRY_DTYPE_F32, window, 4);
    put_npy(c, folder, "dark.npy", AIRY_DTYPE_F64, background, 4);
    put_text(c, folder, "lambda.txt",
             "\xef\xbb\xbf# index, nm\n0, 850.5\n1;\t848.25 # second\r\n\n2 846\n3 844e0");
    airy_oct_config config;
    if (!CHECK_OK(
            c, read_text(
                   c, &config, folder,
                   "\xef\xbb\xbf{\"samples\": 4, \"lines\": 3, \"dtype\": \"i16\", \"byte_order\": "
                   "\"big\", \"header_bytes\": 512, \"bit_shift\": 4, \"background\": "
                   "\"dark.npy\", \"axis\": {\"wavelength\": \"lambda.txt\", \"unit\": "
                   "\"nm\"}, \"interpolation\": \"cubic\", \"window\": {\"kind\": "
                   "\"window.npy\", \"before_resampling\": true}, \"dispersion\": [0.5, -2], "
                   "\"output\": \"db\", \"depth\": [1, 2], \"fixed_pattern\": 3, "
                   "\"db_range\": [-10, 60.5], \"display\": \"u16\", \"multiply\": 2, "
                   "\"add\": -0.25, \"post_background\": {\"weight\": 0.5, \"offset\": 1}, "
                   "\"average_lines\": 3, \"average_frames\": 2, \"flip\": true, "
                   "\"sinusoidal\": true, \"compat\": \"octproz\"}")))
        return;
    const airy_oct_params *p = &config.params;
    CHECK(c, p->samples == 4 && p->lines == 3 && p->dtype == AIRY_DTYPE_I16 && config.has_dtype);
    CHECK(c, p->big_endian && config.header_bytes == 512 && p->bit_shift == 4);
    CHECK(c, p->background == AIRY_OCT_BACKGROUND_LINE && p->background_line[3] == 4.5);
    CHECK(c, p->axis == AIRY_OCT_AXIS_WAVELENGTH && p->axis_table[0] == 850.5 * 1e-9 &&
                 p->axis_table[1] == 848.25 * 1e-9 && p->axis_table[3] == 844 * 1e-9);
    CHECK(c, p->interpolation == AIRY_OCT_CUBIC && p->window == AIRY_OCT_WINDOW_TABLE);
    CHECK(c, p->window_table[0] == (double)0.1f && p->window_table[3] == 0.25 && p->window_first);
    CHECK(c, p->has_dispersion && p->dispersion[0] == 0.5 && p->dispersion[1] == -2 &&
                 p->dispersion[2] == 0 && !p->phase_table);
    CHECK(c, p->output == AIRY_OCT_DB && p->depth_first == 1 && p->depth_last == 2);
    CHECK(c, p->fixed_pattern == 3 && config.has_range && p->low == -10 && p->high == 60.5);
    CHECK(c, p->display && p->to == AIRY_DTYPE_U16 && p->multiply == 2 && p->add == -0.25);
    CHECK(c, p->post_background && p->post_weight == 0.5 && p->post_offset == 1);
    CHECK(c, p->average_lines == 3 && p->average_frames == 2 && p->flip == AIRY_OCT_FLIP_EVEN);
    CHECK(c, p->sinusoidal && p->compat == AIRY_OCT_COMPAT_OCTPROZ);
    airy_oct_config_free(&config);
    CHECK(c, config.block == NULL && config.params.samples == 0);
    airy_oct_config_free(&config);
}

/* A plan for files that know their shape: tables alone say how long a line is. */
static void check_short(struct check *c)
{
    if (!check_case(c, "oct_config_short"))
        return;
    const char *folder = check_tmp(c);
    airy_oct_config config;
    if (CHECK_OK(c, read_text(c, &config, folder, "{}"))) {
        CHECK(c, config.params.samples == 0 && config.params.lines == 0 && !config.has_dtype &&
                     !config.has_range && config.params.window == AIRY_OCT_WINDOW_RECT);
        airy_oct_config_free(&config);
    }
    if (CHECK_OK(c, read_text(c, &config, folder,
                              "{\"axis\": {\"k\": [1.1e6, 1.2e6, 1.4e6]}, \"packing\": 10, "
                              "\"window\": \"hann\", \"display\": \"none\"}"))) {
        CHECK(c, config.params.samples == 3 && config.params.axis_table[1] == 1.2e6 &&
                     config.params.packing == AIRY_OCT_PACKING_10 && config.has_dtype &&
                     config.params.dtype == AIRY_DTYPE_U8 && !config.params.display &&
                     config.params.window == AIRY_OCT_WINDOW_HANN);
        airy_oct_config_free(&config);
    }
    /* t = 0, 0.5, 1: 800, 800 + 50 - 5, 880 nm, each of a few roundings */
    if (CHECK_OK(c, read_text(c, &config, folder,
                              "{\"samples\": 3, \"axis\": {\"wavelength_poly\": [800, 100, -20], "
                              "\"unit\": \"nm\"}}"))) {
        static const double want[3] = {800e-9, 845e-9, 880e-9};
        CHECK(c, config.params.axis == AIRY_OCT_AXIS_WAVELENGTH);
        check_values(c, "wavelengths", AIRY_DTYPE_F64, config.params.axis_table, want, 3,
                     &(struct check_tol){.rel = 0x1p-50});
        airy_oct_config_free(&config);
    }
}

/*
 * Where the chirp grows by 2, 1, 1, equal steps of 4/3 lie at 2/3, 1 + 2/3, 3: linear between the
 * samples. A falling one of the same steps has the same positions.
 */
static void check_chirp(struct check *c)
{
    if (!check_case(c, "oct_config_chirp"))
        return;
    static const char *const plans[] = {"{\"axis\": {\"chirp\": [0, 2, 3, 4]}}",
                                        "{\"axis\": {\"chirp\": [7, 5, 4, 3]}}"};
    static const double want[4] = {0, 2.0 / 3, 5.0 / 3, 3};
    for (size_t k = 0; k < 2; k++) {
        airy_oct_config config;
        if (!CHECK_OK(c, read_text(c, &config, check_tmp(c), plans[k])))
            continue;
        CHECK(c, config.params.axis == AIRY_OCT_AXIS_CURVE);
        /* A few roundings of numbers up to 7. */
        check_values(c, "positions", AIRY_DTYPE_F64, config.params.axis_table, want, 4,
                     &(struct check_tol){.abs = 8 * 0x1p-52});
        airy_oct_config_free(&config);
    }
}

/* Spectrometers' own tables, where they are at hand: text of one number a line. */
static void check_chirp_real(struct check *c)
{
    if (!check_case(c, "oct_config_chirp_real"))
        return;
    const char *path = check_realdata(c, "oct/myoct/ChirpGanymede.dat");
    char text[5000];
    airy_oct_config config;
    if (!path)
        return;
    snprintf(text, sizeof text, "{\"axis\": {\"chirp\": \"%s\"}}", path);
    if (!CHECK_OK(c, read_text(c, &config, check_tmp(c), text)))
        return;
    const double *r = config.params.axis_table;
    CHECK(c, config.params.samples == 2048 && r[0] == 0 && r[2047] == 2047);
    for (size_t i = 1; i < 2048; i++)
        if (!CHECK(c, r[i] > r[i - 1] && r[i] - r[i - 1] < 1.5))
            break;
    airy_oct_config_free(&config);
}

static double *random_table(struct check *c, size_t count, double lo, double hi)
{
    double *table = check_alloc(c, count * sizeof(*table));
    for (size_t i = 0; i < count; i++)
        table[i] = lo + (hi - lo) * ((double)i + 0.9 * check_uniform(c)) / (double)count;
    return table;
}

static void same_tables(struct check *c, const char *what, const double *got, const double *want,
                        size_t count)
{
    if (!CHECK(c, !got == !want) || !got)
        return;
    check_values(c, what, AIRY_DTYPE_F64, got, want, count, NULL);
}

static void check_one_round(struct check *c, const airy_oct_config *config, const char *path)
{
    airy_oct_config again;
    if (!CHECK_OK(c, airy_oct_config_write(config, path, true)) ||
        !CHECK_OK(c, airy_oct_config_read(&again, path)))
        return;
    const airy_oct_params *a = &config->params, *b = &again.params;
    same_tables(c, "background", b->background_line, a->background_line, a->samples);
    same_tables(c, "axis", b->axis_table, a->axis_table, a->samples);
    same_tables(c, "window", b->window_table, a->window_table, a->samples);
    same_tables(c, "phase", b->phase_table, a->phase_table, a->samples);
    CHECK(c, again.header_bytes == config->header_bytes && again.has_range == config->has_range &&
                 again.has_dtype == config->has_dtype);
    airy_oct_params plain = *b; /* all else, byte by byte */
    plain.background_line = a->background_line;
    plain.axis_table = a->axis_table;
    plain.window_table = a->window_table;
    plain.phase_table = a->phase_table;
    CHECK(c, memcmp(&plain, a, sizeof plain) == 0);
    airy_oct_config_free(&again);
}

static void check_round_trip(struct check *c)
{
    if (!check_case(c, "oct_config_round_trip"))
        return;
    char path[4300];
    plan_path(path, check_tmp(c));
    static const size_t lengths[] = {2, 3, 1024, AIRY_OCT_MAX_SAMPLES};
    for (int k = 0; k < 48; k++) {
        const size_t n = lengths[k % 4];
        airy_oct_config config;
        memset(&config, 0, sizeof config); /* padding, too */
        airy_oct_params *p = &config.params;
        p->samples = n;
        p->lines = (size_t)k % 7;
        config.has_dtype = true;
        p->dtype = k % 3 == 0 ? AIRY_DTYPE_I16 : k % 3 == 1 ? AIRY_DTYPE_U16 : AIRY_DTYPE_U8;
        p->packing = p->dtype == AIRY_DTYPE_U8 ? (airy_oct_packing)(1 + k % 2)
                                               : AIRY_OCT_PACKING_NONE;
        p->big_endian = k % 5 == 1;
        config.header_bytes = (uint64_t)k * 1000003;
        p->bit_shift = k % 16;
        p->background = (airy_oct_background)(k % AIRY_OCT_BACKGROUND_COUNT);
        if (p->background == AIRY_OCT_BACKGROUND_LINE)
            p->background_line = random_table(c, n, -1e4, 1e4);
        p->rolling = p->background == AIRY_OCT_BACKGROUND_ROLLING ? 1 + (size_t)k % n : 0;
        p->axis = (airy_oct_axis)(k % AIRY_OCT_AXIS_COUNT);
        if (p->axis == AIRY_OCT_AXIS_POLY)
            check_rand(c, p->poly, AIRY_DTYPE_F64, AIRY_OCT_TERMS, -1e3, 1e3);
        else if (p->axis != AIRY_OCT_AXIS_NONE)
            p->axis_table = p->axis == AIRY_OCT_AXIS_K            ? random_table(c, n, 1e6, 1.3e6)
                            : p->axis == AIRY_OCT_AXIS_WAVELENGTH ? random_table(c, n, 9e-7, 8e-7)
                                                                  : random_table(c, n, -3, 2000);
        p->interpolation = (airy_oct_interpolation)(k % AIRY_OCT_INTERPOLATION_COUNT);
        p->window = (airy_oct_window)(k % AIRY_OCT_WINDOW_COUNT);
        if (p->window == AIRY_OCT_WINDOW_TABLE)
            p->window_table = random_table(c, n, 0, 1);
        p->window_center = k % 4 ? check_uniform(c) * 0.5 + 0.1 : 0;
        p->window_fill = k % 3 ? check_uniform(c) * 0.5 + 0.1 : 0;
        p->window_first = p->window != AIRY_OCT_WINDOW_RECT && k % 2;
        p->has_dispersion = k % 3 != 2;
        if (k % 3 == 0)
            check_rand(c, p->dispersion, AIRY_DTYPE_F64, AIRY_OCT_TERMS, -1e-3, 1e3);
        else if (k % 3 == 1)
            p->phase_table = random_table(c, n, -1e-5, 1e5);
        p->output = (airy_oct_output)(k % AIRY_OCT_OUTPUT_COUNT);
        p->depth_last = k % 2 ? n / 2 + 1 : 0;
        p->depth_first = k % 2 ? n / 4 : 0;
        p->fixed_pattern = (size_t)k % 3;
        config.has_range = k % 2;
        p->low = k % 2 ? -check_uniform(c) : 0;
        p->high = k % 2 ? check_uniform(c) * 100 : 0;
        p->display = k % 4 > 1;
        p->to = k % 4 == 2 ? AIRY_DTYPE_U8 : k % 8 == 3 ? AIRY_DTYPE_U16 : AIRY_DTYPE_F32;
        p->multiply = p->display && k % 3 ? check_uniform(c) + 0.1 : 0;
        p->add = p->display && k % 5 ? -check_uniform(c) : 0;
        p->post_background = p->display && k % 7 < 3;
        p->post_weight = p->post_background ? check_uniform(c) : 0;
        p->post_offset = p->post_background ? check_uniform(c) : 0;
        p->average_lines = (size_t)k % 4;
        p->average_frames = (size_t)k % 5;
        p->flow = (airy_oct_flow)(k % AIRY_OCT_FLOW_COUNT);
        p->repeats = p->flow == AIRY_OCT_FLOW_NONE ? 0 : 2 + (size_t)k;
        p->flow_frames = p->flow != AIRY_OCT_FLOW_NONE && k % 2;
        p->flip = (airy_oct_flip)(k % AIRY_OCT_FLIP_COUNT);
        p->sinusoidal = k % 2;
        p->compat = (airy_oct_compat)(k % AIRY_OCT_COMPAT_COUNT);
        check_one_round(c, &config, path);
    }
}

static void check_bad_plans(struct check *c)
{
    if (!check_case(c, "oct_config_bad"))
        return;
    const char *folder = check_tmp(c);
    static const struct {
        const char *text;
        airy_status status;
        const char *part;
    } cases[] = {
        {"", AIRY_ERR_FORMAT, "no JSON"},
        {"[1]", AIRY_ERR_FORMAT, "expected an object"},
        {"{\"samples\": 8, \"samples\": 8}", AIRY_ERR_FORMAT,
         "line 1: the key 'samples' occurs twice"},
        {"{\"sample\": 8}", AIRY_ERR_FORMAT, "key 'sample' is not known"},
        {"{\"samples\": 1}", AIRY_ERR_PARAM, "samples = 1, expected an integer from 2 to 8192"},
        {"{\"samples\": 8193}", AIRY_ERR_PARAM, "samples = 8193"},
        {"{\"samples\": 9223372036854775807}", AIRY_ERR_PARAM, "samples = 9223372036854775807"},
        {"{\"samples\": 8.0}", AIRY_ERR_FORMAT, "samples = 8.0, expected an integer"},
        {"{\"samples\": \"8\"}", AIRY_ERR_FORMAT, "samples = \"8\""},
        {"{\"lines\": -1}", AIRY_ERR_PARAM, "lines = -1"},
        {"{\"lines\": 2000000}", AIRY_ERR_PARAM, "lines = 2000000"},
        {"{\"dtype\": \"u64\"}", AIRY_ERR_PARAM, "uint32, int32 or float64"},
        {"{\"packing\": 14}", AIRY_ERR_PARAM, "packing = 14, expected none, 10 or 12"},
        {"{\"packing\": \"16\"}", AIRY_ERR_PARAM, "expected none, 10 or 12"},
        {"{\"packing\": 12, \"dtype\": \"f32\"}", AIRY_ERR_PARAM, "with dtype = float32"},
        {"{\"byte_order\": \"middle\"}", AIRY_ERR_PARAM, "expected little or big"},
        {"{\"header_bytes\": -4}", AIRY_ERR_PARAM, "header_bytes = -4"},
        {"{\"bit_shift\": 16}", AIRY_ERR_PARAM, "bit_shift = 16"},
        {"{\"background\": \"rolling:0\"}", AIRY_ERR_PARAM, "rolling:W"},
        {"{\"background\": \"rolling:x\"}", AIRY_ERR_PARAM, "rolling:W"},
        {"{\"background\": \"rolling:9999999999999999999999\"}", AIRY_ERR_PARAM, "rolling:W"},
        {"{\"samples\": 8, \"background\": \"rolling:9\"}", AIRY_ERR_PARAM,
         "at most the 8 samples"},
        {"{\"background\": \"nothing.npy\"}", AIRY_ERR_NOT_FOUND, "background: cannot open"},
        {"{\"background\": 4}", AIRY_ERR_FORMAT, "background = 4, expected the name of a file"},
        {"{\"samples\": 4, \"background\": [1, 2, 3]}", AIRY_ERR_SHAPE,
         "background has 3 numbers, expected 4 as given by samples"},
        {"{\"background\": [1, 2, 3], \"window\": {\"kind\": [1, 2]}}", AIRY_ERR_SHAPE,
         "window kind has 2 numbers, expected 3 as given by background"},
        {"{\"background\": [1]}", AIRY_ERR_SHAPE, "background has 1 number, expected 2 to 8192"},
        {"{\"background\": [1, null]}", AIRY_ERR_FORMAT, "background[1] = null"},
        {"{\"background\": [1, 1e999]}", AIRY_ERR_FORMAT, "no JSON"},
        {"{\"background\": [1, NaN]}", AIRY_ERR_FORMAT, "no JSON"},
        {"{\"background\": \"nan.txt\"}", AIRY_ERR_PARAM, "line 2: number 1 is nan"},
        {"{\"background\": \"words.txt\"}", AIRY_ERR_FORMAT, "line 1: 'lambda' is no number"},
        {"{\"background\": \"zero.txt\"}", AIRY_ERR_FORMAT, "neither NPY nor text"},
        {"{\"background\": \"empty.txt\"}", AIRY_ERR_SHAPE, "0 numbers"},
        {"{\"background\": \"long.txt\"}", AIRY_ERR_FORMAT, "expected less than 1024"},
        {"{\"background\": \"many.txt\"}", AIRY_ERR_SHAPE, "more than 8192 numbers"},
        {"{\"axis\": 1}", AIRY_ERR_FORMAT, "axis = 1, expected an object"},
        {"{\"axis\": {}}", AIRY_ERR_FORMAT, "expected wavelength, k, curve, poly,"},
        {"{\"axis\": {\"lambda\": [1]}}", AIRY_ERR_FORMAT, "axis: key 'lambda' is not known"},
        {"{\"axis\": {\"poly\": [1], \"curve\": [1, 2]}}", AIRY_ERR_FORMAT, "both curve and poly"},
        {"{\"axis\": {\"poly\": [1, 2, 3, 4, 5]}}", AIRY_ERR_FORMAT, "a list of 1 to 4 numbers"},
        {"{\"axis\": {\"poly\": [], \"unit\": \"nm\"}}", AIRY_ERR_FORMAT,
         "unit stands beside poly"},
        {"{\"axis\": {\"k\": [1e6, 2e6], \"unit\": \"mm\"}}", AIRY_ERR_PARAM, "m, um or nm"},
        {"{\"axis\": {\"wavelength\": [850, 851]}}", AIRY_ERR_PARAM,
         "axis wavelength[0] = 850 m, expected wavelengths from 1e-9 to 1e-3 m"},
        {"{\"axis\": {\"wavelength\": [0, 1e-6]}}", AIRY_ERR_PARAM, "axis wavelength[0] = 0 m"},
        {"{\"axis\": {\"k\": [-1e6, 1e6]}}", AIRY_ERR_PARAM, "axis k[0] = -1e+06"},
        {"{\"axis\": {\"k\": [7.14e-3, 7.85e-3], \"unit\": \"nm\"}}", AIRY_ERR_PARAM,
         "2 pi / wavelength of 880 nm; expected 1/wavelength"},
        {"{\"axis\": {\"wavelength\": [8e-7, 9e-7, 8.5e-7]}}", AIRY_ERR_PARAM,
         "axis wavelength: numbers neither rise nor fall"},
        {"{\"axis\": {\"k\": [2e6, 2e6]}}", AIRY_ERR_PARAM,
         "axis k: numbers neither rise nor fall"},
        {"{\"axis\": {\"wavelength_poly\": [8e-7, 1e-7]}}", AIRY_ERR_FORMAT,
         "axis wavelength_poly: expected the plan to give samples"},
        {"{\"samples\": 4, \"axis\": {\"wavelength_poly\": [8e-7]}}", AIRY_ERR_FORMAT,
         "a list of 2 to 8 numbers"},
        {"{\"samples\": 4, \"axis\": {\"wavelength_poly\": [8e-7, 0]}}", AIRY_ERR_PARAM,
         "neither rise nor fall"},
        {"{\"axis\": {\"chirp\": [0, 2, 1]}}", AIRY_ERR_PARAM, "axis chirp: numbers neither"},
        {"{\"interpolation\": \"spline\"}", AIRY_ERR_PARAM, "linear, cubic or lanczos"},
        {"{\"window\": \"han\"}", AIRY_ERR_NOT_FOUND, "window kind = 'han', expected rect, hann"},
        {"{\"window\": {}}", AIRY_ERR_FORMAT, "window: kind is missing"},
        {"{\"window\": {\"kind\": \"hann\", \"width\": 1}}", AIRY_ERR_FORMAT, "key 'width'"},
        {"{\"window\": {\"kind\": \"hann\", \"center\": 0}}", AIRY_ERR_PARAM, "above 0"},
        {"{\"window\": {\"kind\": \"hann\", \"fill\": 1.5}}", AIRY_ERR_PARAM, "at most 1"},
        {"{\"window\": {\"kind\": \"hann\", \"before_resampling\": 1}}", AIRY_ERR_FORMAT,
         "expected true or false"},
        {"{\"dispersion\": {}}", AIRY_ERR_FORMAT, "or table in it"},
        {"{\"dispersion\": \"x.npy\"}", AIRY_ERR_FORMAT, "expected an object with table"},
        {"{\"output\": \"log\"}", AIRY_ERR_PARAM, "db, magnitude, power, phase or complex"},
        {"{\"depth\": [4]}", AIRY_ERR_FORMAT, "a list of two bins"},
        {"{\"depth\": [4, 4]}", AIRY_ERR_PARAM, "the first bin below the last"},
        {"{\"samples\": 8, \"depth\": [0, 6]}", AIRY_ERR_PARAM, "expected at most 5 of 8 samples"},
        {"{\"fixed_pattern\": true}", AIRY_ERR_FORMAT, "fixed_pattern = true"},
        {"{\"db_range\": [3, 3]}", AIRY_ERR_PARAM, "the first number below the second"},
        {"{\"db_range\": 3}", AIRY_ERR_FORMAT, "a list of two numbers"},
        {"{\"display\": \"u32\"}", AIRY_ERR_PARAM, "none, u8, u16 or f32"},
        {"{\"multiply\": 2}", AIRY_ERR_PARAM, "multiply stands without display"},
        {"{\"add\": 2}", AIRY_ERR_PARAM, "add stands without display"},
        {"{\"display\": \"u8\", \"multiply\": 0}", AIRY_ERR_PARAM, "multiply = 0"},
        {"{\"post_background\": {\"weight\": 1}}", AIRY_ERR_PARAM, "without display"},
        {"{\"post_background\": {\"scale\": 1}}", AIRY_ERR_FORMAT, "key 'scale'"},
        {"{\"average_lines\": -2}", AIRY_ERR_PARAM, "average_lines = -2"},
        {"{\"flow\": {\"kind\": \"phase\"}}", AIRY_ERR_FORMAT, "expected kind and repeats"},
        {"{\"flow\": {\"kind\": \"speed\", \"repeats\": 2}}", AIRY_ERR_PARAM, "none, phase or"},
        {"{\"flow\": {\"kind\": \"phase\", \"repeats\": 1}}", AIRY_ERR_PARAM, "flow repeats = 1"},
        {"{\"flow\": {\"kind\": \"phase\", \"repeats\": 2, \"of\": \"b\"}}", AIRY_ERR_PARAM,
         "lines or frames"},
        {"{\"flip\": 1}", AIRY_ERR_FORMAT, "flip = 1"},
        {"{\"flip\": \"left\"}", AIRY_ERR_PARAM, "none, even, odd or all"},
        {"{\"sinusoidal\": \"yes\"}", AIRY_ERR_FORMAT, "sinusoidal = \"yes\""},
        {"{\"compat\": \"scipy\"}", AIRY_ERR_PARAM, "none, pymotionoct or octproz"},
    };
    char *many = check_alloc(c, 8193 * 2 + 1), *line = check_alloc(c, 2001);
    for (size_t i = 0; i < 8193; i++)
        memcpy(many + 2 * i, "1\n", 2);
    memset(line, '1', 2000);
    put_text(c, folder, "many.txt", many);
    put_text(c, folder, "long.txt", line);
    put_text(c, folder, "nan.txt", "1\nnan\n3\n");
    put_text(c, folder, "words.txt", "lambda\n1\n2\n");
    put_text(c, folder, "empty.txt", "# nothing\n\n");
    put_file(c, folder, "zero.txt", "1\n\0002\n", 5);
    airy_oct_config config = {.header_bytes = 7};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_FAILS(c, read_text(c, &config, folder, cases[i].text), cases[i].status,
                    cases[i].part);
    CHECK(c, config.header_bytes == 7); /* as it was */
    enum { HUGE_PLAN = (1 << 20) + 1, DEEP = 100000 };
    char *huge = check_alloc(c, HUGE_PLAN + 1);
    memset(huge, ' ', HUGE_PLAN);
    CHECK_FAILS(c, read_text(c, &config, folder, huge), AIRY_ERR_FORMAT, "at most 1048576");
    memset(huge, '[', DEEP);
    huge[DEEP] = 0;
    CHECK_FAILS(c, read_text(c, &config, folder, huge), AIRY_ERR_FORMAT, "no JSON");
}

static void check_refused(struct check *c)
{
    if (!check_case(c, "oct_config_refused"))
        return;
    char path[4300];
    const char *folder = check_tmp(c);
    plan_path(path, folder);
    airy_oct_config config = {.params = {.samples = 4}};
    CHECK_FAILS(c, airy_oct_config_read(&config, path), AIRY_ERR_NOT_FOUND, "cannot open");
    CHECK_FAILS(c, airy_oct_config_read(&config, folder), AIRY_ERR_IO, "not a regular file");
    CHECK_FAILS(c, airy_oct_config_read(NULL, path), AIRY_ERR_PARAM, "missing");
    CHECK_FAILS(c, airy_oct_config_write(NULL, path, true), AIRY_ERR_PARAM, "missing");
    CHECK_OK(c, airy_oct_config_write(&config, path, false));
    CHECK_FAILS(c, airy_oct_config_write(&config, path, false), AIRY_ERR_EXISTS, "there already");
    airy_oct_params *p = &config.params;
    p->low = (double)NAN;
    CHECK_FAILS(c, airy_oct_config_write(&config, path, true), AIRY_ERR_PARAM, "finite");
    p->low = 0;
    p->axis = AIRY_OCT_AXIS_K;
    CHECK_FAILS(c, airy_oct_config_write(&config, path, true), AIRY_ERR_PARAM, "axis_table");
    const double table[4] = {1, 2, (double)INFINITY, 3};
    p->axis_table = table;
    CHECK_FAILS(c, airy_oct_config_write(&config, path, true), AIRY_ERR_PARAM, "number 2 is inf");
    p->axis = AIRY_OCT_AXIS_NONE;
    p->background = AIRY_OCT_BACKGROUND_LINE;
    CHECK_FAILS(c, airy_oct_config_write(&config, path, true), AIRY_ERR_PARAM, "background_line");
    p->background = AIRY_OCT_BACKGROUND_NONE;
    p->window = AIRY_OCT_WINDOW_TABLE;
    CHECK_FAILS(c, airy_oct_config_write(&config, path, true), AIRY_ERR_PARAM, "window_table");
    p->window = AIRY_OCT_WINDOW_COUNT;
    CHECK_FAILS(c, airy_oct_config_write(&config, path, true), AIRY_ERR_PARAM, "window = 9");
    p->window = AIRY_OCT_WINDOW_RECT;
    p->dtype = AIRY_DTYPE_U32;
    CHECK_FAILS(c, airy_oct_config_write(&config, path, true), AIRY_ERR_PARAM, "dtype = uint32");
    p->dtype = AIRY_DTYPE_F32;
    p->samples = 10000;
    CHECK_FAILS(c, airy_oct_config_write(&config, path, true), AIRY_ERR_PARAM, "samples = 10000");
}

void check_oct_config(struct check *c)
{
    if (!c->is_cpu) /* files have no device */
        return;
    check_all_keys(c);
    check_short(c);
    check_chirp(c);
    check_chirp_real(c);
    check_round_trip(c);
    check_bad_plans(c);
    check_refused(c);
}
