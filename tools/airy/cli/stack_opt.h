/* A stack on the command line: files, patterns, and --raw for those without a header. */
#ifndef AIRY_TOOLS_CLI_STACK_OPT_H
#define AIRY_TOOLS_CLI_STACK_OPT_H

#include "cli/tool.h"

struct raw_opt {
    bool given;
    airy_raw_frames frames;
    const char *channel; /* --channel; NULL: not given */
};

struct frames_opt {
    size_t frames[3]; /* first, last (0: end), step */
    bool given, skip_bad;
};

/* An opt_parse_fn: stop|skip into a bool. */
const char *stack_parse_on_error(void *field, const char *text);

/* Rows of an option table for a range of frames, with a bool of its own, and for frames that fail. */
#define STACK_FRAMES_OPTION(params, range, seen_member)                                            \
    {                                                                                              \
        .name = "frames", .type = OPT_PARSED, .offset = offsetof(params, range),                   \
        .seen = offsetof(params, seen_member), .parse = opt_frames, .argument = "A:B[:S]",         \
        .fallback = "all",                                                                         \
        .help = "selects frames from A up to, not including, B, by S; one number: that frame"      \
    }
#define STACK_ON_ERROR_OPTION(params, member, skip_help)                                           \
    {                                                                                              \
        .name = "on-error", .type = OPT_PARSED, .offset = offsetof(params, member),                \
        .parse = stack_parse_on_error, .argument = "stop|skip", .fallback = "stop",                \
        .help = skip_help                                                                          \
    }
/* An opt_parse_fn for WIDTHxHEIGHT,DTYPE[,OFFSET][,little|big] into a struct raw_opt. */
const char *stack_parse_raw(void *field, const char *text);

/* A row of an option table. */
#define STACK_RAW_OPTION(params, member)                                                           \
    {                                                                                              \
        .name = "raw", .type = OPT_PARSED, .offset = offsetof(params, member),                     \
        .parse = stack_parse_raw, .argument = "WxH,DTYPE[,OFFSET][,big]",                          \
        .help = "reads a STACK without headers: frames of W x H pixels behind OFFSET bytes, "      \
                "little-endian "                                                                   \
                "unless big"                                                                       \
    }

/* Of a struct raw_opt, or of struct common. */
#define STACK_CHANNEL_OPTION(params, member)                                                       \
    {                                                                                              \
        .name = "channel", .type = OPT_STRING, .offset = offsetof(params, member.channel),         \
        .argument = "NAME|N", .fallback = "the first, with a warning",                             \
        .help = "selects the channel of a detector with several, such as threshold_1, or its "     \
                "number from 1 on"                                                                 \
    }

/* All inputs as one stack. */
airy_status stack_open(airy_stack **stack, const struct opt_list *inputs,
                       const struct raw_opt *raw);
/* The same while they are being written, see airy_stack_create_growing. */
airy_status stack_open_growing(airy_stack **stack, const struct opt_list *inputs,
                               const struct raw_opt *raw);
/* One path; of the first input the channel that common has. */
airy_status stack_open_one(airy_stack **stack, const struct common *common, const char *path);
/* --channel of common is one of the first input's channels. Exit code. */
int stack_check_channel(const struct common *common);
/* How frames get out of it: "direct", "library", "files". */
const char *stack_path_name(airy_stack_path path);

#endif
