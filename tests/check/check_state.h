/* What the runner's parts share. */
#ifndef AIRY_TESTS_CHECK_STATE_H
#define AIRY_TESTS_CHECK_STATE_H

#include <jansson.h>
#include <stdio.h>

#include "check.h"

enum { CHECK_GUARD = 256, CHECK_NAME = 160, CHECK_SAMPLES = 4096, CHECK_MESSAGES = 12 };

/* Host memory of a case. */
struct check_block {
    struct check_block *next;
    void *data;
};

/* An array of a case; raw: the guarded bytes around it, NULL where there are no guards. */
struct check_held {
    struct check_held *next;
    airy_array *array, *raw;
};

struct check_timing {
    double bytes, flops;
    bool warm;
    uint64_t start_ns, sample_ns;
    size_t calls, per_sample, samples;
    double ms[CHECK_SAMPLES];
};

struct check_state {
    /* options */
    char **filters;
    size_t filter_count;
    unsigned every;                   /* of a family every such case that is meant; 0: all */
    unsigned cpu_every, opencl_every; /* the same on these devices alone */
    uint64_t slice;                   /* modulo every: the first of these cases */
    bool list, shared;
    unsigned threads; /* of the CPU pool; 0: as many as the CPU has */
    const char *program;

    /* the case that runs; name empty: none */
    char name[CHECK_NAME];
    const char *family;
    size_t met; /* cases of the family that are meant, so far */
    bool failed, skipped;
    int messages;
    uint64_t stream, drawn; /* of random numbers: hash of the name, position */
    double begun_s;         /* of processor time, all threads */
    struct check_block *blocks;
    struct check_held *held;
    json_t *record; /* of the case, NULL without --json */

    /* the program */
    size_t number, passed, failures, skips;
    char tmp[256];
    unsigned tmp_count;
    json_t *records;
    double copy_rate; /* GB/s of the device's own copies; 0: not measured yet */
    struct check_timing timing;
};

/* End the running case, if any: guards, result line, memory. */
void check_end(struct check *c);
/* A line of explanation; not more than CHECK_MESSAGES of a case are printed. */
void check_note(struct check *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
void check_guards(struct check *c);
void check_free_case(struct check *c);
/* Remove what check_tmp made. */
void check_remove_tmp(struct check_state *state);

#endif
