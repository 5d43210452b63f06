/* The job stream: what a receiver of the library gets of it, stopping it, and bad input. */
#include "check.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "airy/job.h"

#if AIRY_HAVE_ZMQ
#include "airy/stream.h"

enum { FRAMES = 5, HEIGHT = 30, WIDTH = 43, PIXELS = HEIGHT * WIDTH, BYTES = PIXELS * 2 };

/* A receiver on a thread of its own, which begins when the job says where it is bound. */
struct receiver {
    struct check *c;
    char url[96];
    bool begun;
    pthread_t thread;
    pthread_mutex_t lock;
    time_t until;
    uint16_t pixels[FRAMES][PIXELS]; /* image `id % FRAMES` */
    size_t images, wrong;
    airy_stream_start_message start;
    const airy_stream_keys *keys;
    bool ended;
    size_t steps, stop_at; /* calls of the progress hook; done images that it stops the job at; 0 */
};

static airy_status take_start(void *user, const airy_stream_message *message)
{
    struct receiver *r = user;
    r->start = message->start;
    return AIRY_OK;
}

static airy_status take_image(void *user, const airy_stream_message *message, uint64_t received_ns)
{
    struct receiver *r = user;
    const airy_stream_pixels *pixels = &message->image.pixels[0];
    (void)received_ns;
    pthread_mutex_lock(&r->lock);
    void *to = r->pixels[message->image.id % FRAMES];
    r->images++;
    if (pixels->codec.codec != AIRY_CODEC_NONE)
        r->wrong += airy_decode(to, BYTES, pixels->bytes, pixels->size, &pixels->codec) != AIRY_OK;
    else if (pixels->size == BYTES)
        memcpy(to, pixels->bytes, BYTES);
    else
        r->wrong++;
    pthread_mutex_unlock(&r->lock);
    return AIRY_OK;
}

static airy_status take_first(void *user, const airy_stream_message *image)
{
    (void)user;
    (void)image;
    return AIRY_OK;
}

static bool take_end(void *user, const airy_stream_report *series)
{
    struct receiver *r = user;
    r->ended = series->ended;
    return false;
}

static bool is_over(void *user)
{
    return time(NULL) >= ((const struct receiver *)user)->until;
}

static void *receive(void *user)
{
    struct receiver *r = user;
    const char *endpoints[] = {r->url};
    const airy_stream_handler handler = {.user = r,
                                         .start = take_start,
                                         .first = take_first,
                                         .image = take_image,
                                         .end = take_end,
                                         .stop = is_over};
    const airy_stream_receiver_params params = {
        .endpoints = endpoints, .count = 1, .keys = r->keys};
    airy_stream_receiver *receiver = NULL;
    if (airy_stream_receiver_create(&receiver, &params) == AIRY_OK)
        (void)airy_stream_serve(receiver, &handler);
    airy_stream_receiver_destroy(&receiver);
    return NULL;
}

static void hear(void *user, airy_log_level level, const char *text)
{
    struct receiver *r = user;
    static const char bound[] = "bound to ";
    (void)level;
    if (strncmp(text, bound, sizeof(bound) - 1) != 0 || r->begun)
        return;
    snprintf(r->url, sizeof(r->url), "%.90s", text + sizeof(bound) - 1);
    r->begun = pthread_create(&r->thread, NULL, receive, r) == 0;
}

static bool step(void *user, size_t done, size_t total)
{
    struct receiver *r = user;
    (void)total;
    r->steps++;
    return !r->stop_at || done < r->stop_at;
}

static uint16_t *make_pixels(struct check *c)
{
    uint16_t *pixels = check_alloc(c, FRAMES * BYTES);
    check_rand(c, pixels, AIRY_DTYPE_U16, FRAMES * PIXELS, 0, 60000);
    return pixels;
}

/* The job of these pixels, which a receiver listens to. */
static airy_job *open_job(struct receiver *r, struct check *c, const uint16_t *pixels)
{
    airy_job *job = NULL;
    const airy_host_view view = {
        .data = pixels, .dtype = AIRY_DTYPE_U16, .ndim = 3, .shape = {FRAMES, HEIGHT, WIDTH}};
    const airy_job_hooks hooks = {.progress = step, .message = hear, .user = r};
    memset(r, 0, sizeof(*r));
    r->c = c;
    r->until = time(NULL) + 120;
    pthread_mutex_init(&r->lock, NULL);
    CHECK_OK(c, airy_job_create(&job, "stream", NULL, &hooks));
    CHECK_OK(c, airy_job_set_array(job, "stack", &view));
    CHECK_OK(c, airy_job_set(job, "to", "tcp://127.0.0.1:*"));
    CHECK_OK(c, airy_job_set(job, "patience", "100"));
    return job;
}

static void close_job(struct receiver *r, airy_job *job)
{
    if (r->begun)
        pthread_join(r->thread, NULL);
    pthread_mutex_destroy(&r->lock);
    airy_job_destroy(&job);
}

static double number_of(struct check *c, const airy_job *job, const char *name)
{
    double value = -1;
    CHECK_OK(c, airy_job_get_number(job, name, &value));
    return value;
}

static void check_text(struct check *c, const airy_job *job, const char *name, const char *want)
{
    const char *text = "";
    CHECK_OK(c, airy_job_get_text(job, name, &text));
    CHECK(c, strcmp(text, want) == 0);
}

/* Five frames, as they are and encoded, read ahead and one after another. */
static void check_played(struct check *c, const char *filter, bool ahead)
{
    if (!check_case(c, "job_stream_%s%s", filter, ahead ? "" : "_read_late"))
        return;
    struct receiver *r = check_alloc(c, sizeof(*r));
    const uint16_t *pixels = make_pixels(c);
    airy_job *job = open_job(r, c, pixels);
    CHECK_OK(c, airy_job_set(job, "filter", filter));
    CHECK_OK(c, airy_job_set(job, "series", "7"));
    CHECK_OK(c, airy_job_set_flag(job, "no-preload", !ahead));
    CHECK_OK(c, airy_job_set(job, "pixel", "1e-4,2e-4"));
    CHECK_OK(c, airy_job_set(job, "dist", "0.25"));
    CHECK_OK(c, airy_job_set(job, "poni1", "0.001"));
    CHECK_OK(c, airy_job_set(job, "poni2", "0.002"));
    CHECK_OK(c, airy_job_run(job));
    CHECK_COUNT(c, number_of(c, job, "images"), FRAMES);
    CHECK_COUNT(c, number_of(c, job, "series"), 1);
    CHECK_COUNT(c, number_of(c, job, "sockets"), 1);
    check_text(c, job, "preloaded", ahead ? "true" : "false");
    check_text(c, job, "stopped", "false");
    CHECK(c, strncmp(airy_job_summary(job), "5 images in ", 12) == 0);
    close_job(r, job);
    CHECK(c, r->begun && r->ended && r->steps > 0);
    CHECK_COUNT(c, r->images, FRAMES);
    CHECK_COUNT(c, r->wrong, 0);
    CHECK_COUNT(c, r->start.number_of_images, FRAMES);
    CHECK(c, r->start.height == HEIGHT && r->start.width == WIDTH && r->start.has_poni);
    CHECK(c, r->start.poni.dist == 0.25 && r->start.poni.poni2 == 0.002);
    CHECK(c, memcmp(r->pixels, pixels, FRAMES * BYTES) == 0);
}

/* A part of a stream, and images that are left out. */
static void check_chosen(struct check *c)
{
    if (!check_case(c, "job_stream_chosen"))
        return;
    struct receiver *r = check_alloc(c, sizeof(*r));
    const uint16_t *pixels = make_pixels(c);
    airy_job *job = open_job(r, c, pixels);
    CHECK_OK(c, airy_job_set(job, "frames", "1:4"));
    CHECK_OK(c, airy_job_set(job, "loop", "2"));
    CHECK_OK(c, airy_job_set(job, "lose", "0,1,2,5"));
    CHECK_OK(c, airy_job_run(job));
    CHECK_COUNT(c, number_of(c, job, "images"), 2);
    CHECK_COUNT(c, number_of(c, job, "lost"), 4);
    CHECK_COUNT(c, number_of(c, job, "bytes"), 2 * BYTES);
    close_job(r, job);
    CHECK_COUNT(c, r->images, 2);
    CHECK(c, memcmp(r->pixels[3], pixels + PIXELS, BYTES) == 0);
    CHECK(c, memcmp(r->pixels[4], pixels + 2 * (size_t)PIXELS, BYTES) == 0);
}

static const char *path_of(char path[512], const char *folder, const char *name)
{
    snprintf(path, 512, "%.480s/%s", folder, name);
    return path;
}

/* Both sides have keys from files, which are never overwritten. */
static void check_encrypted(struct check *c)
{
    char path[512], key[AIRY_STREAM_KEY_BYTES], secret[512], server[512];
    if (!check_case(c, "job_stream_encrypted"))
        return;
    const char *folder = check_tmp(c);
    if (airy_stream_keys_write(path_of(path, folder, "det"), key) == AIRY_ERR_UNSUPPORTED) {
        check_skip(c, "%s", airy_last_error());
        return;
    }
    CHECK_COUNT(c, strlen(key), AIRY_STREAM_KEY_BYTES - 1);
    CHECK_FAILS(c, airy_stream_keys_write(path, NULL), AIRY_ERR_EXISTS, "det.pub' is there");
    CHECK_OK(c, airy_stream_keys_write(path_of(path, folder, "rec"), NULL));
    CHECK_FAILS(c, airy_stream_keys_write(path_of(path, folder, "none/rec"), NULL), AIRY_ERR_IO,
                "cannot write");
    const airy_stream_key_files files = {.secret = path_of(secret, folder, "rec.key"),
                                         .server = path_of(server, folder, "det.pub")};
    airy_stream_keys *keys = NULL;
    CHECK_OK(c, airy_stream_keys_read(&keys, &files));
    CHECK(c, keys && keys->server && strcmp(keys->server, key) == 0);
    struct receiver *r = check_alloc(c, sizeof(*r));
    const uint16_t *pixels = make_pixels(c);
    airy_job *job = open_job(r, c, pixels);
    r->keys = keys;
    CHECK_OK(c, airy_job_set(job, "curve-key", path_of(path, folder, "det.key")));
    CHECK_OK(c, airy_job_set(job, "curve-allow", path_of(path, folder, "rec.pub")));
    CHECK_OK(c, airy_job_run(job));
    close_job(r, job);
    airy_stream_keys_free(&keys);
    CHECK_COUNT(c, r->images, FRAMES);
    CHECK(c, memcmp(r->pixels, pixels, FRAMES * BYTES) == 0);
}

/* What was sent stays sent. */
static void check_stopped(struct check *c)
{
    if (!check_case(c, "job_stream_stopped"))
        return;
    struct receiver *r = check_alloc(c, sizeof(*r));
    char sentence[96];
    airy_job *job = open_job(r, c, make_pixels(c));
    CHECK_OK(c, airy_job_set(job, "loop", "1000000"));
    CHECK_OK(c, airy_job_set(job, "rate", "200"));
    r->stop_at = 20;
    CHECK_FAILS(c, airy_job_run(job), AIRY_ERR_CANCELLED, "the stream was cancelled after ");
    const double images = number_of(c, job, "images");
    snprintf(sentence, sizeof(sentence), "the stream was cancelled after %.0f images", images);
    CHECK(c, strcmp(airy_last_error(), sentence) == 0);
    CHECK(c, images >= 20 && images < 5e6);
    check_text(c, job, "stopped", "true");
    CHECK_COUNT(c, number_of(c, job, "series"), 0);
    close_job(r, job);
    CHECK(c, r->images <= (size_t)images);
    /* Nobody listens, and it is stopped as it begins to read. */
    job = open_job(r, c, make_pixels(c));
    airy_job_cancel(job);
    CHECK_FAILS(c, airy_job_run(job), AIRY_ERR_CANCELLED, "cancelled before the run");
    CHECK(c, *airy_job_summary(job) == 0);
    close_job(r, job);
}

static void check_refused(struct check *c)
{
    static const struct refusal {
        const char *name, *value;
        airy_status status;
        airy_subject subject;
        const char *sentence;
    } refusals[] = {
        {"to", "http://a:1", AIRY_ERR_PARAM, AIRY_SUBJECT_ADDRESS, "URL 'http://a:1': expected"},
        {"to", "tcp://a:70000", AIRY_ERR_PARAM, AIRY_SUBJECT_ADDRESS, "a port of at most 65535"},
        {"connect", "on", AIRY_ERR_PARAM, AIRY_SUBJECT_ADDRESS, "to connect takes a host"},
        {"curve-allow", "a.pub", AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
         "curve-allow goes with curve-key=FILE"},
        {"curve-key", "a.key", AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
         "curve-key: others connect here, and curve-allow=FILE"},
        {"lose", "1/0", AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER, "lose 1/0: expected 1/N, or"},
        {"lose", "3,,4", AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER, "lose 3,,4: expected 1/N, or"},
        {"shuffle", "4097", AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER, "shuffle 4097: expected"},
        {"filter", "gzip", AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
         "filter gzip: expected none, bslz4 or lz4"},
        {"rate", "0", AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER, "rate 0: expected"},
        {"channels", "2", AIRY_ERR_SHAPE, AIRY_SUBJECT_PARAMETER,
         "channels 2: 5 frames are no whole number of images"},
        {"frames", "3:9", AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER, "frames 3:9: array has 5 frames"},
    };
    if (!check_case(c, "job_stream_refused"))
        return;
    struct receiver *r = check_alloc(c, sizeof(*r));
    const uint16_t *pixels = make_pixels(c);
    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
        const struct refusal *bad = &refusals[i];
        airy_error error;
        airy_job *job = open_job(r, c, pixels);
        airy_status status = airy_job_set(job, bad->name, bad->value);
        CHECK_FAILS(c, status == AIRY_OK ? airy_job_run(job) : status, bad->status, bad->sentence);
        airy_error_get(&error);
        CHECK(c, error.subject == bad->subject);
        CHECK(c, *airy_job_summary(job) == 0);
        close_job(r, job);
    }
    airy_job *job = open_job(r, c, pixels);
    CHECK_OK(c, airy_job_reset(job, "to"));
    CHECK_FAILS(c, airy_job_check(job), AIRY_ERR_PARAM, "to is missing; give a receiver");
    close_job(r, job);
}

void check_job_stream(struct check *c)
{
    /* No device takes part: once is enough. */
    if (!c->is_cpu)
        return;
    check_played(c, "none", true);
    check_played(c, "bslz4", true);
    check_played(c, "lz4", false);
    check_chosen(c);
    check_encrypted(c);
    check_stopped(c);
    check_refused(c);
}
#else
void check_job_stream(struct check *c)
{
    static const uint16_t pixels[2];
    const airy_host_view view = {
        .data = pixels, .dtype = AIRY_DTYPE_U16, .ndim = 3, .shape = {1, 1, 2}};
    airy_job *job = NULL;
    if (!c->is_cpu || !check_case(c, "job_stream_lacking"))
        return;
    CHECK_OK(c, airy_job_create(&job, "stream", NULL, NULL));
    CHECK_OK(c, airy_job_set_array(job, "stack", &view));
    CHECK_OK(c, airy_job_set(job, "to", "tcp://127.0.0.1:*"));
    CHECK_FAILS(c, airy_job_run(job), AIRY_ERR_UNSUPPORTED, "lacks libzmq and libcbor");
    airy_job_destroy(&job);
}
#endif
