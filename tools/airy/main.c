/* The command `airy`: the table of its commands. */
#include "cli/program.h"
#include "cli/tool.h"

/* What measures is a program of its own. */
static const struct command door_bench = {
    .name = "bench", .summary = BENCH_SUMMARY, .program = "airy-bench"};
static const struct command door_tune = {
    .name = "tune", .summary = TUNE_SUMMARY, .program = "airy-bench"};

static const struct command *const commands[] = {
    &cmd_devices,
    &cmd_info,
    &cmd_simulate,
    &cmd_simulate_sky,
    &cmd_simulate_diracs,
    &cmd_simulate_kernel,
    &cmd_simulate_oct,
    &cmd_convert,
    &cmd_compress,
    &cmd_decompress,
    &cmd_integrate,
    &cmd_calibrate,
    &cmd_peaks,
    &cmd_densify,
    &cmd_plot,
    &cmd_view,
    &cmd_stats,
    &cmd_clip,
    &cmd_threshold,
    &cmd_reduce,
    &cmd_merge,
    &cmd_label,
    &cmd_sources,
    &cmd_sky,
    &cmd_convolve,
    &cmd_blur,
    &cmd_filter,
    &cmd_diff,
    &cmd_stream,
    &cmd_keys,
    &cmd_watch,
    &cmd_oct_calibrate,
    &cmd_oct,
    &door_bench,
    &door_tune,
};

int main(int argc, char **argv)
{
    const struct program airy = {.commands = commands,
                                 .count = sizeof(commands) / sizeof(commands[0])};
    return program_main(&airy, argc, argv);
}
