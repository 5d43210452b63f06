/*
 * airy-golden: the reference values of other programs, for every device asked for. Output is TAP.
 */
#ifndef AIRY_TESTS_GOLDEN_H
#define AIRY_TESTS_GOLDEN_H

#include <hdf5.h>
#include <jansson.h>
#include <stdbool.h>

#include "airy/geometry.h"
#include "airy/reduce.h"

struct golden {
    const char *dir;
    airy_device *device;
    airy_queue *queue;
    const char *spec;
    char **filters;
    int filter_count;
    /* TAP */
    size_t number, passed, failed, skipped;
    const char *name;  /* of the running case */
    const char *group; /* of cases with a geometry */
    int complaints;
};

/* Cases: begin (false: filtered out), complain any number of times, end. */
bool golden_begin(struct golden *g, const char *name);
void golden_complain(struct golden *g, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void golden_end(struct golden *g);
/* Ends it as skipped. */
void golden_skip(struct golden *g, const char *why);
/* Complain with airy_last_error unless the call succeeded; returns success. */
bool golden_ok(struct golden *g, const char *call, airy_status status);

/*
 * |got - want| <= rel |want| + of_max max|want|, element by element. count: NULL, or where it is <
 * 0.5 `thin` is allowed on top. spare: so many elements may be anything.
 */
struct golden_tol {
    double rel, of_max, thin;
    size_t spare;
};
void golden_compare(struct golden *g, const char *what, const double *got, const double *want,
                    size_t n, struct golden_tol tol, const double *count);

/* Files. All return malloc'ed memory, or NULL after a complaint. */
hid_t golden_open(struct golden *g, const char *name);
/*
 * A dataset converted to doubles or to floats; shape (NULL or two extents, 1 x n for one
 * dimension).
 */
double *golden_doubles(struct golden *g, hid_t file, const char *path, size_t shape[2]);
float *golden_floats(struct golden *g, hid_t file, const char *path);
/* A dataset as it is, in native byte order. */
void *golden_pixels(struct golden *g, hid_t file, const char *path, airy_dtype *dtype,
                    size_t shape[2]);
/*
 * The stored bytes of the only chunk of a dataset; NULL without complaint where there is no such
 * dataset.
 */
void *golden_chunk(hid_t file, const char *path, size_t *size);
/* Part of the pool /results. */
double *golden_results(struct golden *g, hid_t file, size_t offset, size_t count);
json_t *golden_attribute_json(struct golden *g, hid_t file, const char *object, const char *name);
bool golden_attribute_numbers(hid_t file, const char *object, const char *name, double *values,
                              size_t count);

/* From a group's entry of the index. */
bool golden_geometry(struct golden *g, airy_geometry *geometry, const json_t *group);

/* Statistics {n, min, max, mean, median, std}; the passes and the end of a clip (golden_reduce.c). */
void golden_statistics(struct golden *g, const char *what, const airy_statistics *got,
                       const json_t *want);
void golden_clip_passes(struct golden *g, const airy_array *src, const json_t *item);

/* Labels above five standard deviations of an image, of its entry (golden_label.c). */
void golden_labels(struct golden *g, const airy_array *src, const json_t *item, const char *name);

/* Families of cases. */
void golden_integrate(struct golden *g, const json_t *index);
void golden_real_frames(struct golden *g);
void golden_exact(struct golden *g, const json_t *index);
void golden_reduce(struct golden *g);
void golden_sky(struct golden *g);
void golden_positions(struct golden *g, const json_t *index);
void golden_patterns(struct golden *g, const json_t *index);

#endif
