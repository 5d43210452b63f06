#include "jobs/stream/stream.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "airy/info.h"
#include "base/number.h"
#include "stream/address.h"

static const uint64_t PRELOAD = (uint64_t)4 << 30;

static const char *const details[] = {"all", "basic", "none", NULL};
_Static_assert(AIRY_STREAM_DETAIL_COUNT == 3, "details are in this order");
static const char *const filters[] = {"none", "bslz4", "lz4", NULL};
_Static_assert(AIRY_CODEC_NONE == 0 && AIRY_CODEC_BSLZ4 == 1 && AIRY_CODEC_LZ4 == 2, "their order");

/* ---- parameters ---- */

/* A whole number of at least `least`, up to a mark or the end. */
static bool parse_whole(uint64_t *number, const char *text, size_t length, double least)
{
    char word[64];
    double value;
    if (length >= sizeof(word))
        return false;
    snprintf(word, sizeof(word), "%.*s", (int)length, text);
    if (!airy_number_parse(&value, word) || !(value >= least && value < 1e14) ||
        value != floor(value))
        return false;
    *number = (uint64_t)value;
    return true;
}

static const char *parse_lose(void *field, const char *text)
{
    static const char wrong[] = "expected 1/N, or numbers of images between commas, 256 at most";
    struct airy_play_lost lost = {0};
    const char *at = text;
    if (strncmp(text, "1/", 2) == 0) {
        if (!parse_whole(&lost.of, text + 2, strlen(text + 2), 1))
            return wrong;
    } else
        for (;; at++) {
            const size_t length = strcspn(at, ",");
            if (lost.count == AIRY_PLAY_LOST ||
                !parse_whole(&lost.list[lost.count++], at, length, 0))
                return wrong;
            at += length;
            if (!*at)
                break;
        }
    *(struct airy_play_lost *)field = lost;
    return NULL;
}

static void print_lose(char *text, size_t size, const void *field)
{
    const struct airy_play_lost *lost = field;
    size_t used = 0;
    if (lost->of)
        snprintf(text, size, "1/%llu", (unsigned long long)lost->of);
    for (size_t i = 0; i < lost->count && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%llu", i ? "," : "",
                                 (unsigned long long)lost->list[i]);
}

static const struct airy_job_record lose_record = {sizeof(struct airy_play_lost), parse_lose,
                                                   print_lose};

#define ROW(member, ...) AIRY_JOB_ROW(struct airy_play_values, member, __VA_ARGS__)
static const struct airy_job_row stream_rows[] = {
    ROW(to, .name = "to", .type = AIRY_PARAMETER_TEXT, .list = true, .affects = AIRY_AFFECTS_WHERE,
        .argument = "URL",
        .help = "sends to tcp://HOST:PORT (HOST: this machine's address, such as 192.168.1.2; *: "
                "all of them) or ipc://PATH; several take the images in turn",
        .section = "Stream"),
    ROW(connect, .name = "connect", .type = AIRY_PARAMETER_FLAG, .affects = AIRY_AFFECTS_HOW,
        .help = "connects to receivers that are bound; without it receivers connect"),
    ROW(rate, .name = "rate", .type = AIRY_PARAMETER_REAL, .affects = AIRY_AFFECTS_HOW, .lo = 1e-6,
        .hi = 1e7, .unit = "images/s", .fallback = "as fast as they are taken", .computed = true,
        .help = "sends images at this rate; after a delay it sends faster until it has caught up"),
    ROW(frames.frames, .name = "frames", .type = AIRY_PARAMETER_RANGE, .affects = AIRY_AFFECTS_ROWS,
        .argument = "A:B[:S]", .fallback = "all", .computed = true,
        .help = "plays the frames from A up to, not including, B in steps of S; one number plays "
                "that frame"),
    ROW(loop, .name = "loop", .type = AIRY_PARAMETER_WHOLE, .affects = AIRY_AFFECTS_ROWS, .lo = 1,
        .hi = 1e12, .fallback = "1",
        .help = "plays the frames N times; image numbers keep counting"),
    ROW(channels, .name = "channels", .type = AIRY_PARAMETER_WHOLE, .affects = AIRY_AFFECTS_ROWS,
        .lo = 1, .hi = AIRY_STREAM_CHANNELS, .fallback = "1",
        .help = "makes N frames in turn the channels threshold_1, ... of one image"),
    ROW(filter, .name = "filter", .type = AIRY_PARAMETER_WORD, .affects = AIRY_AFFECTS_HOW,
        .words = filters, .argument = "NAME", .fallback = "as stored", .computed = true,
        .help = "encodes images by none, bslz4 or lz4; frames stored so are sent without decoding"),
    ROW(series, .name = "series", .type = AIRY_PARAMETER_WHOLE, .affects = AIRY_AFFECTS_BESIDE,
        .hi = 1e15, .argument = "ID", .fallback = "1",
        .help = "sets the number (series_id) of the first series"),
    ROW(series_count, .name = "series-count", .type = AIRY_PARAMETER_WHOLE,
        .affects = AIRY_AFFECTS_ROWS, .lo = 1, .hi = 1e6, .fallback = "1",
        .help = "plays N series one after another"),
    ROW(arm, .name = "arm", .type = AIRY_PARAMETER_REAL, .affects = AIRY_AFFECTS_HOW, .hi = 1e6,
        .unit = "s", .argument = "T", .fallback = "0",
        .help = "waits from the start message to the first image, as from arming to the trigger"),
    ROW(pause, .name = "pause", .type = AIRY_PARAMETER_REAL, .affects = AIRY_AFFECTS_HOW, .hi = 1e6,
        .unit = "s", .argument = "T", .fallback = "0", .help = "waits between two series"),
    ROW(detail, .name = "detail", .type = AIRY_PARAMETER_WORD, .affects = AIRY_AFFECTS_BESIDE,
        .words = details, .argument = "WHAT", .fallback = "all",
        .help = "chooses what start messages contain: all, basic (no pixel mask) or none (size and "
                "number of images)"),
    {{0}, 0, NULL}};

static const struct airy_job_row buffer_rows[] = {
    ROW(preload, .name = "preload", .type = AIRY_PARAMETER_BYTES, .affects = AIRY_AFFECTS_HOW,
        .fallback = "4G, at most half of the free memory", .computed = true,
        .help = "reads images of up to so many bytes in all ahead of the stream",
        .section = "Buffers"),
    ROW(no_preload, .name = "no-preload", .type = AIRY_PARAMETER_FLAG, .affects = AIRY_AFFECTS_HOW,
        .help = "reads each image when it is sent, not in advance"),
    ROW(high_water, .name = "hwm", .type = AIRY_PARAMETER_WHOLE, .affects = AIRY_AFFECTS_HOW,
        .lo = 1, .hi = 1e6, .fallback = "128",
        .help = "limits the messages that wait for one receiver"),
    ROW(patience, .name = "patience", .type = AIRY_PARAMETER_REAL, .affects = AIRY_AFFECTS_HOW,
        .hi = 1e6, .unit = "s", .argument = "T", .fallback = "0",
        .help = "gives up when no receiver takes a message for this time (0: waits for ever)"),
    ROW(linger, .name = "linger", .type = AIRY_PARAMETER_REAL, .affects = AIRY_AFFECTS_HOW,
        .hi = 1e6, .unit = "s", .argument = "T", .fallback = "30",
        .help = "waits at most this time for the last messages to leave"),
    {{0}, 0, NULL}};

static const struct airy_job_row fault_rows[] = {
    AIRY_JOB_RECORD_ROW(struct airy_play_values, lose, &lose_record, .name = "lose",
                        .type = AIRY_PARAMETER_RECORD, .affects = AIRY_AFFECTS_ROWS,
                        .argument = "1/N|LIST",
                        .help = "leaves out every N-th image, or those of a list such as 3,17,40",
                        .section = "Faults, for tests of receivers"),
    ROW(shuffle, .name = "shuffle", .type = AIRY_PARAMETER_WHOLE, .affects = AIRY_AFFECTS_ROWS,
        .lo = 2, .hi = AIRY_PLAY_SHUFFLE, .help = "sends every N images in random order"),
    ROW(seed, .name = "seed", .type = AIRY_PARAMETER_SEED, .affects = AIRY_AFFECTS_ROWS,
        .fallback = "0", .help = "sets the seed of the random order"),
    ROW(no_end, .name = "no-end", .type = AIRY_PARAMETER_FLAG, .affects = AIRY_AFFECTS_ROWS,
        .help = "sends no end message"),
    {{0}, 0, NULL}};
#undef ROW

static const airy_job_result results[] = {
    {"sockets", AIRY_JOB_NUMBER, NULL, "addresses that the images were dealt to"},
    {"series", AIRY_JOB_NUMBER, NULL, "series that were played to their end"},
    {"images", AIRY_JOB_NUMBER, NULL, "images that were sent"},
    {"lost", AIRY_JOB_NUMBER, NULL, "images that were left out on purpose"},
    {"bytes", AIRY_JOB_NUMBER, NULL, "bytes of their payloads"},
    {"seconds", AIRY_JOB_NUMBER, NULL, "the time of all series"},
    {"images_per_second", AIRY_JOB_NUMBER, NULL, "images / seconds"},
    {"bytes_per_second", AIRY_JOB_NUMBER, NULL, "bytes / seconds"},
    {"late", AIRY_JOB_NUMBER, NULL, "images that were sent more than 1 ms behind their time"},
    {"latest_ms", AIRY_JOB_NUMBER, NULL, "the largest such delay, in ms"},
    {"blocked_seconds", AIRY_JOB_NUMBER, NULL, "time that all sockets waited for receivers"},
    {"preloaded", AIRY_JOB_JSON, NULL, "whether all images were read ahead"},
    {"stopped", AIRY_JOB_JSON, NULL, "whether the stream ended before its last image"},
    {NULL, AIRY_JOB_ARRAY, NULL, NULL}};

static airy_status check(airy_job *job)
{
    const struct airy_play_values *v = job->values;
    AIRY_FAIL_ON_IF(v->to.count == 0, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s is missing; give a receiver, such as to=tcp://127.0.0.1:31001", "to");
    AIRY_FAIL_ON_IF(v->to.count > AIRY_PLAY_SOCKETS, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s: %zu sockets, expected at most %d", "to", v->to.count,
                    (int)AIRY_PLAY_SOCKETS);
    for (size_t i = 0; i < v->to.count; i++)
        AIRY_TRY(airy_stream_check_address(v->to.items[i], v->connect));
    AIRY_TRY(airy_job_check_geometry(job));
    return airy_job_check_curve(&v->curve, v->connect, !v->connect);
}

/* ---- what is played ---- */

static airy_status choose_frames(struct airy_play_source *s)
{
    const struct airy_play_values *v = s->v;
    const size_t *range = v->frames.frames;
    size_t frames = 0;
    AIRY_TRY(airy_job_choose_frames(&frames, &v->frames, s->info.frames,
                                    airy_job_stack_name(&v->stack)));
    s->first = range[0];
    s->step = range[2] ? range[2] : 1;
    s->images = frames / v->channels;
    AIRY_FAIL_ON_IF(frames % v->channels != 0, AIRY_ERR_SHAPE, AIRY_SUBJECT_PARAMETER,
                    "%s %zu: %zu frame%s no whole number of images", "channels", v->channels,
                    frames, frames == 1 ? " is" : "s are");
    AIRY_FAIL_ON_IF(__builtin_mul_overflow((uint64_t)s->images, (uint64_t)v->loop, &s->total),
                    AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s %zu: more images than can be numbered", "loop", v->loop);
    return AIRY_OK;
}

static airy_status find_geometry(struct airy_play_source *s)
{
    const struct airy_geometry_values *values = &s->v->geometry;
    const struct airy_geometry_source from = {.stack = s->stack,
                                              .info = &s->info,
                                              .meta = &s->meta,
                                              .input = airy_job_stack_name(&s->v->stack),
                                              .uses_absorber = true};
    const airy_geometry_params given = airy_job_geometry_params(s->job, values, from.input);
    if (!s->meta.has_geometry && !airy_geometry_is_given(&given))
        return AIRY_OK;
    AIRY_TRY(airy_job_resolve_geometry(s->job, &s->geometry, values, &from));
    s->series.geometry = &s->geometry;
    if ((s->meta.contradicted & AIRY_GEOMETRY_WAVELENGTH) && s->geometry.wavelength == 0)
        airy_job_message(s->job, AIRY_LOG_WARN, "no wavelength is sent: %s", s->meta.unusable);
    return AIRY_OK;
}

static airy_status load_mask(struct airy_play_source *s)
{
    if (!s->meta.has_mask || s->v->detail != AIRY_STREAM_DETAIL_ALL)
        return AIRY_OK;
    s->mask = malloc(s->info.height * s->info.width);
    AIRY_FAIL_IF(!s->mask, AIRY_ERR_MEMORY, "out of memory for a pixel mask");
    s->series.mask = s->mask;
    return airy_stack_mask(s->stack, s->mask);
}

static void describe(struct airy_play_source *s)
{
    const struct airy_play_values *v = s->v;
    airy_stream_series *series = &s->series;
    series->unique_id = "";
    series->images = s->total;
    series->height = s->info.height;
    series->width = s->info.width;
    series->dtype = s->info.dtype;
    series->channels = s->channels;
    series->channel_count = v->channels;
    for (size_t i = 0; i < v->channels; i++) {
        snprintf(s->names[i], sizeof(s->names[i]), "threshold_%u", (unsigned)i + 1);
        s->channels[i] = s->names[i];
    }
    series->frame_time = s->has_rate ? 1 / v->rate : 0;
    series->has_saturation = s->meta.has_saturation;
    series->saturation = s->meta.saturation;
    series->detail = (airy_stream_detail)v->detail;
}

static airy_status open_source(airy_job *job, void *state)
{
    struct airy_play_source *s = state;
    const struct airy_play_values *v = job->values;
    *s = (struct airy_play_source){.job = job,
                                   .v = v,
                                   .has_rate = airy_job_is_set(job, "rate"),
                                   .has_filter = airy_job_is_set(job, "filter")};
    AIRY_TRY(airy_job_read_curve(&s->keys, &v->curve));
    AIRY_TRY(airy_job_open_stack(job, &s->stack, &v->stack));
    AIRY_TRY(airy_stack_get_info(s->stack, &s->info));
    AIRY_TRY(airy_stack_get_meta(s->stack, &s->meta));
    AIRY_TRY(choose_frames(s));
    AIRY_TRY(airy_job_plan_stack(job, &s->info, &v->frames));
    airy_job_put_plan(job, "images", json_integer((json_int_t)s->total));
    AIRY_TRY(find_geometry(s));
    AIRY_TRY(load_mask(s));
    describe(s);
    return AIRY_OK;
}

/* Bytes that may be kept in memory. */
static uint64_t find_budget(const struct airy_play_source *s)
{
    airy_memory_limits limits;
    if (s->v->no_preload)
        return 0;
    if (airy_job_is_set(s->job, "preload"))
        return s->v->preload;
    airy_memory_limits_get(&limits);
    uint64_t half = limits.available / 2;
    if (limits.cgroup && limits.cgroup / 2 < half)
        half = limits.cgroup / 2;
    return half < PRELOAD ? half : PRELOAD;
}

static airy_status preload(struct airy_play_source *s)
{
    const uint64_t budget = find_budget(s);
    for (size_t i = 0; i < s->images && s->bytes <= budget; i++)
        s->bytes += airy_play_image_bytes(s, i);
    if (s->bytes <= budget && budget > 0)
        return airy_play_keep_images(s);
    if (!s->v->no_preload)
        airy_job_message(s->job, AIRY_LOG_WARN,
                         "the images have more than %.1f MB and are read as they are played; a "
                         "larger preload=SIZE raises it",
                         1e-6 * (double)budget);
    return AIRY_OK;
}

/* ---- the report ---- */

static airy_status put_results(const struct airy_play_source *s, const struct airy_play_report *r)
{
    airy_job *job = s->job;
    const double rate = r->seconds > 0 ? (double)r->sent / r->seconds : 0,
                 bytes = r->seconds > 0 ? (double)r->bytes / r->seconds : 0;
    airy_job_put_number(job, "sockets", (double)s->v->to.count);
    airy_job_put_number(job, "series", (double)r->series);
    airy_job_put_number(job, "images", (double)r->sent);
    airy_job_put_number(job, "lost", (double)r->lost);
    airy_job_put_number(job, "bytes", (double)r->bytes);
    airy_job_put_number(job, "seconds", r->seconds);
    airy_job_put_number(job, "images_per_second", rate);
    airy_job_put_number(job, "bytes_per_second", bytes);
    airy_job_put_number(job, "late", (double)r->late);
    airy_job_put_number(job, "latest_ms", r->latest * 1e3);
    airy_job_put_number(job, "blocked_seconds", r->blocked);
    airy_job_sum_up(job,
                    "%llu image%s in %.3f s: %.1f images/s, %.1f MB/s; %llu late (latest %.1f ms), "
                    "%.3f s blocked, %llu lost on purpose%s",
                    (unsigned long long)r->sent, r->sent == 1 ? "" : "s", r->seconds, rate,
                    bytes * 1e-6, (unsigned long long)r->late, r->latest * 1e3, r->blocked,
                    (unsigned long long)r->lost, r->stopped ? "; cancelled" : "");
    AIRY_TRY(airy_job_put_json(job, "preloaded", json_boolean(s->kept != NULL)));
    return airy_job_put_json(job, "stopped", json_boolean(r->stopped));
}

/* A stream that failed before its first image has no report; of one that was stopped there is one. */
static airy_status run(airy_job *job, void *state)
{
    struct airy_play_source *s = state;
    struct airy_play_report report;
    (void)job;
    AIRY_TRY(preload(s));
    const airy_status status = airy_play_series(&report, s);
    if (status != AIRY_OK && status != AIRY_ERR_CANCELLED && report.series == 0 && report.sent == 0)
        return status;
    airy_error error = {.status = AIRY_OK};
    (void)airy_error_first(&error, status);
    const airy_status put = put_results(s, &report);
    return status == AIRY_OK ? put : airy_error_restore(&error);
}

static void close_source(void *state)
{
    struct airy_play_source *s = state;
    airy_play_free_images(s);
    free(s->mask);
    airy_stack_destroy(&s->stack);
    airy_stream_keys_free(&s->keys);
}

extern const struct airy_job_kind airy_job_stream;
const struct airy_job_kind airy_job_stream = {
    .name = "stream",
    .summary = "play a stack as a detector's live stream",
    .details =
        "DECTRIS Stream V2 over ZeroMQ PUSH sockets: a start message, one for each image, an end "
        "message. Chunks of bitshuffle-LZ4 and LZ4 are sent as they are stored. With several "
        "addresses each socket gets the start and the end. The report counts images that were "
        "handed over more than 1 ms behind their time.",
    .groups = {{airy_stack_rows, offsetof(struct airy_play_values, stack)},
               {airy_geometry_rows, offsetof(struct airy_play_values, geometry)},
               {stream_rows, 0},
               {airy_curve_rows, offsetof(struct airy_play_values, curve)},
               {buffer_rows, 0},
               {fault_rows, 0},
               {airy_threads_rows, offsetof(struct airy_play_values, threads)}},
    .results = results,
    .values_size = sizeof(struct airy_play_values),
    .state_size = sizeof(struct airy_play_source),
    .keeps = true,
    .check = check,
    .open = open_source,
    .run = run,
    .close = close_source,
};
