/* airy densify: sparse frames to a stack again. */
#include "cli/job_command.h"

const struct command cmd_densify = {
    .name = "densify",
    .usage = "SPARSE.h5 -o OUT.h5 [options]",
    .examples = "  airy densify sparse.h5 -o again.h5\n"
                "  airy densify sparse.h5 -o again.h5 --noise poisson --seed 7 --frames 0:10\n",
    JOB_COMMAND("densify"),
    .takes = TAKES_THREADS | TAKES_MEMORY | TAKES_PROFILE,
    .min_inputs = 1,
    .max_inputs = 1,
};
