/* Figures of the stages of an integration, from the measurement to their picture. */
#ifndef AIRY_BENCH_STAGES_H
#define AIRY_BENCH_STAGES_H

#include "bench.h"

enum stage {
    STAGE_READ,
    STAGE_DECODE, /* of chunks in memory: neither cached nor cold */
    STAGE_READ_DECODE,
    STAGE_INTEGRATE,
    STAGE_WRITE,
    STAGE_COUNT
};

/* frames/s; NaN: not measured. Index 0: from the page cache (decode: from memory), 1: cold. */
struct stage_figure {
    double rate[2], limit[2];
};

extern const char *const stage_names[STAGE_COUNT];

/* Bars and limits into --plot. Exit code. */
int stages_plot(const struct bench *bench, const struct stage_figure figures[STAGE_COUNT]);

#endif
