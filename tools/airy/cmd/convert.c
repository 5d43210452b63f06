/* airy convert: any image or stack to any format, exact. */
#include "cli/job_command.h"

const struct command cmd_convert = {
    .name = "convert",
    .usage = "IN -o OUT [options]",
    .examples = "  airy convert series_master.h5 -o frames.npy\n"
                "  airy convert series_master.h5 --frames 17 -o frame17.cbf\n"
                "  airy convert calibration.h5::/entry/dark -o dark.edf\n" IF_FITS(
                    "  airy convert 'mosaic.fits[SCI]' -o mosaic.npy\n"),
    JOB_COMMAND("convert"),
    .takes = TAKES_MEMORY | TAKES_THREADS | TAKES_PROFILE,
    .min_inputs = 1,
    .max_inputs = 1,
};
