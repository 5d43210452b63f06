/* airy peaks: a stack to its Bragg peaks and backgrounds, as sparse frames. */
#include "cli/job_command.h"

const struct command cmd_peaks = {
    .name = "peaks",
    .usage = "STACK... [--poni FILE] -o OUT.h5 [options]",
    .examples = "  airy peaks series_master.h5 -o sparse.h5\n"
                "  airy peaks run.h5 --poni run.poni --cutoff-pick 4 --error-model azimuthal -o "
                "sparse.h5\n"
                "  airy densify sparse.h5 -o again.h5 --noise poisson\n",
    JOB_COMMAND("peaks"),
    .takes = TAKES_COMPUTE | TAKES_DEVICES,
    .min_inputs = 1,
    .max_inputs = 100000,
};
