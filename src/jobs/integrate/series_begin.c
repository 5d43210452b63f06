/* What a series begins with: its checks, its integration, and all that the first image would wait for. */
#include <stdlib.h>
#include <string.h>

#include "airy/info.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/number.h"
#include "jobs/image_group.h"
#include "jobs/integrate/resume.h"
#include "jobs/integrate/rows_events.h"
#include "jobs/integrate/series_service.h"

/* "run_{series}.h5" with its number. */
static airy_status name_output(struct airy_service *s, uint64_t id)
{
    const char *output = s->v->output, *at = output ? strstr(output, "{series}") : NULL;
    if (!output)
        return AIRY_OK;
    const int n = at ? snprintf(s->path, sizeof(s->path), "%.*s%llu%s", (int)(at - output), output,
                                (unsigned long long)id, at + strlen("{series}"))
                     : snprintf(s->path, sizeof(s->path), "%s", output);
    AIRY_FAIL_ON_IF(n < 0 || (size_t)n >= sizeof(s->path), AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s: the name is longer than %zu bytes", "output", sizeof(s->path) - 1);
    AIRY_TRY(airy_job_keep_inputs(s->job, s->path));
    return airy_job_may_be_complete(s->path, s->v->resume, s->v->force)
               ? AIRY_OK
               : airy_integration_check_place(s->v, s->path);
}

const char *airy_series_channel(const struct airy_service *s)
{
    return s->v->stack.channel ? s->v->stack.channel : "";
}

static airy_status check_channel(const struct airy_service *s,
                                 const airy_stream_start_message *start)
{
    const char *channel = airy_series_channel(s);
    char names[AIRY_STREAM_CHANNELS_MAX * (AIRY_STREAM_NAME_BYTES + 2)] = "";
    size_t used = 0;
    bool found = !*channel;
    for (size_t i = 0; i < start->channels; i++) {
        found |= strcmp(start->channel[i], channel) == 0;
        used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s", i ? ", " : "",
                                 start->channel[i]);
    }
    AIRY_FAIL_IF(!*channel && start->channels > 1, AIRY_ERR_PARAM,
                 "the detector sends %zu channels; choose one by channel=NAME: %s", start->channels,
                 names);
    AIRY_FAIL_IF(!found && start->channels, AIRY_ERR_PARAM, "channel=%s: the detector sends %s",
                 channel, names);
    return AIRY_OK;
}

/*
 * Before anything is allocated: the least that images of this size take. A pixel has an entry of
 * the matrix at least, which is there twice while that is made, its place in it, and three masks.
 */
static airy_status check_size(const struct airy_service *s, const airy_stream_start_message *start)
{
    enum { LEAST_BYTES = 24 };
    airy_memory_limits memory;
    char need[AIRY_NUMBER_TEXT], room[AIRY_NUMBER_TEXT];
    const uint64_t pixels = (uint64_t)start->height * start->width,
                   image = pixels * (start->has_dtype ? airy_dtype_size(start->dtype) : 1),
                   limit = s->v->compute.memory_limit;
    AIRY_FAIL_IF(limit && image > limit, AIRY_ERR_PARAM,
                 "the start message gives %zu x %zu pixels: an image has %s, more than the memory "
                 "limit of %s",
                 start->height, start->width, airy_bytes_text(need, (double)image),
                 airy_bytes_text(room, (double)limit));
    airy_memory_limits_get(&memory);
    uint64_t least = memory.available;
    least = memory.cgroup && memory.cgroup < least ? memory.cgroup : least;
    AIRY_FAIL_IF(least && pixels * LEAST_BYTES > least, AIRY_ERR_PARAM,
                 "the start message gives %zu x %zu pixels: that takes %s of memory at least, and "
                 "%s are free; check the detector's settings",
                 start->height, start->width, airy_bytes_text(need, (double)pixels * LEAST_BYTES),
                 airy_bytes_text(room, (double)least));
    return AIRY_OK;
}

/* Before anything is made for so many. */
static airy_status check_count(const struct airy_service *s, const airy_stream_start_message *start)
{
    const uint64_t most = s->v->series.max_images;
    AIRY_FAIL_IF(start->number_of_images > most, AIRY_ERR_PARAM,
                 "the start message announces %llu images, more than the %llu that are taken; "
                 "max-images=N takes more",
                 (unsigned long long)start->number_of_images, (unsigned long long)most);
    const char *unfit = airy_job_is_set(s->job, "frames") ? "frames=A:B"
                        : s->v->grid[0]                   ? "grid=NxM"
                        : s->v->format == FORMAT_NXAZINT  ? "format=nxazint"
                                                          : NULL;
    AIRY_FAIL_IF(start->number_of_images == 0 && unfit, AIRY_ERR_PARAM,
                 "the detector does not state how many images will come, which %s has to know",
                 unfit);
    return AIRY_OK;
}

/* What the start message says, as a stack would. */
static airy_status take_source(struct airy_service *s, const airy_stream_message *m)
{
    const airy_stream_start_message *start = &m->start;
    const struct airy_job_list *inputs = &s->v->stack.paths;
    struct airy_integration_source *source = &s->source;
    source->info = (airy_stack_info){.frames = start->number_of_images,
                                     .height = start->height,
                                     .width = start->width,
                                     .dtype = start->has_dtype ? start->dtype : AIRY_DTYPE_U32,
                                     .path = AIRY_STACK_FILES,
                                     .files = inputs->count,
                                     .dataset = inputs->items[0],
                                     .filters = "none"};
    airy_stream_meta(&source->meta, start, airy_series_channel(s));
    source->compute = &s->compute;
    source->about = json_pack("{s:o, s:o, s:o}", "series_id", airy_json_unsigned(m->series_id),
                              "channel", airy_json_text(airy_series_channel(s)), "series_unique_id",
                              airy_json_text(m->unique_id));
    AIRY_FAIL_IF(!source->about, AIRY_ERR_MEMORY, "out of memory for the configuration");
    if (!source->meta.has_mask)
        return AIRY_OK;
    AIRY_TRY(airy_memory_calloc((void **)&s->mask, start->height, start->width, "a mask"));
    source->mask = s->mask;
    return airy_stream_mask(s->mask, start, airy_series_channel(s));
}

/* In the runner's thread. */
static void on_pattern(void *user, const airy_live_pattern *p)
{
    struct airy_service *s = user;
    const struct airy_integration *it = s->it;
    const size_t frame = it->run.first + (size_t)p->number * it->run.step;
    const airy_publisher_pattern out = {.image_id = frame,
                                        .intensity = p->intensity,
                                        .std = p->std,
                                        .sem = p->sem,
                                        .stats = p->stats,
                                        .status = p->status,
                                        .message = p->message};
    char text[AIRY_ERROR_TEXT];
    airy_live_pattern row = *p;
    if (s->publisher)
        (void)airy_publisher_send(s->publisher, &out);
    if (p->message) {
        snprintf(text, sizeof(text), "%s", p->message);
        airy_series_one_line(text);
        row.message = text;
    }
    if (!airy_integration_live_row(it, s->id, (size_t)p->number, frame, &row))
        atomic_store(&s->stopped, true);
}

/* To those who take events and who subscribe. */
static airy_status announce(struct airy_service *s, const airy_stream_message *m)
{
    airy_integrator_info matrix;
    airy_integrator *const integrator = s->it->integrators[0];
    AIRY_TRY(airy_integrator_get_info(integrator, &matrix));
    if (!airy_integration_begins(s->it, m->series_id, s->it->frames))
        atomic_store(&s->stopped, true);
    const airy_publisher_series series = {.series_id = m->series_id,
                                          .unique_id = m->unique_id,
                                          .number_of_images = s->it->info.frames,
                                          .unit = airy_unit_name(s->it->params.unit),
                                          .radial = airy_integrator_radial(integrator),
                                          .bins = matrix.radial_bins,
                                          .azimuthal = airy_integrator_azimuth(integrator),
                                          .azimuth_bins = matrix.azimuth_bins};
    return s->publisher ? airy_publisher_start(s->publisher, &series) : AIRY_OK;
}

airy_status airy_series_open_run(struct airy_service *s, const airy_stream_pixels *kind)
{
    struct airy_integration *it = s->it;
    const bool heard = s->publisher || airy_job_takes(s->job, AIRY_JOB_EVENT_ROW);
    s->kind = *kind;
    s->has_kind = true;
    it->info.dtype = kind->dtype;
    it->run.progress = airy_series_step;
    it->run.message = airy_series_message;
    it->run.user = s;
    const airy_live_params params = {.height = kind->height,
                                     .width = kind->width,
                                     .dtype = kind->dtype,
                                     .codec = kind->codec,
                                     .frames = it->frames,
                                     .run = it->run,
                                     .pattern = heard ? on_pattern : NULL,
                                     .user = s};
    return airy_live_create(&s->live, *s->path ? s->path : NULL, it->integrators, it->count,
                            &params);
}

/*
 * The start message does not say how images are compressed: as those of the last series, or as most
 * detectors do it.
 */
static airy_status prepare(struct airy_service *s, const airy_stream_message *m)
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
    if (start->has_dtype)
        AIRY_TRY(airy_series_open_run(s, &kind));
    return announce(s, m);
}

/* What an earlier run has left of the same series: all of it, or a part. */
static airy_status resume(struct airy_service *s)
{
    struct airy_integration *it = s->it;
    airy_result_info info;
    if (!*s->path || !s->v->resume)
        return AIRY_OK;
    if (!airy_job_may_be_complete(s->path, s->v->resume, s->v->force))
        return airy_integration_prepare_resume(it, s->path, false);
    AIRY_TRY(airy_integration_check_complete(it, s->path, &info));
    s->complete = true;
    s->done_before = it->frames ? it->frames : info.rows;
    s->bad_before = info.bad;
    return AIRY_OK;
}

static airy_status open_series(struct airy_service *s)
{
    s->open = true;
    pthread_mutex_lock(&s->speaking);
    airy_status status = airy_integration_open_source(s->it, s->job, &s->source);
    if (status == AIRY_OK)
        status = resume(s);
    pthread_mutex_unlock(&s->speaking);
    return status;
}

static airy_status begin(struct airy_service *s, const airy_stream_message *m)
{
    const airy_stream_start_message *start = &m->start;
    char count[32] = "", detector[AIRY_STREAM_TEXT_MAX];
    snprintf(detector, sizeof(detector), "%s", start->detector);
    if (start->number_of_images)
        snprintf(count, sizeof(count), "%llu ", (unsigned long long)start->number_of_images);
    airy_series_say(s, AIRY_LOG_WARN, "series %llu: %simage%s of %zu x %zu%s%s",
                    (unsigned long long)m->series_id, count,
                    start->number_of_images == 1 ? "" : "s", start->height, start->width,
                    *detector ? ", " : "", detector);
    AIRY_TRY(name_output(s, m->series_id));
    AIRY_TRY(check_channel(s, start));
    AIRY_TRY(check_count(s, start));
    AIRY_TRY(check_size(s, start));
    AIRY_TRY(take_source(s, m));
    AIRY_TRY(open_series(s));
    return s->complete ? AIRY_OK : prepare(s, m);
}

airy_status airy_series_start(void *user, const airy_stream_message *m)
{
    struct airy_service *s = user;
    const uint64_t start = airy_clock_ns();
    s->said = s->complete = false;
    s->why[0] = s->path[0] = 0;
    s->id = m->series_id;
    s->dtype_said = m->start.has_dtype;
    s->channels_said = m->start.channels > 0;
    atomic_store(&s->heard, true);
    atomic_store(&s->dropped, 0);
    atomic_store(&s->other, 0);
    atomic_store(&s->unmarked, false);
    const airy_status status = begin(s, m);
    s->setup = (double)(airy_clock_ns() - start) * 1e-9;
    if (status == AIRY_OK)
        return AIRY_OK;
    airy_error error;
    airy_error_get(&error);
    return airy_series_fail(s, m->series_id, status, error.hint, "%s", error.text);
}
