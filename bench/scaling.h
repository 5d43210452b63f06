/* Figures of the scaling, from the measurement to their picture. */
#ifndef AIRY_BENCH_SCALING_H
#define AIRY_BENCH_SCALING_H

#include "bench.h"

enum scaling_kind {
    SCALING_CORES,    /* of one process */
    SCALING_COMMANDS, /* of one thread, with a part of the frames each */
    SCALING_RANKS,    /* of mpirun, of one thread */
    SCALING_DEVICES,
    SCALING_KINDS
};

enum { SCALING_STEPS = 16, SCALING_FIGURES = SCALING_STEPS * SCALING_KINDS };

struct scaling_figure {
    enum scaling_kind kind;
    size_t n;
    double rate; /* frames/s */
    double speed_up,
        limit; /* against one of the kind; what was measured beside it allows so much */
};

/* Speed-up and limits into --plot. Exit code. */
int scaling_plot(const struct bench *bench, const struct scaling_figure *figures, size_t count);

#endif
