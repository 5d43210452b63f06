/* The report of a series: a sentence, and JSON. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/number.h"
#include "jobs/image_group.h"
#include "jobs/integrate/series_service.h"

const char *airy_series_file(const struct airy_service *s, bool failed,
                             char text[AIRY_PARTIAL_PATH])
{
    struct stat about;
    if (!*s->path || (failed && airy_job_partial_path(text, s->path) != AIRY_OK))
        return NULL;
    if (!failed)
        snprintf(text, AIRY_PARTIAL_PATH, "%s", s->path);
    return lstat(text, &about) == 0 ? text : NULL;
}

/* NULL: memory is short. */
static json_t *make_json(const struct airy_service *s, const struct airy_series_outcome *o,
                         const char *file)
{
    const airy_stream_report *r = o->series;
    const struct airy_series_counts *n = &o->counts;
    const double seconds = r->seconds > 0 ? r->seconds : 1e-9;
    json_t *json = json_pack(
        "{s:o, s:b, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:b, s:o, s:o, "
        "s:o, s:o, s:I, s:I, s:I}",
        "series", airy_json_unsigned(r->id), "complete", o->status >= AIRY_OK, "expected",
        (json_int_t)r->expected, "received", (json_int_t)r->received, "integrated",
        (json_int_t)n->integrated, "resumed", (json_int_t)n->resumed, "bad", (json_int_t)n->bad,
        "lost", (json_int_t)n->lost, "dropped", (json_int_t)n->dropped, "left_out",
        (json_int_t)n->left_out, "duplicates", (json_int_t)r->duplicates, "beyond",
        (json_int_t)r->beyond, "broken", (json_int_t)r->broken, "stray", (json_int_t)r->stray,
        "ended", r->ended, "seconds", airy_json_real(r->seconds), "setup_seconds",
        airy_json_real(s->setup), "frames_per_second",
        airy_json_real((double)r->received / seconds), "megabytes_per_second",
        airy_json_real((double)r->bytes / seconds * 1e-6), "conflicts", (json_int_t)r->conflicts,
        "refused", (json_int_t)r->refused, "overfull", (json_int_t)r->overfull);
    if (!json)
        return NULL;
    json_object_set_new(json, "output", file ? airy_json_text(file) : json_null());
    if (*s->why)
        json_object_set_new(json, "failure", airy_json_text(s->why));
    json_object_set_new(
        json, "latency_ms",
        json_pack("{s:o, s:o, s:o, s:o}", "first", airy_json_real(o->info.first * 1e3), "p50",
                  airy_json_real(o->info.p50 * 1e3), "p99", airy_json_real(o->info.p99 * 1e3),
                  "max", airy_json_real(o->info.max * 1e3)));
    if (s->publisher)
        json_object_set_new(json, "published", json_integer((json_int_t)o->published));
    return json;
}

/* A count that is worth a word: ", 3 dropped". */
static void add_count(char text[512], uint64_t count, const char *what)
{
    const size_t used = strlen(text);
    if (count)
        snprintf(text + used, 512 - used, ", %llu %s", (unsigned long long)count, what);
}

static void print_odd(char odd[512], const struct airy_series_outcome *o)
{
    const airy_stream_report *r = o->series;
    const struct airy_series_counts *n = &o->counts;
    odd[0] = 0;
    add_count(odd, n->resumed, "done before");
    add_count(odd, n->bad, "bad");
    add_count(odd, n->dropped, "dropped");
    add_count(odd, n->left_out, "left out by frames=A:B");
    add_count(odd, r->duplicates, "twice");
    add_count(odd, r->refused, "refused messages of other senders");
    add_count(odd, r->overfull, "connections ended for their memory");
    add_count(odd, r->beyond, "beyond the end");
    add_count(odd, r->broken, "broken messages");
    add_count(odd, r->stray, "stray messages");
    add_count(odd, o->published, "published");
}

enum { SENTENCE = AIRY_PARTIAL_PATH + 1024 };

static void print_sentence(char text[SENTENCE], const struct airy_series_outcome *o,
                           const char *file)
{
    const airy_stream_report *r = o->series;
    const airy_live_info *info = &o->info;
    const struct airy_series_counts *n = &o->counts;
    char odd[512], bytes[AIRY_NUMBER_TEXT], device[64] = "", expected[32] = "";
    const double seconds = r->seconds > 0 ? r->seconds : 1e-9;
    text[0] = 0;
    if (r->received == 0 || (o->status < AIRY_OK && info->put == 0))
        return; /* its failure says all */
    print_odd(odd, o);
    if (r->expected)
        snprintf(expected, sizeof(expected), " of %llu", (unsigned long long)r->expected);
    if (info->batch)
        snprintf(device, sizeof(device), "; %zu a batch, %zu slot%s", info->batch, info->slots,
                 info->slots == 1 ? "" : "s");
    snprintf(text, SENTENCE,
             "%s: series %llu, %llu%s images in %.3g s, %llu integrated, %llu lost%s; %.4g "
             "frames/s, %s/s; latency first %.3g ms, p50 %.3g ms, p99 %.3g ms, max %.3g ms%s",
             file ? file : "no file", (unsigned long long)r->id, (unsigned long long)r->received,
             expected, r->seconds, (unsigned long long)n->integrated, (unsigned long long)n->lost,
             odd, (double)r->received / seconds, airy_bytes_text(bytes, (double)r->bytes / seconds),
             info->first * 1e3, info->p50 * 1e3, info->p99 * 1e3, info->max * 1e3, device);
}

/* Of a series whose file an earlier run has completed. */
static json_t *make_complete(char text[SENTENCE], const struct airy_service *s)
{
    char bad[80] = "";
    if (s->bad_before)
        snprintf(bad, sizeof(bad), ", %zu of %zu frames failed", s->bad_before, s->done_before);
    snprintf(text, SENTENCE, "%s: complete already%s", s->path, bad);
    return json_pack("{s:o, s:b, s:I, s:I}", "output", airy_json_text(s->path), "complete_already",
                     1, "frames", (json_int_t)s->done_before, "bad", (json_int_t)s->bad_before);
}

airy_status airy_series_report(struct airy_service *s, const struct airy_series_outcome *o)
{
    char sentence[SENTENCE], name[AIRY_PARTIAL_PATH], *text = NULL;
    const char *file = airy_series_file(s, o->status < AIRY_OK, name);
    if (!airy_job_takes(s->job, AIRY_JOB_EVENT_SERIES_ENDS))
        return AIRY_OK;
    if (!s->complete)
        print_sentence(sentence, o, file);
    AIRY_TRY(airy_job_print_json(s->complete ? make_complete(sentence, s) : make_json(s, o, file),
                                 &text));
    const airy_job_event event = {.kind = AIRY_JOB_EVENT_SERIES_ENDS,
                                  .unit = "",
                                  .status = o->status,
                                  .series = o->series->id,
                                  .text = sentence,
                                  .json = text};
    if (!airy_job_emit(s->job, &event))
        atomic_store(&s->stopped, true);
    free(text);
    return AIRY_OK;
}
