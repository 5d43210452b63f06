/* airy clip: statistics of what a kappa-sigma clip leaves. */
#include "cli/job_command.h"

const struct command cmd_clip = {
    .name = "clip",
    .usage = "IMAGE [options]",
    .examples = "  airy clip image.npy\n"
                "  airy clip image.npy --kappa 2.5 --spread mad --iterations 5\n"
                "  airy clip cube.fits --each\n",
    JOB_COMMAND("clip"),
    .takes = TAKES_COMPUTE | TAKES_COMPARE,
    .prints_json = true,
    .min_inputs = 1,
    .max_inputs = 1,
};
