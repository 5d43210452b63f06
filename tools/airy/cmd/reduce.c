/* airy reduce: one image of all frames of a stack, which stream through. */
#include "cli/job_command.h"

const struct command cmd_reduce = {
    .name = "reduce",
    .usage = "STACK... -o OUT [--by mean|sum|max|min|std|median] [--hot K]",
    .examples = "  airy reduce dark.h5 --by median -o dark.npy\n"
                "  airy reduce dark.h5 --hot 6 -o hot.npy\n"
                "  airy reduce run.h5 --by max -o brightest.edf\n",
    JOB_COMMAND("reduce"),
    .takes = TAKES_COMPUTE | TAKES_COMPARE,
    .min_inputs = 1,
    .max_inputs = 10000000,
};
