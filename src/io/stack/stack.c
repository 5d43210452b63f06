#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "io/file/format.h"
#include "io/stack/internal.h"
#include "io/file/pattern.h"

/*
 * One codec for the pipeline: the first that compresses; frames of segments with another one come
 * decoded. Zstandard is never the pipeline's: devices do not decode it.
 */
static void settle_codec(airy_stack *stack)
{
    stack->path = AIRY_STACK_LIBRARY;
    stack->codec = (airy_codec_params){.elem_size = (uint32_t)airy_dtype_size(stack->dtype)};
    for (size_t i = 0; i < stack->segment_count; i++) {
        const struct stack_segment *segment = &stack->segments[i];
        stack->stored_bytes += segment->stored_bytes;
        if (segment->plain && stack->path == AIRY_STACK_LIBRARY)
            stack->path = AIRY_STACK_FILES;
        if (!segment->direct)
            continue;
        stack->path = AIRY_STACK_DIRECT;
        if (stack->codec.codec == AIRY_CODEC_NONE && segment->codec.codec != AIRY_CODEC_NONE &&
            segment->codec.codec != AIRY_CODEC_BSZSTD)
            stack->codec = segment->codec;
    }
}

/* Frames of a run that are missing, or that their file ends before. */
static size_t count_lost(const airy_stack *stack, const struct stack_run *run)
{
    const struct stack_segment *segment = &stack->segments[run->segment];
    if (segment->broken)
        return run->count;
    if (segment->places)
        return airy_stack_table_lost(segment, run->from, run->count);
    if (!segment->direct || segment->fill_only || segment->plain)
        return 0;
    const uint64_t bytes = segment->end > segment->start ? segment->end - segment->start : 0,
                   whole = bytes / stack->frame_bytes, end = run->from + run->count;
    return whole >= end ? 0 : (size_t)(end - (whole > run->from ? whole : run->from));
}

static void settle_sizes(airy_stack *stack)
{
    for (size_t i = 0; i < stack->segment_count; i++) {
        const struct stack_segment *segment = &stack->segments[i];
        const bool decoded = !segment->places || segment->codec.codec == AIRY_CODEC_BSZSTD;
        if (decoded && !segment->fill_only)
            stack->max_chunk = airy_max_size(stack->max_chunk, stack->frame_bytes);
        stack->max_chunk = airy_max_size(stack->max_chunk, segment->max_chunk);
        stack->lost += segment->plain ? airy_plain_lost(segment) : 0;
    }
    for (size_t i = 0; i < stack->run_count; i++)
        stack->lost += count_lost(stack, &stack->runs[i]);
}

/* The file of one dataset is missing or cut, the stack may go on. */
static bool is_of_file(airy_status status)
{
    return status == AIRY_ERR_NOT_FOUND || status == AIRY_ERR_IO || status == AIRY_ERR_FORMAT ||
           status == AIRY_ERR_CORRUPT;
}

/* Right after a data file could not be opened: which dataset needs it. */
static airy_status name_dataset(const struct stack_choice *choice, airy_status status)
{
    airy_error error;
    airy_error_get(&error);
    return error.hint == AIRY_HINT_DATA_FILE
               ? airy_fail_context(status, "%s::%s cannot be opened", choice->path, choice->dataset)
               : status;
}

/*
 * Right after add_dataset has failed for choice i: where a series tells how many frames are
 * lost, each read of one of them says why; else *unknown, and the failure.
 */
static airy_status add_lost(airy_stack *stack, const struct stack_choice *choices, size_t i,
                            airy_status failed, bool *unknown)
{
    *unknown = false;
    const struct stack_choice *choice = &choices[i];
    if (choice->series_count < 2 || !is_of_file(failed))
        return name_dataset(choice, failed);
    airy_error why;
    airy_error_get(&why);
    size_t frames = 0, segment;
    AIRY_TRY(airy_stack_series_frames(&frames, &choices[choice->series_first], choice->series_count,
                                      i - choice->series_first));
    *unknown = frames == 0 || frames > AIRY_STACK_MAX_FRAMES;
    if (*unknown) {
        (void)airy_error_restore(&why);
        (void)name_dataset(choice, failed);
        return airy_hinted(
            AIRY_HINT_STATED,
            airy_fail(failed,
                      "%s; its number of frames is not known, so that they cannot be left out: "
                      "put the whole file beside its master, or name the datasets whose files are "
                      "there (%s::DATASET)",
                      airy_last_error(), choice->path));
    }
    AIRY_TRY(airy_stack_add_blank(stack, &segment, choice->path, choice->dataset));
    struct stack_segment *lost = &stack->segments[segment];
    lost->frames = frames;
    why.status = AIRY_ERR_NOT_FOUND;
    (void)airy_error_restore(&why);
    lost->broken = airy_error_keep();
    AIRY_FAIL_IF(!lost->broken, AIRY_ERR_MEMORY, "out of memory for a failure's sentence");
    airy_log(AIRY_LOG_WARN, "%s; its %zu frames cannot be read", why.text, frames);
    AIRY_TRY(airy_stack_add_run(stack, (struct stack_run){stack->frames, frames, segment, 0}));
    stack->frames += frames;
    return AIRY_OK;
}

/* Frames from `first` on are of this choice; datasets of one series belong to one input. */
static airy_status note_part(airy_stack *stack, const struct stack_choice *choice, bool goes_on,
                             size_t first)
{
    if (!goes_on) {
        struct stack_part *larger =
            realloc(stack->parts, (stack->part_count + 1) * sizeof(*larger));
        AIRY_FAIL_IF(!larger, AIRY_ERR_MEMORY, "out of memory for %zu files",
                     stack->part_count + 1);
        stack->parts = larger;
        stack->parts[stack->part_count] = (struct stack_part){.path = strdup(choice->path),
                                                              .plain = choice->plain_count > 0,
                                                              .series = choice->series_count > 0,
                                                              .first = first};
        AIRY_FAIL_IF(!stack->parts[stack->part_count++].path, AIRY_ERR_MEMORY,
                     "out of memory for a path");
    }
    struct stack_part *part = &stack->parts[stack->part_count - 1];
    part->frames = stack->frames - part->first;
    return AIRY_OK;
}

/* The file that datasets are added from, open from one to the next. */
struct held_file {
    hid_t file; /* negative: none */
    const char *path;
};

static void release(struct held_file *held)
{
    if (held->file >= 0)
        H5Fclose(held->file);
    held->file = -1;
}

static airy_status add_dataset(airy_stack *stack, struct held_file *held,
                               const struct stack_choice *choice)
{
    if (held->file < 0 || strcmp(held->path, choice->path) != 0) {
        release(held);
        AIRY_TRY(airy_hdf5_open(&held->file, choice->path));
        held->path = choice->path;
    }
    return airy_stack_add(stack, held->file, choice->path, choice->dataset);
}

static unsigned long long number_of(const struct stack_choice *choice)
{
    const char *underline = strrchr(choice->dataset, '_');
    return underline ? strtoull(underline + 1, NULL, 10) : 0;
}

/* Numbers that a master's data files do not have: reported, as later frames move up. */
static void say_missing(const struct stack_choice *series)
{
    const size_t count = series->series_count;
    const unsigned long long first = number_of(&series[0]), last = number_of(&series[count - 1]);
    size_t i = 1;
    while (i < count && number_of(&series[i]) == first + i)
        i++;
    if (i < count && last >= first + count)
        airy_log(AIRY_LOG_WARN,
                 "%s: %llu of the data files %llu to %llu have no entry, the first is number "
                 "%llu; later frames are numbered without them",
                 series->path, last - first + 1 - count, first, last, first + i);
}

static airy_status add_each(struct held_file *held, airy_stack *stack,
                            const struct stack_choice *choices, size_t count,
                            const char *const *paths, const airy_stack_params *params)
{
    airy_error first = {.status = AIRY_OK};
    for (size_t i = 0; i < count; i++) {
        const size_t before = stack->frames;
        if (choices[i].series_count > 1 && i == choices[i].series_first && !params->unverified)
            say_missing(&choices[i]);
        const airy_status status = choices[i].plain_count
                                       ? airy_stack_add_plain(stack, paths + choices[i].plain_first,
                                                              choices[i].plain_count, params)
                                       : add_dataset(stack, held, &choices[i]);
        (void)airy_error_first(&first, status);
        bool unknown = false;
        const airy_status lost = status == AIRY_OK ? AIRY_OK
                                                   : add_lost(stack, choices, i, status, &unknown);
        /* AIRY_ERR_SHAPE: it has no frame yet. */
        if (params->growing && stack->frames > 0 && choices[i].series_count > 1 &&
            (unknown || status == AIRY_ERR_SHAPE))
            break;
        AIRY_TRY(lost);
        AIRY_TRY(note_part(stack, &choices[i],
                           choices[i].series_count > 0 && i != choices[i].series_first, before));
    }
    /* Nobody has said what a frame is. */
    return stack->frame_bytes == 0 ? airy_error_restore(&first) : AIRY_OK;
}

static airy_status add_choices(airy_stack *stack, const struct stack_choice *choices, size_t count,
                               const char *const *paths, const airy_stack_params *params)
{
    struct held_file held = {.file = -1};
    const airy_status status = add_each(&held, stack, choices, count, paths, params);
    release(&held);
    return status;
}

/* Whether a path is a file of another kind than HDF5; what is none is libhdf5's to refuse. */
static bool is_plain(const char *path, const airy_stack_params *params)
{
    enum airy_image_format format;
    if (params->raw && params->raw_if_headerless)
        return airy_image_format_stated(&format, path) != AIRY_OK || format != AIRY_FORMAT_HDF5;
    if (params->raw)
        return true;
    return airy_image_format_of(&format, path) == AIRY_OK && format != AIRY_FORMAT_UNKNOWN &&
           format != AIRY_FORMAT_HDF5;
}

/* Neighbours that are not HDF5 are one choice; *next: the path behind them. */
static airy_status choose_plain(struct stack_choice **choices, size_t *chosen,
                                const struct airy_paths *paths, size_t *next,
                                const airy_stack_params *params)
{
    struct stack_choice *larger = realloc(*choices, (*chosen + 1) * sizeof(*larger));
    AIRY_FAIL_IF(!larger, AIRY_ERR_MEMORY, "out of memory for %zu files", *chosen + 1);
    *choices = larger;
    struct stack_choice *choice = &larger[*chosen];
    *choice = (struct stack_choice){.path = strdup(paths->items[*next]), .plain_first = *next};
    AIRY_FAIL_IF(!choice->path, AIRY_ERR_MEMORY, "out of memory for a path");
    ++*chosen;
    while (*next < paths->count && is_plain(paths->items[*next], params)) {
        choice->plain_count++;
        ++*next;
    }
    return AIRY_OK;
}

static airy_status add_paths(airy_stack *stack, const struct airy_paths *paths,
                             const airy_stack_params *params)
{
    struct stack_choice *choices = NULL;
    size_t chosen = 0;
    airy_status status = AIRY_OK;
    for (size_t i = 0; i < paths->count && status == AIRY_OK;) {
        if (is_plain(paths->items[i], params))
            status = choose_plain(&choices, &chosen, paths, &i, params);
        else
            status = airy_stack_find(&choices, &chosen, paths->items[i++], 2);
    }
    if (status == AIRY_OK)
        status = add_choices(stack, choices, chosen, (const char *const *)paths->items, params);
    if (status == AIRY_OK) {
        stack->first_path = choices[0].path;
        stack->first_is_plain = choices[0].plain_count > 0;
        choices[0].path = NULL;
        stack->first_dataset = choices[0].dataset;
        choices[0].dataset = NULL;
    }
    for (size_t i = 0; i < chosen; i++) {
        free(choices[i].path);
        free(choices[i].dataset);
    }
    free(choices);
    return status;
}

static airy_status check_raw(const airy_raw_frames *raw, bool if_headerless)
{
    size_t bytes;
    if (if_headerless && (raw->height == 0 || raw->width == 0))
        return AIRY_OK;
    AIRY_FAIL_IF(raw->height == 0 || raw->width == 0 || airy_dtype_size(raw->dtype) == 0 ||
                     airy_mul_size(&bytes, raw->height, raw->width) ||
                     airy_mul_size(&bytes, bytes, airy_dtype_size(raw->dtype)),
                 AIRY_ERR_PARAM, "raw frames of %zu x %zu, expected a size and a dtype",
                 raw->height, raw->width);
    return AIRY_OK;
}

/*
 * Long datasets stay open, as many as may: their files can be moved or removed before all places are
 * read. What cannot be opened again is said when a frame is read.
 */
static void hold_tables(const airy_stack *stack)
{
    size_t held = 0;
    hid_t dataset;
    for (size_t i = 0; i < stack->segment_count && held < AIRY_STACK_OPEN_DATASETS; i++)
        if (stack->segments[i].table)
            held += airy_stack_library_dataset(stack, i, &dataset) == AIRY_OK;
}

static airy_status create(airy_stack **stack, const struct airy_paths *paths,
                          const airy_stack_params *params)
{
    airy_stack *made;
    AIRY_TRY(airy_memory_calloc((void **)&made, 1, sizeof(*made), "a stack"));
    made->wanted_channel = params->channel;
    made->unverified = params->unverified;
    made->growing = params->growing;
    airy_status status = airy_stack_library_open(made);
    for (size_t i = 0; i < params->external_folder_count && status == AIRY_OK; i++)
        status = airy_folder_add(&made->allowed, params->external_folders[i]);
    if (status == AIRY_OK)
        status = airy_hdf5_lock_allowing(made->allowed);
    if (status == AIRY_OK) {
        status = add_paths(made, paths, params);
        if (status == AIRY_OK)
            hold_tables(made);
        airy_hdf5_unlock();
    }
    if (status != AIRY_OK) {
        airy_stack_destroy(&made);
        return status;
    }
    if (params->channel && !made->channel[0]) {
        status = airy_fail_on(AIRY_ERR_NOT_FOUND, AIRY_SUBJECT_FILE,
                              "'%s' has no channels to choose '%s' from", paths->items[0],
                              params->channel);
        airy_stack_destroy(&made);
        return status;
    }
    made->wanted_channel = NULL;
    settle_codec(made);
    settle_sizes(made);
    *stack = made;
    return AIRY_OK;
}

airy_status airy_stack_create_array(airy_stack **stack, const void *pixels, airy_dtype dtype,
                                    const size_t shape[3])
{
    airy_stack *made;
    AIRY_FAIL_IF(!stack || !shape, AIRY_ERR_PARAM,
                 "airy_stack_create_array: stack or shape is NULL");
    AIRY_TRY(airy_memory_calloc((void **)&made, 1, sizeof(*made), "a stack"));
    const airy_status status = airy_stack_open_memory(made, pixels, dtype, shape);
    if (status != AIRY_OK) {
        airy_stack_destroy(&made);
        return status;
    }
    settle_codec(made);
    settle_sizes(made);
    *stack = made;
    return AIRY_OK;
}

/* libhdf5 is not needed, and its lock not held while a pipe waits for its writer. */
static airy_status create_pipe(airy_stack **stack, const char *path,
                               const airy_stack_params *params)
{
    airy_stack *made;
    AIRY_FAIL_ON_IF(!params->raw, AIRY_ERR_PARAM, AIRY_SUBJECT_FILE,
                    "'%s' is a pipe, whose frames must be described", path);
    AIRY_TRY(check_raw(params->raw, false));
    AIRY_TRY(airy_memory_calloc((void **)&made, 1, sizeof(*made), "a stack"));
    const airy_status status = airy_stack_pipe_open(made, path, params);
    if (status != AIRY_OK) {
        airy_stack_destroy(&made);
        return status;
    }
    settle_codec(made);
    made->path = AIRY_STACK_FILES;
    made->max_chunk = made->frame_bytes;
    *stack = made;
    return AIRY_OK;
}

static airy_status expand_and_create(airy_stack **stack, const char *const *given, size_t count,
                                     const airy_stack_params *params)
{
    struct airy_paths paths;
    AIRY_FAIL_IF(!stack || !given || count == 0, AIRY_ERR_PARAM,
                 "a stack of %zu paths, expected at least one", count);
    if (params->pipe && count == 1 && given[0] && airy_stack_is_pipe(given[0]))
        return create_pipe(stack, given[0], params);
    /* What has not come yet is no gap, and a stack that grows is opened again and again. */
    AIRY_TRY(airy_paths_expand(&paths, given, count, !params->growing));
    const airy_status status = create(stack, &paths, params);
    airy_paths_free(&paths);
    return status;
}

airy_status airy_stack_create_with(airy_stack **stack, const char *const *paths, size_t count,
                                   const airy_stack_params *params)
{
    static const airy_stack_params defaults = {0};
    params = params ? params : &defaults;
    if (params->raw)
        AIRY_TRY(check_raw(params->raw, params->raw_if_headerless));
    AIRY_FAIL_IF(params->channel && !*params->channel, AIRY_ERR_PARAM,
                 "channel is empty, expected a name or a number");
    for (size_t i = 0; i < params->external_folder_count; i++)
        AIRY_FAIL_IF(!params->external_folders || !params->external_folders[i], AIRY_ERR_PARAM,
                     "external_folders[%zu] is NULL", i);
    return airy_hint_becomes(AIRY_HINT_REGULAR, AIRY_HINT_FOLDER,
                             expand_and_create(stack, paths, count, params));
}

airy_status airy_stack_create(airy_stack **stack, const char *const *paths, size_t count)
{
    return airy_stack_create_with(stack, paths, count, NULL);
}

airy_status airy_stack_create_growing(airy_stack **stack, const char *const *paths, size_t count)
{
    return airy_stack_create_with(stack, paths, count, &(airy_stack_params){.growing = true});
}

airy_status airy_stack_create_raw(airy_stack **stack, const char *const *paths, size_t count,
                                  const airy_raw_frames *raw)
{
    AIRY_FAIL_IF(!raw, AIRY_ERR_PARAM, "airy_stack_create_raw: raw is NULL");
    return airy_stack_create_with(stack, paths, count, &(airy_stack_params){.raw = raw});
}

void airy_stack_destroy(airy_stack **stack)
{
    if (!stack || !*stack)
        return;
    airy_stack *dead = *stack;
    *stack = NULL;
    airy_stack_pipe_close(&dead->pipe);
    airy_stack_library_close(dead);
    for (size_t i = 0; i < dead->segment_count; i++)
        airy_plain_destroy(&dead->segments[i].plain);
    airy_stack_drop_segments(dead, 0);
    for (size_t i = 0; i < dead->file_count; i++) {
        if (dead->files[i].fd >= 0)
            close(dead->files[i].fd);
        free(dead->files[i].path);
    }
    free(dead->files);
    free(dead->file_slots);
    free(dead->segments);
    free(dead->runs);
    free(dead->first_path);
    free(dead->first_dataset);
    for (size_t i = 0; i < dead->part_count; i++)
        free(dead->parts[i].path);
    free(dead->parts);
    free(dead->channel_names);
    airy_folders_free(&dead->allowed);
    free(dead);
}

airy_status airy_stack_get_info(const airy_stack *stack, airy_stack_info *info)
{
    AIRY_FAIL_IF(!stack || !info, AIRY_ERR_PARAM, "airy_stack_get_info: an argument is NULL");
    const struct stack_segment *first = &stack->segments[0];
    for (size_t i = 0; i < stack->segment_count && first->broken; i++)
        first = &stack->segments[i];
    *info = (airy_stack_info){.frames = stack->pipe ? SIZE_MAX : stack->frames,
                              .height = stack->height,
                              .width = stack->width,
                              .dtype = stack->dtype,
                              .codec = stack->codec,
                              .path = stack->path,
                              .stored_bytes = stack->stored_bytes,
                              .max_chunk = stack->max_chunk,
                              .files = airy_max_size(stack->file_count, 1),
                              .dataset = stack->pipe ? stack->first_path : first->name,
                              .filters = first->filters ? first->filters : "none",
                              .lost = stack->lost,
                              .channel = stack->channel,
                              .channels = stack->channels,
                              .channel_names = stack->channel_names,
                              .channel_count = stack->channel_count,
                              .is_pipe = stack->pipe != NULL,
                              .headerless = stack->headerless,
                              .rest_bytes = stack->rest_bytes};
    return AIRY_OK;
}
