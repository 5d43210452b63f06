/* Options and files of the keys that encrypt streams. */
#ifndef AIRY_TOOLS_PLOT_CURVE_H
#define AIRY_TOOLS_PLOT_CURVE_H

#include "airy/stream_keys.h"
#include "cli/tool.h"

/* Of --curve-key, --curve-server and --curve-allow. */
struct curve_opt {
    const char *key, *server, *allow;
};

/* The rows of a table of options, for a member of the parameters that is a struct curve_opt. */
#define CURVE_OPTIONS(params, member)                                                              \
    {.name = "curve-key",                                                                          \
     .type = OPT_STRING,                                                                           \
     .offset = offsetof(params, member.key),                                                       \
     .argument = "FILE",                                                                           \
     .help = "encrypts, with the secret key of this file ('airy keys' makes one)"},                \
        {.name = "curve-server",                                                                   \
         .type = OPT_STRING,                                                                       \
         .offset = offsetof(params, member.server),                                                \
         .argument = "FILE",                                                                       \
         .help = "names the public key of the side that is connected to"},                         \
    {                                                                                              \
        .name = "curve-allow", .type = OPT_STRING, .offset = offsetof(params, member.allow),       \
        .argument = "FILE",                                                                        \
        .help = "names the public keys that alone may connect to this side, one a line"            \
    }

/* What the files hold; NULL: none is given. */
struct curve {
    airy_stream_keys *keys;
};

/* connects, binds: which kinds of sides the run has. Exit code. */
int curve_check(const struct common *common, const struct curve_opt *opt, bool connects,
                bool binds);
/* Exit code; what is given is read. */
int curve_open(struct curve *curve, const struct common *common, const struct curve_opt *opt);
void curve_close(struct curve *curve);
/* keys where this side has what it needs, else NULL: it is not encrypted. */
const airy_stream_keys *curve_keys(const struct curve *curve, bool binds);

#endif
