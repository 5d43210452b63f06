/* airy integrate tcp://...: series that a detector sends, each to a file of patterns. */
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "airy/live.h"
#include "airy/stream.h"
#include "integrate/integrate.h"
#include "airy/info.h"

enum { SILENCE_S = 20 }; /* nothing has come: worth a word */

/* All series of a run. */
struct service {
    const struct integrate_params *params;
    const struct common *common;
    const airy_geometry *replayed;
    struct team team;
    airy_publisher *publisher;
    size_t done;       /* series */
    int code;          /* the worst of them */
    bool named;        /* OUT has {series} in it */
    double silent;     /* s: since when the first series is waited for */
    atomic_bool heard; /* something came, or its silence was said */

    /* The series at work. */
    struct integrate_params mine;
    char path[4200];
    struct integration_source source;
    uint8_t *mask;
    struct integration job;
    bool open, said, complete;
    bool dtype_said, channels_said; /* in the start message */
    char why[1024];                 /* sentence of its failure, or "" */
    airy_live *live;
    airy_stream_pixels kind; /* what images of the run are like; stays for the next series */
    bool has_kind;
    struct progress progress;
    double setup;                         /* s */
    atomic_uint_least64_t dropped, other; /* other: frames that --frames leaves out */
    atomic_bool unmarked;                 /* a row of two images could not be marked as bad */
    pthread_mutex_t lock;
    uint8_t *dropped_rows; /* a bit a row; with the lock */
    size_t dropped_size;   /* bytes of it */
};

/* Texts of a detector make no lines of their own. */
static void one_line(char *text)
{
    for (char *at = text; (at = strchr(at, '\n'));)
        *at = '?';
}

/* A failure of the series at work: its line, which is kept for those who subscribe. */
static int fail_series(struct service *s, uint64_t id, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static int fail_series(struct service *s, uint64_t id, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(s->why, sizeof(s->why), format, args);
    va_end(args);
    one_line(s->why);
    s->said = true;
    return tool_fail(s->common, "series %llu%s%s", (unsigned long long)id,
                     strncmp(s->why, "is ", 3) == 0 ? " " : ": ", s->why);
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
    return s->params->raw.channel ? s->params->raw.channel : "";
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

/*
 * Before anything is allocated: the least that images of this size take. A pixel has an entry of
 * the matrix at least, which is there twice while that is made, its place in it, and three masks.
 */
static int check_size(const struct service *s, const airy_stream_start_message *start)
{
    enum { LEAST_BYTES = 24 };
    airy_memory_limits memory;
    char need[32], room[32];
    const uint64_t pixels = (uint64_t)start->height * start->width,
                   image = pixels * (start->has_dtype ? airy_dtype_size(start->dtype) : 1),
                   limit = s->common->memory_limit;
    if (limit && image > limit)
        return tool_fail(s->common,
                         "the start message says %zu x %zu pixels: an image has %s, more than the "
                         "%s of --memory-limit",
                         start->height, start->width, tool_bytes(need, (double)image),
                         tool_bytes(room, (double)limit));
    airy_memory_limits_get(&memory);
    uint64_t least = memory.available;
    least = memory.cgroup && memory.cgroup < least ? memory.cgroup : least;
    if (least && pixels * LEAST_BYTES > least)
        return tool_fail(s->common,
                         "the start message says %zu x %zu pixels: that takes %s of memory at "
                         "least, and %s are free; check the detector's settings",
                         start->height, start->width,
                         tool_bytes(need, (double)pixels * LEAST_BYTES),
                         tool_bytes(room, (double)least));
    return AIRY_EXIT_OK;
}

/* Before anything is made for so many. */
static int check_count(const struct service *s, const airy_stream_start_message *start)
{
    const uint64_t most = s->params->stream.max_images ? s->params->stream.max_images
                                                       : AIRY_STREAM_IMAGES_MAX;
    return start->number_of_images <= most
               ? AIRY_EXIT_OK
               : tool_fail(s->common,
                           "the start message announces %llu images, more than the %llu of "
                           "--max-images; where that is meant, raise it",
                           (unsigned long long)start->number_of_images, (unsigned long long)most);
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
    source->about = json_pack("{s:o, s:o}", "series_id", tool_json_unsigned(m->series_id),
                              "channel", tool_json_string(channel_of(s)));
    json_object_set_new(source->about, "series_unique_id", tool_json_string(m->unique_id));
    if (!source->meta.has_mask)
        return AIRY_EXIT_OK;
    s->mask = malloc(pixels);
    if (!s->mask)
        return tool_fail(s->common, "out of memory for a mask of %zu pixels", pixels);
    const airy_status status = airy_stream_mask(s->mask, start, channel_of(s));
    source->mask = s->mask;
    return status == AIRY_OK ? AIRY_EXIT_OK : tool_failed(s->common, status);
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

/* File, slots and kernels for images of this kind. */
static airy_status open_run(struct service *s, const airy_stream_pixels *kind)
{
    s->kind = *kind;
    s->has_kind = true;
    s->job.info.dtype = kind->dtype;
    s->job.run.progress = progress_step;
    s->job.run.user = &s->progress;
    const airy_live_params params = {.height = kind->height,
                                     .width = kind->width,
                                     .dtype = kind->dtype,
                                     .codec = kind->codec,
                                     .frames = s->job.frames,
                                     .run = s->job.run,
                                     .pattern = s->publisher ? on_pattern : NULL,
                                     .user = s};
    return airy_live_create(&s->live, s->mine.output, s->job.team.integrators, s->job.team.count,
                            &params);
}

/*
 * All that the first image would wait for. The start message does not say how images are
 * compressed: as those of the last series, or as most detectors do it.
 */
static airy_status prepare(struct service *s, const airy_stream_message *m)
{
    const airy_stream_start_message *start = &m->start;
    airy_stream_pixels kind = {.height = start->height,
                               .width = start->width,
                               .dtype = start->dtype,
                               .codec.codec = AIRY_CODEC_BSLZ4};
    if (s->has_kind)
        kind.codec = s->kind.codec;
    if (kind.codec.codec != AIRY_CODEC_NONE)
        kind.codec.elem_size = (uint32_t)airy_dtype_size(kind.dtype);
    airy_status status = AIRY_OK;
    if (start->has_dtype)
        status = open_run(s, &kind);
    if (status == AIRY_OK && s->publisher)
        status = publish_start(s, m);
    return status;
}

static int begin(struct service *s, const airy_stream_message *m)
{
    const double start = tool_now();
    s->mine = *s->params;
    s->path[0] = 0;
    s->complete = false;
    s->dtype_said = m->start.has_dtype;
    s->channels_said = m->start.channels > 0;
    s->progress = (struct progress){.common = s->common};
    atomic_store(&s->dropped, 0);
    atomic_store(&s->other, 0);
    atomic_store(&s->unmarked, false);
    char count[32] = "", detector[AIRY_STREAM_TEXT_MAX];
    snprintf(detector, sizeof(detector), "%s", m->start.detector);
    one_line(detector);
    if (m->start.number_of_images)
        snprintf(count, sizeof(count), "%llu ", (unsigned long long)m->start.number_of_images);
    tool_say(s->common, "series %llu: %simage%s of %zu x %zu%s%s", (unsigned long long)m->series_id,
             count, m->start.number_of_images == 1 ? "" : "s", m->start.height, m->start.width,
             *detector ? ", " : "", detector);
    int code = name_output(s, m->series_id);
    if (code == AIRY_EXIT_OK)
        code = check_channel(s, &m->start);
    if (code == AIRY_EXIT_OK)
        code = check_count(s, &m->start);
    if (code == AIRY_EXIT_OK)
        code = check_size(s, &m->start);
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
    if (code == AIRY_EXIT_OK) {
        const airy_status status = prepare(s, m);
        code = status == AIRY_OK ? AIRY_EXIT_OK : tool_failed(s->common, status);
    }
    s->setup = tool_now() - start;
    return code;
}

static airy_status on_start(void *user, const airy_stream_message *m)
{
    struct service *s = user;
    char sentence[1024];
    s->said = false;
    s->why[0] = 0;
    atomic_store(&s->heard, true);
    tool_hold(true, false); /* its line is to say of which series it is */
    const int code = begin(s, m);
    snprintf(sentence, sizeof(sentence), "%s", tool_held());
    tool_hold(false, false);
    if (code != AIRY_EXIT_OK)
        fail_series(s, m->series_id, "%s", sentence);
    return code == AIRY_EXIT_OK ? AIRY_OK : AIRY_ERR_CANCELLED;
}

/* The start message says what pixels are like, and the first image how they are compressed. */
static airy_status on_first(void *user, const airy_stream_message *m)
{
    struct service *s = user;
    const airy_stream_pixels *pixels;
    if (s->complete)
        return AIRY_OK;
    airy_status status = airy_stream_find_channel(&pixels, &m->image, channel_of(s));
    if (status == AIRY_ERR_NOT_FOUND && s->channels_said)
        return AIRY_ERR_CORRUPT;
    if (status != AIRY_OK)
        return status;
    if (pixels->height != s->job.info.height || pixels->width != s->job.info.width ||
        (s->dtype_said && pixels->dtype != s->source.info.dtype))
        return AIRY_ERR_CORRUPT;
    if (!s->live || pixels->dtype != s->kind.dtype || pixels->codec.codec != s->kind.codec.codec) {
        airy_live_destroy(&s->live); /* what was prepared is not for these; no frame is in it */
        status = open_run(s, pixels);
    }
    progress_begin(&s->progress, s->common, "frames");
    return status;
}

/* The row of an image; false: --frames leaves it out. */
static bool find_row(const struct service *s, uint64_t *row, uint64_t image)
{
    const airy_run_params *run = &s->job.run;
    if (s->job.frames == 0) {
        *row = image;
        return true;
    }
    if (image < run->first || image >= run->last || (image - run->first) % run->step)
        return false;
    *row = (image - run->first) / run->step;
    return true;
}

/* One that is left out is counted. */
static bool row_of(struct service *s, uint64_t *row, uint64_t image)
{
    const bool found = find_row(s, row, image);
    if (!found)
        atomic_fetch_add(&s->other, 1);
    return found;
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

static airy_status lose_within(struct service *s, uint64_t row, const char *why, double timeout)
{
    const airy_status status = airy_live_lose(s->live, row, why, timeout);
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
    if (room)
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
            status = lose_within(s, row, DROPPED, HUGE_VAL);
}

/* A row whose image is of no use; with --drop it may be given up when the series is over. */
static airy_status lose(struct service *s, uint64_t row, const char *why)
{
    if (!s->params->stream.drop)
        return lose_within(s, row, why, HUGE_VAL);
    const airy_status status = lose_within(s, row, why, 0);
    return status != AIRY_ERR_TIMED_OUT ? status
           : note_dropped(s, row)       ? AIRY_OK
                                        : lose_within(s, row, DROPPED, HUGE_VAL);
}

static airy_status put(struct service *s, const airy_live_frame *frame)
{
    const double poll = 0.1; /* s */
    for (;;) {
        const airy_status status = airy_live_put(s->live, frame, s->params->stream.drop ? 0 : poll);
        if (status != AIRY_ERR_TIMED_OUT)
            return status;
        if (s->params->stream.drop)
            return note_dropped(s, frame->number)
                       ? AIRY_OK
                       : lose_within(s, frame->number, DROPPED, HUGE_VAL);
        if (tool_interrupted())
            return AIRY_ERR_CANCELLED;
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
        return lose(s, row, "its size, type or compression is not that of the series");
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

static void on_conflict(void *user, uint64_t image_id)
{
    struct service *s = user;
    uint64_t row;
    if (s->live && find_row(s, &row, image_id) && airy_live_spoil(s->live, row) != AIRY_OK)
        atomic_store(&s->unmarked, true);
}

static void on_say(void *user, const char *sentence, airy_hint hint)
{
    struct service *s = user;
    char line[1024], next[AIRY_HINT_TEXT] = "";
    atomic_store(&s->heard, true); /* the address is right */
    snprintf(line, sizeof(line), "%s", sentence);
    one_line(line);
    if (s->params->output) /* there is a file to go on with */
        tool_hint(next, sizeof(next), s->common, hint);
    tool_say(s->common, "%s%s%s", line, *next ? "; " : "", next);
}

static bool on_stop(void *user)
{
    struct service *s = user;
    if (!atomic_load(&s->heard) && tool_now() - s->silent > SILENCE_S) {
        atomic_store(&s->heard, true);
        tool_say(s->common,
                 "no series has begun within %d s; is the address right, and the detector's stream "
                 "on, in format cbor, and without another receiver? Waiting on",
                 SILENCE_S);
    }
    return tool_interrupted();
}

/* What became of the images of a series: each that was to come is in one of these. */
struct counts {
    uint64_t integrated, resumed; /* resumed: by a run before */
    uint64_t bad;                 /* came, and are of no use */
    uint64_t dropped, lost;       /* lost: did not come */
    uint64_t left_out;            /* by --frames */
};

/* spoiled: given up before the end, as they came and could not be read. */
static struct counts count_rows(const struct service *s, const airy_live_info *info,
                                uint64_t spoiled)
{
    const uint64_t dropped = atomic_load(&s->dropped), under_way = info->put - info->done,
                   given_up = info->lost + info->missing + under_way, known = spoiled + dropped;
    return (struct counts){.integrated = info->done - info->bad,
                           .resumed = info->resumed,
                           .bad = info->bad + spoiled,
                           .dropped = dropped,
                           .lost = given_up > known ? given_up - known : 0,
                           .left_out = atomic_load(&s->other)};
}

/* A series that failed: images that came when there was no run for them, or never, are lost. */
static void count_rest(struct counts *n, const struct service *s, const airy_stream_report *series)
{
    const uint64_t images = series->expected ? series->expected : series->received,
                   chosen = s->open && s->job.frames ? s->job.frames : images,
                   rows = chosen < images ? chosen : images,
                   known = n->integrated + n->resumed + n->bad + n->dropped + n->lost;
    n->lost += rows > known ? rows - known : 0;
    n->left_out = images - rows;
}

/* The file that has what is there, or NULL; text: room for its name. */
static const char *file_of(const struct service *s, int code, char text[4300])
{
    if (!s->mine.output || !*s->path)
        return NULL;
    snprintf(text, 4300, "%s%s", s->mine.output, code == AIRY_EXIT_FAILED ? ".partial" : "");
    return tool_exists(text) ? text : NULL;
}

/* Which file has what is there, and how to go on. */
static const char *way_on(const struct service *s, const airy_live_info *info, char text[4600])
{
    char file[4300];
    const char *name = file_of(s, AIRY_EXIT_FAILED, file);
    const unsigned long long good = info->done - info->bad + info->resumed;
    text[0] = 0;
    if (name)
        snprintf(text, 4600,
                 "; %s has %llu pattern%s, and the same command with --resume goes on when the "
                 "series is played again, or with the detector's own file as input",
                 name, good, tool_s(good));
    return text;
}

/* What is missing, and what to do. */
static int incomplete(struct service *s, const airy_stream_report *series,
                      const airy_live_info *info, airy_status status)
{
    char way[4600], sentence[1024];
    const bool rows = status == AIRY_ERR_INCOMPLETE || status == AIRY_ERR_CORRUPT;
    snprintf(sentence, sizeof(sentence), "%s", airy_last_error());
    way_on(s, info, way);
    return fail_series(s, series->id, "%s%s%s%s", rows ? "is not complete: " : "", sentence, way,
                       rows && *way ? "; --on-error skip does without such images" : "");
}

/* counts: what became of the series, whose file and code these are. */
struct outcome {
    const airy_stream_report *series;
    airy_live_info info;
    struct counts counts;
    uint64_t published;
    int code;
};

static int report_json(const struct service *s, const struct outcome *o, const char *file)
{
    const airy_stream_report *r = o->series;
    const struct counts *n = &o->counts;
    const double seconds = r->seconds > 0 ? r->seconds : 1e-9;
    json_t *json = json_pack(
        "{s:o, s:b, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:b, s:o, s:o, "
        "s:o, s:o, s:I, s:I, s:I}",
        "series", tool_json_unsigned(r->id), "complete", o->code != AIRY_EXIT_FAILED, "expected",
        (json_int_t)r->expected, "received", (json_int_t)r->received, "integrated",
        (json_int_t)n->integrated, "resumed", (json_int_t)n->resumed, "bad", (json_int_t)n->bad,
        "lost", (json_int_t)n->lost, "dropped", (json_int_t)n->dropped, "left_out",
        (json_int_t)n->left_out, "duplicates", (json_int_t)r->duplicates, "beyond",
        (json_int_t)r->beyond, "broken", (json_int_t)r->broken, "stray", (json_int_t)r->stray,
        "ended", r->ended, "seconds", tool_json_number(r->seconds), "setup_seconds",
        tool_json_number(s->setup), "frames_per_second",
        tool_json_number((double)r->received / seconds), "megabytes_per_second",
        tool_json_number((double)r->bytes / seconds * 1e-6), "conflicts", (json_int_t)r->conflicts,
        "refused", (json_int_t)r->refused, "overfull", (json_int_t)r->overfull);
    if (!json)
        return tool_fail(s->common, "out of memory for the report");
    json_object_set_new(json, "output", file ? tool_json_string(file) : json_null());
    if (*s->why)
        json_object_set_new(json, "failure", tool_json_string(s->why));
    json_object_set_new(
        json, "latency_ms",
        json_pack("{s:o, s:o, s:o, s:o}", "first", tool_json_number(o->info.first * 1e3), "p50",
                  tool_json_number(o->info.p50 * 1e3), "p99", tool_json_number(o->info.p99 * 1e3),
                  "max", tool_json_number(o->info.max * 1e3)));
    if (s->publisher)
        json_object_set_new(json, "published", json_integer((json_int_t)o->published));
    return tool_print_json(s->common, json);
}

/* A count that is worth a word: ", 3 dropped". */
static void add_count(char text[512], uint64_t count, const char *what)
{
    const size_t used = strlen(text);
    if (count)
        snprintf(text + used, 512 - used, ", %llu %s", (unsigned long long)count, what);
}

static int report(const struct service *s, const struct outcome *o)
{
    const airy_stream_report *r = o->series;
    const airy_live_info *info = &o->info;
    const struct counts *n = &o->counts;
    char odd[512] = "", bytes[32], device[64] = "", expected[32] = "", name[4300];
    const char *file = file_of(s, o->code, name);
    const double seconds = r->seconds > 0 ? r->seconds : 1e-9;
    if (s->common->json)
        return report_json(s, o, file);
    if (r->received == 0 || (o->code == AIRY_EXIT_FAILED && info->put == 0))
        return AIRY_EXIT_OK; /* its failure is said */
    add_count(odd, n->resumed, "done before");
    add_count(odd, n->bad, "bad");
    add_count(odd, n->dropped, "dropped");
    add_count(odd, n->left_out, "left out by --frames");
    add_count(odd, r->duplicates, "twice");
    add_count(odd, r->refused, "refused messages of other senders");
    add_count(odd, r->overfull, "connections ended for their memory");
    add_count(odd, r->beyond, "beyond the end");
    add_count(odd, r->broken, "broken messages");
    add_count(odd, r->stray, "stray messages");
    add_count(odd, o->published, "published");
    if (r->expected)
        snprintf(expected, sizeof(expected), " of %llu", (unsigned long long)r->expected);
    if (info->batch)
        snprintf(device, sizeof(device), "; %zu a batch, %zu slot%s", info->batch, info->slots,
                 info->slots == 1 ? "" : "s");
    tool_say(s->common,
             "%s: series %llu, %llu%s images in %.3g s, %llu integrated, %llu lost%s; %.4g "
             "frames/s, %s/s; latency first %.3g ms, p50 %.3g ms, p99 %.3g ms, max %.3g ms%s",
             file ? file : "no file", (unsigned long long)r->id, (unsigned long long)r->received,
             expected, r->seconds, (unsigned long long)n->integrated, (unsigned long long)n->lost,
             odd, (double)r->received / seconds, tool_bytes(bytes, (double)r->bytes / seconds),
             info->first * 1e3, info->p50 * 1e3, info->p99 * 1e3, info->max * 1e3, device);
    return AIRY_EXIT_OK;
}

/* The run ends where it is; OUT.partial stays if it has anything. */
static void drop_run(struct service *s, airy_live_info *info)
{
    if (s->live)
        (void)airy_live_cancel(s->live, info); /* the series has failed already */
    airy_live_destroy(&s->live);
    progress_end(&s->progress);
}

/* All images were handed on: the file gets its name, or stays partial. */
static int finish_run(struct service *s, struct outcome *o)
{
    const airy_stream_report *series = o->series;
    airy_live_info *info = &o->info;
    airy_live_get_info(s->live, info);
    const uint64_t spoiled = info->lost;
    lose_dropped(s);
    const airy_status status = airy_live_finish(s->live, info);
    progress_end(&s->progress);
    o->counts = count_rows(s, info, spoiled);
    if (status != AIRY_OK) {
        const int code = incomplete(s, series, info, status);
        airy_live_destroy(&s->live);
        return code;
    }
    const unsigned long long bad = o->counts.bad + o->counts.lost + o->counts.dropped;
    if (bad)
        tool_say(s->common, "series %llu: %llu rows are bad%s%s", (unsigned long long)series->id,
                 bad, *info->first_error ? ", the first: " : "", info->first_error);
    integration_say_empty(s->common, (size_t)info->done, info->empty, info->first_empty);
    return bad ? AIRY_EXIT_PARTLY : AIRY_EXIT_OK;
}

/* It is not known whose images the file has, or of an image which of two. */
static int doubt(struct service *s, const struct outcome *o)
{
    const airy_stream_report *r = o->series;
    char way[4600], file[4300];
    const char *name = file_of(s, AIRY_EXIT_FAILED, file);
    if (r->rivals)
        return fail_series(s, r->id,
                           "two senders began it, so that its images may be of either; remove %s "
                           "and integrate the detector's own file, and see --allow",
                           name ? name : "what was made of it");
    if (atomic_load(&s->unmarked))
        return fail_series(s, r->id,
                           "image %llu came twice with different pixels, and there was no memory "
                           "to mark such rows as bad; remove %s and integrate the detector's own "
                           "file",
                           (unsigned long long)r->conflict_id, name ? name : "what was made of it");
    way_on(s, &o->info, way);
    return fail_series(s, r->id,
                       "image %llu came twice with different pixels%s, and nobody knows which is "
                       "the detector's%s",
                       (unsigned long long)r->conflict_id,
                       r->conflicts > 1 ? ", and so did others" : "", way);
}

/* What came of the series' run. */
static int finish(struct service *s, struct outcome *o)
{
    const airy_stream_report *series = o->series;
    char way[4600];
    if (s->complete)
        return AIRY_EXIT_OK;
    const bool doubtful = series->conflicts || series->rivals;
    if (!s->said && !tool_interrupted() && series->error.status == AIRY_OK && series->received &&
        !doubtful)
        return finish_run(s, o);
    drop_run(s, &o->info);
    o->counts = count_rows(s, &o->info, 0);
    count_rest(&o->counts, s, series);
    if (doubtful && !s->said)
        return doubt(s, o);
    way_on(s, &o->info, way);
    if (s->said)
        return AIRY_EXIT_FAILED;
    if (tool_interrupted())
        return fail_series(s, series->id, "stopped after %llu images%s",
                           (unsigned long long)series->received, way);
    if (series->error.status != AIRY_OK)
        return fail_series(s, series->id, "%s%s", series->error.text, way);
    return fail_series(s, series->id, "no image came%s", way);
}

/* Those who subscribe wait for it. */
static void publish_end(struct service *s, struct outcome *o)
{
    const airy_stream_report *r = o->series;
    if (!s->publisher || s->complete)
        return;
    if (o->code == AIRY_EXIT_FAILED)
        (void)airy_publisher_fail(s->publisher, r->id, r->unique_id, s->why, &o->published);
    else
        (void)airy_publisher_end(s->publisher, &o->published);
}

/* Nothing of the series is left. */
static void close_series(struct service *s)
{
    airy_live_destroy(&s->live);
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
}

/* SIZE_MAX: until Ctrl-C. */
static size_t wanted_series(const struct service *s)
{
    const size_t given = s->params->stream.series;
    return given ? given : s->named ? SIZE_MAX : 1;
}

static bool on_end(void *user, const airy_stream_report *series)
{
    struct service *s = user;
    struct outcome o = {.series = series};
    o.code = finish(s, &o);
    publish_end(s, &o);
    int code = o.code;
    if (!s->complete) {
        const int reported = report(s, &o);
        code = code == AIRY_EXIT_OK ? reported : code;
    }
    if (code == AIRY_EXIT_OK || code == AIRY_EXIT_PARTLY) {
        const int profiled = s->open ? team_profile(&s->job.team, s->common) : AIRY_EXIT_OK;
        code = profiled == AIRY_EXIT_OK ? code : profiled;
    }
    close_series(s);
    /* failed is worse than partly, which is worse than good */
    if (s->code == AIRY_EXIT_OK || code == AIRY_EXIT_FAILED || code == AIRY_EXIT_USAGE)
        s->code = code == AIRY_EXIT_USAGE ? AIRY_EXIT_FAILED : code;
    s->done++;
    return s->done < wanted_series(s) && !tool_interrupted();
}

static int serve(struct service *s, airy_stream_receiver *receiver)
{
    const struct stream_opt *opt = &s->params->stream;
    const airy_stream_handler handler = {.user = s,
                                         .start = on_start,
                                         .first = on_first,
                                         .image = on_image,
                                         .broken = on_broken,
                                         .conflict = on_conflict,
                                         .end = on_end,
                                         .say = on_say,
                                         .stop = on_stop,
                                         .max_images = opt->max_images,
                                         .idle = wanted_series(s) < SIZE_MAX ? opt->timeout : 0,
                                         .timeout = !opt->has_timeout   ? 0
                                                    : opt->timeout == 0 ? HUGE_VAL
                                                                        : opt->timeout};
    tool_say(s->common, "listening to %s%s", s->common->inputs.items[0],
             s->common->inputs.count > 1 ? " and others" : "");
    s->silent = tool_now();
    const airy_status status = airy_stream_serve(receiver, &handler);
    if (status == AIRY_ERR_CANCELLED && (s->named || s->done > 0))
        return s->code; /* Ctrl-C is how a service ends */
    if (status == AIRY_ERR_CANCELLED)
        return tool_fail(s->common, "stopped before a series came");
    if (status == AIRY_ERR_NOT_FOUND)
        return tool_fail(s->common, "%zu of %zu series came: %s (--timeout)", s->done,
                         wanted_series(s), airy_last_error());
    return status == AIRY_OK ? s->code : tool_failed(s->common, status);
}

enum { ALLOWED_MAX = 64 };

/* The addresses of --allow, cut out of `text`; 0: too many. */
static size_t split_allowed(const char *allowed[ALLOWED_MAX], char *text)
{
    size_t count = 0;
    char *rest = NULL;
    for (char *word = strtok_r(text, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
        if (count == ALLOWED_MAX)
            return 0;
        allowed[count++] = word;
    }
    return count;
}

/* Sockets and devices. Exit code. */
static int open_service(struct service *s, airy_stream_receiver **receiver,
                        const struct curve *curve, char *hosts)
{
    const struct common *common = s->common;
    const struct stream_opt *opt = &s->params->stream;
    const char *allowed[ALLOWED_MAX];
    const size_t count = split_allowed(allowed, hosts);
    if (opt->allow && count == 0)
        return tool_usage(common, "--allow '%.80s': expected 1 to %d addresses with commas between",
                          opt->allow, ALLOWED_MAX);
    const airy_stream_receiver_params params = {.endpoints = common->inputs.items,
                                                .count = common->inputs.count,
                                                .sockets = opt->sockets,
                                                .bind = opt->bind,
                                                .allow = opt->allow ? allowed : NULL,
                                                .allow_count = count,
                                                .queue = opt->queue,
                                                .max_message = opt->max_message,
                                                .memory = common->memory_limit / 4,
                                                .keys = curve_keys(curve, opt->bind)};
    const airy_publisher_params published = {.endpoint = opt->publish,
                                             .keys = curve_keys(curve, true)};
    struct common rest = *common; /* for the integration */
    rest.memory_limit -= params.memory;
    airy_status status = airy_stream_receiver_create(receiver, &params);
    if (status == AIRY_OK && opt->publish)
        status = airy_publisher_open(&s->publisher, &published);
    if (status != AIRY_OK) /* an address; there is no path to look at */
        return status == AIRY_ERR_PARAM ? tool_usage(common, "%s", airy_last_error())
                                        : tool_fail(common, "%s", airy_last_error());
    status = team_open(&s->team, &rest);
    return status == AIRY_OK ? AIRY_EXIT_OK : tool_failed(common, status);
}

int live_stream_run(const struct integrate_params *p, const airy_geometry *replayed)
{
    const struct common *common = &p->geometry.common;
    struct service s = {
        .params = p, .common = common, .replayed = replayed, .lock = PTHREAD_MUTEX_INITIALIZER};
    airy_stream_receiver *receiver = NULL;
    struct curve curve = {.keys = NULL};
    char hosts[4096];
    int code = live_stream_check_place(p);
    if (code != AIRY_EXIT_OK)
        return code;
    const int length = snprintf(hosts, sizeof(hosts), "%s", p->stream.allow ? p->stream.allow : "");
    if ((size_t)length >= sizeof(hosts))
        hosts[0] = 0; /* too many of them, which is refused */
    s.named = !p->output || strstr(p->output, "{series}");
    code = curve_open(&curve, common, &p->stream.curve);
    tool_catch_interrupts();
    if (code == AIRY_EXIT_OK)
        code = open_service(&s, &receiver, &curve, hosts);
    if (code == AIRY_EXIT_OK) {
        tool_say_device(common, s.team.devices[0]);
        code = serve(&s, receiver);
    }
    team_close(&s.team);
    airy_publisher_destroy(&s.publisher);
    airy_stream_receiver_destroy(&receiver);
    curve_close(&curve);
    return code;
}
