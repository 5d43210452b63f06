/* airy threshold: a mask of what is above a value. */
#include "cli/job_command.h"

const struct command cmd_threshold = {
    .name = "threshold",
    .usage = "IMAGE --above T -o MASK",
    .examples = "  airy threshold image.npy --above 5 -o mask.npy\n",
    JOB_COMMAND("threshold"),
    .takes = TAKES_COMPUTE | TAKES_COMPARE,
    .min_inputs = 1,
    .max_inputs = 1,
};
