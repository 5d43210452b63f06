/* airy simulate diffraction, sky, oct, diracs, kernel: data whose every value is known. */
#include "cli/job_command.h"

const struct command cmd_simulate = {
    .name = "simulate diffraction",
    .usage = "OUT.h5|-o OUT.h5 [options]",
    .examples =
        "  airy simulate diffraction demo.h5 --same-frame --increment 500 --write-poni demo.poni\n"
        "  airy simulate diffraction small.h5 --detector pilatus_100k --dtype int32 --frames 8 "
        "--seed 7 --gaps\n",
    JOB_COMMAND("simulate-diffraction"),
    .takes = TAKES_THREADS,
    .max_inputs = 1,
    .writes = 1,
};

const struct command cmd_simulate_sky = {
    .name = "simulate sky",
    .usage = "OUT|-o OUT [options]",
    .examples = "  airy simulate sky sky.fits\n"
                "  airy simulate sky small.npy --height 512 --width 512 --seed 1 --sources 40 "
                "--source none\n",
    JOB_COMMAND("simulate-sky"),
    .max_inputs = 1,
    .writes = 1,
    .writes_image = true,
    .writes_holds = 1 + AIRY_DTYPE_F32,
};

const struct command cmd_simulate_diracs = {
    .name = "simulate diracs",
    .usage = "OUT|-o OUT [options]",
    .examples = "  airy simulate diracs diracs.npy\n",
    JOB_COMMAND("simulate-diracs"),
    .max_inputs = 1,
    .writes = 1,
    .writes_image = true,
    .writes_holds = 1 + AIRY_DTYPE_F64,
};

const struct command cmd_simulate_kernel = {
    .name = "simulate kernel",
    .usage = "OUT|-o OUT [options]",
    .examples = "  airy simulate kernel kernel.npy\n"
                "  airy convolve diracs.npy --kernel kernel.npy -o out.npy\n",
    JOB_COMMAND("simulate-kernel"),
    .max_inputs = 1,
    .writes = 1,
    .writes_image = true,
    .writes_holds = 1 + AIRY_DTYPE_F64,
};

const struct command cmd_simulate_oct = {
    .name = "simulate oct",
    .usage = "OUT|-o OUT [options]",
    .examples = "  airy simulate oct tissue.raw --lines 1024 --write-plan plan.json\n"
                "  airy simulate oct mirror.npy --lines 64 --reflectors 800:-20 --dispersion "
                "30,-12 --truth mirror.csv\n"
                "  airy simulate oct flow.h5 --frames 16 --repeats 4 --flow 0.6\n",
    JOB_COMMAND("simulate-oct"),
    .takes = TAKES_THREADS,
    .max_inputs = 1,
    .writes = 1,
};
