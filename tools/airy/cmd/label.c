/* airy label: connected components, a label image and a table of measures. */
#include "cli/job_command.h"

const struct command cmd_label = {
    .name = "label",
    .usage = "IMAGE [options]",
    .examples = "  airy label image.npy --above 120 -o labels.npy --table sources.csv\n"
                "  airy label residual.npy --sigma 5 --table sources.csv\n"
                "  airy label mask.npy --connectivity 8 --min-area 5\n"
                "  airy label cube.fits --each --above 120 --table sources.csv\n"
                "  airy label frames.npy --each --above 50 --mask bad.npy --table spots.csv\n"
                "  airy label series_master.h5 --frames 17 --above 50 -o labels.npy\n",
    JOB_COMMAND("label"),
    .takes = TAKES_COMPUTE | TAKES_COMPARE,
    .prints_json = true,
    .min_inputs = 1,
    .max_inputs = 1,
};
