/* Azimuthal integration as a job: what its files share. */
#ifndef AIRY_JOBS_INTEGRATE_INTEGRATE_H
#define AIRY_JOBS_INTEGRATE_INTEGRATE_H

#include "airy/pipeline.h"
#include "jobs/geometry.h"
#include "jobs/groups.h"
#include "jobs/integrate/follow.h"
#include "jobs/integrate/series.h"
#include "jobs/integrate/world.h"
#include "jobs/pattern.h"
#include "jobs/pixels.h"

enum { MOST_ROIS = 64, MOST_POINTS = 1 << 28 };
enum airy_integrate_format { FORMAT_AIRY, FORMAT_NXAZINT };
enum airy_integrate_layout { LAYOUT_AUTO, LAYOUT_SERIAL, LAYOUT_THREADS, LAYOUT_DEVICE };

/* Of several processes (ranks.c). */
struct airy_ranks_values {
    bool per_rank;
};
extern const struct airy_job_row airy_ranks_rows[];

extern const struct airy_job_kind airy_job_integrate;

struct airy_integrate_values {
    struct airy_stack_values stack;
    struct airy_geometry_values geometry;
    struct airy_pattern_values pattern;
    struct airy_pixel_values pixels;
    struct airy_frames_values frames;
    struct airy_compute_values compute;
    struct airy_series_values series;
    struct airy_ranks_values ranks;
    char *output, *instrument, *source, *monitor;
    int format, layout;
    bool sensor_efficiency, mask_saturated, zigzag, resume, force, one_table;
    double normalization, saturation;
    size_t average, sum, batch, grid[2];
    struct airy_job_list roi, carry;
    struct airy_follow_values follow;
    airy_geometry replayed; /* of airy_job_set_configuration */
    bool is_replayed;
};

extern const char *const airy_integrate_layouts[];

/* What stands for the stack where frames come by themselves. */
struct airy_integration_source {
    airy_stack_info info; /* frames 0: their number is not known */
    airy_stack_meta meta;
    const uint8_t *mask; /* where meta.has_mask */
    const struct airy_compute_values *compute;
    json_t *about; /* goes into the configuration as "stream" */
};

/* Patterns whose largest pixel that counted is a value that detectors write into gaps. */
struct airy_gap_rows {
    bool known; /* false: nobody has looked */
    size_t count, first;
};

/* What is open. */
struct airy_integration {
    airy_job *job;
    const struct airy_integration_source *source; /* NULL: a stack */
    const struct airy_integrate_values *v;
    struct airy_world world;
    struct airy_compute_values compute; /* of the values; with several ranks this one's share */
    char spec[64];                      /* of its device, where this rank has chosen it */
    size_t files;                       /* that the result is spread over; 0: it is one */
    size_t shown;   /* files that an earlier result shows, which this one replaces */
    uint64_t begun; /* ns */
    airy_stack *stack;
    airy_stack_info info;
    airy_stack_meta meta;
    bool file_has_geometry;
    airy_geometry geometry;
    airy_detector_arrays *arrays;
    airy_integrator_params params;
    airy_pixels pixels;
    double *monitor;
    airy_integrator **integrators; /* one a device of the job */
    size_t count;                  /* of these */
    airy_run_params run;
    size_t frames, rows; /* of the run, and of its result; 0: not known */
    size_t lost;         /* files that did not come, of a run that follows them */
    airy_roi *rois;
    airy_frame_values *carried;
    size_t carried_count;
    airy_nxazint nxazint;
    char *names[3]; /* of instrument and source */
    char *configuration;
    int layout;
    struct airy_gap_rows gaps; /* of text files */
    /* Rows in memory, each NULL or [rows, bins]. */
    airy_row_arrays memory;
};

/* What sentences call the frames. */
static inline const char *airy_integration_name(const struct airy_integration *it)
{
    return airy_job_stack_name(&it->v->stack);
}

/* A region from its text, which the row has taken. */
airy_status airy_integration_roi(airy_roi *roi, const char *text);
/* The integrator's parameters, as far as no file decides them. */
airy_status airy_integration_params(const airy_job *job, airy_integrator_params *params,
                                    airy_sample_params *sample);
/* The stages `open` and `close` of the kind. */
airy_status airy_integration_open(airy_job *job, void *state);
/* The same without a stack: of what `source` says, which outlives it. */
airy_status airy_integration_open_source(struct airy_integration *it, airy_job *job,
                                         const struct airy_integration_source *source);
void airy_integration_close(void *state);
/*
 * Rank 0 looks at what is in the place of the output. Text files are looked at one by one when they are
 * written.
 */
airy_status airy_integration_look_at_place(const struct airy_integration *it);
/* Fill the job's plan. */
airy_status airy_integration_plan(struct airy_integration *it);
/* Room for the rows that stay in memory; handing them over to the job. */
airy_status airy_integration_open_memory(struct airy_integration *it);
airy_status airy_integration_put_arrays(struct airy_integration *it);
/* The output is text: .xye, .xy, .chi, .dat. False without an output. */
bool airy_integration_is_text(const struct airy_integrate_values *v);
/* The output's name, and what goes with its kind; no file is looked at. */
airy_status airy_integration_check_output(const struct airy_integrate_values *v,
                                          const airy_integrator_params *params);
/* Integrate the stack into text files, and hand over their names. */
airy_status airy_integration_run_text(struct airy_integration *it, airy_run_info *info);

#endif
