#include "jobs/integrate/rows_events.h"

#include "base/size.h"

/* With the axes. */
static airy_job_event new_event(const struct airy_integration *it, airy_job_event_kind kind,
                                uint64_t series)
{
    const airy_integrator *integrator = it->integrators[0];
    airy_integrator_info axes;
    airy_job_event event = {.kind = kind, .series = series, .unit = "", .text = ""};
    if (airy_integrator_get_info(integrator, &axes) != AIRY_OK)
        return event;
    event.unit = airy_unit_name(it->params.unit);
    event.radial = airy_integrator_radial(integrator);
    event.azimuth_bins = axes.azimuth_bins;
    event.radial_bins = axes.bins / airy_max_size(axes.azimuth_bins, 1);
    return event;
}

bool airy_integration_begins(const struct airy_integration *it, uint64_t series, size_t frames)
{
    if (!airy_job_takes(it->job, AIRY_JOB_EVENT_SERIES_BEGINS))
        return true;
    airy_job_event event = new_event(it, AIRY_JOB_EVENT_SERIES_BEGINS, series);
    event.frames = frames;
    return airy_job_emit(it->job, &event);
}

airy_status airy_integration_row(void *user, const airy_run_row *row)
{
    const struct airy_integration *it = user;
    airy_job_event event = new_event(it, AIRY_JOB_EVENT_ROW, 0);
    event.status = row->status;
    event.row = row->number;
    event.frame = row->frame;
    event.intensity = row->intensity;
    event.std = row->std;
    event.sem = row->sem;
    event.text = row->message;
    AIRY_FAIL_IF(!airy_job_emit(it->job, &event), AIRY_ERR_CANCELLED,
                 "cancelled by whoever takes the rows");
    return AIRY_OK;
}

bool airy_integration_live_row(const struct airy_integration *it, uint64_t series, size_t row,
                               size_t frame, const airy_live_pattern *pattern)
{
    if (!airy_job_takes(it->job, AIRY_JOB_EVENT_ROW))
        return true;
    const bool lost = pattern->status == AIRY_ERR_NOT_FOUND;
    airy_job_event event = new_event(it, lost ? AIRY_JOB_EVENT_LOST : AIRY_JOB_EVENT_ROW, series);
    event.status = pattern->status;
    event.row = row;
    event.frame = frame;
    event.text = pattern->message ? pattern->message : "";
    if (!lost) {
        event.intensity = pattern->intensity;
        event.std = pattern->std;
        event.sem = pattern->sem;
    }
    return airy_job_emit(it->job, &event);
}

bool airy_integration_ends(const struct airy_integration *it, uint64_t series, airy_status status)
{
    char *json = NULL;
    airy_error error = {.status = AIRY_OK};
    if (!airy_job_takes(it->job, AIRY_JOB_EVENT_SERIES_ENDS))
        return true;
    airy_job_event event = new_event(it, AIRY_JOB_EVENT_SERIES_ENDS, series);
    event.status = status;
    if (status < AIRY_OK) {
        (void)airy_error_first(&error, status);
        event.text = error.text;
    } else {
        event.text = airy_job_summary(it->job);
        if (airy_job_results_json(it->job, &json) == AIRY_OK)
            event.json = json;
    }
    const bool proceed = airy_job_emit(it->job, &event);
    airy_job_text_free(json);
    (void)airy_error_restore(&error);
    return proceed;
}

void airy_integration_report_rows(struct airy_integration *it)
{
    if (!airy_job_takes(it->job, AIRY_JOB_EVENT_ROW))
        return;
    it->run.row = airy_integration_row;
    it->run.row_user = it;
    it->run.in_order = true;
}
