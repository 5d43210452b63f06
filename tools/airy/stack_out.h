/*
 * A stack written by several threads: each makes a frame and encodes it, the file gets them in
 * order.
 */
#ifndef AIRY_TOOLS_STACK_OUT_H
#define AIRY_TOOLS_STACK_OUT_H

#include "tool.h"

struct stack_out {
    const struct common *common;
    const char *path;
    airy_stack_writer_params writer;                            /* force is taken from common */
    airy_status (*make)(void *user, size_t index, void *frame); /* called by several threads */
    const void *(*lend)(void *user, size_t index); /* instead: where the frame lies in memory */
    void *user;
    size_t period;   /* frame i is the same as frame i + period, so that chunks may be kept and
                        written again; 0: frames differ */
    bool passing;    /* a file of the command's own, for a while: who stops says so itself */
    uint64_t stored; /* out: bytes of all chunks */
    double seconds;  /* out */
};

/* Exit code; nothing is left under path unless all went well. */
int stack_out_run(struct stack_out *out);
/* The line or JSON object that says what was written. */
int stack_out_report(const struct stack_out *out);

#endif
