/* airy stats: what an image's values are like. */
#include "cli/job_command.h"

const struct command cmd_stats = {
    .name = "stats",
    .usage = "IMAGE [options]",
    .examples = "  airy stats image.npy\n"
                "  airy stats stack.h5::/entry/data/data --quantiles 1,99 --histogram 100\n"
                "  airy stats cube.fits --each\n"
                "  airy stats series_master.h5 --each --frames 0:1000:10\n",
    JOB_COMMAND("stats"),
    .takes = TAKES_COMPUTE | TAKES_COMPARE,
    .prints_json = true,
    .min_inputs = 1,
    .max_inputs = 1,
};
