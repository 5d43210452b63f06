/* Parameters of streams, and what they do not go with. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "jobs/integrate/integrate.h"
#include "stream/address.h"

#define ROW(member, ...)                                                                           \
    AIRY_JOB_ROW(struct airy_series_values, member, .affects = AIRY_AFFECTS_HOW, __VA_ARGS__)
const struct airy_job_row airy_series_rows[] = {
    ROW(sockets, .name = "sockets", .type = AIRY_PARAMETER_WHOLE, .lo = 1, .hi = 64,
        .argument = "N", .fallback = "1",
        .help = "opens N connections to each address, so that several cores receive",
        .section = "Streams (tcp://HOST:PORT)"),
    ROW(bind, .name = "bind", .type = AIRY_PARAMETER_FLAG,
        .help = "waits at this address until the sender connects to it"),
    ROW(allow, .name = "allow", .type = AIRY_PARAMETER_TEXT, .argument = "ADDRESS[,ADDRESS...]",
        .fallback = "all", .computed = true,
        .help = "takes messages only from these hosts or networks (10.1.0.0/16)"),
    ROW(series, .name = "series", .type = AIRY_PARAMETER_WHOLE, .lo = 1, .hi = 1000000000,
        .argument = "N",
        .fallback = "1; until the run is cancelled with {series} in OUT or "
                    "without OUT",
        .computed = true, .help = "ends the run after N series"),
    ROW(queue, .name = "hwm", .type = AIRY_PARAMETER_WHOLE, .lo = 1, .hi = 1000000, .argument = "N",
        .fallback = "32",
        .help = "keeps at most N messages of a connection in memory; then the sender waits"),
    ROW(max_message, .name = "max-message", .type = AIRY_PARAMETER_BYTES, .argument = "SIZE",
        .fallback = "256M", .computed = true, .help = "cuts off a sender whose message is larger"),
    ROW(max_images, .name = "max-images", .type = AIRY_PARAMETER_WHOLE, .lo = 1, .hi = 1 << 28,
        .argument = "N", .fallback = "10000000",
        .help = "refuses a series that announces more images"),
    ROW(timeout, .name = "timeout", .type = AIRY_PARAMETER_REAL, .lo = 0, .hi = 1e9, .unit = "s",
        .argument = "S", .fallback = "300",
        .help =
            "ends a series that has begun when no message has come for this time; 0 never does. "
            "The first message is waited for without a limit"),
    ROW(drop, .name = "drop", .type = AIRY_PARAMETER_FLAG,
        .help = "leaves out images for which there is no room, instead of making the detector "
                "wait"),
    ROW(publish, .name = "publish", .type = AIRY_PARAMETER_TEXT, .argument = "ADDRESS",
        .help = "publishes each pattern on a ZeroMQ PUB socket, such as tcp://127.0.0.1:31002"),
    {{0}, 0, NULL}};
#undef ROW

/* SCHEME://, also one that is misspelled or lacks a slash, but no file of such a name. */
static bool is_address(const char *text)
{
    const size_t scheme = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
    const bool meant = (scheme > 0 && strncmp(text + scheme, "://", 3) == 0) ||
                       strncmp(text, "tcp:", 4) == 0 || strncmp(text, "ipc:", 4) == 0;
    struct stat about;
    return meant && lstat(text, &about) != 0;
}

bool airy_integration_is_live(const struct airy_integrate_values *v)
{
    const struct airy_job_list *inputs = &v->stack.paths;
    for (size_t i = 0; i < inputs->count && !inputs->is_array; i++)
        if (is_address(inputs->items[i]))
            return true;
    return false;
}

static airy_status check_unused(const airy_job *job)
{
    const struct airy_job_row *const tables[] = {airy_series_rows, airy_curve_rows};
    for (size_t t = 0; t < 2; t++)
        for (const struct airy_job_row *row = tables[t]; row->p.name; row++)
            AIRY_FAIL_ON_IF(
                airy_job_is_set(job, row->p.name), AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                "%s is for streams (tcp://HOST:PORT), and no input is one", row->p.name);
    return AIRY_OK;
}

/* What takes frames that are there, all at once, or arrays for all rows. */
static airy_status check_others(const airy_job *job)
{
    static const char *const others[] = {
        "monitor", "average",  "sum",    "carry", "follow", "follow-timeout",
        "poll",    "per-rank", "layout", "raw",   NULL};
    const struct airy_integrate_values *v = job->values;
    for (const char *const *name = others; *name; name++) {
        const bool fits = strcmp(*name, "layout") == 0
                              ? v->layout == LAYOUT_AUTO || v->layout == LAYOUT_DEVICE
                              : strcmp(*name, "carry") == 0 && v->carry.count &&
                                    strcmp(v->carry.items[0], "none") == 0;
        AIRY_FAIL_ON_IF(
            airy_job_is_set(job, *name) && !fits, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
            "%s is for files, not for streams; the detector's own file takes it", *name);
    }
    for (const airy_job_result *result = job->kind->results; result->name; result++)
        AIRY_FAIL_IF(result->kind == AIRY_JOB_ARRAY && airy_job_is_wanted(job, result->name),
                     AIRY_ERR_PARAM,
                     "%s: the patterns of a stream are no array in memory; take each from its "
                     "event, or name an output",
                     result->name);
    return AIRY_OK;
}

static airy_status check_output(const struct airy_integrate_values *v)
{
    AIRY_FAIL_ON_IF(v->resume && !v->output, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s goes with output", "resume");
    if (!v->output)
        return AIRY_OK;
    const struct airy_output_values output = {.output = v->output};
    if (airy_job_check_output(&output) != AIRY_OK)
        return airy_fail_on(AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                            "%s '%s': patterns of a stream go into .h5", "output", v->output);
    AIRY_FAIL_ON_IF(v->series.series > 1 && !strstr(v->output, "{series}"), AIRY_ERR_PARAM,
                    AIRY_SUBJECT_PARAMETER, "%s %zu: output '%s' needs {series} in its name",
                    "series", v->series.series, v->output);
    return AIRY_OK;
}

/* Each address of `allow`, without a network. */
static airy_status check_allowed(const struct airy_series_values *v)
{
    struct airy_stream_network network;
    size_t count = 0;
    for (const char *at = v->allow; at && *at; at += strspn(at, ",")) {
        char text[AIRY_STREAM_ADDRESS_MAX + 1];
        const size_t length = strcspn(at, ",");
        if (length && ++count <= AIRY_SERIES_ALLOWED) {
            snprintf(text, sizeof(text), "%.*s", (int)(length < 128 ? length : 128), at);
            AIRY_TRY(airy_stream_parse_network(&network, text));
        }
        at += length;
    }
    AIRY_FAIL_ON_IF(v->allow && (count == 0 || count > AIRY_SERIES_ALLOWED), AIRY_ERR_PARAM,
                    AIRY_SUBJECT_PARAMETER,
                    "%s '%.80s': expected 1 to %d addresses with commas between", "allow", v->allow,
                    AIRY_SERIES_ALLOWED);
    return AIRY_OK;
}

static airy_status check_addresses(const struct airy_integrate_values *v)
{
    const struct airy_job_list *inputs = &v->stack.paths;
    AIRY_TRY(check_allowed(&v->series));
    for (size_t i = 0; i < inputs->count; i++) {
        AIRY_TRY(airy_stream_check_address(inputs->items[i], !v->series.bind));
        AIRY_FAIL_ON_IF(v->series.allow && strncmp(inputs->items[i], "tcp://", 6) != 0,
                        AIRY_ERR_PARAM, AIRY_SUBJECT_ADDRESS,
                        "URL '%s': addresses that may connect are for tcp://HOST:PORT",
                        inputs->items[i]);
    }
    return v->series.publish ? airy_stream_check_address(v->series.publish, false) : AIRY_OK;
}

airy_status airy_integration_check_live(const airy_job *job)
{
    const struct airy_integrate_values *v = job->values;
    const struct airy_series_values *s = &v->series;
    const struct airy_job_list *inputs = &v->stack.paths;
    if (!airy_integration_is_live(v))
        return check_unused(job);
    for (size_t i = 0; i < inputs->count; i++)
        AIRY_FAIL_ON_IF(!is_address(inputs->items[i]), AIRY_ERR_PARAM, AIRY_SUBJECT_FILE,
                        "'%s' is no stream, and the other inputs are", inputs->items[i]);
    AIRY_FAIL_IF(job->hooks.ranks && job->hooks.ranks->size > 1, AIRY_ERR_PARAM,
                 "a stream is received by one process, not by several ranks");
    AIRY_TRY(check_others(job));
    AIRY_TRY(check_output(v));
    AIRY_FAIL_ON_IF(s->bind && s->sockets > 1, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s: the sender decides how often it connects; leave out sockets=N", "bind");
    AIRY_TRY(airy_job_check_curve(&s->curve, !s->bind, s->bind || s->publish));
    return check_addresses(v);
}
