/*
 * A stack that a command writes: airy_stack_write_file (airy/stack_write.h) with the options of the
 * command, and the report.
 */
#ifndef AIRY_TOOLS_CLI_STACK_OUT_H
#define AIRY_TOOLS_CLI_STACK_OUT_H

#include "airy/stack_write.h"
#include "cli/stack_opt.h"

struct stack_out {
    const struct common *common;
    const char *path;
    airy_stack_writer_params writer; /* force is taken from common */
    airy_stack_fill_params fill;     /* its source; the files of a stack stay */
    bool passing; /* a file of the command's own, for a while: who stops says so itself */
    airy_stack_write_info info; /* out */
};

/* A row of an option table: writer.frames_per_file. */
#define STACK_FILES_OPTION(params, member)                                                         \
    {                                                                                              \
        .name = "frames-per-file", .type = OPT_COUNT, .offset = offsetof(params, member), .lo = 1, \
        .hi = 100000000, .argument = "N", .fallback = "all in one file",                           \
        .help = "OUT_master.h5 with links to OUT_data_000001.h5 and so on, N frames each, which "  \
                "threads write side by side; --force removes data files that only an old master "  \
                "of this name links to"                                                            \
    }

/*
 * The frames that --frames chooses of what has so many, which is how many the stack gets, and
 * --on-error. Exit code.
 */
int stack_out_choose(struct stack_out *out, const struct frames_opt *chosen, size_t there);
/* Exit code; nothing is left under path unless all went well. */
int stack_out_run(struct stack_out *out);
/* Print how many frames were left out, and why the first; AIRY_EXIT_PARTLY where any was. */
int stack_out_say_bad(const struct stack_out *out);
/* Print the line or JSON object about a stack of which no frame was left out. Exit code. */
int stack_out_report(const struct stack_out *out);

#endif
