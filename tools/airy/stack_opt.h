/* A stack on the command line: files, patterns, and --raw for those without a header. */
#ifndef AIRY_TOOLS_STACK_OPT_H
#define AIRY_TOOLS_STACK_OPT_H

#include "tool.h"

struct raw_opt {
    bool given;
    bool unverified;
    airy_raw_frames frames;
    const char *channel; /* --channel; NULL: not given */
};

/* An opt_parse_fn for WIDTHxHEIGHT,DTYPE[,OFFSET][,little|big] into a struct raw_opt. */
const char *stack_parse_raw(void *field, const char *text);

/* A row of an option table. */
#define STACK_RAW_OPTION(params, member)                                                           \
    {                                                                                              \
        .name = "raw", .type = OPT_PARSED, .offset = offsetof(params, member),                     \
        .parse = stack_parse_raw, .argument = "WxH,DTYPE[,OFFSET][,big]",                          \
        .help = "STACK is headerless: frames of W x H pixels behind OFFSET bytes, little-endian "  \
                "unless big"                                                                       \
    }

#define STACK_CHANNEL_OPTION(params, member)                                                       \
    {                                                                                              \
        .name = "channel", .type = OPT_STRING, .offset = offsetof(params, member.channel),         \
        .argument = "NAME|N", .fallback = "the first, with a warning",                             \
        .help = "channel of a detector with several, such as threshold_1, or its number from 1 on" \
    }

/* The row behind it, of the same member. */
#define STACK_VERIFY_OPTION(params, member)                                                        \
    {                                                                                              \
        .name = "no-verify", .type = OPT_FLAG, .offset = offsetof(params, member.unverified),      \
        .help =                                                                                    \
            "do not verify the checksums that CBF and FITS files carry, to save the time that "    \
            "they take"                                                                            \
    }

/* All inputs as one stack. */
airy_status stack_open(airy_stack **stack, const struct opt_list *inputs,
                       const struct raw_opt *raw);
/* The same while they are being written, see airy_stack_create_growing. */
airy_status stack_open_growing(airy_stack **stack, const struct opt_list *inputs,
                               const struct raw_opt *raw);
/*
 * How many frames --frames takes of what has so many; all of them are there, else AIRY_EXIT_FAILED
 * after a line on stderr.
 */
int stack_choose(size_t *count, const struct common *common, const size_t frames[3], size_t there);
/* How frames get out of it: "direct", "library", "files". */
const char *stack_path_name(airy_stack_path path);

#endif
