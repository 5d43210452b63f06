/* Options of streams, and what they do not go with. */
#include <string.h>

#include "integrate/integrate.h"

#define FIELD(member) .offset = offsetof(struct integrate_params, stream.member)
#define SEEN(member)  .seen = offsetof(struct integrate_params, stream.member)

const struct opt stream_options[] = {
    {.heading = "Streams (tcp://HOST:PORT)"},
    {.name = "sockets",
     .type = OPT_COUNT,
     FIELD(sockets),
     .lo = 1,
     .hi = 64,
     .argument = "N",
     .fallback = "1",
     .help = "connections to each address, so that several cores receive"},
    {.name = "bind",
     .type = OPT_FLAG,
     FIELD(bind),
     .help = "the sender connects to this address, not the other way round"},
    {.name = "allow",
     .type = OPT_STRING,
     FIELD(allow),
     .argument = "ADDRESS[,ADDRESS...]",
     .fallback = "all",
     .help = "hosts or networks (10.1.0.0/16) from which alone messages are taken"},
    {.name = "series",
     .type = OPT_COUNT,
     FIELD(series),
     .lo = 1,
     .hi = 1000000000,
     .argument = "N",
     .fallback = "1; with {series} in OUT or without OUT until Ctrl-C",
     .help = "how many series to take"},
    {.name = "hwm",
     .type = OPT_COUNT,
     FIELD(queue),
     .lo = 1,
     .hi = 1000000,
     .argument = "N",
     .fallback = "32",
     .help = "messages of a connection that wait in memory; then the sender waits"},
    {.name = "max-message",
     .type = OPT_BYTES,
     FIELD(max_message),
     .argument = "BYTES",
     .fallback = "256M",
     .help = "who sends a larger message is cut off"},
    {.name = "max-images",
     .type = OPT_COUNT,
     FIELD(max_images),
     .lo = 1,
     .hi = 1 << 28,
     .argument = "N",
     .fallback = "10000000",
     .help = "a series that announces more images is refused"},
    {.name = "timeout",
     .type = OPT_FLOAT,
     FIELD(timeout),
     SEEN(has_timeout),
     .lo = 0,
     .hi = 1e9,
     .argument = "S",
     .fallback = "300",
     .help = "seconds without a message after which a series that has begun is over; 0: never. "
             "The first message is waited for without a limit"},
    {.name = "drop",
     .type = OPT_FLAG,
     FIELD(drop),
     .help = "leave out images for which there is no room, instead of making the detector wait"},
    {.name = "publish",
     .type = OPT_STRING,
     FIELD(publish),
     .argument = "ADDRESS",
     .help = "patterns as they are made, on a ZeroMQ PUB socket, such as tcp://127.0.0.1:31002"},
    CURVE_OPTIONS(struct integrate_params, stream.curve),
    {0},
};

/* SCHEME://, also one that is misspelled or lacks a slash, but no file of such a name. */
static bool is_address(const char *text)
{
    const size_t scheme = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
    const bool meant = (scheme > 0 && strncmp(text + scheme, "://", 3) == 0) ||
                       strncmp(text, "tcp:", 4) == 0 || strncmp(text, "ipc:", 4) == 0;
    return meant && !tool_exists(text);
}

bool live_is_stream(const struct integrate_params *p)
{
    const struct opt_list *inputs = &p->geometry.common.inputs;
    for (size_t i = 0; i < inputs->count; i++)
        if (is_address(inputs->items[i]))
            return true;
    return false;
}

int live_stream_unused(const struct integrate_params *p)
{
    const struct stream_opt *s = &p->stream;
    const char *name = s->sockets        ? "sockets"
                       : s->bind         ? "bind"
                       : s->allow        ? "allow"
                       : s->series       ? "series"
                       : s->queue        ? "hwm"
                       : s->max_message  ? "max-message"
                       : s->max_images   ? "max-images"
                       : s->has_timeout  ? "timeout"
                       : s->drop         ? "drop"
                       : s->publish      ? "publish"
                       : s->curve.key    ? "curve-key"
                       : s->curve.server ? "curve-server"
                       : s->curve.allow  ? "curve-allow"
                                         : NULL;
    return name
               ? tool_usage(&p->geometry.common,
                            "--%s is for streams (tcp://HOST:PORT), and the input is no such", name)
               : AIRY_EXIT_OK;
}

int live_stream_check(const struct integrate_params *p)
{
    const struct common *common = &p->geometry.common;
    for (size_t i = 0; i < common->inputs.count; i++)
        if (!is_address(common->inputs.items[i]))
            return tool_usage(common, "'%s' is no stream, and the other inputs are",
                              common->inputs.items[i]);
    const struct {
        bool given;
        const char *name;
    } others[] = {{common->explain, "explain"},
                  {p->monitor != NULL, "monitor"},
                  {p->average > 0, "average"},
                  {p->sum > 0, "sum"},
                  {p->carry.count > 0 && strcmp(p->carry.items[0], "none") != 0, "carry"},
                  {p->follow, "follow"},
                  {p->has_follow_timeout, "follow-timeout"},
                  {p->has_poll, "poll"},
                  {p->per_rank, "per-rank"},
                  {p->layout != LAYOUT_AUTO && p->layout != LAYOUT_DEVICE, "layout"},
                  {p->raw.given, "raw"},
                  {p->plot != NULL, "plot"}};
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (others[i].given)
            return tool_usage(
                common, "--%s is for files, not for streams; the detector's own file takes it",
                others[i].name);
    if (!p->output && !p->stream.publish)
        return tool_usage(common, "no output: give -o OUT.h5, or --publish ADDRESS, or both");
    if (p->output && !integrate_is_hdf5_name(p->output))
        return tool_usage(common, "output '%s': patterns of a stream go into .h5", p->output);
    const bool named = p->output && strstr(p->output, "{series}");
    if (p->output && !named && p->stream.series > 1)
        return tool_usage(common, "--series %zu: output '%s' needs {series} in its name",
                          p->stream.series, p->output);
    if (p->resume && !p->output)
        return tool_usage(common, "--resume goes with -o OUT.h5");
    if (p->stream.bind && p->stream.sockets > 1)
        return tool_usage(common, "--bind: the sender decides how often it connects; leave out "
                                  "--sockets");
    return curve_check(common, &p->stream.curve, !p->stream.bind,
                       p->stream.bind || p->stream.publish);
}

int live_stream_check_place(const struct integrate_params *p)
{
    const struct common *common = &p->geometry.common;
    if (p->output && !strstr(p->output, "{series}") && !resume_is_complete(p)) {
        const int code = integrate_check_place(p, p->output);
        if (code != AIRY_EXIT_OK)
            return code;
    }
    return tool_check_waiting(common, p->output);
}
