/* airy compress, airy decompress: a stack to another encoding, pixel for pixel the same. */
#include "cli/job_command.h"

const struct command cmd_compress = {
    .name = "compress",
    .usage = "IN.h5[::DATASET] OUT.h5|-o OUT.h5 [options]",
    .examples = "  airy compress plain.h5 small.h5\n"
                "  airy compress plain.h5::/entry/data/data small.h5 --filter lz4\n"
                "  airy compress plain.h5 run_master.h5 --frames-per-file 1000\n",
    JOB_COMMAND("compress"),
    .takes = TAKES_THREADS | TAKES_MEMORY | TAKES_PROFILE,
    .min_inputs = 1,
    .max_inputs = 2,
    .writes = 2,
};

const struct command cmd_decompress = {
    .name = "decompress",
    .usage = "IN.h5[::DATASET] OUT.h5|-o OUT.h5 [options]",
    .examples = "  airy decompress series_master.h5 plain.h5\n",
    JOB_COMMAND("decompress"),
    .takes = TAKES_THREADS | TAKES_MEMORY | TAKES_PROFILE,
    .min_inputs = 1,
    .max_inputs = 2,
    .writes = 2,
};
