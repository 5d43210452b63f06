/* airy integrate tcp://...: series that a detector sends, each to a file of patterns. */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "cmd_integrate.h"

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
    {.name = "channel",
     .type = OPT_STRING,
     FIELD(channel),
     .argument = "NAME",
     .fallback = "the only one",
     .help = "such as threshold_1, of a detector with several"},
    {.name = "series",
     .type = OPT_COUNT,
     FIELD(series),
     .lo = 1,
     .hi = 1000000000,
     .argument = "N",
     .fallback = "1; with {series} in OUT or without OUT until Ctrl-C",
     .help = "how many series to take"},
    {.name = "timeout",
     .type = OPT_FLOAT,
     FIELD(timeout),
     SEEN(has_timeout),
     .lo = 0,
     .hi = 1e9,
     .argument = "S",
     .fallback = "300",
     .help = "seconds without an image after which a series is over; 0: never"},
    {.name = "drop",
     .type = OPT_FLAG,
     FIELD(drop),
     .help = "leave out images for which there is no room, instead of making the detector wait"},
    {.name = "publish",
     .type = OPT_STRING,
     FIELD(publish),
     .argument = "ADDRESS",
     .help = "patterns as they are made, on a ZeroMQ PUB socket, such as tcp://*:31002"},
    {0},
};

enum { SILENCE_S = 20 }; /* nothing has come: worth a word */

/* All series of a run. */
struct service {
    const struct integrate_params *params;
    const struct common *common;
    const airy_geometry *replayed;
    struct team team;
    airy_publisher *publisher;
    size_t done;   /* series */
    int code;      /* the worst of them */
    bool named;    /* OUT has {series} in it */
    double silent; /* s: since when the first series is waited for; 0: no longer */

    /* The series at work. */
    struct integrate_params mine;
    char path[4200];
    struct integration_source source;
    uint8_t *mask;
    struct integration job;
    bool open, said, complete, odd; /* odd: a frame of other pixels was said */
    airy_live *live;
    airy_stream_pixels kind; /* what the first image is like */
    struct progress progress;
    double setup;                         /* s */
    atomic_uint_least64_t dropped, other; /* other: frames that --frames leaves out */
    pthread_mutex_t lock;
    uint8_t *dropped_rows; /* a bit a row; with the lock */
    size_t dropped_size;   /* bytes of it */
};

static bool is_address(const char *text)
{
    return strncmp(text, "tcp://", 6) == 0 || strncmp(text, "ipc://", 6) == 0;
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
    const char *name = s->sockets       ? "sockets"
                       : s->bind        ? "bind"
                       : s->channel     ? "channel"
                       : s->series      ? "series"
                       : s->has_timeout ? "timeout"
                       : s->drop        ? "drop"
                       : s->publish     ? "publish"
                                        : NULL;
    return name
               ? tool_usage(&p->geometry.common,
                            "--%s is for streams (tcp://HOST:PORT), and the input is no such", name)
               : AIRY_EXIT_OK;
}

static int check(const struct integrate_params *p)
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
                  {p->processes > 0, "processes"},
                  {p->layout != LAYOUT_AUTO && p->layout != LAYOUT_DEVICE, "layout"},
                  {p->raw.given, "raw"},
                  {p->plot != NULL, "plot"}};
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (others[i].given)
            return tool_usage(common, "--%s is for files, not for streams", others[i].name);
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
    if (p->output && !named && !resume_is_complete(p)) {
        const int code = integrate_check_place(p, p->output);
        if (code != AIRY_EXIT_OK)
            return code;
    }
    return tool_check_waiting(common, p->output);
}

/* "run_{series}.h5" with its number. */
static int name_output(struct service *s, uint64_t id)
{
    const char *output = s->params->output;
    const char *at = output ? strstr(output, "{series}") : NULL;
    if (!output)
        return AIRY_EXIT_OK;
    const int n = at ? snprintf(s->path, sizeof(s->path), "%.*s%llu%s", (int)(at - output), output,
                                (unsigned long long)id, at + strlen("{series}"))
                     : snprintf(s->path, sizeof(s->path), "%s", output);
    s->mine.output = s->path;
    if (n < 0 || (size_t)n >= sizeof(s->path))
        return tool_fail(s->common, "the output's name is longer than %zu bytes",
                         sizeof(s->path) - 1);
    return resume_is_complete(&s->mine) ? AIRY_EXIT_OK : integrate_check_place(&s->mine, s->path);
}

static const char *channel_of(const struct service *s)
{
    return s->params->stream.channel ? s->params->stream.channel : "";
}

static int check_channel(const struct service *s, const airy_stream_start_message *start)
{
    char names[AIRY_STREAM_CHANNELS_MAX * (AIRY_STREAM_NAME_BYTES + 2)] = "";
    size_t used = 0;
    bool found = !*channel_of(s);
    for (size_t i = 0; i < start->channels; i++) {
        found |= strcmp(start->channel[i], channel_of(s)) == 0;
        used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s", i ? ", " : "",
                                 start->channel[i]);
    }
    if (!*channel_of(s) && start->channels > 1)
        return tool_fail(s->common, "the detector sends %zu channels; choose one by --channel: %s",
                         start->channels, names);
    if (!found && start->channels)
        return tool_fail(s->common, "--channel %s: the detector sends %s", channel_of(s), names);
    return AIRY_EXIT_OK;
}

/* What the start message says, as a stack would. */
static int take_source(struct service *s, const airy_stream_message *m)
{
    const airy_stream_start_message *start = &m->start;
    struct integration_source *source = &s->source;
    const size_t pixels = start->height * start->width;
    source->info = (airy_stack_info){.frames = start->number_of_images,
                                     .height = start->height,
                                     .width = start->width,
                                     .dtype = start->has_dtype ? start->dtype : AIRY_DTYPE_U32,
                                     .path = AIRY_STACK_FILES,
                                     .files = s->common->inputs.count,
                                     .dataset = s->common->inputs.items[0],
                                     .filters = "none"};
    airy_stream_meta(&source->meta, start, channel_of(s));
    source->team = &s->team;
    source->about =
        json_pack("{s:I, s:s}", "series_id", (json_int_t)m->series_id, "channel", channel_of(s));
    json_object_set_new(source->about, "series_unique_id", tool_json_string(m->unique_id));
    s->mask = malloc(pixels);
    if (!s->mask)
        return tool_fail(s->common, "out of memory for a mask of %zu pixels", pixels);
    const airy_status status =
        source->meta.has_mask ? airy_stream_mask(s->mask, start, channel_of(s)) : AIRY_OK;
    source->mask = s->mask;
    return status == AIRY_OK ? AIRY_EXIT_OK : tool_failed(s->common, status);
}

static int begin(struct service *s, const airy_stream_message *m)
{
    const double start = tool_now();
    s->mine = *s->params;
    s->odd = s->complete = false;
    atomic_store(&s->dropped, 0);
    atomic_store(&s->other, 0);
    char count[32] = "";
    if (m->start.number_of_images)
        snprintf(count, sizeof(count), "%llu ", (unsigned long long)m->start.number_of_images);
    tool_say(s->common, "series %llu: %simage%s of %zu x %zu%s%s", (unsigned long long)m->series_id,
             count, m->start.number_of_images == 1 ? "" : "s", m->start.height, m->start.width,
             *m->start.detector ? ", " : "", m->start.detector);
    int code = name_output(s, m->series_id);
    if (code == AIRY_EXIT_OK)
        code = check_channel(s, &m->start);
    if (code == AIRY_EXIT_OK)
        code = take_source(s, m);
    if (code == AIRY_EXIT_OK && m->start.number_of_images == 0 &&
        (s->mine.has_frames || s->mine.grid[0] || s->mine.format == FORMAT_NXAZINT))
        code = tool_fail(s->common, "--%s: the detector does not say how many images will come",
                         s->mine.has_frames ? "frames"
                         : s->mine.grid[0]  ? "grid"
                                            : "format nxazint");
    if (code == AIRY_EXIT_OK) {
        s->open = true;
        code = integration_open_source(&s->job, &s->mine, s->replayed, &s->source);
    }
    if (code == AIRY_EXIT_OK && s->mine.output && resume_is_complete(&s->mine)) {
        code = resume_complete(&s->job);
        s->complete = code == AIRY_EXIT_OK || code == AIRY_EXIT_PARTLY;
        if (s->complete)
            return code == AIRY_EXIT_PARTLY ? AIRY_EXIT_OK : code;
    } else if (code == AIRY_EXIT_OK && s->mine.resume) {
        code = resume_prepare(&s->job);
    }
    s->setup = tool_now() - start;
    return code;
}

/* The line of a failure stands on stderr already. */
static airy_status said(struct service *s, int code)
{
    s->said = code != AIRY_EXIT_OK;
    return s->said ? AIRY_ERR_STOPPED : AIRY_OK;
}

static airy_status on_start(void *user, const airy_stream_message *m)
{
    struct service *s = user;
    s->said = false;
    s->silent = 0;
    return said(s, begin(s, m));
}

/* In the runner's thread. */
static void on_pattern(void *user, const airy_live_pattern *pattern)
{
    struct service *s = user;
    const airy_publisher_pattern out = {.image_id = s->job.run.first +
                                                    pattern->number * s->job.run.step,
                                        .intensity = pattern->intensity,
                                        .std = pattern->std,
                                        .sem = pattern->sem,
                                        .stats = pattern->stats,
                                        .status = pattern->status,
                                        .message = pattern->message};
    (void)airy_publisher_send(s->publisher, &out);
}

static airy_status publish_start(struct service *s, const airy_stream_message *m)
{
    airy_integrator_info matrix;
    const airy_status status = airy_integrator_get_info(s->job.integrator, &matrix);
    if (status != AIRY_OK)
        return status;
    const airy_publisher_series series = {.series_id = m->series_id,
                                          .unique_id = m->unique_id,
                                          .number_of_images = s->job.info.frames,
                                          .unit = airy_unit_name(s->mine.pattern.unit),
                                          .radial = airy_integrator_radial(s->job.integrator),
                                          .bins = matrix.radial_bins,
                                          .azimuthal = airy_integrator_azimuth(s->job.integrator),
                                          .azimuth_bins = matrix.azimuth_bins};
    return airy_publisher_start(s->publisher, &series);
}

/* The first image says what pixels are like: the run can be made. */
static airy_status on_first(void *user, const airy_stream_message *m)
{
    struct service *s = user;
    const airy_stream_pixels *pixels;
    if (s->complete)
        return AIRY_OK;
    airy_status status = airy_stream_find_channel(&pixels, &m->image, channel_of(s));
    if (status != AIRY_OK)
        return status;
    if (pixels->height != s->job.info.height || pixels->width != s->job.info.width)
        return said(
            s, tool_fail(s->common, "images are %zu x %zu, but the start message says %zu x %zu",
                         pixels->height, pixels->width, s->job.info.height, s->job.info.width));
    s->kind = *pixels;
    s->job.info.dtype = pixels->dtype;
    progress_begin(&s->progress, s->common, "frames");
    s->job.run.progress = progress_step;
    s->job.run.user = &s->progress;
    const airy_live_params params = {.height = pixels->height,
                                     .width = pixels->width,
                                     .dtype = pixels->dtype,
                                     .codec = pixels->codec,
                                     .frames = s->job.frames,
                                     .run = s->job.run,
                                     .pattern = s->publisher ? on_pattern : NULL,
                                     .user = s};
    status = airy_live_create(&s->live, s->mine.output, s->job.team.integrators, s->job.team.count,
                              &params);
    if (status == AIRY_OK && s->publisher)
        status = publish_start(s, m);
    return status;
}

/* The row of an image; false: --frames leaves it out. */
static bool row_of(struct service *s, uint64_t *row, uint64_t image)
{
    const airy_run_params *run = &s->job.run;
    if (s->job.frames == 0) {
        *row = image;
        return true;
    }
    if (image < run->first || image >= run->last || (image - run->first) % run->step) {
        atomic_fetch_add(&s->other, 1);
        return false;
    }
    *row = (image - run->first) / run->step;
    return true;
}

/* Elements in the machine's order; malloc'ed. */
static void *swapped(const airy_stream_pixels *pixels)
{
    const size_t elem = airy_dtype_size(pixels->dtype);
    const char *from = pixels->bytes;
    char *to = malloc(pixels->size);
    for (size_t i = 0; to && i < pixels->size; i++)
        to[i] = from[i - i % elem + elem - 1 - i % elem];
    return to;
}

static airy_status lose(struct service *s, uint64_t row, const char *why)
{
    const airy_status status = airy_live_lose(s->live, row, why);
    return status == AIRY_ERR_PARAM ? AIRY_OK : status; /* done by a run before */
}

/*
 * Such a row is given up when the series is over: there is no room for it now, and waiting for some
 * would hold up the detector. False: out of memory.
 */
static bool note_dropped(struct service *s, uint64_t row)
{
    pthread_mutex_lock(&s->lock);
    const size_t need = (size_t)row / 8 + 1, size = 2 * s->dropped_size;
    if (need > s->dropped_size) {
        const size_t larger = need > size ? need : size;
        uint8_t *bits = realloc(s->dropped_rows, larger);
        if (bits) {
            memset(bits + s->dropped_size, 0, larger - s->dropped_size);
            s->dropped_rows = bits;
            s->dropped_size = larger;
        }
    }
    const bool room = need <= s->dropped_size;
    if (room)
        s->dropped_rows[row / 8] |= (uint8_t)(1u << row % 8);
    pthread_mutex_unlock(&s->lock);
    atomic_fetch_add(&s->dropped, 1);
    return room;
}

static const char *const DROPPED = "dropped: there was no room for it";

/* Nobody gives frames any more. */
static void lose_dropped(struct service *s)
{
    airy_status status = AIRY_OK;
    for (size_t row = 0; row < 8 * s->dropped_size && status == AIRY_OK; row++)
        if (s->dropped_rows[row / 8] & 1u << row % 8)
            status = lose(s, row, DROPPED);
}

static airy_status put(struct service *s, const airy_live_frame *frame)
{
    const double poll = 0.1; /* s */
    for (;;) {
        const airy_status status = airy_live_put(s->live, frame, s->params->stream.drop ? 0 : poll);
        if (status != AIRY_ERR_FULL)
            return status;
        if (s->params->stream.drop)
            return note_dropped(s, frame->number) ? AIRY_OK : lose(s, frame->number, DROPPED);
        if (tool_interrupted())
            return AIRY_ERR_STOPPED;
    }
}

static airy_status on_image(void *user, const airy_stream_message *m, uint64_t received_ns)
{
    struct service *s = user;
    const airy_stream_pixels *pixels;
    uint64_t row;
    if (s->complete || !row_of(s, &row, m->image.id))
        return AIRY_OK;
    if (airy_stream_find_channel(&pixels, &m->image, channel_of(s)) != AIRY_OK)
        return lose(s, row, airy_last_error());
    const bool encoded = pixels->codec.codec != AIRY_CODEC_NONE;
    if (pixels->dtype != s->kind.dtype || pixels->height != s->kind.height ||
        pixels->width != s->kind.width || (encoded && pixels->codec.codec != s->kind.codec.codec))
        return lose(s, row, "its pixels or their compression are not those of the first image");
    void *native = NULL;
    if (pixels->big_endian && !(native = swapped(pixels)))
        return lose(s, row, "out of memory for its pixels in the machine's order");
    const airy_live_frame frame = {.number = row,
                                   .bytes = native ? native : pixels->bytes,
                                   .size = pixels->size,
                                   .encoded = encoded,
                                   .received_ns = (int64_t)received_ns};
    const airy_status status = put(s, &frame);
    free(native);
    return status;
}

static void on_broken(void *user, uint64_t image_id, const char *sentence)
{
    struct service *s = user;
    uint64_t row;
    if (s->live && row_of(s, &row, image_id))
        (void)lose(s, row, sentence);
}

static void on_say(void *user, const char *sentence)
{
    struct service *s = user;
    tool_say(s->common, "%s", sentence);
}

static bool on_stop(void *user)
{
    struct service *s = user;
    if (s->silent > 0 && tool_now() - s->silent > SILENCE_S) {
        s->silent = 0;
        tool_say(s->common,
                 "no series has begun within %d s; is the address right, and the detector's stream "
                 "on, in format cbor, and without another receiver? Waiting on",
                 SILENCE_S);
    }
    return tool_interrupted();
}

/* What is missing, and what to do. */
static int incomplete(const struct service *s, const airy_stream_report *series,
                      const airy_live_info *info, airy_status status)
{
    const unsigned long long id = series->id;
    if (status != AIRY_ERR_STOPPED && status != AIRY_ERR_CORRUPT)
        return tool_failed(s->common, status);
    if (!s->mine.output)
        return tool_fail(s->common, "series %llu: %llu images did not come, %llu are bad", id,
                         (unsigned long long)info->lost, (unsigned long long)info->bad);
    return tool_fail(s->common,
                     "series %llu is not complete: %s; %s.partial stays, and the same command with "
                     "--resume goes on when the series is played again, or with the detector's own "
                     "file as input; --on-error skip does without such images",
                     id, airy_last_error(), s->mine.output);
}

static int report_json(const struct service *s, const airy_stream_report *r,
                       const airy_live_info *info, uint64_t published)
{
    const double seconds = r->seconds > 0 ? r->seconds : 1e-9;
    json_t *json = json_pack(
        "{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:b, s:f, s:f, s:f, s:f}",
        "series", (json_int_t)r->id, "expected", (json_int_t)r->expected, "received",
        (json_int_t)r->received, "integrated", (json_int_t)info->done, "resumed",
        (json_int_t)info->resumed, "bad", (json_int_t)info->bad, "lost", (json_int_t)info->lost,
        "dropped", (json_int_t)atomic_load(&s->dropped), "duplicates", (json_int_t)r->duplicates,
        "beyond", (json_int_t)r->beyond, "broken", (json_int_t)r->broken, "stray",
        (json_int_t)r->stray, "ended", r->ended, "seconds", r->seconds, "setup_seconds", s->setup,
        "frames_per_second", (double)r->received / seconds, "megabytes_per_second",
        (double)r->bytes / seconds * 1e-6);
    if (!json)
        return tool_fail(s->common, "out of memory for the report");
    json_object_set_new(json, "output",
                        s->mine.output ? tool_json_string(s->mine.output) : json_null());
    json_object_set_new(json, "latency_ms",
                        json_pack("{s:f, s:f, s:f}", "p50", info->p50 * 1e3, "p99", info->p99 * 1e3,
                                  "max", info->max * 1e3));
    if (s->publisher)
        json_object_set_new(json, "published", json_integer((json_int_t)published));
    return tool_print_json(s->common, json);
}

/* A count that is worth a word: ", 3 lost". */
static void add_count(char text[512], uint64_t count, const char *what)
{
    const size_t used = strlen(text);
    if (count)
        snprintf(text + used, 512 - used, ", %llu %s", (unsigned long long)count, what);
}

static int report(const struct service *s, const airy_stream_report *r, const airy_live_info *info,
                  uint64_t published)
{
    if (s->common->json)
        return report_json(s, r, info, published);
    char odd[512] = "", bytes[32], device[64] = "", expected[32] = "";
    const double seconds = r->seconds > 0 ? r->seconds : 1e-9;
    add_count(odd, info->resumed, "done before");
    add_count(odd, info->bad, "bad");
    add_count(odd, atomic_load(&s->dropped), "dropped");
    add_count(odd, r->duplicates, "twice");
    add_count(odd, r->beyond, "beyond the end");
    add_count(odd, r->broken, "broken messages");
    add_count(odd, r->stray, "stray messages");
    add_count(odd, published, "published");
    if (r->expected)
        snprintf(expected, sizeof(expected), " of %llu", (unsigned long long)r->expected);
    if (info->batch)
        snprintf(device, sizeof(device), "; %zu a batch, %zu slot%s", info->batch, info->slots,
                 info->slots == 1 ? "" : "s");
    tool_say(s->common,
             "%s: series %llu, %llu%s images in %.3g s, %llu integrated, %llu lost%s; %.4g "
             "frames/s, %s/s; latency p50 %.3g ms, p99 %.3g ms, max %.3g ms%s",
             s->mine.output ? s->mine.output : "no file", (unsigned long long)r->id,
             (unsigned long long)r->received, expected, r->seconds, (unsigned long long)info->done,
             (unsigned long long)info->lost, odd, (double)r->received / seconds,
             tool_bytes(bytes, (double)r->bytes / seconds), info->p50 * 1e3, info->p99 * 1e3,
             info->max * 1e3, device);
    return AIRY_EXIT_OK;
}

/*
 * The runner counts a row that was given up as done and bad; here it is lost, as are those that
 * stay to be done by --resume.
 */
static void count_rows(const struct service *s, airy_live_info *info)
{
    const uint64_t rows = info->done + info->resumed, bad = info->bad;
    info->done -= bad < info->done ? bad : info->done;
    info->bad = bad > info->lost ? bad - info->lost : 0;
    info->lost += s->job.frames > rows ? s->job.frames - rows : 0;
}

/* What came of the series' run; the file has its name, or stays partial. */
static int finish(struct service *s, const airy_stream_report *series)
{
    airy_live_info info = {0};
    uint64_t published = 0;
    int code = AIRY_EXIT_OK;
    if (!s->live)
        return s->complete ? AIRY_EXIT_OK
                           : tool_fail(s->common, "series %llu: no image came",
                                       (unsigned long long)series->id);
    if (tool_interrupted()) {
        airy_live_get_info(s->live, &info);
        airy_live_destroy(&s->live);
        progress_end(&s->progress);
        code = tool_fail(s->common, "stopped after %llu images of series %llu%s%s%s",
                         (unsigned long long)info.done, (unsigned long long)series->id,
                         s->mine.output ? "; the same command with --resume continues " : "",
                         s->mine.output ? s->mine.output : "", s->mine.output ? ".partial" : "");
    } else {
        lose_dropped(s);
        const airy_status status = airy_live_finish(s->live, &info);
        progress_end(&s->progress);
        if (status != AIRY_OK)
            code = incomplete(s, series, &info, status);
        else if (info.bad || info.lost)
            code = AIRY_EXIT_PARTLY;
        if (code == AIRY_EXIT_PARTLY)
            tool_say(s->common, "series %llu: %llu rows are bad%s%s",
                     (unsigned long long)series->id,
                     (unsigned long long)(info.bad > info.lost ? info.bad : info.lost),
                     *info.first_error ? ", the first: " : "", info.first_error);
    }
    if (s->publisher)
        (void)airy_publisher_end(s->publisher, &published);
    count_rows(s, &info);
    const int said_it = report(s, series, &info, published);
    return code == AIRY_EXIT_OK ? said_it : code;
}

static bool on_end(void *user, const airy_stream_report *series)
{
    struct service *s = user;
    int code;
    if (series->status != AIRY_OK && !s->said && !tool_interrupted()) {
        tool_fail(s->common, "series %llu: %s", (unsigned long long)series->id, series->sentence);
        s->said = true;
    }
    if (s->said) {
        airy_live_destroy(&s->live);
        progress_end(&s->progress);
        code = AIRY_EXIT_FAILED;
    } else {
        code = finish(s, series);
    }
    airy_live_destroy(&s->live);
    if (code == AIRY_EXIT_OK || code == AIRY_EXIT_PARTLY) {
        const int profiled = s->open ? team_profile(&s->job.team, s->common) : AIRY_EXIT_OK;
        code = profiled == AIRY_EXIT_OK ? code : profiled;
    }
    if (s->open)
        integration_close(&s->job);
    s->open = false;
    json_decref(s->source.about);
    free(s->mask);
    free(s->dropped_rows);
    s->dropped_rows = NULL;
    s->dropped_size = 0;
    s->source = (struct integration_source){.about = NULL};
    s->mask = NULL;
    /* failed is worse than partly, which is worse than good */
    if (s->code == AIRY_EXIT_OK || code == AIRY_EXIT_FAILED || code == AIRY_EXIT_USAGE)
        s->code = code == AIRY_EXIT_USAGE ? AIRY_EXIT_FAILED : code;
    s->done++;
    const size_t wanted = s->params->stream.series ? s->params->stream.series
                          : s->named               ? SIZE_MAX
                                                   : 1;
    return s->done < wanted && !tool_interrupted();
}

static int serve(struct service *s, airy_stream_receiver *receiver)
{
    const struct stream_opt *opt = &s->params->stream;
    const airy_stream_handler handler = {.user = s,
                                         .start = on_start,
                                         .first = on_first,
                                         .image = on_image,
                                         .broken = on_broken,
                                         .end = on_end,
                                         .say = on_say,
                                         .stop = on_stop,
                                         .timeout = !opt->has_timeout   ? 0
                                                    : opt->timeout == 0 ? HUGE_VAL
                                                                        : opt->timeout};
    tool_say(s->common, "listening to %s%s", s->common->inputs.items[0],
             s->common->inputs.count > 1 ? " and others" : "");
    s->silent = tool_now();
    const airy_status status = airy_stream_serve(receiver, &handler);
    if (status == AIRY_ERR_STOPPED && (s->named || s->done > 0))
        return s->code; /* Ctrl-C is how a service ends */
    if (status == AIRY_ERR_STOPPED)
        return tool_fail(s->common, "stopped before a series came");
    return status == AIRY_OK ? s->code : tool_failed(s->common, status);
}

int live_stream_run(const struct integrate_params *p, const airy_geometry *replayed)
{
    const struct common *common = &p->geometry.common;
    struct service s = {
        .params = p, .common = common, .replayed = replayed, .lock = PTHREAD_MUTEX_INITIALIZER};
    airy_stream_receiver *receiver = NULL;
    int code = check(p);
    if (code != AIRY_EXIT_OK)
        return code;
    s.named = !p->output || strstr(p->output, "{series}");
    tool_catch_interrupts();
    const airy_stream_receiver_params params = {.endpoints = common->inputs.items,
                                                .count = common->inputs.count,
                                                .sockets = p->stream.sockets,
                                                .bind = p->stream.bind};
    airy_status status = airy_stream_receiver_create(&receiver, &params);
    if (status == AIRY_OK && p->stream.publish)
        status = airy_publisher_create(&s.publisher, p->stream.publish, 0);
    if (status != AIRY_OK) /* an address; there is no path to look at */
        code = tool_fail(common, "%s", airy_last_error());
    else if ((status = team_open(&s.team, common)) != AIRY_OK)
        code = tool_failed(common, status);
    if (code == AIRY_EXIT_OK) {
        tool_say_device(common, s.team.devices[0]);
        code = serve(&s, receiver);
    }
    team_close(&s.team);
    airy_publisher_destroy(&s.publisher);
    airy_stream_receiver_destroy(&receiver);
    return code;
}
