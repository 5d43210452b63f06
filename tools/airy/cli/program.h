/* What the programs airy and airy-bench do with their words. */
#ifndef AIRY_TOOLS_CLI_PROGRAM_H
#define AIRY_TOOLS_CLI_PROGRAM_H

#include "cli/opt.h"

#define BENCH_SUMMARY "whole jobs and the machine's limit measured beside them, as JSON"
#define TUNE_SUMMARY  "measure work-groups, batches and readers for a device, and keep the fastest"

enum { PROGRAM_COMMANDS = 64 };

struct program {
    const struct command *const *commands; /* as `airy --help` lists them */
    size_t count;                          /* at most PROGRAM_COMMANDS */
    const struct command *hidden;          /* started by other commands alone; NULL: none */
    bool
        is_part; /* of airy, which starts it: its manual and completion are those of its commands */
};

/* Find the command that the words name, and run it or start the program that does. Exit code. */
int program_main(const struct program *program, int argc, char **argv);

#endif
