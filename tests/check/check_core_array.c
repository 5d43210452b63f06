#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check_core.h"
#include "core/objects.h"
#include "ref_array.h"

/* Random bytes: every bit pattern, NaN and denormals included. */
static void *random_bytes(struct check *c, size_t size)
{
    unsigned char *data = check_alloc(c, size);
    for (size_t i = 0; i < size; i++)
        data[i] = (unsigned char)check_rand_u64(c);
    return data;
}

/* One array, a box of it, and all that moves elements; shape, start and box have ndim values. */
static void check_moves(struct check *c, airy_dtype dtype, int ndim, const size_t *shape,
                        const size_t *start, const size_t *box)
{
    char label[64] = "";
    for (int i = 0; i < ndim; i++)
        snprintf(label + strlen(label), sizeof(label) - strlen(label), "%s%zu", i ? "x" : "",
                 shape[i]);
    if (!check_case(c, "array_%s_%s", airy_dtype_name(dtype), label))
        return;
    const size_t size = airy_dtype_size(dtype);
    size_t count = 1, inner = 1;
    for (int i = 0; i < ndim; i++) {
        count *= shape[i];
        inner *= box[i];
    }
    unsigned char *whole = random_bytes(c, count * size), *part = random_bytes(c, inner * size);
    unsigned char *want = check_alloc(c, count * size), *want_part = check_alloc(c, inner * size);
    memcpy(want, whole, count * size);

    airy_array *a = check_upload(c, dtype, ndim, shape, whole),
               *b = check_output(c, dtype, ndim, shape);
    airy_array *va = NULL, *vb = NULL, *tight = check_output(c, dtype, ndim, box);
    if (!a || !b || !tight)
        return;
    CHECK(c, airy_array_device(a) == c->device && airy_array_dtype(a) == dtype &&
                 airy_array_ndim(a) == ndim);
    CHECK(c, airy_array_count(a) == count && airy_array_size(a) == count * size &&
                 airy_array_pitch(a)[ndim - 1] == 1);
    CHECK(c, memcmp(airy_array_shape(a), shape, (size_t)ndim * sizeof(*shape)) == 0);
    check_array(c, a, want, NULL);

    CHECK_OK(c, airy_array_view(&va, a, start, box));
    CHECK_OK(c, airy_array_view(&vb, b, start, box));
    if (va && vb) {
        ref_box_get(want_part, whole, ndim, shape, start, box, size);
        check_array(c, va, want_part, NULL); /* pull with pitch */
        CHECK_OK(c, airy_array_copy(c->queue, tight, va));
        check_array(c, tight, want_part, NULL); /* copy from a pitch */
        CHECK_OK(c, airy_array_copy(c->queue, b, a));
        CHECK_OK(c, airy_array_push(c->queue, vb, part, inner * size));
        ref_box_set(want, part, ndim, shape, start, box, size);
        check_array(c, b, want, NULL); /* push with pitch leaves the rest alone */
        CHECK_OK(c, airy_array_copy(c->queue, vb, va));
        check_array(c, b, whole, NULL); /* copy between pitches */
        CHECK_OK(c, airy_array_fill(c->queue, vb, 77));
        CHECK_OK(c, airy_array_fill(c->queue, tight, 77));
        CHECK_OK(c, airy_array_pull(c->queue, part, inner * size, tight));
        CHECK_OK(c, airy_queue_finish(c->queue));
        memcpy(want, whole, count * size);
        ref_box_set(want, part, ndim, shape, start, box, size);
        check_array(c, b, want, NULL); /* fill with pitch */
    }
    airy_array_destroy(&va);
    airy_array_destroy(&vb);
}

static void check_all_moves(struct check *c)
{
    static const struct {
        int ndim;
        size_t shape[4], start[4], box[4];
    } cases[] = {
        {1, {1}, {0}, {1}},
        {1, {1000}, {13}, {975}},
        {2, {7, 33}, {1, 2}, {5, 30}},
        {2, {40, 1}, {3, 0}, {30, 1}},
        {3, {3, 5, 17}, {1, 0, 3}, {2, 5, 14}},
        {3, {4, 6, 9}, {1, 2, 0}, {2, 3, 9}},
        {4, {2, 3, 4, 5}, {0, 1, 1, 1}, {2, 2, 3, 3}},
        {4, {3, 2, 5, 8}, {1, 0, 0, 0}, {2, 2, 5, 8}},
        {4, {3, 4, 5, 6}, {1, 1, 2, 3}, {1, 1, 1, 1}},
    };
    for (int dtype = 0; dtype < AIRY_DTYPE_COUNT; dtype++)
        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
            check_moves(c, (airy_dtype)dtype, cases[i].ndim, cases[i].shape, cases[i].start,
                        cases[i].box);
    /* More than one piece of a parallel loop: long rows, and many short ones. */
    const size_t wide[2] = {3, 400003}, wide_start[2] = {1, 5}, wide_box[2] = {2, 399991};
    check_moves(c, AIRY_DTYPE_F32, 2, wide, wide_start, wide_box);
    const size_t tall[2] = {150001, 5}, tall_start[2] = {2, 1}, tall_box[2] = {149998, 3};
    check_moves(c, AIRY_DTYPE_U16, 2, tall, tall_start, tall_box);
}

static void check_pinned(struct check *c)
{
    if (!check_case(c, "array_pinned"))
        return;
    const size_t shape[2] = {300, 1000}, start[2] = {7, 11}, box[2] = {200, 900};
    const size_t n = shape[0] * shape[1] * sizeof(uint32_t), m = box[0] * box[1] * sizeof(uint32_t);
    airy_host *host = NULL;
    airy_array *a = check_output(c, AIRY_DTYPE_U32, 2, shape), *v = NULL, *from = NULL;
    if (!CHECK_OK(c, airy_host_create(&host, c->device, n + m)))
        return;
    unsigned char *p = airy_host_data(host), *want = check_alloc(c, n);
    for (size_t i = 0; i < n; i++)
        p[i] = want[i] = (unsigned char)check_rand_u64(c);
    CHECK_OK(c, airy_array_push(c->queue, a, p, n));
    CHECK_OK(c, airy_array_view(&v, a, start, box));
    CHECK_OK(c, airy_array_pull(c->queue, p + n, m, v));
    CHECK_OK(c, airy_queue_finish(c->queue));
    unsigned char *want_box = check_alloc(c, m);
    ref_box_get(want_box, want, 2, shape, start, box, sizeof(uint32_t));
    CHECK(c, memcmp(p + n, want_box, m) == 0);
    /* create_from has copied when it returns, also from page-locked memory. */
    CHECK_OK(c, airy_array_create_from(&from, c->queue, AIRY_DTYPE_U32, 2, shape, p));
    memset(p, 0, n);
    check_array(c, from, want, NULL);
    airy_array_destroy(&from);
    airy_array_destroy(&v);
    CHECK_OK(c, airy_queue_finish(c->queue));
    airy_host_destroy(&host);
}

/* A CPU's array is the data itself, others hold a copy. */
static void check_over(struct check *c)
{
    if (!check_case(c, "array_over"))
        return;
    airy_device_info info;
    CHECK_OK(c, airy_device_get_info(c->device, &info));
    const bool same = strncmp(info.spec, "cpu", 3) == 0;
    const size_t shape[2] = {37, 1000}, start[2] = {1, 3}, box[2] = {2, 500};
    const size_t n = shape[0] * shape[1], bytes = n * sizeof(uint32_t);
    uint32_t *data = check_alloc(c, bytes + sizeof(uint32_t)), *want = check_alloc(c, bytes),
             *got = check_alloc(c, bytes);
    airy_memory_info before, after;
    airy_array *a = NULL, *v = NULL;
    for (size_t i = 0; i < n; i++)
        data[i] = want[i] = (uint32_t)check_rand_u64(c);
    CHECK_OK(c, airy_device_memory(c->device, &before));
    CHECK_OK(c, airy_array_create_over(&a, c->queue, AIRY_DTYPE_U32, 2, shape, data));
    CHECK_OK(c, airy_device_memory(c->device, &after));
    CHECK(c, after.in_use == before.in_use + bytes && after.count == before.count + 1);
    check_array(c, a, want, NULL);
    CHECK_OK(c, airy_array_view(&v, a, start, box));
    airy_array_destroy(&a);
    CHECK_OK(c, airy_array_fill(c->queue, v, 7));
    CHECK_OK(c, airy_queue_finish(c->queue));
    for (size_t i = 0; i < n; i++) {
        const bool inside = i / 1000 >= 1 && i / 1000 < 3 && i % 1000 >= 3 && i % 1000 < 503;
        CHECK(c, data[i] == (inside && same ? 7 : want[i]));
    }
    CHECK_OK(c, airy_array_pull(c->queue, got, box[0] * box[1] * sizeof(uint32_t), v));
    CHECK_OK(c, airy_queue_finish(c->queue));
    for (size_t i = 0; i < box[0] * box[1]; i++)
        CHECK(c, got[i] == 7);
    airy_array_destroy(&v);
    CHECK_OK(c, airy_device_memory(c->device, &after));
    CHECK(c, after.in_use == before.in_use);
    CHECK_FAILS(c, airy_array_create_over(NULL, c->queue, AIRY_DTYPE_U32, 2, shape, data),
                AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_array_create_over(&a, NULL, AIRY_DTYPE_U32, 2, shape, data), AIRY_ERR_PARAM,
                "NULL");
    CHECK_FAILS(c, airy_array_create_over(&a, c->queue, AIRY_DTYPE_U32, 2, shape, NULL),
                AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_array_create_over(&a, c->queue, AIRY_DTYPE_U32, 9, shape, data),
                AIRY_ERR_PARAM, "ndim = 9");
    if (same)
        CHECK_FAILS(
            c,
            airy_array_create_over(&a, c->queue, AIRY_DTYPE_U8, 1, &(size_t){SIZE_MAX / 2}, data),
            AIRY_ERR_MEMORY, "out of memory on cpu for an array");
    CHECK_OK(c, airy_device_memory(c->device, &after));
    CHECK(c, after.in_use == before.in_use && after.count == before.count);
    if (same)
        CHECK_FAILS(c,
                    airy_array_create_over(&a, c->queue, AIRY_DTYPE_U32, 2, shape,
                                           (unsigned char *)data + 1),
                    AIRY_ERR_PARAM, "aligned to the 4 bytes of a uint32");
    CHECK(c, a == NULL);
}

/* Memory that had other values before is zero in a new array, of whatever size it is. */
static void check_zeros(struct check *c)
{
    static const size_t sizes[] = {1, 1000, 300001, ((size_t)5 << 20) + 3};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        if (!check_case(c, "array_zeros_%zu", sizes[i]))
            continue;
        airy_array *a = NULL;
        unsigned char *values = check_alloc(c, sizes[i]);
        size_t wrong = 0;
        for (int round = 0; round < 3; round++) {
            if (!CHECK_OK(c, airy_array_create(&a, c->device, AIRY_DTYPE_U8, 1, &sizes[i])))
                return;
            CHECK_OK(c, airy_array_pull(c->queue, values, sizes[i], a));
            for (size_t k = 0; k < sizes[i]; k++)
                wrong += values[k] != 0;
            CHECK_OK(c, airy_array_fill(c->queue, a, 7));
            CHECK_OK(c, airy_queue_finish(c->queue));
            airy_array_destroy(&a);
        }
        CHECK(c, wrong == 0);
    }
}

static void check_create_errors(struct check *c)
{
    if (!check_case(c, "array_create_errors"))
        return;
    airy_array *a = NULL;
    const size_t shape[5] = {2, 3, 4, 5, 6}, zero[2] = {2, 0};
    const int data = 0;
    CHECK_FAILS(c, airy_array_create(NULL, c->device, AIRY_DTYPE_U8, 1, shape), AIRY_ERR_PARAM,
                "NULL");
    CHECK_FAILS(c, airy_array_create(&a, NULL, AIRY_DTYPE_U8, 1, shape), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_array_create(&a, c->device, AIRY_DTYPE_U8, 1, NULL), AIRY_ERR_PARAM,
                "shape is NULL");
    CHECK_FAILS(c, airy_array_create(&a, c->device, AIRY_DTYPE_U8, 0, shape), AIRY_ERR_PARAM,
                "ndim = 0, expected 1 to 4");
    CHECK_FAILS(c, airy_array_create(&a, c->device, AIRY_DTYPE_U8, 5, shape), AIRY_ERR_PARAM,
                "ndim = 5");
    CHECK_FAILS(c, airy_array_create(&a, c->device, AIRY_DTYPE_U8, 2, zero), AIRY_ERR_PARAM,
                "shape[1] = 0");
    CHECK_FAILS(c, airy_array_create(&a, c->device, AIRY_DTYPE_COUNT, 1, shape), AIRY_ERR_DTYPE,
                "dtype = 10");
    CHECK_FAILS(c, airy_array_create(&a, c->device, (airy_dtype)-1, 1, shape), AIRY_ERR_DTYPE,
                "dtype");
    CHECK_FAILS(c, airy_array_create_from(NULL, c->queue, AIRY_DTYPE_U8, 1, shape, &data),
                AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_array_create_from(&a, NULL, AIRY_DTYPE_U8, 1, shape, &data), AIRY_ERR_PARAM,
                "NULL");
    CHECK_FAILS(c, airy_array_create_from(&a, c->queue, AIRY_DTYPE_U8, 1, shape, NULL),
                AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_array_create_from(&a, c->queue, AIRY_DTYPE_U8, 9, shape, &data),
                AIRY_ERR_PARAM, "ndim = 9");
    CHECK(c, a == NULL);
    airy_array_destroy(&a);
    airy_array_destroy(NULL);
}

static void check_move_errors(struct check *c)
{
    if (!check_case(c, "array_move_errors"))
        return;
    const size_t shape[2] = {4, 6}, turned[2] = {6, 4}, flat = 24;
    uint16_t data[24] = {0};
    airy_array *a = check_output(c, AIRY_DTYPE_U16, 2, shape),
               *b = check_output(c, AIRY_DTYPE_U16, 2, turned);
    airy_array *d = check_output(c, AIRY_DTYPE_U16, 1, &flat),
               *e = check_output(c, AIRY_DTYPE_I16, 2, shape);
    if (!a || !b || !d || !e)
        return;
    airy_queue *q = c->queue;
    CHECK_FAILS(c, airy_array_push(NULL, a, data, 48), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_array_push(q, NULL, data, 48), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_array_push(q, a, NULL, 48), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_array_push(q, a, data, 47), AIRY_ERR_SHAPE,
                "push: size = 47 bytes, expected 48");
    CHECK_FAILS(c, airy_array_pull(NULL, data, 48, a), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_array_pull(q, NULL, 48, a), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_array_pull(q, data, 48, NULL), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_array_pull(q, data, 49, a), AIRY_ERR_SHAPE,
                "pull: size = 49 bytes, expected 48");
    CHECK_FAILS(c, airy_array_copy(NULL, a, b), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_array_copy(q, NULL, b), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_array_copy(q, a, NULL), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_array_copy(q, a, b), AIRY_ERR_SHAPE, "dst is u16 [4, 6] on");
    CHECK_FAILS(c, airy_array_copy(q, a, d), AIRY_ERR_SHAPE, "src is u16 [24] on");
    CHECK_FAILS(c, airy_array_copy(q, a, e), AIRY_ERR_DTYPE, "src is i16 [4, 6] on");
    CHECK_FAILS(c, airy_array_fill(NULL, a, 0), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_array_fill(q, NULL, 0), AIRY_ERR_PARAM, "NULL");
    char *text = NULL;
    CHECK_FAILS(c, airy_array_format(NULL, &text, a), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_array_format(q, &text, NULL), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_array_format(q, NULL, a), AIRY_ERR_PARAM, "NULL");

    /* An array of another device is an error that names both. */
    airy_device *other = NULL;
    airy_array *foreign = NULL;
    char both[128];
    snprintf(both, sizeof(both), "is an array of device %s, the queue is of %s", c->spec, c->spec);
    if (CHECK_OK(c, airy_device_create(&other, c->spec, NULL)) &&
        CHECK_OK(c, airy_array_create(&foreign, other, AIRY_DTYPE_U16, 2, shape))) {
        CHECK_FAILS(c, airy_array_push(q, foreign, data, 48), AIRY_ERR_PARAM, both);
        CHECK_FAILS(c, airy_array_pull(q, data, 48, foreign), AIRY_ERR_PARAM, both);
        CHECK_FAILS(c, airy_array_copy(q, a, foreign), AIRY_ERR_PARAM, both);
        CHECK_FAILS(c, airy_array_copy(q, foreign, a), AIRY_ERR_PARAM, "dst is an array");
        CHECK_FAILS(c, airy_array_fill(q, foreign, 0), AIRY_ERR_PARAM, both);
        CHECK_FAILS(c, airy_array_format(q, &text, foreign), AIRY_ERR_PARAM, both);
    }
    airy_array_destroy(&foreign);
    airy_device_destroy(&other);
}

static void check_views(struct check *c)
{
    if (!check_case(c, "array_views"))
        return;
    const size_t shape[2] = {6, 8}, start[2] = {1, 2}, box[2] = {3, 4}, inner_start[2] = {1, 1},
                 inner_box[2] = {2, 2};
    const size_t out[2] = {4, 0}, far[2] = {7, 0}, wide[2] = {3, 7}, none[2] = {0, 1},
                 huge[2] = {SIZE_MAX, 1};
    uint8_t data[48], want[4];
    for (int i = 0; i < 48; i++)
        data[i] = (uint8_t)i;
    airy_array *a = NULL, *v = NULL, *w = NULL, *x = NULL;
    CHECK_OK(c, airy_array_create_from(&a, c->queue, AIRY_DTYPE_U8, 2, shape, data));
    CHECK_FAILS(c, airy_array_view(NULL, a, start, box), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_array_view(&v, NULL, start, box), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_array_view(&v, a, NULL, box), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_array_view(&v, a, start, NULL), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_array_view(&v, a, out, box), AIRY_ERR_SHAPE,
                "axis 0: start 4 + shape 3 leaves the array of 6");
    CHECK_FAILS(c, airy_array_view(&v, a, far, box), AIRY_ERR_SHAPE, "axis 0");
    CHECK_FAILS(c, airy_array_view(&v, a, start, wide), AIRY_ERR_SHAPE,
                "axis 1: start 2 + shape 7");
    CHECK_FAILS(c, airy_array_view(&v, a, start, none), AIRY_ERR_PARAM, "shape[0] = 0");
    CHECK_FAILS(c, airy_array_view(&v, a, start, huge), AIRY_ERR_SHAPE, "axis 0");
    CHECK_FAILS(c, airy_array_view(&v, a, huge, box), AIRY_ERR_SHAPE, "axis 0");
    CHECK(c, v == NULL);

    /* A view of a view, alive after both ancestors are gone. */
    CHECK_OK(c, airy_array_view(&v, a, start, box));
    CHECK_OK(c, airy_array_view(&w, v, inner_start, inner_box));
    CHECK(c, airy_array_pitch(w)[0] == 8 && airy_array_size(w) == 4 && !airy_array_is_tight(w) &&
                 airy_array_is_tight(a));
    CHECK(c, airy_array_overlaps(a, v) && airy_array_overlaps(v, w) && airy_array_overlaps(w, w));
    CHECK_FAILS(c, airy_array_copy(c->queue, v, v), AIRY_ERR_PARAM, "overlap");
    /* Beside each other in the same rows. */
    const size_t beside[2] = {1, 6}, narrow[2] = {3, 2};
    CHECK_OK(c, airy_array_view(&x, a, beside, narrow));
    CHECK(c, !airy_array_overlaps(v, x) && !airy_array_overlaps(x, v));
    airy_array_destroy(&x);
    airy_array_destroy(&a);
    airy_array_destroy(&v);
    const size_t at = 2 * 8 + 3;
    memcpy(want, (uint8_t[]){data[at], data[at + 1], data[at + 8], data[at + 9]}, 4);
    check_array(c, w, want, NULL);
    airy_array_destroy(&w);
    CHECK(c, w == NULL);
}

static void check_typed_views(struct check *c)
{
    if (!check_case(c, "array_typed_views"))
        return;
    const size_t bytes = 96, doubles[2] = {2, 3}, words = 11, shape[2] = {12, 8}, start[2] = {0, 1},
                 box[2] = {12, 4};
    const size_t huge[2] = {SIZE_MAX / 8, 16};
    double values[6] = {1, -2, 3.5, 0, 1e300, -0.0};
    airy_array *raw = NULL, *v = NULL, *u = NULL, *image = NULL, *gaps = NULL;
    CHECK_OK(c, airy_array_create(&raw, c->device, AIRY_DTYPE_U8, 1, &bytes));
    CHECK_OK(c, airy_array_fill(c->queue, raw, 0));
    CHECK_OK(c, airy_array_view_as(&v, raw, 48, AIRY_DTYPE_F64, 2, doubles));
    CHECK_OK(c, airy_array_push(c->queue, v, values, sizeof(values)));
    check_array(c, v, values, NULL);
    CHECK_OK(c, airy_array_view_as(&u, raw, 4, AIRY_DTYPE_U32, 1, &words));
    check_array(c, u, (uint32_t[11]){0}, NULL);
    CHECK(c, !airy_array_overlaps(u, v));
    airy_array_destroy(&u);
    CHECK_FAILS(c, airy_array_view_as(NULL, raw, 0, AIRY_DTYPE_U8, 1, &words), AIRY_ERR_PARAM,
                "NULL");
    CHECK_FAILS(c, airy_array_view_as(&u, NULL, 0, AIRY_DTYPE_U8, 1, &words), AIRY_ERR_PARAM,
                "NULL");
    CHECK_FAILS(c, airy_array_view_as(&u, raw, 56, AIRY_DTYPE_F64, 2, doubles), AIRY_ERR_SHAPE,
                "offset 56 + 48 bytes");
    CHECK_FAILS(c, airy_array_view_as(&u, raw, 97, AIRY_DTYPE_U8, 1, &words), AIRY_ERR_SHAPE,
                "leaves the array");
    CHECK_FAILS(c, airy_array_view_as(&u, raw, 2, AIRY_DTYPE_U32, 1, &words), AIRY_ERR_SHAPE,
                "no multiple of the 4 bytes");
    CHECK_FAILS(c, airy_array_view_as(&u, raw, 0, AIRY_DTYPE_U8, 0, &words), AIRY_ERR_PARAM,
                "ndim = 0");
    CHECK_FAILS(c, airy_array_view_as(&u, raw, 0, AIRY_DTYPE_F64, 2, huge), AIRY_ERR_MEMORY,
                "address space");
    CHECK_OK(c, airy_array_create(&image, c->device, AIRY_DTYPE_U8, 2, shape));
    CHECK_OK(c, airy_array_view(&gaps, image, start, box));
    CHECK_FAILS(c, airy_array_view_as(&u, gaps, 0, AIRY_DTYPE_U8, 1, &words), AIRY_ERR_SHAPE,
                "gaps");
    CHECK(c, u == NULL);
    airy_array_destroy(&gaps);
    airy_array_destroy(&image);
    airy_array_destroy(&v);
    airy_array_destroy(&raw);
}

static void check_over_host(struct check *c)
{
    if (!check_case(c, "array_over_host"))
        return;
    airy_host *host = NULL;
    airy_array *a = NULL;
    airy_memory_info before, m;
    CHECK_OK(c, airy_host_create(&host, c->device, 64));
    if (!c->is_cpu) {
        CHECK_FAILS(c, airy_array_over_host(&a, host), AIRY_ERR_UNSUPPORTED,
                    "only the CPU works in place");
        airy_host_destroy(&host);
        return;
    }
    CHECK_FAILS(c, airy_array_over_host(NULL, host), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_array_over_host(&a, NULL), AIRY_ERR_PARAM, "NULL");
    CHECK_OK(c, airy_device_memory(c->device, &before));
    CHECK_OK(c, airy_array_over_host(&a, host));
    CHECK_OK(c, airy_device_memory(c->device, &m));
    CHECK(c, m.in_use == before.in_use && m.count == before.count);
    CHECK(c, airy_array_address(a) == airy_host_data(host) && airy_array_size(a) == 64);
    CHECK_OK(c, airy_array_fill(c->queue, a, 200));
    CHECK_OK(c, airy_queue_finish(c->queue));
    const unsigned char *p = airy_host_data(host);
    for (int i = 0; i < 64; i++)
        CHECK(c, p[i] == 200);
    airy_array_destroy(&a);
    airy_host_destroy(&host);
}

/* What a kernel writes to memory of the host is there when the queue is finished, each time. */
static void check_over_shared_host(struct check *c)
{
    enum { SIDE = 64, INNER = SIDE - 2, ROUNDS = 100 };
    if (!c->device->shares_host || !check_case(c, "array_over_shared_host"))
        return;
    const size_t shape[2] = {SIDE, SIDE}, start[2] = {1, 1}, box[2] = {INNER, INNER};
    airy_host *host = NULL;
    airy_array *bytes = NULL, *whole = NULL, *inner = NULL;
    CHECK_OK(c, airy_host_create_shared(&host, c->device, SIDE * SIDE));
    CHECK_OK(c, airy_array_over_host(&bytes, host));
    CHECK_OK(c, airy_array_view_as(&whole, bytes, 0, AIRY_DTYPE_U8, 2, shape));
    CHECK_OK(c, airy_array_view(&inner, whole, start, box));
    unsigned char *p = airy_host_data(host);
    memset(p, 255, SIDE * SIDE);
    for (int round = 0; round < ROUNDS; round++) {
        CHECK_OK(c, airy_array_fill(c->queue, inner, round));
        CHECK_OK(c, airy_queue_finish(c->queue));
        size_t good = 0, rim = 0;
        for (size_t i = 0; i < SIDE * SIDE; i++) {
            good += p[i] == round;
            rim += p[i] == 255;
        }
        CHECK(c, good == INNER * INNER && rim == SIDE * SIDE - INNER * INNER);
    }
    airy_array_destroy(&inner);
    airy_array_destroy(&whole);
    airy_array_destroy(&bytes);
    airy_host_destroy(&host);
}

/* The ends of each dtype's range go in, what lies beyond or between does not. */
static void check_fill_values(struct check *c)
{
    if (!check_case(c, "array_fill_values"))
        return;
    static const struct {
        airy_dtype dtype;
        double good[2], bad[3];
        uint64_t bits[2]; /* of the good ones, little-endian in the element */
    } rows[] = {
        {AIRY_DTYPE_U8, {0, 255}, {-1, 256, 0.5}, {0, 0xff}},
        {AIRY_DTYPE_I8, {-128, 127}, {-129, 128, -0.5}, {0x80, 0x7f}},
        {AIRY_DTYPE_U16, {1, 65535}, {-1, 65536, NAN}, {1, 0xffff}},
        {AIRY_DTYPE_I16, {-32768, 32767}, {-32769, 32768, INFINITY}, {0x8000, 0x7fff}},
        {AIRY_DTYPE_U32, {2, 4294967295.0}, {-1, 4294967296.0, -INFINITY}, {2, 0xffffffff}},
        {AIRY_DTYPE_I32,
         {-2147483648.0, 2147483647.0},
         {-2147483649.0, 2147483648.0, 1e300},
         {0x80000000, 0x7fffffff}},
        {AIRY_DTYPE_U64,
         {3, 18446744073709549568.0},
         {-1, 18446744073709551616.0, 0.25},
         {3, 0xfffffffffffff800u}},
        {AIRY_DTYPE_I64,
         {-9223372036854775808.0, -1},
         {-9223372036854777856.0, 9223372036854775808.0, 1.5},
         {0x8000000000000000u, 0xffffffffffffffffu}},
        {AIRY_DTYPE_F32, {-0.5, INFINITY}, {1e39, -1e39, 1e300}, {0xbf000000, 0x7f800000}},
        {AIRY_DTYPE_F64, {0.1, -INFINITY}, {0, 0, 0}, {0x3fb999999999999au, 0xfff0000000000000u}},
    };
    const size_t n = 100;
    for (size_t r = 0; r < sizeof(rows) / sizeof(rows[0]); r++) {
        airy_array *a = check_output(c, rows[r].dtype, 1, &n);
        const size_t size = airy_dtype_size(rows[r].dtype);
        unsigned char *want = check_alloc(c, n * size);
        for (int k = 0; k < 2; k++) {
            CHECK_OK(c, airy_array_fill(c->queue, a, rows[r].good[k]));
            for (size_t i = 0; i < n * size; i++)
                want[i] = (unsigned char)(rows[r].bits[k] >> 8 * (i % size));
            check_array(c, a, want, NULL);
        }
        for (int k = 0; k < 3 && rows[r].dtype != AIRY_DTYPE_F64; k++)
            CHECK_FAILS(c, airy_array_fill(c->queue, a, rows[r].bad[k]), AIRY_ERR_PARAM,
                        airy_dtype_name(rows[r].dtype));
        check_array(c, a, want, NULL);
    }
    /* NaN is a value of float32 like any other. */
    airy_array *f = check_output(c, AIRY_DTYPE_F32, 1, &n);
    float *want = check_alloc(c, n * sizeof(*want));
    for (size_t i = 0; i < n; i++)
        want[i] = NAN;
    CHECK_OK(c, airy_array_fill(c->queue, f, NAN));
    check_array(c, f, want, NULL);
}

/* What is printed for an array, without its first line (that names the device). */
static void check_text(struct check *c, airy_dtype dtype, int ndim, const size_t *shape,
                       const void *data, const char *head, const char *want)
{
    char *text = NULL, first[128];
    airy_array *a = check_upload(c, dtype, ndim, shape, data);
    if (!a || !CHECK_OK(c, airy_array_format(c->queue, &text, a)))
        return;
    snprintf(first, sizeof(first), "shape %s, dtype %s, device %s\n", head, airy_dtype_name(dtype),
             c->spec);
    const size_t n = strlen(first);
    if (strncmp(text, first, n) != 0 || strcmp(text + n, want) != 0)
        check_failed(c, __FILE__, __LINE__, "printed '%s', want '%s%s'", text, first, want);
    free(text);
}

static void check_print(struct check *c)
{
    if (!check_case(c, "array_print"))
        return;
    const size_t n2 = 2, n3 = 3, s22[2] = {2, 2}, s222[3] = {2, 2, 2}, n1001 = 1001,
                 big[3] = {8, 2, 90};
    /* Each text is what NumPy prints for the same values. */
    check_text(c, AIRY_DTYPE_I16, 1, &n3, (int16_t[]){-1, 20, 300}, "(3,)", "[ -1  20 300]\n");
    check_text(c, AIRY_DTYPE_U8, 2, s22, (uint8_t[]){1, 2, 3, 255}, "(2, 2)",
               "[[  1   2]\n [  3 255]]\n");
    check_text(c, AIRY_DTYPE_U64, 1, &n2, (uint64_t[]){0, UINT64_MAX}, "(2,)",
               "[                   0 18446744073709551615]\n");
    check_text(c, AIRY_DTYPE_I64, 1, &n2, (int64_t[]){INT64_MIN, 1}, "(2,)",
               "[-9223372036854775808                    1]\n");
    check_text(c, AIRY_DTYPE_I8, 3, s222, (int8_t[]){1, 2, 3, 4, 5, 6, 7, -8}, "(2, 2, 2)",
               "[[[ 1  2]\n  [ 3  4]]\n\n [[ 5  6]\n  [ 7 -8]]]\n");
    check_text(c, AIRY_DTYPE_F32, 1, &n3, (float[]){1.0f, 2.5f, -3.0f}, "(3,)",
               "[ 1.   2.5 -3. ]\n");
    check_text(c, AIRY_DTYPE_F32, 1, &n2, (float[]){0.1f, 1e-5f}, "(2,)", "[1.e-01 1.e-05]\n");
    check_text(c, AIRY_DTYPE_F64, 1, &n3, (double[]){1, NAN, -INFINITY}, "(3,)",
               "[  1.  nan -inf]\n");
    check_text(c, AIRY_DTYPE_F64, 1, &n2, (double[]){1.0 / 3, 100}, "(2,)",
               "[  0.33333333 100.        ]\n");
    check_text(c, AIRY_DTYPE_F64, 1, &n2, (double[]){1e8, 2.5e8}, "(2,)", "[1.0e+08 2.5e+08]\n");
    check_text(c, AIRY_DTYPE_F64, 1, &n2, (double[]){0, -0.0}, "(2,)", "[ 0. -0.]\n");

    uint16_t *many = check_alloc(c, 1440 * sizeof(*many));
    for (uint16_t i = 0; i < 1440; i++)
        many[i] = i;
    check_text(c, AIRY_DTYPE_U16, 1, &n1001, many, "(1001,)",
               "[   0    1    2 ...  998  999 1000]\n");
    check_text(c, AIRY_DTYPE_U16, 3, big, many, "(8, 2, 90)",
               "[[[   0    1    2 ...   87   88   89]\n  [  90   91   92 ...  177  178  179]]\n\n"
               " [[ 180  181  182 ...  267  268  269]\n  [ 270  271  272 ...  357  358  359]]\n\n"
               " [[ 360  361  362 ...  447  448  449]\n  [ 450  451  452 ...  537  538  539]]\n\n"
               " ...\n\n"
               " [[ 900  901  902 ...  987  988  989]\n  [ 990  991  992 ... 1077 1078 1079]]\n\n"
               " [[1080 1081 1082 ... 1167 1168 1169]\n  [1170 1171 1172 ... 1257 1258 1259]]\n\n"
               " [[1260 1261 1262 ... 1347 1348 1349]\n  [1350 1351 1352 ... 1437 1438 1439]]]\n");
}

/* Volumes of several pieces each through staging memory: whole, in rows, in rows and slices. */
static void check_staged(struct check *c)
{
    if (!check_case(c, "array_staged"))
        return;
    const size_t shape[3] = {37, 150, 401},
                 boxes[][3] = {{37, 150, 401}, {36, 150, 400}, {37, 140, 401}, {30, 149, 300}};
    const size_t start[3] = {0}, n = shape[0] * shape[1] * shape[2];
    uint16_t *data = check_alloc(c, n * sizeof(*data)), *got = check_alloc(c, n * sizeof(*got));
    for (size_t i = 0; i < n; i++)
        data[i] = (uint16_t)(i * 40503 >> 7);
    for (size_t k = 0; k < sizeof(boxes) / sizeof(boxes[0]); k++) {
        const size_t *box = boxes[k], size = box[0] * box[1] * box[2] * sizeof(*data);
        airy_array *a = check_output(c, AIRY_DTYPE_U16, 3, shape), *view = NULL;
        CHECK_OK(c, airy_array_fill(c->queue, a, 7));
        CHECK_OK(c, airy_array_view(&view, a, start, box));
        CHECK_OK(c, airy_array_push(c->queue, view, data, size));
        CHECK_OK(c, airy_array_pull(c->queue, got, n * sizeof(*got), a));
        size_t wrong = 0;
        for (size_t z = 0; z < shape[0]; z++)
            for (size_t y = 0; y < shape[1]; y++)
                for (size_t x = 0; x < shape[2]; x++) {
                    const bool in = z < box[0] && y < box[1] && x < box[2];
                    wrong += got[(z * shape[1] + y) * shape[2] + x] !=
                             (in ? data[(z * box[1] + y) * box[2] + x] : 7);
                }
        CHECK(c, wrong == 0);
        memset(got, 0, n * sizeof(*got));
        CHECK_OK(c, airy_array_pull(c->queue, got, size, view));
        CHECK(c, memcmp(got, data, size) == 0);
        airy_array_destroy(&view);
    }
}

static void check_bandwidth(struct check *c)
{
    if (!check_case(c, "array_copy_64MiB"))
        return;
    const size_t n = c->bench ? (size_t)64 << 20 : (size_t)5 << 20;
    airy_array *a = check_output(c, AIRY_DTYPE_U8, 1, &n),
               *b = check_output(c, AIRY_DTYPE_U8, 1, &n);
    unsigned char *want = check_alloc(c, n);
    memset(want, 9, n);
    CHECK_OK(c, airy_array_fill(c->queue, a, 9));
    CHECK_OK(c, airy_array_copy(c->queue, b, a));
    check_array(c, b, want, NULL);
    CHECK_BENCH(c, 2.0 * (double)n, 0, airy_array_copy(c->queue, b, a));
}

void check_core_array(struct check *c)
{
    check_over(c);
    check_zeros(c);
    check_create_errors(c);
    check_move_errors(c);
    check_all_moves(c);
    check_pinned(c);
    check_views(c);
    check_typed_views(c);
    check_over_host(c);
    check_over_shared_host(c);
    check_fill_values(c);
    check_print(c);
    check_staged(c);
    check_bandwidth(c);
}
