#include "stream/stream.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "airy/info.h"

static const uint64_t PRELOAD = (uint64_t)4 << 30;

static const char *const details[AIRY_STREAM_DETAIL_COUNT + 1] = {"all", "basic", "none"};

static const char *const filters[] = {"none", "bslz4", "lz4", NULL};
_Static_assert(AIRY_CODEC_NONE == 0 && AIRY_CODEC_BSLZ4 == 1 && AIRY_CODEC_LZ4 == 2, "their order");

static const char *parse_lose(void *field, const char *text)
{
    static const char wrong[] = "expected 1/N, or numbers of images between commas, 256 at most";
    struct stream_lost *lost = field;
    *lost = (struct stream_lost){0};
    if (strncmp(text, "1/", 2) == 0)
        return opt_whole(text + 2, &lost->of) && lost->of ? NULL : wrong;
    double numbers[STREAM_LOST];
    lost->count = opt_numbers(text, numbers, STREAM_LOST);
    for (size_t i = 0; i < lost->count; i++) {
        if (!(numbers[i] >= 0 && numbers[i] < 0x1p53 && numbers[i] == floor(numbers[i])))
            return wrong;
        lost->list[i] = (uint64_t)numbers[i];
    }
    return lost->count ? NULL : wrong;
}

#define FIELD(member) .offset = offsetof(struct stream_params, member)
#define SEEN(member)  .seen = offsetof(struct stream_params, member)

static const struct opt stream_options[] = {
    {.heading = "Stream"},
    {.name = "to",
     .type = OPT_LIST,
     FIELD(to),
     .argument = "URL",
     .help = "tcp://HOST:PORT (HOST: this machine's address, such as 192.168.1.2; *: all of them) "
             "or ipc://PATH; several: images are dealt round"},
    {.name = "connect",
     .type = OPT_FLAG,
     FIELD(connect),
     .help = "connect to receivers that are bound; without it receivers connect"},
    {.name = "rate",
     .type = OPT_FLOAT,
     FIELD(rate),
     SEEN(has_rate),
     .lo = 1e-6,
     .hi = 1e7,
     .argument = "IMAGES/S",
     .fallback = "as fast as they are taken",
     .help = "by a clock: what comes late is made good"},
    {.name = "frames",
     .type = OPT_PARSED,
     FIELD(frames),
     SEEN(has_frames),
     .parse = opt_frames,
     .argument = "A:B[:S]",
     .fallback = "all",
     .help = "frames of the stack that are played"},
    {.name = "loop",
     .type = OPT_COUNT,
     FIELD(loop),
     .lo = 1,
     .hi = 1e12,
     .argument = "N",
     .fallback = "1",
     .help = "play them N times; numbers of images go on"},
    {.name = "channels",
     .type = OPT_COUNT,
     FIELD(channels),
     .lo = 1,
     .hi = AIRY_STREAM_CHANNELS,
     .argument = "N",
     .fallback = "1",
     .help = "N frames in turn are the channels threshold_1, ... of one image"},
    {.name = "filter",
     .type = OPT_WORD,
     FIELD(filter),
     SEEN(has_filter),
     .words = filters,
     .argument = "NAME",
     .fallback = "as stored",
     .help = "none, bslz4 or lz4; frames stored so are sent without decoding, others encoded"},
    {.name = "series",
     .type = OPT_COUNT,
     FIELD(series),
     SEEN(has_series),
     .lo = 0,
     .hi = 1e15,
     .argument = "ID",
     .fallback = "1",
     .help = "number of the first series"},
    {.name = "series-count",
     .type = OPT_COUNT,
     FIELD(series_count),
     .lo = 1,
     .hi = 1e6,
     .argument = "N",
     .fallback = "1",
     .help = "series one after another"},
    {.name = "arm",
     .type = OPT_FLOAT,
     FIELD(arm),
     .lo = 0,
     .hi = 1e6,
     .argument = "S",
     .fallback = "0",
     .help = "s from the start message to the first image, as from arming to the trigger"},
    {.name = "pause",
     .type = OPT_FLOAT,
     FIELD(pause),
     .lo = 0,
     .hi = 1e6,
     .argument = "S",
     .fallback = "0",
     .help = "s between two series"},
    {.name = "detail",
     .type = OPT_WORD,
     FIELD(detail),
     .words = details,
     .argument = "WHAT",
     .fallback = "all",
     .help = "of start messages: all, basic (no pixel mask) or none (size and number of images)"},
    CURVE_OPTIONS(struct stream_params, curve),
    {.heading = "Buffers"},
    {.name = "preload",
     .type = OPT_BYTES,
     FIELD(preload),
     SEEN(has_preload),
     .argument = "BYTES",
     .fallback = "4G, at most half of the free memory",
     .help = "images of up to so many bytes in all are read ahead of the stream"},
    {.name = "no-preload",
     .type = OPT_FLAG,
     FIELD(no_preload),
     .help = "images are read as they are played"},
    {.name = "hwm",
     .type = OPT_COUNT,
     FIELD(high_water),
     .lo = 1,
     .hi = 1e6,
     .argument = "N",
     .fallback = "128",
     .help = "messages that wait for one receiver"},
    {.name = "patience",
     .type = OPT_FLOAT,
     FIELD(patience),
     .lo = 0,
     .hi = 1e6,
     .argument = "S",
     .fallback = "0: for ever",
     .help = "give up when no receiver takes a message for so many s"},
    {.name = "linger",
     .type = OPT_FLOAT,
     FIELD(linger),
     SEEN(has_linger),
     .lo = 0,
     .hi = 1e6,
     .argument = "S",
     .fallback = "30",
     .help = "wait so many s for the last messages to leave"},
    STACK_RAW_OPTION(struct stream_params, raw),
    STACK_CHANNEL_OPTION(struct stream_params, raw),
    {.heading = "Faults, for tests of receivers"},
    {.name = "lose",
     .type = OPT_PARSED,
     FIELD(lose),
     .parse = parse_lose,
     .argument = "1/N|LIST",
     .help = "images that are not sent: every N-th, or 3,17,40"},
    {.name = "shuffle",
     .type = OPT_COUNT,
     FIELD(shuffle),
     .lo = 2,
     .hi = STREAM_SHUFFLE,
     .argument = "N",
     .help = "every N images in random order"},
    {.name = "seed",
     .type = OPT_SEED,
     FIELD(seed),
     .argument = "N",
     .fallback = "0",
     .help = "of the random order"},
    {.name = "no-end", .type = OPT_FLAG, FIELD(no_end), .help = "no end message"},
    {0},
};

/* ---- what is played ---- */

static int choose_frames(struct stream_source *s)
{
    const struct stream_params *p = s->p;
    const size_t step = p->has_frames && p->frames[2] ? p->frames[2] : 1,
                 last = p->has_frames && p->frames[1] ? p->frames[1] : s->info.frames;
    s->first = p->has_frames ? p->frames[0] : 0;
    if (s->first >= last || last > s->info.frames)
        return tool_fail(s->common, "--frames %zu:%zu: the stack has %zu frame%s, numbered from 0",
                         s->first, last, s->info.frames, tool_s(s->info.frames));
    const size_t frames = (last - s->first + step - 1) / step;
    s->step = step;
    s->images = frames / p->channels;
    if (frames % p->channels != 0)
        return tool_fail(s->common, "--channels %zu: %zu frame%s no whole number of images",
                         p->channels, frames, frames == 1 ? " is" : "s are");
    if (__builtin_mul_overflow((uint64_t)s->images, (uint64_t)p->loop, &s->total))
        return tool_fail(s->common, "--loop %zu: more images than can be numbered", p->loop);
    return AIRY_EXIT_OK;
}

static int find_geometry(struct stream_source *s)
{
    if (!s->meta.has_geometry && !geometry_given(&s->p->geometry))
        return AIRY_EXIT_OK;
    int code = geometry_hold(s->stack, NULL, &s->p->geometry, false);
    if (code == AIRY_EXIT_OK)
        code = geometry_resolve(&s->geometry, &s->p->geometry, &s->meta, s->info.height,
                                s->info.width);
    s->series.geometry = &s->geometry;
    if ((s->meta.contradicted & AIRY_GEOMETRY_WAVELENGTH) && s->geometry.wavelength == 0)
        tool_say(s->common, "no wavelength is sent: %s", s->meta.unusable);
    return code;
}

static int load_mask(struct stream_source *s)
{
    if (!s->meta.has_mask || s->p->detail != AIRY_STREAM_DETAIL_ALL)
        return AIRY_EXIT_OK;
    s->mask = malloc(s->info.height * s->info.width);
    if (!s->mask)
        return tool_fail(s->common, "out of memory for a pixel mask");
    const airy_status status = airy_stack_mask(s->stack, s->mask);
    s->series.mask = s->mask;
    return status == AIRY_OK ? AIRY_EXIT_OK : tool_failed(s->common, status);
}

static void describe(struct stream_source *s)
{
    const struct stream_params *p = s->p;
    airy_stream_series *series = &s->series;
    series->unique_id = "";
    series->images = s->total;
    series->height = s->info.height;
    series->width = s->info.width;
    series->dtype = s->info.dtype;
    series->channels = s->channels;
    series->channel_count = p->channels;
    for (size_t i = 0; i < p->channels; i++) {
        snprintf(s->names[i], sizeof(s->names[i]), "threshold_%u", (unsigned)i + 1);
        s->channels[i] = s->names[i];
    }
    series->frame_time = p->has_rate ? 1 / p->rate : 0;
    series->has_saturation = s->meta.has_saturation;
    series->saturation = s->meta.saturation;
    series->detail = p->detail;
}

static int open_source(struct stream_source *s)
{
    airy_status status = stack_open(&s->stack, &s->common->inputs, &s->p->raw);
    if (status == AIRY_OK)
        status = airy_stack_get_info(s->stack, &s->info);
    if (status == AIRY_OK)
        status = airy_stack_get_meta(s->stack, &s->meta);
    int code = status == AIRY_OK ? choose_frames(s) : tool_failed(s->common, status);
    if (code == AIRY_EXIT_OK)
        code = find_geometry(s);
    if (code == AIRY_EXIT_OK)
        code = load_mask(s);
    if (code == AIRY_EXIT_OK)
        describe(s);
    return code;
}

/* Bytes that may be kept in memory. */
static uint64_t find_budget(const struct stream_params *p)
{
    airy_memory_limits limits;
    if (p->no_preload)
        return 0;
    if (p->has_preload)
        return p->preload;
    airy_memory_limits_get(&limits);
    uint64_t half = limits.available / 2;
    if (limits.cgroup && limits.cgroup / 2 < half)
        half = limits.cgroup / 2;
    return half < PRELOAD ? half : PRELOAD;
}

static int preload(struct stream_source *s, bool *kept)
{
    const uint64_t budget = find_budget(s->p);
    for (size_t i = 0; i < s->images && s->bytes <= budget; i++)
        s->bytes += stream_image_bytes(s, i);
    *kept = s->bytes <= budget && budget > 0;
    if (*kept)
        return stream_keep_images(s);
    if (!s->p->no_preload)
        tool_say(s->common,
                 "the images have more than %.1f MB and are read as they are played; --preload "
                 "raises it",
                 1e-6 * (double)budget);
    return AIRY_EXIT_OK;
}

/* ---- the report ---- */

static int print_report(const struct stream_params *p, const struct stream_report *r, bool kept)
{
    const struct common *common = &p->geometry.common;
    const double rate = r->seconds > 0 ? (double)r->sent / r->seconds : 0,
                 bytes = r->seconds > 0 ? (double)r->bytes / r->seconds : 0;
    if (!common->json) {
        tool_say(common,
                 "%llu image%s in %.3f s: %.1f images/s, %.1f MB/s; %llu late (latest %.1f ms), "
                 "%.3f s blocked, %llu lost on purpose%s",
                 (unsigned long long)r->sent, r->sent == 1 ? "" : "s", r->seconds, rate,
                 bytes * 1e-6, (unsigned long long)r->late, r->latest * 1e3, r->blocked,
                 (unsigned long long)r->lost, r->stopped ? "; stopped" : "");
        return AIRY_EXIT_OK;
    }
    return tool_print_json(
        common,
        json_pack("{s:i, s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:I, s:o, s:o, s:b, s:b}", "sockets",
                  (int)p->to.count, "series", (json_int_t)r->series, "images", (json_int_t)r->sent,
                  "lost", (json_int_t)r->lost, "bytes", (json_int_t)r->bytes, "seconds",
                  tool_json_number(r->seconds), "images_per_second", tool_json_number(rate),
                  "bytes_per_second", tool_json_number(bytes), "late", (json_int_t)r->late,
                  "latest_ms", tool_json_number(r->latest * 1e3), "blocked_seconds",
                  tool_json_number(r->blocked), "preloaded", kept, "stopped", r->stopped));
}

static int play(struct stream_source *s)
{
    struct stream_report report;
    bool kept = false;
    int code = preload(s, &kept);
    if (code != AIRY_EXIT_OK || tool_interrupted())
        return AIRY_EXIT_FAILED;
    code = stream_play(&report, s);
    if (code != AIRY_EXIT_OK && report.series == 0 && report.sent == 0)
        return code;
    const int printed = print_report(s->p, &report, kept);
    return code != AIRY_EXIT_OK ? code : report.stopped ? AIRY_EXIT_FAILED : printed;
}

static int run_stream(void *user)
{
    struct stream_params *p = user;
    const struct common *common = &p->geometry.common;
    if (p->to.count == 0)
        return tool_usage(common, "no receiver: give --to URL, such as --to tcp://127.0.0.1:31001");
    if (p->to.count > STREAM_SOCKETS)
        return tool_usage(common, "--to: %zu sockets, expected at most %d", p->to.count,
                          (int)STREAM_SOCKETS);
    p->loop = p->loop ? p->loop : 1;
    p->channels = p->channels ? p->channels : 1;
    p->series_count = p->series_count ? p->series_count : 1;
    p->series = p->has_series ? p->series : 1;
    p->linger = p->has_linger ? p->linger : 30;
    struct curve curve = {.keys = NULL};
    int code = curve_check(common, &p->curve, p->connect, !p->connect);
    if (code == AIRY_EXIT_OK)
        code = curve_open(&curve, common, &p->curve);
    struct stream_source source = {
        .p = p, .common = common, .keys = curve_keys(&curve, !p->connect)};
    tool_catch_interrupts();
    if (code == AIRY_EXIT_OK)
        code = open_source(&source);
    if (code == AIRY_EXIT_OK)
        code = play(&source);
    stream_free_images(&source);
    free(source.mask);
    airy_stack_destroy(&source.stack);
    curve_close(&curve);
    return code;
}

const struct command cmd_stream = {
    .name = "stream",
    .usage = "STACK... --to URL [options]",
    .summary = "play a stack as a detector's live stream",
    .details =
        "DECTRIS Stream V2 over ZeroMQ PUSH sockets: a start message, one for each image, an end "
        "message. STACK is what 'airy integrate' takes. Chunks of bitshuffle-LZ4 and LZ4 are sent "
        "as they are stored. With several --to each socket gets the start and the end. The report "
        "counts images that were handed over more than 1 ms behind their time.",
    .examples = "  airy stream series_master.h5 --to tcp://192.168.1.2:31001 --rate 500\n"
                "  airy stream frames.h5 --to tcp://192.168.1.2:31001 --to tcp://192.168.1.2:31002 "
                "--rate 2000 "
                "--loop 200\n"
                "  airy stream frames.h5 --to tcp://receiver:31001 --connect --lose 1/100\n",
    .tables = {geometry_options, stream_options},
    .takes = TAKES_THREADS,
    .params_size = sizeof(struct stream_params),
    .min_inputs = 1,
    .max_inputs = 10000000,
    .run = run_stream,
};
