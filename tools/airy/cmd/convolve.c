/* airy convolve and airy blur. */
#include "cli/job_command.h"

const struct command cmd_convolve = {
    .name = "convolve",
    .usage = "IMAGE --kernel FILE -o OUT [options]",
    .examples =
        "  airy convolve image.npy --kernel psf.npy -o out.npy --mode same --border reflect\n",
    JOB_COMMAND("convolve"),
    .takes = TAKES_COMPUTE | TAKES_COMPARE,
    .min_inputs = 1,
    .max_inputs = 1,
};

const struct command cmd_blur = {
    .name = "blur",
    .usage = "IMAGE --sigma S[,S[,S]] -o OUT [options]",
    .examples = "  airy blur volume.npy --sigma 1,2,2 -o smooth.npy\n"
                "  airy blur stack.h5 --sigma 2,2 -o smooth.h5\n",
    JOB_COMMAND("blur"),
    .takes = TAKES_COMPUTE | TAKES_COMPARE,
    .min_inputs = 1,
    .max_inputs = 1,
};
