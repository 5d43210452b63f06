/* Filters of images in host memory, tile by tile, against the same filters of the whole array. */
#include <stdlib.h>
#include <string.h>

#include "airy/tile.h"
#include "check.h"

struct shape {
    int ndim;
    size_t n[4];
};

static airy_image make_image(struct check *c, const struct shape *s, airy_dtype dtype)
{
    airy_image image = {.dtype = dtype, .ndim = s->ndim};
    size_t n = 1;
    for (int i = 0; i < s->ndim; i++)
        n *= image.shape[i] = s->n[i];
    image.data = check_alloc(c, n * airy_dtype_size(dtype));
    check_rand(c, image.data, dtype, n, dtype == AIRY_DTYPE_U16 ? 0 : -50, 60000);
    return image;
}

/* All but every fifth element of an image of f32. */
static void make_gaps(const airy_image *image)
{
    size_t n = 1;
    for (int i = 0; i < image->ndim; i++)
        n *= image->shape[i];
    for (size_t i = 0; i < n; i++)
        if (i % 5 != 0)
            ((float *)image->data)[i] = (float)NAN;
}

/* Each row as the first, which has equal elements in its middle third. */
static void make_runs(const airy_image *image)
{
    const size_t width = image->shape[image->ndim - 1];
    size_t n = 1;
    for (int i = 0; i < image->ndim; i++)
        n *= image->shape[i];
    for (size_t i = 0; i < n; i++)
        ((float *)image->data)[i] = i % width >= width / 3 && i % width < width / 3 * 2
                                        ? 0.1F
                                        : ((float *)image->data)[i % width];
}

/* got, freed here, equals the array bit for bit, and was cut as the plan says. */
static void compare(struct check *c, airy_image *got, const airy_array *want,
                    const airy_tile_plan *plan, uint64_t memory)
{
    const size_t n = airy_array_count(want), size = airy_array_size(want);
    void *values = check_alloc(c, size);
    CHECK(c, got->ndim == airy_array_ndim(want) && got->dtype == airy_array_dtype(want));
    if (CHECK(c, memcmp(got->shape, airy_array_shape(want), (size_t)got->ndim * sizeof(size_t)) ==
                     0) &&
        CHECK_OK(c, airy_array_pull(c->queue, values, size, want)) &&
        CHECK_OK(c, airy_queue_finish(c->queue)))
        check_values(c, "tiled", got->dtype, got->data, values, n, NULL);
    CHECK(c, memory == 0 ? plan->tiles == 1 : plan->device_bytes <= memory);
    airy_image_free(got);
}

/* Rooms from one that takes a few elements to one for all. */
static const uint64_t rooms[] = {0, 300000, 80000};

enum content { NOISE, GAPS, RUNS };

static void check_blur(struct check *c, const struct shape *s, airy_border border, airy_dtype from,
                       airy_dtype to, enum content content)
{
    if (!check_case(c, "tile_blur_%dd_%zu_%s_%s%s", s->ndim, s->n[0], airy_border_name(border),
                    airy_dtype_name(to), (const char *[]){"", "_gaps", "_runs"}[content]))
        return;
    const airy_image src = make_image(c, s, from);
    if (content == GAPS)
        make_gaps(&src);
    if (content == RUNS)
        make_runs(&src);
    const airy_blur_params params = {.sigma = {1, 1.6, 0.7},
                                     .has_border = true,
                                     .border = border,
                                     .border_value = 7,
                                     .normalize = content == GAPS,
                                     .axes = s->ndim > 3 ? 3 : 0};
    airy_array *a = check_upload(c, from, s->ndim, s->n, src.data),
               *want = check_output(c, to, s->ndim, s->n);
    CHECK_OK(c, airy_gaussian_blur(c->queue, want, a, &params));
    for (size_t i = 0; i < sizeof(rooms) / sizeof(rooms[0]); i++) {
        const airy_tile_target target = {to, rooms[i]};
        airy_tile_plan plan, beforehand;
        airy_image got;
        CHECK_OK(c, airy_tile_blur(c->queue, NULL, &src, &target, &params, &beforehand));
        if (CHECK_OK(c, airy_tile_blur(c->queue, &got, &src, &target, &params, &plan))) {
            CHECK(c, memcmp(&plan, &beforehand, sizeof(plan)) == 0);
            compare(c, &got, want, &plan, rooms[i]);
        }
    }
}

static void check_convolve(struct check *c, const struct shape *s, const airy_convolve_params *p)
{
    if (!check_case(c, "tile_convolve_%dd_%zu_%s_%s_%s%s%s", s->ndim, s->n[0],
                    airy_convolve_mode_name(p->mode), airy_border_name(p->border),
                    airy_convolve_method_name(p->method), p->correlate ? "_correlate" : "",
                    p->normalize ? "_gaps" : ""))
        return;
    const size_t taps[3] = {4, 3, 6};
    const int ndim = s->ndim > 3 ? 3 : s->ndim;
    size_t shape[4];
    double kernel[72];
    const airy_dtype from = p->normalize ? AIRY_DTYPE_F32 : AIRY_DTYPE_U16;
    const airy_image src = make_image(c, s, from);
    if (p->normalize)
        make_gaps(&src);
    check_rand(c, kernel, AIRY_DTYPE_F64, 72, p->normalize ? 0 : -1, 1);
    for (int i = 0; i < 72 && p->method == AIRY_CONVOLVE_SEPARABLE; i++)
        kernel[i] = (1 + i / 18) * (2 + i / 6 % 3) * (i % 6 - 2);
    if (!CHECK_OK(c, airy_convolve_shape(shape, p->mode, s->ndim, s->n, ndim, taps + 3 - ndim)))
        return;
    airy_array *a = check_upload(c, from, s->ndim, s->n, src.data),
               *want = check_output(c, AIRY_DTYPE_F64, s->ndim, shape);
    CHECK_OK(c, airy_convolve(c->queue, want, a, kernel, ndim, taps + 3 - ndim, p, NULL));
    for (size_t i = 0; i < sizeof(rooms) / sizeof(rooms[0]); i++) {
        const airy_tile_target target = {AIRY_DTYPE_F64, rooms[i]};
        airy_tile_plan plan;
        airy_convolve_info info;
        airy_image got;
        if (CHECK_OK(c, airy_tile_convolve(c->queue, &got, &src, &target, kernel, ndim,
                                           taps + 3 - ndim, p, &info, &plan)))
            compare(c, &got, want, &plan, rooms[i]);
        CHECK(c, info.method == p->method);
    }
}

static void check_stencils(struct check *c, const struct shape *s, airy_stencil stencil,
                           airy_border border)
{
    if (!check_case(c, "tile_stencil_%d_%dd_%zu_%s", (int)stencil, s->ndim, s->n[0],
                    airy_border_name(border)))
        return;
    const airy_image src = make_image(c, s, AIRY_DTYPE_F32);
    const airy_stencil_params params = {.stencil = stencil,
                                        .size = {3, 4, 5},
                                        .sigma = {0.8, 1.1, 0.7},
                                        .sigma2 = {1.2, 0, 0.9},
                                        .has_border = true,
                                        .border = border,
                                        .border_value = -2};
    airy_array *a = check_upload(c, AIRY_DTYPE_F32, s->ndim, s->n, src.data),
               *want = check_output(c, AIRY_DTYPE_F32, s->ndim, s->n);
    CHECK_OK(c, airy_stencil_run(c->queue, want, a, &params));
    for (size_t i = 0; i < sizeof(rooms) / sizeof(rooms[0]); i++) {
        const airy_tile_target target = {AIRY_DTYPE_F32, rooms[i]};
        airy_tile_plan plan;
        airy_image got;
        if (CHECK_OK(c, airy_tile_stencil(c->queue, &got, &src, &target, &params, &plan)))
            compare(c, &got, want, &plan, rooms[i]);
    }
}

static void check_ranks(struct check *c, const struct shape *s, airy_rank_filter filter,
                        airy_border border)
{
    if (!check_case(c, "tile_%s_%dd_%zu_%s", airy_rank_filter_name(filter), s->ndim, s->n[0],
                    airy_border_name(border)))
        return;
    const airy_image src = make_image(c, s, AIRY_DTYPE_U16);
    const airy_rank_params params = {.filter = filter,
                                     .size = {3, 4, 5},
                                     .has_border = true,
                                     .border = border,
                                     .border_value = 2};
    airy_array *a = check_upload(c, AIRY_DTYPE_U16, s->ndim, s->n, src.data),
               *want = check_output(c, AIRY_DTYPE_U16, s->ndim, s->n);
    CHECK_OK(c, airy_rank_filter_run(c->queue, want, a, &params));
    for (size_t i = 0; i < sizeof(rooms) / sizeof(rooms[0]); i++) {
        airy_tile_plan plan;
        airy_image got;
        if (CHECK_OK(c, airy_tile_rank(c->queue, &got, &src, rooms[i], &params, &plan)))
            compare(c, &got, want, &plan, rooms[i]);
    }
}

static void check_hampels(struct check *c, const struct shape *s, airy_border border)
{
    if (!check_case(c, "tile_hampel_%dd_%zu_%s", s->ndim, s->n[0], airy_border_name(border)))
        return;
    const airy_image src = make_image(c, s, AIRY_DTYPE_U16);
    const airy_hampel_params params = {
        .size = {3, 5, 7}, .kappa = 1, .has_border = true, .border = border, .border_value = 2};
    airy_array *a = check_upload(c, AIRY_DTYPE_U16, s->ndim, s->n, src.data),
               *want = check_output(c, AIRY_DTYPE_U16, s->ndim, s->n);
    CHECK_OK(c, airy_hampel_run(c->queue, want, a, &params));
    for (size_t i = 0; i < sizeof(rooms) / sizeof(rooms[0]); i++) {
        airy_tile_plan plan;
        airy_image got;
        if (CHECK_OK(c, airy_tile_hampel(c->queue, &got, &src, rooms[i], &params, &plan)))
            compare(c, &got, want, &plan, rooms[i]);
    }
}

/* A short result of a long source around gaps: what the filter takes has both shapes. */
static void check_valid_bytes(struct check *c)
{
    if (!check_case(c, "tile_valid_gaps_bytes"))
        return;
    const struct shape s = {2, {60, 300}};
    const size_t taps[2] = {51, 1}, source = 60 * 300, made = 10 * 300;
    double kernel[51];
    const airy_image src = make_image(c, &s, AIRY_DTYPE_U16);
    airy_tile_target target = {AIRY_DTYPE_F64, 0};
    const airy_convolve_params params = {.mode = AIRY_CONVOLVE_VALID, .normalize = true};
    airy_convolve_info info;
    airy_tile_plan plan;
    airy_image got;
    check_rand(c, kernel, AIRY_DTYPE_F64, 51, 0, 1);
    if (!CHECK_OK(c, airy_tile_convolve(c->queue, &got, &src, &target, kernel, 2, taps, &params,
                                        &info, &plan)))
        return;
    airy_image_free(&got);
    CHECK(c, plan.device_bytes == source * (2 + 8 + 1) + made * (8 + 8 + 1));
    /* As much is needed: with less it is cut. */
    target.memory = plan.device_bytes - 1;
    if (CHECK_OK(c, airy_tile_convolve(c->queue, NULL, &src, &target, kernel, 2, taps, &params,
                                       &info, &plan)))
        CHECK(c, plan.tiles > 1 && plan.device_bytes <= target.memory);
}

static airy_status fail_third(void *user, airy_queue *queue, airy_array *dst, const airy_array *src)
{
    int *calls = user;
    (void)src;
    return ++*calls == 3 ? AIRY_ERR_UNSUPPORTED : airy_array_fill(queue, dst, *calls);
}

static void check_refusals(struct check *c)
{
    if (!check_case(c, "tile_refusals"))
        return;
    const struct shape s = {3, {20, 16, 16}};
    const airy_image src = make_image(c, &s, AIRY_DTYPE_F32);
    const airy_blur_params blur = {.sigma = {3, 3, 3}};
    airy_tile_target target = {AIRY_DTYPE_F32, 100};
    airy_image got = {.ndim = 0};
    CHECK_FAILS(c, airy_tile_blur(c->queue, &got, &src, &target, &blur, NULL), AIRY_ERR_MEMORY,
                "a tile of one element");
    target.dtype = AIRY_DTYPE_COUNT;
    CHECK_FAILS(c, airy_tile_blur(c->queue, &got, &src, &target, &blur, NULL), AIRY_ERR_DTYPE,
                "of the result = 10");
    CHECK_FAILS(c, airy_tile_blur(c->queue, &got, &src, NULL, NULL, NULL), AIRY_ERR_PARAM,
                "params is NULL");
    CHECK_FAILS(c, airy_tile_blur(c->queue, &got, NULL, NULL, &blur, NULL), AIRY_ERR_PARAM,
                "src is NULL");
    CHECK_FAILS(c, airy_tile_blur(NULL, &got, &src, NULL, &blur, NULL), AIRY_ERR_PARAM, "queue");
    airy_tile_params params = {.before = {1, 0, 0}, .memory = 4096};
    int calls = 0;
    CHECK(c, airy_tile_run(c->queue, &got, &src, &params, fail_third, &calls, NULL) ==
                 AIRY_ERR_UNSUPPORTED);
    CHECK(c, calls == 3 && !got.data);
    params.grow[1] = -16;
    CHECK_FAILS(c, airy_tile_run(c->queue, &got, &src, &params, fail_third, &calls, NULL),
                AIRY_ERR_SHAPE, "axis 1");
    params = (airy_tile_params){.scratch = -1};
    CHECK_FAILS(c, airy_tile_run(c->queue, &got, &src, &params, fail_third, &calls, NULL),
                AIRY_ERR_PARAM, "scratch");
    params = (airy_tile_params){.source_scratch = (double)NAN};
    CHECK_FAILS(c, airy_tile_run(c->queue, &got, &src, &params, fail_third, &calls, NULL),
                AIRY_ERR_PARAM, "source_scratch = nan");
    CHECK_FAILS(c, airy_tile_run(c->queue, &got, &src, &params, NULL, NULL, NULL), AIRY_ERR_PARAM,
                "fn is NULL");
}

void check_tile(struct check *c)
{
    static const struct shape shapes[] = {{1, {4001}},   {2, {61, 47}},     {2, {5, 900}},
                                          {2, {900, 6}}, {3, {24, 17, 19}}, {4, {3, 11, 9, 12}}};
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
        for (int border = 0; border < AIRY_BORDER_COUNT; border++) {
            const airy_border b = (airy_border)border;
            if (!c->is_cpu && b != AIRY_BORDER_REFLECT && b != AIRY_BORDER_WRAP)
                continue; /* what is cut where does not depend on the back end */
            check_blur(c, &shapes[i], b, AIRY_DTYPE_F32, AIRY_DTYPE_F32, NOISE);
            check_blur(c, &shapes[i], b, AIRY_DTYPE_U16, AIRY_DTYPE_F64, NOISE);
            check_blur(c, &shapes[i], b, AIRY_DTYPE_F32, AIRY_DTYPE_F64, GAPS);
            for (int mode = 0; mode < AIRY_CONVOLVE_MODE_COUNT; mode++)
                for (int method = AIRY_CONVOLVE_DIRECT; method <= AIRY_CONVOLVE_SEPARABLE; method++)
                    check_convolve(c, &shapes[i],
                                   &(airy_convolve_params){.mode = (airy_convolve_mode)mode,
                                                           .method = (airy_convolve_method)method,
                                                           .border = b,
                                                           .border_value = 5,
                                                           .correlate = (border + mode) % 2});
            check_convolve(c, &shapes[i],
                           &(airy_convolve_params){.mode = AIRY_CONVOLVE_SAME,
                                                   .method = AIRY_CONVOLVE_DIRECT,
                                                   .border = b,
                                                   .border_value = 5,
                                                   .normalize = true});
            for (int stencil = 0; stencil < AIRY_STENCIL_COUNT && shapes[i].ndim < 4; stencil += 3)
                check_stencils(c, &shapes[i], (airy_stencil)stencil, b);
            for (int k = 0; k < 2; k++)
                check_ranks(c, &shapes[i], k ? AIRY_RANK_WHITE_TOPHAT : AIRY_RANK_MEDIAN, b);
            check_hampels(c, &shapes[i], b);
        }
    static const struct shape runs[] = {{1, {40000}}, {2, {40, 3000}}, {3, {20, 17, 300}}};
    for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++)
        for (int k = 0; k < 2; k++)
            check_blur(c, &runs[i], k ? AIRY_BORDER_WRAP : AIRY_BORDER_REFLECT, AIRY_DTYPE_F32,
                       k ? AIRY_DTYPE_F64 : AIRY_DTYPE_F32, RUNS);
    check_valid_bytes(c);
    check_refusals(c);
}
