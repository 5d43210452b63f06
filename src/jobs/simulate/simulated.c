#include "jobs/simulate/simulated.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "airy/gaps.h"
#include "airy/random.h"
#include "base/thread.h"

enum { PIECE = 4096 }; /* pixels made at a time */

static void store(airy_dtype dtype, void *frame, size_t i, double value)
{
    switch (dtype) {
    case AIRY_DTYPE_U8:
        ((uint8_t *)frame)[i] = (uint8_t)value;
        break;
    case AIRY_DTYPE_U16:
        ((uint16_t *)frame)[i] = (uint16_t)value;
        break;
    case AIRY_DTYPE_U32:
        ((uint32_t *)frame)[i] = (uint32_t)value;
        break;
    case AIRY_DTYPE_I32:
        ((int32_t *)frame)[i] = (int32_t)value;
        break;
    default:
        ((float *)frame)[i] = (float)value;
        break;
    }
}

/* n counts plus add, at most limit, from pixel i of the frame on. */
#define STORE_COUNTS(T)                                                                            \
    for (size_t k = 0; k < n; k++) {                                                               \
        const uint32_t sum = counts[k] + add;                                                      \
        ((T *)frame)[i + k] = (T)(sum < add || sum > limit ? limit : sum);                         \
    }

static void store_counts(airy_dtype dtype, void *frame, size_t i, const uint32_t *counts, size_t n,
                         uint32_t add, uint32_t limit)
{
    switch (dtype) {
    case AIRY_DTYPE_U8:
        STORE_COUNTS(uint8_t)
        break;
    case AIRY_DTYPE_U16:
        STORE_COUNTS(uint16_t)
        break;
    case AIRY_DTYPE_U32:
        STORE_COUNTS(uint32_t)
        break;
    case AIRY_DTYPE_I32:
        STORE_COUNTS(int32_t)
        break;
    default:
        STORE_COUNTS(float)
        break;
    }
}

/* Poisson counts of n pixels from pixel i on; n <= PIECE. */
static airy_status draw_counts(const struct airy_simulated *s, uint64_t stream, size_t i, size_t n,
                               uint32_t *counts)
{
    double values[PIECE];
    memcpy(values, s->mean + i, n * sizeof(double));
    const airy_status status = airy_random_poisson_fill(values, n, s->seed, stream, i);
    for (size_t k = 0; status == AIRY_OK && k < n; k++)
        counts[k] = values[k] < s->limit ? (uint32_t)values[k] : s->limit;
    return status;
}

/* Random bits; floats stay finite: sign, six bits of the exponent and the mantissa are random. */
static void make_noise(const struct airy_simulated *s, uint64_t stream, void *frame)
{
    const size_t size = airy_dtype_size(s->dtype);
    uint32_t words[PIECE];
    for (size_t i = 0; i < s->pixels; i += PIECE) {
        const size_t n = s->pixels - i < PIECE ? s->pixels - i : PIECE;
        airy_random_words(words, n, s->seed, stream, i);
        for (size_t k = 0; k < n && s->dtype == AIRY_DTYPE_F32; k++)
            words[k] = (words[k] & 0x9fffffffu) | 0x20000000u;
        if (size == sizeof(uint32_t))
            memcpy((char *)frame + i * size, words, n * size);
        for (size_t k = 0; k < n && size < sizeof(uint32_t); k++)
            memcpy((char *)frame + (i + k) * size, &words[k], size); /* low bytes come first */
    }
}

static airy_status make_counts(const struct airy_simulated *s, size_t index, uint64_t stream,
                               void *frame)
{
    const uint32_t add = s->increment ? (uint32_t)(index % s->increment) : 0;
    uint32_t drawn[PIECE];
    for (size_t i = 0; i < s->pixels; i += PIECE) {
        const size_t n = s->pixels - i < PIECE ? s->pixels - i : PIECE;
        const airy_status status = s->base ? AIRY_OK : draw_counts(s, stream, i, n, drawn);
        if (status != AIRY_OK)
            return status;
        store_counts(s->dtype, frame, i, s->base ? s->base + i : drawn, n, add, s->limit);
    }
    return AIRY_OK;
}

static double load(airy_dtype dtype, const void *frame, size_t i)
{
    switch (dtype) {
    case AIRY_DTYPE_U8:
        return ((const uint8_t *)frame)[i];
    case AIRY_DTYPE_U16:
        return ((const uint16_t *)frame)[i];
    case AIRY_DTYPE_U32:
        return ((const uint32_t *)frame)[i];
    case AIRY_DTYPE_I32:
        return ((const int32_t *)frame)[i];
    default:
        return (double)((const float *)frame)[i];
    }
}

/*
 * Spots of 20 to 2,000 counts in the middle, weak ones more often, some 2 pixels wide. Nothing but
 * IEEE operations, so that they are the same on every machine.
 */
static airy_status add_spots(const struct airy_simulated *s, size_t index, void *frame)
{
    enum { REACH = 4, SIDE = 2 * REACH + 1, WORDS = 3 };
    const uint64_t places = (uint64_t)1 << 62 | index, counts = (uint64_t)1 << 63 | index;
    const size_t height = s->pixels / s->width;
    double values[SIDE * SIDE];
    for (size_t k = 0; k < s->spots; k++) {
        uint32_t words[WORDS];
        airy_random_words(words, WORDS, s->seed, places, k * WORDS);
        const double u = words[2] * 0x1p-32, middle = 20 + 1980 * u * u * u * u,
                     y = words[0] * 0x1p-32 * (double)height,
                     x = words[1] * 0x1p-32 * (double)s->width;
        const size_t top = (size_t)y, left = (size_t)x;
        for (int i = 0; i < SIDE * SIDE; i++) {
            const double dy = (double)top + i / SIDE - REACH + 0.5 - y,
                         dx = (double)left + i % SIDE - REACH + 0.5 - x,
                         fall = 1 + (dy * dy + dx * dx);
            values[i] = middle / (fall * fall * fall);
        }
        const airy_status status =
            airy_random_poisson_fill(values, SIDE * SIDE, s->seed, counts, k * SIDE * SIDE);
        if (status != AIRY_OK)
            return status;
        for (size_t i = 0; i < SIDE * SIDE; i++) {
            const size_t row = top + i / SIDE - REACH, column = left + i % SIDE - REACH;
            if (row >= height || column >= s->width || values[i] == 0)
                continue;
            const size_t at = row * s->width + column;
            store(s->dtype, frame, at, fmin(load(s->dtype, frame, at) + values[i], s->limit));
        }
    }
    return AIRY_OK;
}

airy_status airy_simulated_frame(void *user, size_t index, void *frame)
{
    const struct airy_simulated *s = user;
    const uint64_t stream = s->distinct ? index % s->distinct : index;
    if (s->incompressible) {
        make_noise(s, stream, frame);
    } else {
        airy_status status = make_counts(s, index, stream, frame);
        if (status == AIRY_OK)
            status = add_spots(s, index, frame);
        if (status != AIRY_OK)
            return status;
    }
    const double gap = airy_dtype_is_float(s->dtype)    ? (double)NAN
                       : airy_dtype_is_signed(s->dtype) ? -1
                                                        : airy_dtype_largest(s->dtype);
    for (size_t i = 0; s->mask && i < s->pixels; i++)
        if (s->mask[i])
            store(s->dtype, frame, i, gap);
    return AIRY_OK;
}

size_t airy_simulated_period(const struct airy_simulated *s)
{
    if (s->spots)
        return 0;
    return s->increment == 0 ? s->distinct : s->distinct == 1 ? s->increment : 0;
}

void airy_simulated_begin(struct airy_simulated *s, airy_dtype dtype, const airy_geometry *geometry)
{
    *s = (struct airy_simulated){.dtype = dtype,
                                 .width = geometry->detector.width,
                                 .pixels = geometry->detector.height * geometry->detector.width};
    /* Detectors keep the top three values of unsigned types for pixels that are not good. */
    s->limit = airy_dtype_is_float(dtype)    ? UINT32_MAX
               : airy_dtype_is_signed(dtype) ? (uint32_t)airy_dtype_largest(dtype)
                                             : (uint32_t)airy_dtype_largest(dtype) - 3;
}

/* What is drawn depends on the pixel alone. */
struct draw {
    const struct airy_simulated *s;
    uint32_t *counts;
    atomic_int status; /* of a piece that failed */
};

static void draw_piece(void *arg, size_t index, unsigned worker)
{
    struct draw *draw = arg;
    const size_t i = index * PIECE, left = draw->s->pixels - i;
    (void)worker;
    const airy_status status =
        draw_counts(draw->s, 0, i, left < PIECE ? left : PIECE, draw->counts + i);
    if (status != AIRY_OK)
        atomic_store(&draw->status, (int)status);
}

airy_status airy_simulated_draw(const struct airy_simulated *s, uint32_t *counts, unsigned threads)
{
    struct draw draw = {.s = s, .counts = counts};
    airy_pool *pool = NULL;
    AIRY_TRY(airy_pool_create(&pool, threads));
    airy_pool_run(pool, (s->pixels + PIECE - 1) / PIECE, draw_piece, &draw);
    airy_pool_destroy(&pool);
    const airy_status status = (airy_status)atomic_load(&draw.status);
    AIRY_FAIL_IF(status != AIRY_OK, status, "counts could not be drawn (%s)",
                 airy_status_name(status));
    return AIRY_OK;
}

airy_status airy_simulated_rings(double *mean, const airy_geometry *geometry,
                                 const airy_calibrant *calibrant,
                                 const struct airy_simulated_rings *rings)
{
    const airy_status status = airy_geometry_centers(geometry, AIRY_UNIT_TTH_RAD, mean);
    if (status != AIRY_OK)
        return status;
    const airy_detector *d = &geometry->detector;
    const double sigma = rings->width_px / 2.3548 * sqrt(d->pixel1 * d->pixel2) / geometry->dist;
    /* Rings come by rising 2theta; beyond 8 sigma nothing is left of a million counts. */
    size_t first = 0;
    for (size_t i = 0; i < d->height * d->width; i++) {
        const double tth = mean[i];
        double sum = rings->background;
        while (first > 0 &&
               tth - 2 * asin(geometry->wavelength / (2 * calibrant->rings[first - 1].spacing)) <
                   8 * sigma)
            first--;
        for (size_t k = first; k < calibrant->count; k++) {
            const double z =
                (tth - 2 * asin(geometry->wavelength / (2 * calibrant->rings[k].spacing))) / sigma;
            if (!(z >= -8))
                break;
            if (z > 8 && k == first)
                first++;
            sum += rings->height * exp(-0.5 * z * z);
        }
        mean[i] = sum;
    }
    return AIRY_OK;
}

void airy_simulated_curve(double q[AIRY_SIMULATED_POINTS], double curve[AIRY_SIMULATED_POINTS])
{
    for (size_t i = 0; i < AIRY_SIMULATED_POINTS; i++) {
        q[i] = (double)i;
        curve[i] = 100 / (1 + q[i] * q[i]);
    }
}

/*
 * The beam on the corner of the detector, 1 Angstrom, and 1.1 m for an Eiger 4M, where the
 * default curve compresses 7.4 times as the stack does that others measure with; other detectors
 * at a distance that shows the same angles.
 */
void airy_simulated_distance(airy_geometry *geometry)
{
    const airy_detector *d = &geometry->detector;
    const double diagonal = hypot((double)d->height * d->pixel1, (double)d->width * d->pixel2);
    const double eiger_4m = hypot(2167 * 75e-6, 2070 * 75e-6);
    geometry->dist = floor(1.1 * diagonal / eiger_4m * 1e6 + 0.5) / 1e6;
}
