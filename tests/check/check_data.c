/* Memory, random numbers, arrays and comparison. */
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "check_state.h"
#include "core/objects.h"

static const unsigned char guard_byte = 0xA5;

void *check_alloc(struct check *c, size_t size)
{
    struct check_block *b = calloc(1, sizeof(*b));
    if (b)
        b->data = calloc(1, size ? size : 1);
    if (!b || !b->data) {
        printf("Bail out! no memory for %zu bytes of the test\n", size);
        exit(1);
    }
    b->next = c->state->blocks;
    c->state->blocks = b;
    return b->data;
}

void check_free_case(struct check *c)
{
    struct check_state *s = c->state;
    while (s->held) {
        struct check_held *h = s->held;
        s->held = h->next;
        airy_array_destroy(&h->array);
        airy_array_destroy(&h->raw);
        free(h);
    }
    while (s->blocks) {
        struct check_block *b = s->blocks;
        s->blocks = b->next;
        free(b->data);
        free(b);
    }
}

uint64_t check_rand_u64(struct check *c)
{
    uint32_t words[4];
    airy_random_block(words, c->seed, c->state->stream, c->state->drawn++);
    return (uint64_t)words[0] << 32 | words[1];
}

double check_uniform(struct check *c)
{
    return (double)(check_rand_u64(c) >> 11) * 0x1p-53;
}

double check_normal(struct check *c)
{
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += check_uniform(c);
    return sum;
}

void check_put(void *data, airy_dtype dtype, size_t i, double v)
{
    switch (dtype) {
    case AIRY_DTYPE_F32:
        ((float *)data)[i] = (float)v;
        break;
    case AIRY_DTYPE_F64:
        ((double *)data)[i] = v;
        break;
    case AIRY_DTYPE_U8:
        ((uint8_t *)data)[i] = (uint8_t)v;
        break;
    case AIRY_DTYPE_I8:
        ((int8_t *)data)[i] = (int8_t)v;
        break;
    case AIRY_DTYPE_U16:
        ((uint16_t *)data)[i] = (uint16_t)v;
        break;
    case AIRY_DTYPE_I16:
        ((int16_t *)data)[i] = (int16_t)v;
        break;
    case AIRY_DTYPE_U32:
        ((uint32_t *)data)[i] = (uint32_t)v;
        break;
    case AIRY_DTYPE_I32:
        ((int32_t *)data)[i] = (int32_t)v;
        break;
    case AIRY_DTYPE_U64:
        ((uint64_t *)data)[i] = (uint64_t)v;
        break;
    default:
        ((int64_t *)data)[i] = (int64_t)v;
        break;
    }
}

/* Exact for all dtypes where long double has 64 bits of mantissa or more (x86-64, aarch64). */
static long double load(const void *data, airy_dtype dtype, size_t i)
{
    switch (dtype) {
    case AIRY_DTYPE_F32:
        return ((const float *)data)[i];
    case AIRY_DTYPE_F64:
        return ((const double *)data)[i];
    case AIRY_DTYPE_U8:
        return ((const uint8_t *)data)[i];
    case AIRY_DTYPE_I8:
        return ((const int8_t *)data)[i];
    case AIRY_DTYPE_U16:
        return ((const uint16_t *)data)[i];
    case AIRY_DTYPE_I16:
        return ((const int16_t *)data)[i];
    case AIRY_DTYPE_U32:
        return ((const uint32_t *)data)[i];
    case AIRY_DTYPE_I32:
        return ((const int32_t *)data)[i];
    case AIRY_DTYPE_U64:
        return ((const uint64_t *)data)[i];
    default:
        return ((const int64_t *)data)[i];
    }
}

void check_rand(struct check *c, void *data, airy_dtype dtype, size_t count, double lo, double hi)
{
    const bool is_float = airy_dtype_is_float(dtype);
    for (size_t i = 0; i < count; i++) {
        const double u = (double)(check_rand_u64(c) >> 11) * 0x1p-53;
        double v = is_float ? lo + u * (hi - lo) : lo + floor(u * (hi - lo + 1));
        v = v > hi ? hi : v;
        check_put(data, dtype, i, v);
    }
}

static void hold(struct check *c, airy_array *array, airy_array *raw)
{
    struct check_held *h = calloc(1, sizeof(*h));
    if (!h) {
        printf("Bail out! no memory\n");
        exit(1);
    }
    h->array = array;
    h->raw = raw;
    h->next = c->state->held;
    c->state->held = h;
}

airy_array *check_upload(struct check *c, airy_dtype dtype, int ndim, const size_t *shape,
                         const void *data)
{
    airy_array *array = NULL;
    if (CHECK_OK(c, airy_array_create_from(&array, c->queue, dtype, ndim, shape, data)))
        hold(c, array, NULL);
    return array;
}

airy_array *check_view(struct check *c, const airy_array *array, const size_t *start,
                       const size_t *shape)
{
    airy_array *view = NULL;
    if (CHECK_OK(c, airy_array_view(&view, array, start, shape)))
        hold(c, view, NULL);
    return view;
}

airy_array *check_output(struct check *c, airy_dtype dtype, int ndim, const size_t *shape)
{
    airy_array *raw = NULL, *array = NULL;
    size_t size = airy_dtype_size(dtype);
    for (int i = 0; i < ndim; i++)
        size *= shape[i];
    const size_t guarded = size + 2 * (size_t)CHECK_GUARD;
    if (!CHECK_OK(c, airy_array_create(&raw, c->device, AIRY_DTYPE_U8, 1, &guarded)))
        return NULL;
    if (CHECK_OK(c, airy_array_fill(c->queue, raw, guard_byte)) &&
        CHECK_OK(c, airy_array_view_as(&array, raw, CHECK_GUARD, dtype, ndim, shape))) {
        hold(c, array, raw);
        return array;
    }
    airy_array_destroy(&raw);
    return NULL;
}

static void check_guard(struct check *c, airy_array *raw, size_t start, const char *where)
{
    unsigned char bytes[CHECK_GUARD];
    airy_array *view = NULL;
    const size_t size = CHECK_GUARD;
    if (CHECK_OK(c, airy_array_view(&view, raw, &start, &size)) &&
        CHECK_OK(c, airy_array_pull(c->queue, bytes, size, view)) &&
        CHECK_OK(c, airy_queue_finish(c->queue)))
        for (size_t i = 0; i < size; i++)
            if (bytes[i] != guard_byte) {
                check_failed(c, __FILE__, __LINE__,
                             "byte %zu %s an output array was overwritten with 0x%02x",
                             *where == 'b' ? size - i : i, where, bytes[i]);
                break;
            }
    airy_array_destroy(&view);
}

void check_guards(struct check *c)
{
    for (struct check_held *h = c->state->held; h; h = h->next)
        if (h->raw) {
            check_guard(c, h->raw, 0, "before");
            check_guard(c, h->raw, airy_array_size(h->raw) - CHECK_GUARD, "behind");
        }
}

/* Steps between two values of one sign and format; different signs: through zero. */
static uint64_t count_ulp(airy_dtype dtype, long double got, long double want)
{
    int64_t a, b;
    if (dtype == AIRY_DTYPE_F32) {
        const float f = (float)got, g = (float)want;
        int32_t i, j;
        memcpy(&i, &f, sizeof(i));
        memcpy(&j, &g, sizeof(j));
        a = i < 0 ? -(int64_t)(i & 0x7fffffff) : i;
        b = j < 0 ? -(int64_t)(j & 0x7fffffff) : j;
    } else {
        const double f = (double)got, g = (double)want;
        memcpy(&a, &f, sizeof(a));
        memcpy(&b, &g, sizeof(b));
        a = a < 0 ? -(a & INT64_MAX) : a;
        b = b < 0 ? -(b & INT64_MAX) : b;
    }
    return a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a;
}

static bool is_close(airy_dtype dtype, const void *got, const void *want, size_t i,
                     const struct check_tol *tol)
{
    const size_t size = airy_dtype_size(dtype);
    if (memcmp((const char *)got + i * size, (const char *)want + i * size, size) == 0)
        return true;
    const long double g = load(got, dtype, i), w = load(want, dtype, i);
    if (isnan(g) && isnan(w))
        return true;
    if (!tol)
        return false;
    if (!isfinite(g) || !isfinite(w))
        return g == w;
    if (fabsl(g - w) <= (long double)tol->abs + (long double)tol->rel * fabsl(w))
        return true;
    return airy_dtype_is_float(dtype) && tol->ulp && count_ulp(dtype, g, w) <= tol->ulp;
}

static const char *format_value(char text[48], airy_dtype dtype, const void *data, size_t i)
{
    const long double v = load(data, dtype, i);
    if (airy_dtype_is_float(dtype))
        snprintf(text, 48, "%.*Lg", dtype == AIRY_DTYPE_F32 ? 9 : 17, v);
    else
        snprintf(text, 48, "%.0Lf", v);
    return text;
}

bool check_values(struct check *c, const char *what, airy_dtype dtype, const void *got,
                  const void *want, size_t count, const struct check_tol *tol)
{
    size_t wrong = 0, first = 0, worst = 0;
    long double largest = -1;
    for (size_t i = 0; i < count; i++) {
        if (is_close(dtype, got, want, i, tol))
            continue;
        const long double d = fabsl(load(got, dtype, i) - load(want, dtype, i));
        const long double distance = isnan(d) ? INFINITY : d;
        first = wrong == 0 ? i : first;
        if (distance > largest) {
            largest = distance;
            worst = i;
        }
        wrong++;
    }
    if (wrong == 0)
        return true;
    char a[48], b[48];
    check_failed(c, __FILE__, __LINE__, "%s (%s): %zu of %zu differ; first at %zu: got %s, want %s",
                 what, airy_dtype_name(dtype), wrong, count, first,
                 format_value(a, dtype, got, first), format_value(b, dtype, want, first));
    check_note(c, "worst at %zu: got %s, want %s, difference %.4Lg", worst,
               format_value(a, dtype, got, worst), format_value(b, dtype, want, worst), largest);
    return false;
}

bool check_array(struct check *c, const airy_array *got, const void *want,
                 const struct check_tol *tol)
{
    if (!got)
        return check_failed(c, __FILE__, __LINE__, "the array was not made");
    const size_t size = airy_array_size(got);
    char text[96];
    void *data = malloc(size);
    bool ok = CHECK(c, data != NULL);
    ok = ok && CHECK_OK(c, airy_array_pull(c->queue, data, size, got));
    ok = ok && CHECK_OK(c, airy_queue_finish(c->queue));
    ok = ok && check_values(c, airy_array_describe(got, text), airy_array_dtype(got), data, want,
                            airy_array_count(got), tol);
    free(data);
    return ok;
}

void check_slab_make(struct check *c, struct check_slab *slab, size_t height, size_t width)
{
    const size_t pixels = height * width;
    *slab = (struct check_slab){.geometry = {.detector = {.name = "Detector",
                                                          .height = height,
                                                          .width = width,
                                                          .pixel1 = 75e-6,
                                                          .pixel2 = 75e-6},
                                             .dist = 0.1,
                                             .poni1 = 75e-6 * (double)height * 0.4,
                                             .poni2 = 75e-6 * (double)width * 0.55,
                                             .rot1 = 0.02,
                                             .wavelength = 1e-10},
                                .mask = check_alloc(c, pixels),
                                .dark = check_alloc(c, pixels * sizeof(float)),
                                .variance = check_alloc(c, pixels * sizeof(float))};
    for (size_t i = 0; i < pixels; i++) {
        slab->mask[i] = pixels > 16 && (i % width % 40 == 7 || i % 29 == 3);
        slab->dark[i] = (float)(i % 5) * 0.75f;
        slab->variance[i] = (float)(i % 7) + 0.5f;
    }
}
