#include <math.h>

#include "base/error.h"
#include "integrate/integrator.h"

/* Values of an integer dtype of at most 32 bits. */
struct range {
    int64_t lo, hi;
};

static bool integer_range(struct range *range, airy_dtype dtype)
{
    switch (dtype) {
    case AIRY_DTYPE_U8:
        *range = (struct range){0, UINT8_MAX};
        return true;
    case AIRY_DTYPE_I8:
        *range = (struct range){INT8_MIN, INT8_MAX};
        return true;
    case AIRY_DTYPE_U16:
        *range = (struct range){0, UINT16_MAX};
        return true;
    case AIRY_DTYPE_I16:
        *range = (struct range){INT16_MIN, INT16_MAX};
        return true;
    case AIRY_DTYPE_U32:
        *range = (struct range){0, UINT32_MAX};
        return true;
    case AIRY_DTYPE_I32:
        *range = (struct range){INT32_MIN, INT32_MAX};
        return true;
    default:
        return false;
    }
}

/*
 * Signs of (float)v - dummy + delta and (float)v - dummy - delta, as float arithmetic has them:
 * both grow with v.
 */
static bool below_dummy(int64_t v, float dummy, float delta)
{
    return delta == 0 ? (float)v < dummy : (float)v - dummy < -delta;
}

static bool above_dummy(int64_t v, float dummy, float delta)
{
    return delta == 0 ? (float)v > dummy : (float)v - dummy > delta;
}

/* The first v in [lo, hi + 1] for which the test is `until`; the test changes once. */
static int64_t first_where(struct range r, float dummy, float delta,
                           bool (*test)(int64_t, float, float), bool until)
{
    int64_t lo = r.lo, hi = r.hi + 1;
    while (lo < hi) {
        const int64_t middle = lo + (hi - lo) / 2;
        if (test(middle, dummy, delta) == until)
            hi = middle;
        else
            lo = middle + 1;
    }
    return lo;
}

/* Integers that equal dummy within delta after everything has been rounded to float. */
static void compat_interval(airy_pixel_test *test, struct range r, double dummy, double delta)
{
    test->lo = first_where(r, (float)dummy, (float)delta, below_dummy, false);
    test->hi = first_where(r, (float)dummy, (float)delta, above_dummy, true) - 1;
}

static void exact_interval(airy_pixel_test *test, struct range r, double dummy, double delta)
{
    const double lo = ceil(dummy - delta), hi = floor(dummy + delta);
    if (!(lo <= (double)r.hi) || !(hi >= (double)r.lo) || !(lo <= hi))
        return;
    test->lo = lo < (double)r.lo ? r.lo : (int64_t)lo;
    test->hi = hi > (double)r.hi ? r.hi : (int64_t)hi;
}

/* The interval of dummy values: given, or the detector's own. */
static void add_dummies(airy_pixel_test *test, const airy_integrator_params *p, airy_dtype dtype,
                        struct range r, bool automatic)
{
    const bool integer = !airy_dtype_is_float(dtype), compat = p->compat == AIRY_COMPAT_PYFAI;
    if (!p->has_dummy && !automatic)
        return;
    /*
     * A detector's own dummy values are -1, -2, -3, in an unsigned type the three largest values.
     */
    double dummy = -2, delta = 1.5;
    if (p->has_dummy) {
        dummy = p->dummy;
        delta = p->delta_dummy;
    } else if (integer && r.lo == 0) {
        dummy = (double)r.hi - 1;
    }
    if (isnan(dummy))
        return;
    if (!integer) {
        const double d = airy_dtype_nearest(dtype, dummy);
        test->float_lo = d - delta;
        test->float_hi = d + delta;
    } else if (compat) {
        compat_interval(test, r, dummy, delta);
    } else {
        exact_interval(test, r, dummy, delta);
    }
}

/*
 * The interval becomes that of saturated values, too: kernels test one. Of a signed dtype [lo, hi]
 * may go on behind the largest value with the negative ones, modulo 2^32.
 */
static airy_status add_saturated(airy_pixel_test *test, const airy_integrator *it, struct range r,
                                 bool automatic)
{
    const int64_t from = test->saturation;
    if (from > r.hi)
        return AIRY_OK;
    const bool none = test->lo > test->hi, joined = !none && test->hi >= from - 1;
    if (none || joined) {
        test->lo = none || test->lo > from ? from : test->lo;
        test->hi = r.hi;
        return AIRY_OK;
    }
    AIRY_FAIL_IF(!automatic || r.lo == 0 || from <= 0 || it->ring.kind != AIRY_RING_NONE,
                 AIRY_ERR_UNSUPPORTED,
                 "pixels of %lld and more as saturated together with dummy values %lld to %lld: "
                 "expected dummy values that reach up to the saturation%s",
                 (long long)from, (long long)test->lo, (long long)test->hi,
                 automatic ? ", with clip and quantile" : "");
    test->lo = from;
    test->hi = UINT32_MAX; /* -1 */
    return AIRY_OK;
}

static airy_status add_saturated_floats(airy_pixel_test *test)
{
    const double from = test->float_saturation;
    const bool none = !(test->float_lo <= test->float_hi);
    if (isnan(from))
        return AIRY_OK;
    AIRY_FAIL_IF(!none && test->float_hi < from, AIRY_ERR_UNSUPPORTED,
                 "pixels of %g and more as saturated together with dummy values %g to %g: expected "
                 "dummy values that reach up to the saturation",
                 from, test->float_lo, test->float_hi);
    test->float_lo = none ? from : fmin(test->float_lo, from);
    test->float_hi = (double)INFINITY;
    return AIRY_OK;
}

airy_status airy_pixel_test_make(airy_pixel_test *test, const airy_integrator *integrator,
                                 airy_dtype dtype)
{
    const airy_integrator_params *p = &integrator->params;
    struct range r = {0, 0};
    const bool integer = integer_range(&r, dtype);
    AIRY_FAIL_IF(
        !integer && !airy_dtype_is_float(dtype), AIRY_ERR_DTYPE,
        "frames of %s cannot be integrated, expected integers of at most 32 bits or floats",
        airy_dtype_name(dtype));
    *test = (airy_pixel_test){.lo = 1,
                              .hi = 0,
                              .saturation = r.hi,
                              .float_lo = 1,
                              .float_hi = 0,
                              .float_saturation = NAN};
    const bool automatic = !p->has_dummy && !p->no_default_dummy &&
                           integrator->geometry.detector.dectris_dummy;
    if (p->has_saturation) {
        test->float_saturation = p->saturation;
        const double s = ceil(p->saturation);
        test->saturation = s > (double)r.hi ? r.hi + 1 : s < (double)r.lo ? r.lo : (int64_t)s;
    }
    add_dummies(test, p, dtype, r, automatic);
    if (!p->mask_saturated)
        return AIRY_OK;
    return integer ? add_saturated(test, integrator, r, automatic) : add_saturated_floats(test);
}
