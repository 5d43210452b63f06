/* airy bench integrate: a file in the page cache to patterns. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "files.h"

/* Frames a second that the decoder of the design would do at most, GB/s of frames. */
enum { CLOSED_DECODER_GB_S = 776 };

/*
 * What a run without end would reach: the time of the stack once is taken from that of many times,
 * and with it all that is made once. t is changed.
 */
static void report_steady(struct bench *bench, struct timing *t, struct bench_integrated *out,
                          struct bench_row row)
{
    const double frames = (double)bench->stack_info.frames, many = bench_percentile(t, 0.5);
    if (out->replay < 2 || many <= out->once)
        return;
    row.name = bench->params->write ? "integrate to a file, steady" : "integrate, steady";
    row.amount = frames * (double)(out->replay - 1);
    for (size_t i = 0; i < t->count; i++)
        t->times[i] = fmax(t->times[i] - out->once, 1e-9);
    bench_add_rate(bench, t, &row);
    out->rate = row.amount / bench_percentile(t, 0.5);
    const double ends = out->once - frames * bench_percentile(t, 0.5) / row.amount;
    if (ends > 0)
        bench_add_fact(bench, "start and end of a run", "s", ends);
    else
        bench_add_missing(bench, "start and end of a run", "s", "runs differ by more than it");
}

/* A row: all threads read the stack, and do nothing else. NaN: it is not in pieces of files. */
static airy_status report_read(struct bench *bench, double *frames_s)
{
    enum { ENOUGH = 256 << 20 }; /* bytes of a call */
    struct bench_files files;
    struct timing *t = malloc(sizeof(*t));
    const unsigned threads = tool_threads(bench->common);
    const struct bench_loop loop = {.run = bench_files_read,
                                    .user = &files,
                                    .seconds = fmin(bench_seconds(bench), 0.5),
                                    .least = 3,
                                    .first = true};
    *frames_s = NAN;
    airy_status status = t ? bench_files_open(&files, bench, threads) : AIRY_ERR_MEMORY;
    const bool whole = status != AIRY_ERR_UNSUPPORTED;
    if (status == AIRY_OK) { /* starting the threads must not count */
        files.passes = (size_t)(ENOUGH / (files.stored * (double)files.frames)) + 1;
        status = bench_loop(bench, t, &loop);
    }
    if (status == AIRY_OK) {
        const size_t frames = files.frames * files.passes;
        char note[64];
        snprintf(note, sizeof(note), "%u threads", threads);
        *frames_s = (double)frames / bench_percentile(t, 0.5);
        bench_add_rate(bench, t,
                       &(struct bench_row){.name = "read from the page cache",
                                           .unit = "frames/s",
                                           .amount = (double)frames,
                                           .frames = frames,
                                           .note = note});
    }
    if (t)
        bench_files_close(&files);
    free(t);
    return whole ? status : AIRY_OK;
}

/* What the figure cannot pass, and what the design asks for a share of. */
static airy_status find_limit(struct bench *bench, struct bench_row *row, char name[96], double raw,
                              double stored)
{
    const size_t devices = bench->team.count;
    double reads;
    airy_status status = bench_measure_wire(bench);
    if (status == AIRY_OK)
        status = report_read(bench, &reads);
    if (status != AIRY_OK)
        return status;
    row->limit_name = name;
    if (bench->cpu) {
        row->limit = bench->limits.inside / raw;
        snprintf(name, 96, "copy of the decoded frames");
        return AIRY_OK;
    }
    row->limit = bench->limits.wire / stored;
    snprintf(name, 96, "copy of these chunks to the device");
    if (devices > 1) { /* which may share a bus, and share the host's memory */
        double wires = 0;
        status = bench_measure_wires(bench, &wires);
        if (status != AIRY_OK)
            return status;
        row->limit = wires / stored;
        bench_add_fact(bench, "copy of these chunks to one device", "frames/s",
                       bench->limits.wire / stored);
        snprintf(name, 96, "copies of these chunks to %zu devices at a time", devices);
    }
    if (reads < row->limit) {
        row->limit = reads;
        snprintf(name, 96, "reading the stack from the page cache");
    }
    row->bound = fmin(row->limit, (double)devices * 1e9 * CLOSED_DECODER_GB_S / raw);
    row->bound_name = "that, or decoding at 776 GB/s";
    return AIRY_OK;
}

static airy_status report(struct bench *bench, struct timing *t,
                          struct bench_integrated *integrated)
{
    const airy_run_info *info = &integrated->info;
    const double frames = (double)info->frames, raw = (double)info->decoded_bytes / frames;
    const double stored = (double)info->stored_bytes / frames;
    char name[96];
    struct bench_row row = {.name = bench->params->write ? "integrate to a file" : "integrate",
                            .unit = "frames/s",
                            .amount = frames,
                            .frames = info->frames};
    const airy_status status = find_limit(bench, &row, name, raw, stored);
    if (status != AIRY_OK)
        return status;
    bench_add_rate(bench, t, &row);
    integrated->rate = frames / bench_percentile(t, 0.5);
    integrated->limit = row.limit;
    bench_add_rate(bench, t,
                   &(struct bench_row){.name = "integrate bandwidth, decoded",
                                       .unit = "GB/s",
                                       .amount = frames * raw * 1e-9,
                                       .limit = bench->cpu ? bench->limits.inside * 1e-9 : 0,
                                       .limit_name = "copy in memory",
                                       .frames = info->frames});
    report_steady(bench, t, integrated, row);
    bench_add_fact(bench, "compression ratio", "x", raw / stored);
    return AIRY_OK;
}

/* An integrator made again and again, of the team's first device. */
struct set_up {
    const struct bench *bench;
    uint8_t *mask;
    airy_integrator *integrator;
    struct timing whole, matrix;
    bool corrected; /* by the host, apart from the matrix */
};

static airy_status forget_set_up(void *user)
{
    struct set_up *s = user;
    airy_integrator_destroy(&s->integrator);
    return AIRY_OK;
}

static airy_status make_set_up(void *user)
{
    struct set_up *s = user;
    const airy_integrator_params params = bench_params(s->bench, s->mask);
    airy_status status =
        airy_integrator_create(&s->integrator, s->bench->device, &s->bench->geometry, &params);
    airy_integrator_info info;
    if (status == AIRY_OK)
        status = airy_integrator_get_info(s->integrator, &info);
    struct timing *t = &s->matrix;
    s->corrected = status == AIRY_OK && info.corrections_seconds > 0;
    if (status == AIRY_OK && t->count < BENCH_MAX_REPEATS)
        t->times[t->count++] = info.matrix_seconds + info.sums_seconds + info.tables_seconds;
    return status;
}

/* Rows of the set-up without what a process does once, and without the corrections. */
static airy_status report_set_up(struct bench *bench)
{
    struct set_up *s = calloc(1, sizeof(*s));
    if (!s)
        return AIRY_ERR_MEMORY;
    s->bench = bench;
    const struct bench_loop loop = {.prepare = forget_set_up,
                                    .run = make_set_up,
                                    .user = s,
                                    .seconds = fmin(bench_seconds(bench), 0.5),
                                    .least = 3};
    airy_status status = bench_mask(&s->mask, bench);
    if (status == AIRY_OK)
        status = bench_loop(bench, &s->whole, &loop);
    if (status == AIRY_OK) {
        bench_add_latency(
            bench, &s->whole,
            &(struct bench_row){.name = "integrator set-up, again", .unit = "ms", .amount = 1e3});
        bench_add_latency(bench, &s->matrix,
                          &(struct bench_row){.name = "its matrix, sums and tables",
                                              .unit = "ms",
                                              .amount = 1e3,
                                              .note = s->corrected
                                                          ? "the rest are corrections on the host"
                                                          : "corrections are made with it"});
    }
    airy_integrator_destroy(&s->integrator);
    free(s->mask);
    free(s);
    return status;
}

static int integrate_all(struct bench *bench)
{
    if (bench->team.count > 1)
        return tool_usage(bench->common, "--all measures one device, not %zu", bench->team.count);
    const airy_status status = bench_methods(bench);
    return status == AIRY_OK ? AIRY_EXIT_OK : bench_failed(bench, status);
}

airy_status bench_integrate_team(struct bench *bench, const char *path,
                                 struct bench_integrated *integrated)
{
    struct timing t;
    const airy_status status = bench_time_integrate(bench, bench->team.integrators,
                                                    bench->team.count, path, &t, integrated);
    return status == AIRY_OK ? report(bench, &t, integrated) : status;
}

int bench_integrate(struct bench *bench)
{
    if (bench->params->all)
        return integrate_all(bench);
    char path[4096];
    struct bench_integrated integrated;
    if (bench->params->write) {
        const int code = bench_folder(bench);
        if (code != AIRY_EXIT_OK)
            return code;
        bench_name(path, bench, "patterns.h5");
    }
    const double start = tool_now();
    airy_status status = bench_team(bench);
    const double created = tool_now() - start;
    if (status == AIRY_OK)
        status = bench_integrate_team(bench, bench->params->write ? path : NULL, &integrated);
    if (status == AIRY_OK)
        bench_add_fact(bench, "integrator set-up", "s", created);
    if (status == AIRY_OK && bench->params->integrator.error_model != AIRY_ERROR_MODEL_VARIANCE)
        status = report_set_up(bench);
    return status == AIRY_OK ? AIRY_EXIT_OK : bench_failed(bench, status);
}
