/* airy stream: a stack played as a detector's live stream. */
#include "cli/job_command.h"

const struct command cmd_stream = {
    .name = "stream",
    .usage = "STACK... --to URL [options]",
    .examples = "  airy stream series_master.h5 --to tcp://192.168.1.2:31001 --rate 500\n"
                "  airy stream frames.h5 --to tcp://192.168.1.2:31001 --to tcp://192.168.1.2:31002 "
                "--rate 2000 "
                "--loop 200\n"
                "  airy stream frames.h5 --to tcp://receiver:31001 --connect --lose 1/100\n",
    JOB_COMMAND("stream"),
    .takes = TAKES_THREADS,
    .asks = true,
    .min_inputs = 1,
    .max_inputs = 10000000,
};
