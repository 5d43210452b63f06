/* Azimuthal integration of a stack: patterns in memory or in a file. */
#include "jobs/integrate/integrate.h"

#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "jobs/configuration.h"
#include "jobs/integrate/notes.h"
#include "jobs/integrate/resume.h"
#include "jobs/integrate/ranks.h"
#include "jobs/integrate/rows_events.h"

static const char *const formats[] = {"airy", "nxazint", NULL},
                         *const nxazint_words[] = {"nxazint", NULL}, *const all[] = {"all", NULL};

#define ROW(member, ...) AIRY_JOB_ROW(struct airy_integrate_values, member, __VA_ARGS__)
static const struct airy_job_row result_rows[] = {
    ROW(output, .name = "output", .letter = 'o', .type = AIRY_PARAMETER_PATH,
        .role = AIRY_ROLE_WRITTEN, .affects = AIRY_AFFECTS_WHERE, .argument = "OUT",
        .help = "writes the patterns of all frames into this NeXus file (.h5, .hdf5, .nxs), or "
                "each pattern into a text file: .xye (with errors) and .xy for refinement, .chi of "
                "Fit2D, .dat with all that is known",
        .section = "Result"),
    ROW(one_table, .name = "one-table", .type = AIRY_PARAMETER_FLAG, .affects = AIRY_AFFECTS_WHERE,
        .help = "writes all patterns into one text file, a column each"),
    ROW(format, .name = "format", .type = AIRY_PARAMETER_WORD, .affects = AIRY_AFFECTS_BESIDE,
        .words = formats, .fallback = "airy",
        .help = "nxazint: makes the output also an NXazint1d or NXazint2d file"),
    ROW(instrument, .name = "instrument", .type = AIRY_PARAMETER_TEXT,
        .affects = AIRY_AFFECTS_BESIDE, .argument = "NAME", .fallback = "the input's",
        .computed = true, .help = "names the beamline in the output",
        .only_with = {"format", nxazint_words}),
    ROW(source, .name = "source", .type = AIRY_PARAMETER_TEXT, .affects = AIRY_AFFECTS_BESIDE,
        .argument = "NAME", .fallback = "the input's", .computed = true,
        .help = "names the facility in the output", .only_with = {"format", nxazint_words}),
    {{0}, 0, NULL}};

static const struct airy_job_row correction_rows[] = {
    ROW(pixels.absorption, .name = "absorption", .type = AIRY_PARAMETER_PATH, .array = true,
        .role = AIRY_ROLE_READ,
        .help = "divides by this image, a factor of the normalization of each pixel"),
    ROW(pixels.variance, .name = "variance", .type = AIRY_PARAMETER_PATH, .array = true,
        .role = AIRY_ROLE_READ, .unit = "counts squared",
        .help = "takes the variance of each pixel from this image, for {error-model=variance}"),
    ROW(sensor_efficiency, .name = "sensor-efficiency", .type = AIRY_PARAMETER_FLAG,
        .help = "corrects for the part of the photons that the sensor absorbs at an angle"),
    ROW(normalization, .name = "normalization", .type = AIRY_PARAMETER_REAL, .lo = 1e-300,
        .hi = 1e300, .argument = "F", .fallback = "1", .computed = true,
        .help = "multiplies the normalization by this factor"),
    ROW(monitor, .name = "monitor", .type = AIRY_PARAMETER_TEXT, .argument = "DATASET",
        .help = "normalizes each frame by its value in this dataset of the files of the stack"),
    ROW(saturation, .name = "saturation", .type = AIRY_PARAMETER_REAL, .lo = -1e300, .hi = 1e300,
        .argument = "V", .fallback = "the file's, or the type's largest value", .computed = true,
        .help = "counts pixels of this value and more as saturated"),
    ROW(mask_saturated, .name = "mask-saturated", .type = AIRY_PARAMETER_FLAG,
        .help = "leaves saturated pixels out of their frame, as dummy values are"),
    {{0}, 0, NULL}};

static const struct airy_job_row run_rows[] = {
    ROW(average, .name = "average", .type = AIRY_PARAMETER_WHOLE, .affects = AIRY_AFFECTS_ROWS,
        .lo = 1, .hi = 1e9, .words = all, .argument = "N|all", .fallback = "1", .computed = true,
        .help = "makes one pattern of N frames that follow one another: their weighted mean"),
    ROW(sum, .name = "sum", .type = AIRY_PARAMETER_WHOLE, .affects = AIRY_AFFECTS_ROWS, .lo = 1,
        .hi = 1e9, .words = all, .argument = "N|all", .fallback = "1", .computed = true,
        .help = "makes one pattern of N frames that follow one another: that of their sum"),
    ROW(roi, .name = "roi", .type = AIRY_PARAMETER_TUPLE, .list = true,
        .affects = AIRY_AFFECTS_BESIDE, .least = 2, .most = 4, .argument = "A,B[,CHI0,CHI1]",
        .help = "adds the sum and the mean of a region of each pattern, in the radial unit, in two "
                "dimensions also of a range of chi in degrees; may be given several times"),
    ROW(grid, .name = "grid", .type = AIRY_PARAMETER_SHAPE, .affects = AIRY_AFFECTS_BESIDE,
        .argument = "NxM",
        .help =
            "adds maps of the total and of regions: the frames are a scan of N rows of M points"),
    ROW(zigzag, .name = "zigzag", .type = AIRY_PARAMETER_FLAG, .affects = AIRY_AFFECTS_BESIDE,
        .help = "reverses every other row of the map, for a snake scan"),
    ROW(carry, .name = "carry", .type = AIRY_PARAMETER_TEXT, .list = true,
        .affects = AIRY_AFFECTS_BESIDE, .argument = "DATASET|none",
        .fallback = "what the file has one of a frame", .computed = true,
        .help =
            "copies per-frame metadata such as motors, times and monitors into the result; may be "
            "given several times"),
    ROW(batch, .name = "batch", .type = AIRY_PARAMETER_WHOLE, .affects = AIRY_AFFECTS_HOW, .lo = 1,
        .hi = 65536, .argument = "N", .fallback = "chosen", .computed = true,
        .help = "processes so many frames together"),
    ROW(layout, .name = "layout", .type = AIRY_PARAMETER_WORD, .affects = AIRY_AFFECTS_HOW,
        .words = airy_integrate_layouts, .fallback = "auto",
        .help = "selects how the work is divided: threads of a CPU, a device, or serial, one "
                "frame at a time"),
    ROW(resume, .name = "resume", .type = AIRY_PARAMETER_FLAG, .affects = AIRY_AFFECTS_WHERE,
        .help = "continues OUT.partial of an interrupted run"),
    ROW(force, .name = "force", .type = AIRY_PARAMETER_FLAG, .affects = AIRY_AFFECTS_WHERE,
        .help = "overwrites the output"),
    {{0}, 0, NULL}};
#undef ROW

#define ROWS "[rows, bins], in two dimensions [rows, azimuthal, radial]: "
static const airy_job_result results[] = {
    {"intensity", AIRY_JOB_ARRAY, "output", ROWS "intensities, float32"},
    {"std", AIRY_JOB_ARRAY, "output", ROWS "standard deviations, with an error model"},
    {"sem", AIRY_JOB_ARRAY, "output", ROWS "standard errors of the mean, with an error model"},
    {"radial", AIRY_JOB_ARRAY, "output", "[radial bins]: centres of the bins, in the unit"},
    {"azimuthal", AIRY_JOB_ARRAY, "output",
     "[azimuthal bins]: centres of the second axis of two dimensions"},
    {"status", AIRY_JOB_ARRAY, "output",
     "[rows]: 0, or the status (airy_status) of a frame that is NaN, int32"},
    {"sum_signal", AIRY_JOB_ARRAY, "output",
     ROWS "sums of the signal, float64; where it is wanted"},
    {"sum_variance", AIRY_JOB_ARRAY, "output",
     ROWS "sums of variances, with an error model; where it is wanted"},
    {"sum_normalization", AIRY_JOB_ARRAY, "output",
     ROWS "sums of normalizations; where it is wanted"},
    {"count", AIRY_JOB_ARRAY, "output",
     ROWS "pixels; a split pixel counts in parts; where it is wanted"},
    {"output", AIRY_JOB_TEXT, NULL, "the file that was written, the first of several"},
    {"complete_already", AIRY_JOB_JSON, NULL, "true: resume found nothing to do"},
    {"device", AIRY_JOB_TEXT, NULL, "the devices of the run"},
    {"layout", AIRY_JOB_TEXT, NULL, "how the work was divided"},
    {"frames", AIRY_JOB_NUMBER, NULL, "frames that were processed in this run"},
    {"bad", AIRY_JOB_NUMBER, NULL, "those of them that are NaN"},
    {"lost", AIRY_JOB_NUMBER, NULL,
     "files that did not come, of a run that followed them; images of a stream that did not come "
     "or "
     "were dropped"},
    {"resumed", AIRY_JOB_NUMBER, NULL, "frames that an earlier run had done"},
    {"seconds", AIRY_JOB_NUMBER, NULL, "the time of the run"},
    {"setup_seconds", AIRY_JOB_NUMBER, NULL, "the time before it"},
    {"frames_per_second", AIRY_JOB_NUMBER, NULL, "good frames of a second of the run"},
    {"gigabytes_per_second", AIRY_JOB_NUMBER, NULL, "bytes of their pixels, in units of 10^9"},
    {"stored_bytes", AIRY_JOB_NUMBER, NULL, "bytes of the frames as they are stored"},
    {"decoded_bytes", AIRY_JOB_NUMBER, NULL, "bytes of their pixels"},
    {"ratio", AIRY_JOB_NUMBER, NULL, "decoded_bytes / stored_bytes"},
    {"last_output", AIRY_JOB_TEXT, NULL, "the last of several text files"},
    {"latency", AIRY_JOB_NUMBERS, NULL,
     "seconds from a frame to its pattern, of a run that followed its input: the median, 99 % and "
     "the longest"},
    {"configuration", AIRY_JOB_JSON, NULL, "what the patterns were made of"},
    {"series", AIRY_JOB_NUMBER, NULL, "series of a stream that were taken"},
    {NULL, AIRY_JOB_ARRAY, NULL, NULL}};

static airy_status check_around(const struct airy_integrate_values *v)
{
    airy_roi roi;
    AIRY_FAIL_ON_IF(v->roi.count > MOST_ROIS, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s: %zu regions, expected at most %d", "roi", v->roi.count, MOST_ROIS);
    for (size_t i = 0; i < v->roi.count; i++) {
        AIRY_TRY(airy_integration_roi(&roi, v->roi.items[i]));
        AIRY_FAIL_ON_IF(roi.has_azimuth && !v->pattern.bins.azimuth, AIRY_ERR_PARAM,
                        AIRY_SUBJECT_PARAMETER, "%s %s: a range of chi needs bins=RADIUSxAZIMUTH",
                        "roi", v->roi.items[i]);
    }
    AIRY_FAIL_ON_IF(v->zigzag && !v->grid[0], AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s goes with grid", "zigzag");
    AIRY_FAIL_ON_IF(v->grid[0] > 1000000 || v->grid[1] > 1000000 ||
                        v->grid[0] * v->grid[1] > MOST_POINTS,
                    AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s %zux%zu: expected 1 to 1000000 rows and columns, and 2^28 points at most",
                    "grid", v->grid[0], v->grid[1]);
    for (size_t i = 0; i < v->carry.count; i++)
        AIRY_FAIL_ON_IF(strcmp(v->carry.items[i], "none") == 0 && v->carry.count > 1,
                        AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                        "%s none: give no other dataset beside it", "carry");
    return AIRY_OK;
}

static airy_status check(airy_job *job)
{
    const struct airy_integrate_values *v = job->values;
    airy_integrator_params params;
    airy_sample_params sample;
    AIRY_TRY(airy_integration_check_live(job));
    AIRY_TRY(airy_job_check_geometry(job));
    AIRY_TRY(airy_job_check_absorber(&v->geometry, "sensor-efficiency", v->sensor_efficiency));
    AIRY_FAIL_ON_IF(v->average && v->sum, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s and sum exclude each other", "average");
    AIRY_FAIL_ON_IF(v->layout == LAYOUT_SERIAL && v->batch > 1, AIRY_ERR_PARAM,
                    AIRY_SUBJECT_PARAMETER, "%s %zu: layout=serial does one frame at a time",
                    "batch", v->batch);
    AIRY_FAIL_ON_IF(v->resume && !v->output, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s needs an output: rows in memory do not outlive a run", "resume");
    AIRY_FAIL_ON_IF(v->format == FORMAT_NXAZINT && !v->output, AIRY_ERR_PARAM,
                    AIRY_SUBJECT_PARAMETER, "%s nxazint needs an output", "format");
    AIRY_TRY(airy_follow_check(job));
    AIRY_TRY(airy_integration_check_ranks(job));
    AIRY_TRY(airy_job_check_pixels(&v->pixels));
    AIRY_TRY(airy_integration_params(job, &params, &sample));
    AIRY_TRY(airy_integration_check_output(v, &params));
    AIRY_TRY(airy_params_check(&params, &sample, airy_source_is_given(&v->pixels.variance)));
    return check_around(v);
}

static airy_status replay(airy_job *job, const char *configuration)
{
    struct airy_integrate_values *v = job->values;
    airy_geometry geometry = {.dist = 0};
    if (configuration)
        AIRY_TRY(airy_geometry_parse(&geometry, configuration));
    v->replayed = geometry;
    v->is_replayed = configuration != NULL;
    return AIRY_OK;
}

/* "FILE: ", or "FIRST to LAST: " of several; "" where the rows stay in memory. */
static void name_outputs(char text[AIRY_PARTIAL_PATH], const struct airy_integration *it)
{
    const char *first = NULL, *last = NULL;
    const bool named = it->v->output != NULL;
    (void)(airy_job_get_text(it->job, "output", &first) == AIRY_OK &&
           airy_job_get_text(it->job, "last_output", &last) == AIRY_OK);
    if (!first)
        first = named ? "no file" : "";
    snprintf(text, AIRY_PARTIAL_PATH, "%s%s%s%s", first, last ? " to " : "", last ? last : "",
             named ? ": " : "");
}

static void sum_up(const struct airy_integration *it, const airy_run_info *info, double setup,
                   double rate)
{
    const double seconds = info->seconds > 0 ? info->seconds : 1e-9,
                 stored = (double)info->stored_bytes, decoded = (double)info->decoded_bytes;
    char text[2][AIRY_NUMBER_TEXT], bad[64] = "", outputs[AIRY_PARTIAL_PATH];
    name_outputs(outputs, it);
    if (info->bad)
        snprintf(bad, sizeof(bad), ", %zu of them bad", info->bad);
    airy_job_sum_up(it->job,
                    "%s%zu frame%s%s in %.3g s, set-up %.2g s, %.4g frames/s, %s/s decoded, %s "
                    "read (%.2fx)%s",
                    outputs, info->frames, info->frames == 1 ? "" : "s", bad, info->seconds, setup,
                    rate, airy_bytes_text(text[0], decoded / seconds),
                    airy_bytes_text(text[1], stored), stored > 0 ? decoded / stored : 0.0,
                    info->resumed ? ", the rest was done before" : "");
}

static void put_numbers(const struct airy_integration *it, const airy_run_info *info)
{
    airy_job *job = it->job;
    const double good = (double)(info->frames - info->bad),
                 seconds = info->seconds > 0 ? info->seconds : 1e-9,
                 stored = (double)info->stored_bytes, decoded = (double)info->decoded_bytes,
                 setup = (double)(job->begun - it->begun) * 1e-9;
    airy_job_put_number(job, "frames", (double)info->frames);
    airy_job_put_number(job, "bad", (double)info->bad);
    airy_job_put_number(job, "lost", (double)it->lost);
    airy_job_put_number(job, "resumed", (double)info->resumed);
    airy_job_put_number(job, "seconds", info->seconds);
    airy_job_put_number(job, "setup_seconds", setup);
    airy_job_put_number(job, "frames_per_second", good / seconds);
    airy_job_put_number(job, "gigabytes_per_second", decoded / seconds * 1e-9);
    airy_job_put_number(job, "stored_bytes", stored);
    airy_job_put_number(job, "decoded_bytes", decoded);
    airy_job_put_number(job, "ratio", stored > 0 ? decoded / stored : 0);
    sum_up(it, info, setup, good / seconds);
}

/* Texts are kept before there is a file that a lack of memory would leave behind. */
static airy_status put_texts(const struct airy_integration *it)
{
    if (it->v->output && !airy_integration_is_text(it->v))
        AIRY_TRY(airy_job_put_text(it->job, "output", it->v->output));
    AIRY_TRY(airy_job_put_text(it->job, "layout", airy_integrate_layouts[it->layout]));
    AIRY_TRY(airy_job_put_json(it->job, "configuration", json_loads(it->configuration, 0, NULL)));
    return airy_job_put_devices(it->job);
}

static airy_status work(struct airy_integration *it, airy_run_info *info)
{
    if (it->v->follow.on)
        return airy_follow_run(it, info);
    if (airy_integration_has_ranks(it))
        return airy_integration_run_ranks(it, info);
    AIRY_TRY(airy_integration_open_memory(it));
    if (airy_integration_is_text(it->v))
        return airy_integration_run_text(it, info);
    return airy_integrate_stack(it->v->output, it->stack, it->integrators, it->count, &it->run,
                                info);
}

static airy_status run_stack(airy_job *job, struct airy_integration *it)
{
    airy_run_info info = {0};
    airy_integration_warn_groups(it);
    airy_job_work_begins(job);
    const bool text = airy_integration_is_text(it->v);
    airy_status status = work(it, &info);
    airy_job_work_ends(job);
    if (status == AIRY_ERR_CANCELLED && !text)
        return airy_job_stopped(it->v->output, info.frames + info.resumed, it->frames,
                                it->run.resume);
    AIRY_TRY(status);
    airy_integration_end_ranks(it);
    airy_integration_warn_threads(it, info.threads);
    status =
        airy_job_warn_left_out(job, info.bad, info.frames + info.resumed, "", info.first_error);
    const char *hdf5 = text ? NULL : it->v->output;
    airy_integration_warn_gaps(it, hdf5, text ? &it->gaps : NULL);
    airy_integration_warn_empty(job, info.frames, info.empty, info.first_empty);
    airy_integration_warn_dummy_unused(it, hdf5);
    put_numbers(it, &info);
    AIRY_TRY(airy_integration_put_arrays(it));
    return it->lost ? AIRY_PARTLY : status;
}

/* What the run goes on with: the output of an earlier one may be complete. */
static airy_status begin(struct airy_integration *it, bool *done)
{
    const bool is_first = airy_world_is_first(&it->world);
    *done = is_first && airy_integration_may_be_complete(it->v);
    AIRY_TRY(airy_world_tell(&it->world, done, sizeof(*done)));
    if (*done)
        return is_first ? airy_integration_complete(it) : AIRY_OK;
    airy_status status = airy_integration_look_at_place(it); /* a plan did not need it */
    if (status == AIRY_OK && is_first)
        status = airy_integration_prepare_resume(it, it->v->output, it->v->follow.on);
    AIRY_TRY(airy_world_agree(&it->world, status, NULL, NULL));
    AIRY_TRY(airy_integration_begin_ranks(it));
    return put_texts(it);
}

static airy_status run_rank(airy_job *job, struct airy_integration *it)
{
    bool done = false;
    const airy_status begun = begin(it, &done);
    if (begun < AIRY_OK || done)
        return begun;
    if (it->v->follow.on) /* which reports its rows itself */
        return run_stack(job, it);
    airy_integration_report_rows(it);
    AIRY_FAIL_IF(!airy_integration_begins(it, 0, it->frames), AIRY_ERR_CANCELLED,
                 "cancelled before the first frame");
    const airy_status status = run_stack(job, it);
    /* The output is complete: there is nothing to cancel. */
    (void)airy_integration_ends(it, 0, status);
    return status;
}

/* What fails on one rank alone ends all. */
static airy_status run_integration(airy_job *job, void *state)
{
    struct airy_integration *it = state;
    if (airy_integration_is_live(it->v))
        return airy_integration_run_live(job, it);
    return airy_world_agree(&it->world, run_rank(job, it), NULL, NULL);
}

const struct airy_job_kind airy_job_integrate = {
    .name = "integrate",
    .summary = "azimuthal integration: a stack of frames to radial patterns",
    .details = "The usual places of data, pixel mask and geometry are found by themselves. Without "
               "a PONI file and given values the geometry is the file's own; given values override "
               "those of a PONI file and of the file. Eiger and Pilatus detectors leave out their "
               "dummy values unless dummy is given. An output appears when it is complete; a run "
               "that was cancelled leaves OUT.partial, which resume continues. A program "
               "that names no output gets the patterns in memory.",
    .groups = {{airy_stack_rows, offsetof(struct airy_integrate_values, stack)},
               {airy_geometry_rows, offsetof(struct airy_integrate_values, geometry)},
               {airy_pattern_rows, offsetof(struct airy_integrate_values, pattern)},
               {airy_compat_rows, offsetof(struct airy_integrate_values, pattern)},
               {result_rows, 0},
               {airy_correction_rows, offsetof(struct airy_integrate_values, pixels)},
               {correction_rows, 0},
               {airy_frames_rows, offsetof(struct airy_integrate_values, frames)},
               {run_rows, 0},
               {airy_follow_rows, offsetof(struct airy_integrate_values, follow)},
               {airy_device_rows, offsetof(struct airy_integrate_values, compute)},
               {airy_host_rows, offsetof(struct airy_integrate_values, compute)},
               {airy_series_rows, offsetof(struct airy_integrate_values, series)},
               {airy_curve_rows, offsetof(struct airy_integrate_values, series.curve)},
               {airy_ranks_rows, offsetof(struct airy_integrate_values, ranks)}},
    .results = results,
    .values_size = sizeof(struct airy_integrate_values),
    .state_size = sizeof(struct airy_integration),
    .check = check,
    .replay = replay,
    .replayed = airy_geometry_rows,
    .open = airy_integration_open,
    .run = run_integration,
    .close = airy_integration_close,
};
