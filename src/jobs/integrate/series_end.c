/* The end of a series: its file gets its name or stays partial, and what became of its images. */
#include <stdlib.h>
#include <string.h>

#include "jobs/integrate/notes.h"
#include "jobs/integrate/series_service.h"

/* spoiled: given up before the end, as they came and could not be read. */
static struct airy_series_counts count_rows(const struct airy_service *s,
                                            const airy_live_info *info, uint64_t spoiled)
{
    const uint64_t dropped = atomic_load(&s->dropped), under_way = info->put - info->done,
                   given_up = info->lost + info->missing + under_way, known = spoiled + dropped;
    return (struct airy_series_counts){.integrated = info->done - info->bad,
                                       .resumed = info->resumed,
                                       .bad = info->bad + spoiled,
                                       .dropped = dropped,
                                       .lost = given_up > known ? given_up - known : 0,
                                       .left_out = atomic_load(&s->other)};
}

/* A series that failed: images that came when there was no run for them, or never, are lost. */
static void count_rest(struct airy_series_counts *n, const struct airy_service *s,
                       const airy_stream_report *series)
{
    const uint64_t images = series->expected ? series->expected : series->received,
                   chosen = s->open && s->it->frames ? s->it->frames : images,
                   rows = chosen < images ? chosen : images,
                   known = n->integrated + n->resumed + n->bad + n->dropped + n->lost;
    n->lost += rows > known ? rows - known : 0;
    n->left_out = images - rows;
}

enum { WAY = AIRY_PARTIAL_PATH + 256 };

/* Which file has what is there, and how to go on. */
static const char *way_on(const struct airy_service *s, const airy_live_info *info, char text[WAY])
{
    char file[AIRY_PARTIAL_PATH];
    const char *name = airy_series_file(s, true, file);
    const unsigned long long good = info->done - info->bad + info->resumed;
    text[0] = 0;
    if (name)
        snprintf(text, WAY,
                 "; %s has %llu pattern%s, and the same run with resume=on goes on when the "
                 "series is played again, or with the detector's own file as input",
                 name, good, good == 1 ? "" : "s");
    return text;
}

/* What is missing, and what to do. */
static airy_status incomplete(struct airy_service *s, const airy_stream_report *series,
                              const airy_live_info *info, airy_status status)
{
    char way[WAY];
    airy_error error;
    const bool rows = status == AIRY_ERR_INCOMPLETE || status == AIRY_ERR_CORRUPT;
    airy_error_get(&error);
    way_on(s, info, way);
    return airy_series_fail(s, series->id, status, AIRY_HINT_STATED, "%s%s%s%s",
                            rows ? "is not complete: " : "", error.text, way,
                            rows && *way ? "; on-error=skip does without such images" : "");
}

/* The run ends where it is; the partial file stays if it has anything. */
static void drop_run(struct airy_service *s, airy_live_info *info)
{
    if (s->live)
        (void)airy_live_cancel(s->live, info); /* the series has failed already */
    airy_live_destroy(&s->live);
}

/* All images were handed on: the file gets its name, or stays partial. */
static airy_status finish_run(struct airy_service *s, struct airy_series_outcome *o)
{
    const airy_stream_report *series = o->series;
    airy_live_info *info = &o->info;
    airy_live_get_info(s->live, info);
    const uint64_t spoiled = info->lost;
    airy_series_lose_dropped(s);
    const airy_status status = airy_live_finish(s->live, info);
    o->counts = count_rows(s, info, spoiled);
    if (status != AIRY_OK) {
        const airy_status failed = incomplete(s, series, info, status);
        airy_live_destroy(&s->live);
        return failed;
    }
    const unsigned long long bad = o->counts.bad + o->counts.lost + o->counts.dropped;
    if (bad)
        airy_series_say(s, AIRY_LOG_WARN, "series %llu: %llu rows are bad%s%s",
                        (unsigned long long)series->id, bad,
                        *info->first_error ? ", the first: " : "", info->first_error);
    pthread_mutex_lock(&s->speaking);
    airy_integration_warn_empty(s->job, (size_t)info->done, info->empty, info->first_empty);
    pthread_mutex_unlock(&s->speaking);
    return bad ? AIRY_PARTLY : AIRY_OK;
}

/* It is not known whose images the file has, or of an image which of two. */
static airy_status doubt(struct airy_service *s, const struct airy_series_outcome *o)
{
    const airy_stream_report *r = o->series;
    char way[WAY], file[AIRY_PARTIAL_PATH];
    const char *name = airy_series_file(s, true, file), *made = name ? name : "what was made of it";
    if (r->rivals)
        return airy_series_fail(s, r->id, AIRY_ERR_CORRUPT, AIRY_HINT_STATED,
                                "two senders began it, so that its images may be of either; "
                                "remove %s and integrate the detector's own file; allow=ADDRESS "
                                "takes messages of one alone",
                                made);
    if (atomic_load(&s->unmarked))
        return airy_series_fail(s, r->id, AIRY_ERR_CORRUPT, AIRY_HINT_STATED,
                                "image %llu came twice with different pixels, and there was no "
                                "memory to mark such rows as bad; remove %s and integrate the "
                                "detector's own file",
                                (unsigned long long)r->conflict_id, made);
    way_on(s, &o->info, way);
    return airy_series_fail(s, r->id, AIRY_ERR_CORRUPT, AIRY_HINT_STATED,
                            "image %llu came twice with different pixels%s, and nobody knows "
                            "which is the detector's%s",
                            (unsigned long long)r->conflict_id,
                            r->conflicts > 1 ? ", and so did others" : "", way);
}

/* The run was cancelled before the series was over. */
static airy_status cancelled(struct airy_service *s, const struct airy_series_outcome *o)
{
    const unsigned long long came = o->series->received,
                             good = o->info.done - o->info.bad + o->info.resumed;
    char file[AIRY_PARTIAL_PATH];
    const char *name = airy_series_file(s, true, file);
    if (!name)
        return airy_series_fail(s, o->series->id, AIRY_ERR_CANCELLED, AIRY_HINT_NONE,
                                "cancelled after %llu images", came);
    return airy_series_fail(s, o->series->id, AIRY_ERR_CANCELLED, AIRY_HINT_INTERRUPTED,
                            "cancelled after %llu images; %s has %llu pattern%s", came, name, good,
                            good == 1 ? "" : "s");
}

/* What came of the series' run. */
static airy_status finish(struct airy_service *s, struct airy_series_outcome *o)
{
    const airy_stream_report *series = o->series;
    char way[WAY];
    if (s->complete)
        return s->bad_before ? AIRY_PARTLY : AIRY_OK;
    const bool doubtful = series->conflicts || series->rivals, stops = airy_series_is_cancelled(s);
    if (!s->said && !stops && series->error.status == AIRY_OK && series->received && !doubtful)
        return finish_run(s, o);
    drop_run(s, &o->info);
    o->counts = count_rows(s, &o->info, 0);
    count_rest(&o->counts, s, series);
    if (s->said)
        return s->failure.status;
    if (doubtful)
        return doubt(s, o);
    if (stops)
        return cancelled(s, o);
    way_on(s, &o->info, way);
    if (series->error.status != AIRY_OK)
        return airy_series_fail(s, series->id, series->error.status, AIRY_HINT_STATED, "%s%s",
                                series->error.text, way);
    return airy_series_fail(s, series->id, AIRY_ERR_INCOMPLETE, AIRY_HINT_STATED, "no image came%s",
                            way);
}

/* Those who subscribe wait for it. */
static void publish_end(struct airy_service *s, struct airy_series_outcome *o)
{
    const airy_stream_report *r = o->series;
    if (!s->publisher || s->complete)
        return;
    if (o->status < AIRY_OK)
        (void)airy_publisher_fail(s->publisher, r->id, r->unique_id, s->why, &o->published);
    else
        (void)airy_publisher_end(s->publisher, &o->published);
}

/* Nothing of the series is left. */
static void close_series(struct airy_service *s)
{
    airy_live_destroy(&s->live);
    if (s->open)
        airy_integration_close(s->it);
    *s->it = (struct airy_integration){.job = s->job, .v = s->v};
    s->open = false;
    json_decref(s->source.about);
    free(s->mask);
    free(s->dropped_rows);
    s->dropped_rows = NULL;
    s->dropped_size = 0;
    s->source = (struct airy_integration_source){.about = NULL};
    s->mask = NULL;
    (void)airy_series_step(s, 0, 0);
}

static void add_up(struct airy_service *s, const struct airy_series_outcome *o)
{
    const struct airy_series_counts *n = &o->counts;
    s->frames += o->info.done;
    s->bad += n->bad;
    s->lost += n->lost + n->dropped;
    s->seconds += o->series->seconds;
    s->failed += o->status < AIRY_OK;
    s->partly |= o->status == AIRY_PARTLY;
    s->done++;
}

bool airy_series_end(void *user, const airy_stream_report *series)
{
    struct airy_service *s = user;
    struct airy_series_outcome o = {.series = series};
    o.status = finish(s, &o);
    publish_end(s, &o);
    const airy_status reported = airy_series_report(s, &o);
    if (reported != AIRY_OK && o.status >= AIRY_OK)
        o.status = airy_series_fail(s, series->id, reported, AIRY_HINT_NONE,
                                    "there is no memory for its report");
    add_up(s, &o);
    close_series(s);
    return s->done < airy_series_wanted(s) && !airy_series_is_cancelled(s);
}
