/*
 * The runner of airy-check: cases that compare with tests/ref and, with --bench, time. Output is
 * TAP. Each family's function is run once for every device asked for (default: the CPU; --device
 * SPEC, repeatable; --all-devices).
 *
 * A case function starts with: if (!check_case(c, "name_%d", n)) return;
 */
#ifndef AIRY_TESTS_CHECK_H
#define AIRY_TESTS_CHECK_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "airy/array.h"
#include "airy/geometry.h"

struct check {
    airy_device *device;
    airy_queue *queue;
    const char *spec; /* "cpu", "opencl:0:0" */
    bool is_cpu, bench;
    uint64_t seed; /* of this case; printed on failure, set with --seed */
    struct check_state *state;
};

/*
 * Tolerance of one element: |got - want| <= abs + rel * |want|, or within ulp units in the last
 * place. Equal infinities and two NaNs pass.
 */
struct check_tol {
    double abs, rel;
    uint32_t ulp;
};

/* Start a case; false: filtered out. Ends the case before, and frees what it allocated. */
bool check_case(struct check *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The case cannot run here; return afterwards. */
void check_skip(struct check *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The case failed: where and what. Returns false. */
bool check_failed(struct check *c, const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#define CHECK(c, cond)    ((cond) ? true : check_failed((c), __FILE__, __LINE__, "%s", #cond))
#define CHECK_OK(c, expr) check_status((c), __FILE__, __LINE__, #expr, (expr), AIRY_OK)
/* Two counts are the same; the report says both. */
#define CHECK_COUNT(c, got, want)                                                                  \
    check_count((c), __FILE__, __LINE__, #got, (size_t)(got), (size_t)(want))
/* The call fails with this status, and its sentence contains `part`. */
#define CHECK_FAILS(c, expr, status, part)                                                         \
    check_fails((c), __FILE__, __LINE__, #expr, (expr), (status), (part))
bool check_count(struct check *c, const char *file, int line, const char *expr, size_t got,
                 size_t want);
bool check_status(struct check *c, const char *file, int line, const char *expr, airy_status got,
                  airy_status want);
bool check_fails(struct check *c, const char *file, int line, const char *expr, airy_status got,
                 airy_status want, const char *part);

/*
 * Memory that lives until the case ends. check_alloc clears it. Random values depend on seed and
 * call order.
 */
void *check_alloc(struct check *c, size_t size) __attribute__((returns_nonnull));
void check_rand(struct check *c, void *data, airy_dtype dtype, size_t count, double lo, double hi);
uint64_t check_rand_u64(struct check *c);
double check_uniform(struct check *c); /* in [0, 1) */
double check_normal(struct check *c);  /* the sum of twelve of them less 6: variance 1 */
/* Element i of data becomes v, converted to the dtype as C does. */
void check_put(void *data, airy_dtype dtype, size_t i, double v);

/* A turned detector of pixels of 75 um with the beam on it, and corrections for it, [pixels] each. */
struct check_slab {
    airy_geometry geometry;
    uint8_t *mask; /* columns and scattered pixels; none of a tiny one */
    float *dark, *variance;
};
void check_slab_make(struct check *c, struct check_slab *slab, size_t height, size_t width);
/* Arrays that live until the case ends. check_output: filled with a pattern and guarded on both
 * sides; guards are checked by check_array and when the case ends. */
airy_array *check_upload(struct check *c, airy_dtype dtype, int ndim, const size_t *shape,
                         const void *data);
airy_array *check_view(struct check *c, const airy_array *array, const size_t *start,
                       const size_t *shape);
airy_array *check_output(struct check *c, airy_dtype dtype, int ndim, const size_t *shape);
/*
 * Compare element by element; reports index, got, want of the first and the worst, and how many
 * differ. tol NULL: exact (bit for bit, NaN = NaN).
 */
bool check_array(struct check *c, const airy_array *got, const void *want,
                 const struct check_tol *tol);
bool check_values(struct check *c, const char *what, airy_dtype dtype, const void *got,
                  const void *want, size_t count, const struct check_tol *tol);

/*
 * With --bench: repeat expr for at least half a second, print median, p10, p90, GB/s, GFLOP/s,
 * share of the copy bandwidth.
 */
#define CHECK_BENCH(c, bytes, flops, expr)                                                         \
    do {                                                                                           \
        if ((c)->bench)                                                                            \
            for (check_bench_start((c), (bytes), (flops)); check_bench_again(c);)                  \
                (void)(expr);                                                                      \
    } while (0)
void check_bench_start(struct check *c, double bytes, double flops);
bool check_bench_again(struct check *c);

/*
 * Path of a file under tests/golden, or under ../shared-like AIRY_REALDATA; NULL (and the case is
 * skipped) when it is not there.
 */
const char *check_golden(struct check *c, const char *name);
const char *check_realdata(struct check *c, const char *name);
/* A new empty folder for files, removed when the program ends well. */
const char *check_tmp(struct check *c);

/* One function per family; listed in check.c. */
void check_core(struct check *c);
void check_error(struct check *c);
void check_opencl(struct check *c);
void check_codec(struct check *c);
void check_integrate(struct check *c);
void check_integrate_refusals(struct check *c); /* part of check_integrate */
void check_integrate_laws(struct check *c);     /* part of check_integrate */
void check_cpu_integrate(struct check *c);
void check_geometry(struct check *c);
void check_calibrate(struct check *c);
void check_poni(struct check *c);          /* part of check_geometry */
void check_detector_file(struct check *c); /* the same */
void check_reduce(struct check *c);
void check_reduce_stack(struct check *c);
void check_job(struct check *c);
void check_job_all(struct check *c);
void check_job_convert(struct check *c);
void check_job_filter(struct check *c);
void check_job_simulate(struct check *c);
void check_job_oct(struct check *c);
void check_job_integrate(struct check *c);
void check_job_params(struct check *c);
void check_job_live(struct check *c);
void check_job_follow(struct check *c);
void check_job_text(struct check *c);
void check_job_ranks(struct check *c);
void check_job_rivals(struct check *c);
void check_job_events(struct check *c);
void check_job_results(struct check *c);
void check_job_stream(struct check *c);
void check_info(struct check *c);
void check_job_images(struct check *c);   /* part of check_job */
void check_job_peaks(struct check *c);    /* part of check_job */
void check_job_geometry(struct check *c); /* part of check_job */
void check_label(struct check *c);
void check_fft(struct check *c);
void check_filter(struct check *c);
void check_stencil(struct check *c);
void check_rank(struct check *c);
void check_hampel(struct check *c);
void check_tile(struct check *c);
void check_element(struct check *c);
void check_move(struct check *c);
void check_backgrounds(struct check *c);
void check_sources(struct check *c);
void check_sources_golden(struct check *c); /* part of check_sources */
void check_sparse_files(struct check *c);
void check_stack(struct check *c);
void check_pattern(struct check *c);
void check_image(struct check *c);
void check_fits(struct check *c);
void check_formats(struct check *c);
void check_sky(struct check *c);
void check_tables(struct check *c);
void check_oct(struct check *c);
void check_peaks(struct check *c);
void check_pipeline(struct check *c);
void check_pipeline_parts(struct check *c);
void check_rows(struct check *c);
void check_live(struct check *c);
void check_log(struct check *c);
void check_merge(struct check *c);
void check_around(struct check *c);
void check_quote(struct check *c);
void check_oct_stack(struct check *c);
void check_oct_stream(struct check *c);
void check_ring(struct check *c);
void check_stream(struct check *c);
void check_rings(struct check *c);
void check_stream_send(struct check *c);
void check_result(struct check *c);
void check_null(struct check *c);
void check_oct_calibrate(struct check *c);
void check_simulated_oct(struct check *c);
void check_frame_files(struct check *c);
void check_oct_config(struct check *c);
void check_tuning(struct check *c);
void check_opencl_kernels(struct check *c);
void check_opencl_integrate(struct check *c);
void check_opencl_split(struct check *c);

#endif
