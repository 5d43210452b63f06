/* A whole stack under its name: what it must not write over, and what becomes of the stack before. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "airy/stack_write.h"
#include "base/number.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/size.h"
#include "io/file/format.h"
#include "io/stack/source.h"

/* What is known of the stack that is replaced. */
struct replaced {
    size_t files;     /* data files that its master links to */
    size_t surplus;   /* of these, there are so many that the new stack lacks */
    char first[1024]; /* of them */
};

struct output {
    const char *path;
    const airy_stack_write_params *params;
    airy_stack_write_info *info;
    struct replaced before;
};

static void report(const struct output *out, const char *format, ...) AIRY_PRINTF(2, 3);
static void report(const struct output *out, const char *format, ...)
{
    char room[1024];
    va_list args;
    va_start(args, format);
    char *text = airy_log_format(room, sizeof(room), AIRY_LOG_WARN, format, args);
    va_end(args);
    if (out->params->message)
        out->params->message(out->params->fill.user, AIRY_LOG_WARN, text);
    else
        airy_log(AIRY_LOG_INFO, "%s", text);
    if (text != room)
        free(text);
}

/* A file that would be lost is none that frames come from. */
static airy_status keep_inputs(const struct output *out, const char *path)
{
    const airy_stack_write_params *p = out->params;
    for (size_t i = 0; i < p->input_count; i++)
        AIRY_TRY(airy_file_keep(p->inputs[i], path));
    return p->fill.stack ? airy_stack_keep(p->fill.stack, path) : AIRY_OK;
}

/* Check the data files of the new stack, and those of the old one that will be removed. */
static airy_status keep_data_files(const struct output *out)
{
    const size_t all = airy_max_size(out->info->files, out->before.files);
    airy_status status = AIRY_OK;
    for (size_t i = 1; i <= all && status == AIRY_OK; i++) {
        char *path = NULL;
        status = airy_stack_data_path(&path, out->path, i);
        if (status == AIRY_OK)
            status = keep_inputs(out, path);
        free(path);
    }
    return status;
}

static bool is_there(const char *path)
{
    struct stat is;
    return lstat(path, &is) == 0;
}

/* Data files that only the stack before has: those there now. */
static size_t count_surplus(char *first, size_t size, const struct output *out)
{
    size_t count = 0;
    for (size_t number = out->info->files + 1; number <= out->before.files; number++) {
        char *path = NULL;
        if (airy_stack_data_path(&path, out->path, number) == AIRY_OK && is_there(path) &&
            count++ == 0)
            snprintf(first, size, "%s", path);
        free(path);
    }
    return count;
}

static const char *and_on(size_t count)
{
    return count > 1 ? " and on" : "";
}

/* What became of them. */
static void report_surplus(const struct output *out)
{
    char still[1024];
    const size_t left = count_surplus(still, sizeof(still), out), had = out->before.surplus;
    if (left < had)
        report(out, "removed %zu data file%s that only the stack before had, '%s'%s", had - left,
               had - left == 1 ? "" : "s", out->before.first, and_on(had - left));
    if (left)
        report(out, "%zu data file%s of the stack before %s, '%s'%s; %s no longer links to %s",
               left, left > 1 ? "s" : "", left > 1 ? "stay" : "stays", still, and_on(left),
               out->path, left > 1 ? "them" : "it");
}

/* A data file behind those of both stacks, as of one whose master could not be read. */
static void report_others(const struct output *out)
{
    char *path = NULL;
    const size_t last = airy_max_size(out->info->files, out->before.files);
    if (airy_stack_data_path(&path, out->path, last + 1) == AIRY_OK && is_there(path))
        report(out, "'%s' stays, to which the stack before did not link", path);
    free(path);
}

/*
 * How large the chunks are, beside the plain frames, or where these are plain beside what they were
 * read from.
 */
static const char *size_text(char text[64], const struct output *out, double good)
{
    const bool plain = out->params->format.codec.codec == AIRY_CODEC_NONE;
    const double stored = (double)out->info->fill.stored_bytes;
    const airy_stack *stack = out->params->fill.stack;
    airy_stack_info from = {.frames = 0};
    double before = (double)out->info->decoded_bytes;
    if (plain && stack && airy_stack_get_info(stack, &from) == AIRY_OK)
        before = (double)from.stored_bytes * good / (double)from.frames;
    const char *what = plain ? "it was" : "plain";
    if (before >= 1.005 * stored)
        snprintf(text, 64, "%.2fx smaller than %s", before / stored, what);
    else if (before > 0 && stored >= 1.005 * before)
        snprintf(text, 64, "%.2fx larger than %s", stored / before, what);
    else
        snprintf(text, 64, plain ? "plain" : "as large as plain");
    return text;
}

static void sum_up(const struct output *out)
{
    const airy_stack_writer_params *f = &out->params->format;
    airy_stack_write_info *info = out->info;
    const size_t good = info->fill.frames - info->fill.bad;
    char text[2][32], size[64], files[64] = "";
    if (info->files)
        snprintf(files, sizeof(files), " in %zu file%s", info->files, info->files == 1 ? "" : "s");
    info->decoded_bytes = (uint64_t)good * f->height * f->width * airy_dtype_size(f->dtype);
    snprintf(
        info->summary, sizeof(info->summary),
        "%zu frame%s of %zu x %zu %s%s, %s a frame (%s), %.1f frames/s, %s/s", f->frames,
        f->frames == 1 ? "" : "s", f->height, f->width, airy_dtype_name(f->dtype), files,
        airy_bytes_text(text[0], (double)info->fill.stored_bytes / (double)airy_max_size(good, 1)),
        size_text(size, out, (double)good), (double)good / info->seconds,
        airy_bytes_text(text[1], (double)info->decoded_bytes / info->seconds));
}

static airy_status write_file(struct output *out, airy_stack_writer **writer)
{
    const airy_stack_writer_params *format = &out->params->format;
    AIRY_TRY(airy_stack_writer_create(writer, out->path, format));
    if (format->force)
        AIRY_TRY(airy_stack_data_count(&out->before.files, out->path));
    if (format->frames_per_file)
        out->info->files = (format->frames - 1) / format->frames_per_file + 1;
    if (format->force && out->info->files)
        AIRY_TRY(keep_data_files(out));
    out->before.surplus = count_surplus(out->before.first, sizeof(out->before.first), out);
    AIRY_TRY(airy_stack_writer_fill(*writer, &out->params->fill, &out->info->fill));
    return airy_stack_writer_finish(*writer);
}

airy_status airy_stack_write_file(const char *path, const airy_stack_write_params *params,
                                  airy_stack_write_info *info)
{
    airy_stack_write_info local;
    airy_stack_writer *writer = NULL;
    airy_error error = {.status = AIRY_OK};
    AIRY_FAIL_IF(!path || !params, AIRY_ERR_PARAM, "airy_stack_write_file: path or params is NULL");
    struct output out = {.path = path, .params = params, .info = info ? info : &local};
    const uint64_t start = airy_clock_ns();
    memset(out.info, 0, sizeof(*out.info));
    AIRY_TRY(keep_inputs(&out, path));
    const airy_status status = write_file(&out, &writer);
    (void)airy_error_first(
        &error, status == AIRY_ERR_CANCELLED ? airy_fail_context(status, "%s", path) : status);
    if (status == AIRY_OK && out.before.surplus)
        report_surplus(&out);
    if (status == AIRY_OK && params->format.force && out.info->files)
        report_others(&out);
    airy_stack_writer_destroy(&writer);
    out.info->seconds = (double)(airy_clock_ns() - start) * 1e-9;
    if (status != AIRY_OK)
        return airy_error_restore(&error);
    sum_up(&out);
    return AIRY_OK;
}
