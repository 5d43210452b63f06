/* A live run: sockets and devices that stay open, and series after series. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "jobs/integrate/resume.h"
#include "jobs/integrate/series_service.h"

enum { SILENCE_S = 20 }; /* nothing has come: worth a word */

static void on_say(void *user, const char *sentence, airy_hint hint)
{
    struct airy_service *s = user;
    char next[AIRY_HINT_TEXT] = "";
    atomic_store(&s->heard, true); /* the address is right */
    if (s->v->output)              /* there is a file to go on with */
        airy_series_hint(next, s->job, hint);
    airy_series_say(s, AIRY_LOG_WARN, "%s%s%s", sentence, *next ? "; " : "", next);
}

static bool on_stop(void *user)
{
    struct airy_service *s = user;
    if (!atomic_load(&s->heard) && (double)(airy_clock_ns() - s->silent_ns) * 1e-9 > SILENCE_S &&
        !atomic_exchange(&s->heard, true))
        airy_series_say(s, AIRY_LOG_WARN,
                        "no series has begun within %d s; is the address right, and the "
                        "detector's stream on, in format cbor, and without another receiver? "
                        "Waiting on",
                        SILENCE_S);
    return airy_series_is_cancelled(s);
}

/* The status of the run, of all series so far. */
static airy_status status_so_far(const struct airy_service *s)
{
    if (s->failed && airy_series_wanted(s) == 1)
        return airy_error_restore(&s->failure);
    AIRY_FAIL_IF(s->failed, AIRY_ERR_INCOMPLETE, "%zu of %zu series failed", s->failed, s->done);
    return s->partly ? AIRY_PARTLY : AIRY_OK;
}

static airy_status serve(struct airy_service *s, airy_stream_receiver *receiver)
{
    const struct airy_series_values *v = &s->v->series;
    const struct airy_job_list *inputs = &s->v->stack.paths;
    const size_t wanted = airy_series_wanted(s);
    const bool patient = !airy_job_is_set(s->job, "timeout");
    const airy_stream_handler handler = {.user = s,
                                         .start = airy_series_start,
                                         .first = airy_series_first,
                                         .image = airy_series_image,
                                         .broken = airy_series_broken,
                                         .conflict = airy_series_conflict,
                                         .end = airy_series_end,
                                         .say = on_say,
                                         .stop = on_stop,
                                         .max_images = v->max_images,
                                         .idle = wanted < SIZE_MAX && !patient ? v->timeout : 0,
                                         .timeout = v->timeout == 0 ? HUGE_VAL : v->timeout};
    (void)airy_series_step(s, 0, 0); /* the devices are open */
    airy_series_say(s, AIRY_LOG_WARN, "listening to %s%s", inputs->items[0],
                    inputs->count > 1 ? " and others" : "");
    s->silent_ns = airy_clock_ns();
    const airy_status status = airy_stream_serve(receiver, &handler);
    if (status == AIRY_ERR_CANCELLED && (s->named || s->done > 0))
        return status_so_far(s); /* cancelling is how a service ends */
    AIRY_FAIL_IF(status == AIRY_ERR_CANCELLED, AIRY_ERR_CANCELLED,
                 "cancelled before a series came");
    if (status == AIRY_ERR_NOT_FOUND) {
        airy_error error;
        airy_error_get(&error);
        AIRY_FAIL_HINT_IF(true, AIRY_ERR_NOT_FOUND, AIRY_HINT_STATED, AIRY_SUBJECT_NONE,
                          "%zu of %zu series came: %s (timeout)", s->done, wanted, error.text);
    }
    AIRY_TRY(status);
    return status_so_far(s);
}

/* Cut `hosts` at its commas. */
static size_t split_allowed(const char *allowed[AIRY_SERIES_ALLOWED], char *hosts)
{
    size_t count = 0;
    char *rest = NULL;
    for (char *word = strtok_r(hosts, ",", &rest); word && count < AIRY_SERIES_ALLOWED;
         word = strtok_r(NULL, ",", &rest))
        allowed[count++] = word;
    return count;
}

static airy_status open_sockets(struct airy_service *s, airy_stream_receiver **receiver,
                                const airy_stream_keys *keys, char *hosts)
{
    const struct airy_series_values *v = &s->v->series;
    const struct airy_job_list *inputs = &s->v->stack.paths;
    const char *allowed[AIRY_SERIES_ALLOWED];
    const airy_stream_receiver_params params = {.endpoints = (const char *const *)inputs->items,
                                                .count = inputs->count,
                                                .sockets = v->sockets,
                                                .bind = v->bind,
                                                .allow = hosts ? allowed : NULL,
                                                .allow_count = hosts ? split_allowed(allowed, hosts)
                                                                     : 0,
                                                .queue = v->queue,
                                                .max_message = v->max_message,
                                                .memory = s->v->compute.memory_limit / 4,
                                                .keys = airy_curve_side(keys, v->bind)};
    const airy_publisher_params published = {.endpoint = v->publish,
                                             .keys = airy_curve_side(keys, true)};
    s->compute.memory_limit -= params.memory;
    airy_status status = airy_stream_receiver_create(receiver, &params);
    if (status == AIRY_OK && v->publish)
        status = airy_publisher_open(&s->publisher, &published);
    return airy_hint_becomes(AIRY_HINT_ACCESS, AIRY_HINT_NONE, status); /* there is no path */
}

/* Sockets and devices. */
static airy_status open_service(struct airy_service *s, airy_stream_receiver **receiver)
{
    const struct airy_series_values *v = &s->v->series;
    airy_stream_keys *keys = NULL;
    char *hosts = v->allow ? strdup(v->allow) : NULL;
    airy_status status = v->allow && !hosts ? airy_fail(AIRY_ERR_MEMORY, "out of memory")
                                            : airy_job_read_curve(&keys, &v->curve);
    if (status == AIRY_OK)
        status = open_sockets(s, receiver, keys, hosts);
    airy_stream_keys_free(&keys);
    free(hosts);
    AIRY_TRY(status);
    AIRY_TRY(airy_job_open_devices(s->job, &s->compute));
    return airy_job_put_devices(s->job);
}

/* An output can be made where it is to be: the first series would be lost else. */
static airy_status check_folder(const char *output)
{
    const char *slash = strrchr(output, '/');
    char folder[AIRY_PARTIAL_PATH];
    struct stat about;
    AIRY_TRY(airy_job_partial_path(folder, output));
    snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash - output) + 1 : 1,
             slash ? output : ".");
    AIRY_FAIL_HINT_IF(stat(folder, &about) != 0 || !S_ISDIR(about.st_mode), AIRY_ERR_IO,
                      AIRY_HINT_STATED, AIRY_SUBJECT_FILE,
                      "'%s': there is no folder '%s'; make it first", output, folder);
    AIRY_FAIL_HINT_IF(
        access(folder, W_OK | X_OK) != 0, AIRY_ERR_IO, AIRY_HINT_STATED, AIRY_SUBJECT_FILE,
        "'%s': nothing can be written into '%s'; choose another folder", output, folder);
    return AIRY_OK;
}

/* Files that each series needs. */
static airy_status check_files(const airy_job *job)
{
    for (size_t i = 0; i < job->row_count; i++) {
        const airy_parameter *p = &job->rows[i]->p;
        char *path = NULL, name[AIRY_PARTIAL_PATH];
        struct stat about;
        if (p->role != AIRY_ROLE_READ || !airy_job_is_set(job, p->name))
            continue;
        AIRY_TRY(airy_job_get(job, p->name, &path));
        const char *dataset = path ? strstr(path, "::") : NULL;
        snprintf(name, sizeof(name), "%.*s", dataset ? (int)(dataset - path) : 4096,
                 path ? path : ".");
        airy_job_text_free(path);
        if (stat(name, &about) != 0)
            return airy_fail_system(AIRY_SUBJECT_FILE, errno, "cannot open '%s': %s", name,
                                    strerror(errno));
    }
    return AIRY_OK;
}

static airy_status check_places(const airy_job *job)
{
    const struct airy_integrate_values *v = job->values;
    AIRY_FAIL_ON_IF(!v->output && !v->series.publish && !airy_job_takes(job, AIRY_JOB_EVENT_ROW),
                    AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s is missing: name a file, an address to publish on, or take events",
                    "output");
    AIRY_TRY(check_files(job));
    if (!v->output)
        return AIRY_OK;
    if (!strstr(v->output, "{series}") && !airy_integration_may_be_complete(v))
        AIRY_TRY(airy_integration_check_place(v, v->output));
    return check_folder(v->output);
}

static airy_status put_results(const struct airy_service *s)
{
    airy_job *job = s->job;
    airy_job_put_number(job, "series", (double)s->done);
    airy_job_put_number(job, "frames", (double)s->frames);
    airy_job_put_number(job, "bad", (double)s->bad);
    airy_job_put_number(job, "lost", (double)s->lost);
    airy_job_put_number(job, "seconds", s->seconds);
    airy_job_sum_up(job, "%zu series, %llu frame%s in %.3g s", s->done,
                    (unsigned long long)s->frames, s->frames == 1 ? "" : "s", s->seconds);
    return s->v->output ? airy_job_put_text(job, "output", s->v->output) : AIRY_OK;
}

airy_status airy_integration_run_live(airy_job *job, struct airy_integration *it)
{
    const struct airy_integrate_values *v = job->values;
    AIRY_TRY(check_places(job));
    airy_job_set_lossy(job, true);
    struct airy_service s = {.job = job,
                             .v = v,
                             .it = it,
                             .compute = v->compute,
                             .named = !v->output || strstr(v->output, "{series}"),
                             .speaking = PTHREAD_MUTEX_INITIALIZER,
                             .stepping = PTHREAD_MUTEX_INITIALIZER,
                             .lock = PTHREAD_MUTEX_INITIALIZER};
    airy_stream_receiver *receiver = NULL;
    airy_error error = {.status = AIRY_OK};
    airy_status status = open_service(&s, &receiver);
    if (status == AIRY_OK)
        status = serve(&s, receiver);
    if (status >= AIRY_OK && put_results(&s) != AIRY_OK)
        status = AIRY_ERR_MEMORY;
    if (status < AIRY_OK)
        (void)airy_error_first(&error, status);
    airy_publisher_destroy(&s.publisher);
    airy_stream_receiver_destroy(&receiver);
    return status < AIRY_OK ? airy_error_restore(&error) : status;
}
