/*
 * Channels of a detector (thresholds, their difference) in one dataset [images, channels, y, x]:
 * they are images of different things, and only one of them is a series of frames.
 * Source: DECTRIS file writer, hdf5 nexus v2024.2: `channel` beside the data has their names.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/word.h"
#include "io/hdf5/chunk_address.h"
#include "io/hdf5/sources.h"
#include "io/stack/internal.h"

enum { MAX_CHANNELS = 64, LONGEST_NAME = AIRY_STACK_CHANNEL, MAX_BYTES = 1 << 20 };

struct names {
    size_t count, damaged; /* damaged: those that are numbers instead */
    char text[MAX_CHANNELS][LONGEST_NAME];
};

/* One that can be typed and printed, and is a part of the names of groups. */
static bool is_name(const char *text, size_t size)
{
    bool good = size > 0 && size < LONGEST_NAME && airy_is_utf8(text, size);
    for (size_t i = 0; i < size && good; i++) {
        const unsigned char c = (unsigned char)text[i],
                            next = i + 1 < size ? (unsigned char)text[i + 1] : 0;
        good = c >= ' ' && c != 0x7f && c != '/' && !(c == 0xc2 && next < 0xa0);
    }
    return good;
}

/* Name i; of a damaged one the number from 1 on stands for it. */
static void keep_name(struct names *names, size_t i, const char *from, size_t size)
{
    size_t n = from ? strnlen(from, size) : 0;
    while (n > 0 && from[n - 1] == ' ') /* Fortran pads */
        n--;
    const bool good = is_name(from, n);
    names->damaged += !good;
    if (good)
        snprintf(names->text[i], LONGEST_NAME, "%.*s", (int)n, from);
    else
        snprintf(names->text[i], LONGEST_NAME, "%zu", i + 1);
}

static bool read_variable(struct names *names, hid_t dataset)
{
    airy_hdf5_texts texts;
    if (airy_hdf5_texts_open(&texts, dataset, names->count, MAX_BYTES) != AIRY_OK)
        return false;
    for (size_t i = 0; i < names->count; i++)
        keep_name(names, i, texts.text[i], SIZE_MAX);
    airy_hdf5_texts_close(&texts);
    return true;
}

static bool read_fixed(struct names *names, hid_t dataset, hid_t type)
{
    const size_t size = H5Tget_size(type);
    char *texts = size > 0 && size <= 4096 ? calloc(names->count, size) : NULL;
    const bool good = texts && airy_hdf5_read_as(dataset, type, H5S_ALL, H5S_ALL, texts) >= 0;
    for (size_t i = 0; good && i < names->count; i++)
        keep_name(names, i, texts + i * size, size);
    free(texts);
    return good;
}

/* Return whether a dataset holds `count` texts in one dimension. */
static bool holds_names(hid_t type, hid_t space, size_t count)
{
    hsize_t extent = 0;
    return type >= 0 && space >= 0 && H5Tget_class(type) == H5T_STRING &&
           H5Sget_simple_extent_ndims(space) == 1 &&
           H5Sget_simple_extent_dims(space, &extent, NULL) == 1 && extent == count &&
           count <= MAX_CHANNELS;
}

/* Read the names; names->count stays 0 where the dataset holds something else. */
static airy_status read_names(struct names *names, hid_t dataset, size_t count)
{
    const hid_t type = H5Dget_type(dataset), space = H5Dget_space(dataset);
    airy_status status = AIRY_OK;
    if (holds_names(type, space, count)) {
        names->count = count;
        status = airy_chunk_check(dataset, NULL, NULL);
        if (status == AIRY_OK && !(H5Tis_variable_str(type) > 0 ? read_variable(names, dataset)
                                                                : read_fixed(names, dataset, type)))
            status = airy_hdf5_fail(AIRY_ERR_FORMAT, AIRY_SUBJECT_NONE, "its texts cannot be read");
    }
    if (type >= 0)
        H5Tclose(type);
    if (space >= 0)
        H5Sclose(space);
    return status;
}

/*
 * Find the names of the channels of a dataset whose last axis but two has `count` elements: they
 * are in `channel` beside the dataset. Without names it has no channels. Names that cannot be read
 * are an error, since images of different channels would otherwise be frames of one series.
 */
static airy_status find_names(struct names *names, hid_t file, const char *name, size_t count)
{
    char path[1024];
    const char *slash = strrchr(name, '/');
    const int group = slash ? (int)(slash - name) : 0;
    H5O_info_t about;
    names->count = names->damaged = 0;
    if ((size_t)snprintf(path, sizeof(path), "%.*s/channel", group, name) >= sizeof(path) ||
        !airy_hdf5_exists(file, path) ||
        (H5Oget_info_by_name2(file, path, &about, H5O_INFO_BASIC, H5P_DEFAULT) >= 0 &&
         about.type != H5O_TYPE_DATASET))
        return AIRY_OK;
    const hid_t dataset = airy_hdf5_dataset(file, path);
    if (dataset < 0)
        return airy_hdf5_fail(AIRY_ERR_FORMAT, AIRY_SUBJECT_NONE,
                              "its channels' names in %s cannot be read", path);
    const airy_status status = read_names(names, dataset, count);
    H5Dclose(dataset);
    return status == AIRY_OK ? AIRY_OK
                             : airy_fail_context(status, "its channels' names in %s", path);
}

static void list_names(char *text, size_t size, const struct names *names)
{
    text[0] = 0;
    for (size_t i = 0; i < names->count; i++) {
        const size_t used = strlen(text);
        snprintf(text + used, size - used, "%s%s", i ? ", " : "", names->text[i]);
    }
}

/* The names instead of those of an earlier dataset. */
static airy_status keep_names(airy_stack *stack, const struct names *names)
{
    const char **list = malloc(names->count * (sizeof(*list) + LONGEST_NAME));
    AIRY_FAIL_IF(!list, AIRY_ERR_MEMORY, "out of memory for %zu names of channels", names->count);
    char *texts = memcpy(list + names->count, names->text, names->count * LONGEST_NAME);
    for (size_t i = 0; i < names->count; i++)
        list[i] = texts + i * LONGEST_NAME;
    free(stack->channel_names);
    stack->channel_names = list;
    stack->channel_count = names->count;
    return AIRY_OK;
}

/* By its name, or by its number from 1 on; names->count: there is none. */
static size_t find_channel(const struct names *names, const char *wanted)
{
    size_t i = 0;
    while (i < names->count && strcmp(names->text[i], wanted) != 0)
        i++;
    char *end;
    const unsigned long number = strtoul(wanted, &end, 10);
    if (i == names->count && *wanted >= '1' && *wanted <= '9' && !*end && number <= names->count)
        i = number - 1;
    return i;
}

airy_status airy_stack_find_channel(airy_stack *stack, struct stack_channel *channel, hid_t file,
                                    const char *path, const char *name, int ndim,
                                    const hsize_t *shape)
{
    struct names names;
    char list[AIRY_STACK_CHANNELS];
    *channel = (struct stack_channel){.count = 1};
    names.count = names.damaged = 0;
    if (ndim >= 4 && shape[ndim - 3] <= MAX_CHANNELS) {
        const airy_status found = find_names(&names, file, name, (size_t)shape[ndim - 3]);
        if (found != AIRY_OK)
            return airy_fail_context(found, "%s::%s", path, name);
    }
    if (names.count == 0) {
        AIRY_FAIL_ON_IF(stack->wanted_channel, AIRY_ERR_NOT_FOUND, AIRY_SUBJECT_FILE,
                        "%s::%s has no channels to choose '%s' from", path, name,
                        stack->wanted_channel);
        return AIRY_OK;
    }
    list_names(list, sizeof(list), &names);
    const char *wanted = stack->wanted_channel;
    if (names.damaged && !stack->channel[0])
        airy_log(AIRY_LOG_WARN,
                 "%s::%s: the names of %zu of its %zu channels are empty, too long, or no text "
                 "without control characters and '/'; numbers stand for them (%s), and masks and "
                 "limits of these channels are not found by name",
                 path, name, names.damaged, names.count, list);
    if (!wanted && names.count > 1 && !stack->channel[0]) /* once for a stack of several files */
        airy_log(
            AIRY_LOG_WARN,
            "%s::%s holds %zu channels (%s); only images of the first channel, %s, are frames: "
            "choose another one by --channel NAME",
            path, name, names.count, list, names.text[0]);
    channel->count = names.count;
    channel->index = wanted ? find_channel(&names, wanted) : 0;
    AIRY_FAIL_HINT_IF(channel->index == names.count, AIRY_ERR_NOT_FOUND, AIRY_HINT_STATED,
                      AIRY_SUBJECT_NONE, "%s::%s has no channel '%s'; its channels are %s", path,
                      name, wanted, list);
    memcpy(stack->channel, names.text[channel->index], sizeof(stack->channel));
    memcpy(stack->channels, list, sizeof(stack->channels));
    return keep_names(stack, &names);
}

airy_status airy_stack_take_channel(airy_stack *stack, const struct stack_channel *channel,
                                    size_t runs, size_t first)
{
    if (channel->count == 1)
        return AIRY_OK;
    const size_t old_count = stack->run_count - runs;
    struct stack_run *old = NULL;
    AIRY_TRY(airy_memory_calloc((void **)&old, old_count, sizeof(*old), "frames of a channel"));
    memcpy(old, stack->runs + runs, old_count * sizeof(*old));
    stack->run_count = runs;
    size_t to = first;
    airy_status status = AIRY_OK;
    for (size_t r = 0; r < old_count && status == AIRY_OK; r++) {
        const size_t phase = (old[r].first - first) % channel->count;
        size_t i = (channel->index + channel->count - phase) % channel->count;
        for (; i < old[r].count && status == AIRY_OK; i += channel->count)
            status = airy_stack_add_run(
                stack, (struct stack_run){to++, 1, old[r].segment, old[r].from + i});
    }
    free(old);
    stack->frames = to;
    return status;
}
