/*
 * A stack written by several threads: each makes a frame and encodes it, a file gets them in order.
 * With writer.frames_per_file a thread fills a file by itself as long as there are files for all.
 */
#ifndef AIRY_TOOLS_CLI_STACK_OUT_H
#define AIRY_TOOLS_CLI_STACK_OUT_H

#include "cli/tool.h"

struct stack_out {
    const struct common *common;
    const char *path;
    airy_stack_writer_params writer;                            /* force is taken from common */
    airy_status (*make)(void *user, size_t index, void *frame); /* called by several threads */
    const void *(*lend)(void *user, size_t index); /* instead: where the frame lies in memory */
    void *user;
    const airy_stack *source; /* where frames are read from, whose files must stay; or NULL */
    size_t period;   /* frame i is the same as frame i + period, so that chunks may be kept and
                        written again; 0: frames differ */
    bool passing;    /* a file of the command's own, for a while: who stops says so itself */
    uint64_t stored; /* out: bytes of all chunks */
    size_t files;    /* out: data files; 0: frames are in path itself */
    double seconds;  /* out */
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

/* Exit code; nothing is left under path unless all went well. */
int stack_out_run(struct stack_out *out);
/* The line or JSON object that says what was written. */
int stack_out_report(const struct stack_out *out);

#endif
