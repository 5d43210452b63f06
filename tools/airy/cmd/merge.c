/* airy merge: results of several runs as one, from their sums. */
#include "cli/job_command.h"

const struct command cmd_merge = {
    .name = "merge",
    .usage = "RESULT.h5... -o OUT.h5 [--average | --sum] [--rebin K]",
    .examples = "  airy merge run1.h5 run2.h5 -o both.h5\n"
                "  airy merge run1.h5 run2.h5 --average -o mean.h5\n"
                "  airy merge fine.h5 --rebin 4 -o coarse.h5\n",
    JOB_COMMAND("merge"),
    .min_inputs = 1,
    .max_inputs = 10000,
};
