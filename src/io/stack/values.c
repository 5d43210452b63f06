/* Motors, times and monitors of the files that a stack is in: datasets of one value a frame. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "io/hdf5/chunk_address.h"
#include "io/hdf5/probe.h"
#include "io/hdf5/sources.h"
#include "io/hdf5/util.h"
#include "io/stack/internal.h"

enum {
    MAX_OBJECTS = 20000,      /* that are looked at in a file */
    MAX_TEXT_BYTES = 64 << 20 /* of one dataset's texts */
};

/* What tells one dataset from another, by whatever names they are reached. */
struct object {
    unsigned long file;
    haddr_t address;
};

struct finder {
    const airy_stack *stack;
    hid_t file;
    const char *name;                   /* of that file */
    bool parted[AIRY_FRAME_VALUES_MAX]; /* a value goes on in the files behind */
    char (*paths)[512];                 /* [AIRY_FRAME_VALUES_MAX] */
    struct object objects_of[AIRY_FRAME_VALUES_MAX];
    size_t count, objects;
    char entry[512];
};

/* A dataset's class and number of elements; false: it has none of one dimension. */
static bool look_at(hid_t dataset, H5T_class_t *class, hssize_t *count)
{
    const hid_t type = H5Dget_type(dataset), space = H5Dget_space(dataset);
    *class = type < 0 ? H5T_NO_CLASS : H5Tget_class(type);
    *count = space < 0 ? -1 : H5Sget_simple_extent_npoints(space);
    hsize_t shape[H5S_MAX_RANK] = {0};
    const int ndim = space < 0 ? -1 : H5Sget_simple_extent_dims(space, shape, NULL);
    if (type >= 0)
        H5Tclose(type);
    if (space >= 0)
        H5Sclose(space);
    return ndim >= 1 && shape[0] == (hsize_t)*count;
}

static bool is_kind(H5T_class_t class)
{
    return class == H5T_INTEGER || class == H5T_FLOAT || class == H5T_STRING;
}

/*
 * As many as the stack has frames, or the first of several files. One of a file with one frame tells
 * nothing of what it is.
 */
static bool fits(const airy_stack *stack, hssize_t count)
{
    return count == (hssize_t)stack->frames ||
           (stack->part_count > 1 && stack->parts[0].frames > 1 &&
            count == (hssize_t)stack->parts[0].frames);
}

/* A link of the frames' entry leads to a dataset of one value a frame that is not noted yet. */
static void note_dataset(struct finder *f, hid_t group, const char *name)
{
    char path[512];
    H5O_info_t about;
    H5T_class_t class;
    hssize_t count;
    if ((size_t)snprintf(path, sizeof(path), "%s/%s", f->entry, name) >= sizeof(path))
        return;
    const hid_t dataset = airy_hdf5_dataset_own(group, name);
    if (dataset < 0) {
        H5Eclear2(H5E_DEFAULT);
        return;
    }
    bool good = look_at(dataset, &class, &count) && is_kind(class) && fits(f->stack, count) &&
                H5Oget_info2(dataset, &about, H5O_INFO_BASIC) >= 0;
    for (size_t i = 0; good && i < f->count; i++)
        good = f->objects_of[i].file != about.fileno || f->objects_of[i].address != about.addr;
    if (good) {
        f->objects_of[f->count] = (struct object){about.fileno, about.addr};
        memcpy(f->paths[f->count++], path, sizeof(path));
    }
    H5Dclose(dataset);
}

static herr_t note_object(hid_t group, const char *name, const H5O_info_t *info, void *user)
{
    struct finder *f = user;
    if (++f->objects > MAX_OBJECTS || f->count == AIRY_FRAME_VALUES_MAX)
        return 1;
    if (info->type == H5O_TYPE_DATASET)
        note_dataset(f, group, name);
    return 0;
}

/* Of links that are no objects themselves: soft ones, and those into other files. */
static herr_t note_link(hid_t group, const char *name, const H5L_info_t *info, void *user)
{
    struct finder *f = user;
    if (++f->objects > MAX_OBJECTS || f->count == AIRY_FRAME_VALUES_MAX)
        return 1;
    if (info->type != H5L_TYPE_HARD && airy_hdf5_exists(group, name))
        note_dataset(f, group, name);
    return 0;
}

/* The first step of the path of the frames' dataset: what belongs to them is there. */
static void find_values(struct finder *f)
{
    const char *dataset = f->stack->first_dataset ? f->stack->first_dataset : "";
    const size_t step = dataset[0] == '/' ? strcspn(dataset + 1, "/") + 1 : 0;
    if (step < 2 || !dataset[step] || step >= sizeof(f->entry))
        return;
    snprintf(f->entry, sizeof(f->entry), "%.*s", (int)step, dataset);
    const hid_t group =
        airy_hdf5_exists(f->file, f->entry) ? H5Gopen2(f->file, f->entry, H5P_DEFAULT) : -1;
    if (group < 0)
        return;
    /* A group that cannot be walked ends the search: what was found is good. */
    (void)H5Ovisit2(group, H5_INDEX_NAME, H5_ITER_NATIVE, note_object, f, H5O_INFO_BASIC);
    (void)H5Lvisit(group, H5_INDEX_NAME, H5_ITER_NATIVE, note_link, f);
    H5Gclose(group);
}

static airy_status read_numbers(airy_frame_values *v, hid_t dataset, hid_t type, size_t frames)
{
    v->dtype = H5Tget_class(type) == H5T_FLOAT     ? AIRY_DTYPE_F64
               : H5Tget_sign(type) == H5T_SGN_NONE ? AIRY_DTYPE_U64
                                                   : AIRY_DTYPE_I64;
    AIRY_TRY(airy_memory_calloc(&v->values, frames, sizeof(double), "values of frames"));
    return airy_hdf5_read(dataset, v->dtype, H5S_ALL, H5S_ALL, v->values) < 0
               ? airy_hdf5_fail(AIRY_ERR_IO, AIRY_SUBJECT_NONE, "it cannot be read")
               : AIRY_OK;
}

/* Texts one behind the other, `text` bytes each. */
static airy_status keep_texts(airy_frame_values *v, size_t frames, const char *const *texts,
                              size_t longest)
{
    AIRY_FAIL_IF(longest > AIRY_FRAME_VALUES_TEXT_MAX, AIRY_ERR_FORMAT,
                 "its texts have up to %zu bytes, expected at most %d", longest,
                 (int)AIRY_FRAME_VALUES_TEXT_MAX);
    v->text = longest ? longest : 1;
    AIRY_FAIL_IF(v->text > MAX_TEXT_BYTES / frames, AIRY_ERR_FORMAT,
                 "it has %zu texts of %zu bytes, expected %d bytes at most in all", frames, v->text,
                 (int)MAX_TEXT_BYTES);
    AIRY_TRY(airy_memory_calloc(&v->values, frames, v->text, "texts of frames"));
    for (size_t i = 0; i < frames; i++)
        if (texts[i])
            memcpy((char *)v->values + i * v->text, texts[i], strnlen(texts[i], v->text));
    return AIRY_OK;
}

static airy_status read_variable(airy_frame_values *v, hid_t dataset, size_t frames)
{
    airy_hdf5_texts texts;
    AIRY_FAIL_IF(frames > MAX_TEXT_BYTES / sizeof(texts.text[0]), AIRY_ERR_FORMAT,
                 "it has %zu texts, expected %zu at most", frames,
                 MAX_TEXT_BYTES / sizeof(texts.text[0]));
    AIRY_TRY(airy_hdf5_texts_open(&texts, dataset, frames, MAX_TEXT_BYTES));
    size_t longest = 0;
    for (size_t i = 0; i < frames; i++) {
        const size_t length = texts.text[i] ? strlen(texts.text[i]) : 0;
        longest = length > longest ? length : longest;
    }
    const airy_status status = keep_texts(v, frames, (const char *const *)texts.text, longest);
    airy_hdf5_texts_close(&texts);
    return status;
}

static airy_status read_texts(airy_frame_values *v, hid_t dataset, hid_t type, size_t frames)
{
    v->dtype = AIRY_DTYPE_U8;
    if (H5Tis_variable_str(type) > 0)
        return read_variable(v, dataset, frames);
    const size_t size = H5Tget_size(type);
    AIRY_FAIL_IF(size == 0 || size > AIRY_FRAME_VALUES_TEXT_MAX || size > MAX_TEXT_BYTES / frames,
                 AIRY_ERR_FORMAT, "it has %zu texts of %zu bytes, expected %d bytes at most each",
                 frames, size, (int)AIRY_FRAME_VALUES_TEXT_MAX);
    v->text = size;
    AIRY_TRY(airy_memory_calloc(&v->values, frames, size, "texts of frames"));
    return airy_hdf5_read_as(dataset, type, H5S_ALL, H5S_ALL, v->values) < 0
               ? airy_hdf5_fail(AIRY_ERR_IO, AIRY_SUBJECT_NONE, "it cannot be read")
               : AIRY_OK;
}

/* *frames: expected; changed to `other` where it has as many as that. */
static airy_status read_dataset(airy_frame_values *v, hid_t dataset, size_t *expected, size_t other)
{
    H5T_class_t class;
    hssize_t count;
    (void)look_at(dataset, &class, &count);
    if (count >= 0 && (size_t)count == other && other > 0)
        *expected = other;
    const size_t frames = *expected;
    AIRY_FAIL_IF(!is_kind(class), AIRY_ERR_FORMAT, "it holds neither numbers nor text");
    AIRY_FAIL_IF(count < 0 || (size_t)count != frames, AIRY_ERR_SHAPE,
                 "it has %lld elements, expected one for each of %zu frames", (long long)count,
                 frames);
    AIRY_TRY(airy_sources_check_chunks(dataset, NULL, NULL, v->path));
    AIRY_TRY(airy_chunk_check(dataset, NULL, NULL));
    const hid_t type = H5Dget_type(dataset);
    if (type < 0)
        return airy_hdf5_fail(AIRY_ERR_FORMAT, AIRY_SUBJECT_NONE, "it has no type");
    char *units = NULL;
    if (airy_hdf5_attribute_open(&units, dataset, "units") == AIRY_OK)
        snprintf(v->units, sizeof(v->units), "%s", units);
    free(units);
    const airy_status status = class == H5T_STRING ? read_texts(v, dataset, type, frames)
                                                   : read_numbers(v, dataset, type, frames);
    H5Tclose(type);
    return status;
}

static airy_status read_one(airy_frame_values *v, const struct finder *f, const char *path,
                            size_t *frames, size_t other)
{
    const char *file = f->name;
    AIRY_FAIL_IF(!path || strlen(path) >= sizeof(v->path), AIRY_ERR_PARAM,
                 "the name of a dataset has more than %zu bytes", sizeof(v->path) - 1);
    AIRY_FAIL_IF(!airy_hdf5_exists(f->file, path), AIRY_ERR_NOT_FOUND, "'%s' has no dataset '%s'",
                 file, path);
    const hid_t dataset = airy_hdf5_dataset_own(f->file, path);
    if (dataset < 0)
        return airy_hdf5_fail(AIRY_ERR_FORMAT, AIRY_SUBJECT_FILE,
                              "%s::%s cannot be opened as a dataset", file, path);
    snprintf(v->path, sizeof(v->path), "%s", path);
    const airy_status status = read_dataset(v, dataset, frames, other);
    H5Dclose(dataset);
    return status == AIRY_OK ? status : airy_fail_context(status, "%s::%s", file, path);
}

/* The `steps` last parts of a path, with '_' between them. */
static void name_by(char name[64], const char *path, int steps)
{
    const char *at = path + strlen(path);
    while (at > path && steps > 0)
        steps -= *--at == '/';
    snprintf(name, 64, "%.63s", at + (*at == '/'));
    for (char *c = name; *c; c++)
        *c = *c == '/' ? '_' : *c;
}

static bool is_taken(const airy_frame_values *values, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(values[i].name, name) == 0)
            return true;
    return false;
}

/* A name that says what it is and is not there yet; false where there is none. */
static bool give_name(airy_frame_values *values, size_t count)
{
    /* NXpositioner, NXmonitor, NXlog and the like keep what they are about in these. */
    static const char *const plain[] = {"/value", "/data", "/position", "/raw_value"};
    airy_frame_values *v = &values[count];
    char path[512];
    snprintf(path, sizeof(path), "%s", v->path);
    char *last = strrchr(path, '/');
    for (size_t i = 0; last && last > path && i < sizeof(plain) / sizeof(plain[0]); i++)
        if (strcmp(last, plain[i]) == 0) {
            *last = 0;
            break;
        }
    for (int steps = 1; steps <= 4; steps++) {
        name_by(v->name, path, steps);
        if (*v->name && !is_taken(values, count, v->name))
            return true;
    }
    return false;
}

static airy_status read_all(airy_frame_values *values, size_t *count, struct finder *f,
                            const char *const *datasets, size_t wanted)
{
    const airy_stack *stack = f->stack;
    for (size_t i = 0; i < wanted; i++) {
        airy_frame_values *v = &values[*count];
        size_t frames = stack->frames;
        const airy_status status = read_one(v, f, datasets ? datasets[i] : f->paths[i], &frames,
                                            stack->part_count > 1 ? stack->parts[0].frames : 0);
        if (status == AIRY_OK && give_name(values, *count)) {
            f->parted[(*count)++] = frames != stack->frames;
            continue;
        }
        free(v->values);
        *v = (airy_frame_values){0};
        if (status != AIRY_OK && datasets)
            return status;
    }
    return AIRY_OK;
}

/* Room for so many texts of `text` bytes each, or numbers. */
static airy_status make_room(airy_frame_values *v, size_t text, size_t at, size_t frames)
{
    const size_t size = text ? text : sizeof(double), before = v->text ? v->text : sizeof(double);
    void *larger;
    AIRY_FAIL_IF(text && text > MAX_TEXT_BYTES / frames, AIRY_ERR_FORMAT,
                 "it has %zu texts of %zu bytes, expected %d bytes at most in all", frames, text,
                 (int)MAX_TEXT_BYTES);
    AIRY_TRY(airy_memory_calloc(&larger, frames, size, "values of frames"));
    for (size_t i = 0; i < at; i++)
        memcpy((char *)larger + i * size, (const char *)v->values + i * before, before);
    free(v->values);
    v->values = larger;
    v->text = text;
    return AIRY_OK;
}

/* Numbers of two types are doubles together. */
static void make_doubles(airy_frame_values *v, size_t count)
{
    double *to = v->values;
    for (size_t i = 0; i < count; i++) {
        int64_t number;
        memcpy(&number, to + i, sizeof(number));
        if (v->dtype != AIRY_DTYPE_F64)
            to[i] = v->dtype == AIRY_DTYPE_U64 ? (double)(uint64_t)number : (double)number;
    }
    v->dtype = AIRY_DTYPE_F64;
}

/* Behind `at` values of `frames` come those of the next file. */
static airy_status append(airy_frame_values *v, size_t at, size_t frames, airy_frame_values *next,
                          size_t count)
{
    AIRY_FAIL_IF((v->text == 0) != (next->text == 0), AIRY_ERR_FORMAT,
                 "it holds %s, in the first file %s", next->text ? "text" : "numbers",
                 v->text ? "text" : "numbers");
    AIRY_FAIL_IF(strcmp(v->units, next->units) != 0, AIRY_ERR_FORMAT,
                 "it is in '%s', in the first file in '%s'", next->units, v->units);
    if (next->text > v->text)
        AIRY_TRY(make_room(v, next->text, at, frames));
    if (v->text == 0 && v->dtype != next->dtype) {
        make_doubles(v, at);
        make_doubles(next, count);
    }
    const size_t size = v->text ? v->text : sizeof(double),
                 from = next->text ? next->text : sizeof(double);
    for (size_t i = 0; i < count; i++)
        memcpy((char *)v->values + (at + i) * size, (const char *)next->values + i * from, from);
    return AIRY_OK;
}

/* The values that go on in a file behind the first; one that cannot be read is dropped. */
static airy_status read_part(airy_frame_values *values, struct finder *f,
                             const struct stack_part *part, size_t count, bool named)
{
    for (size_t i = 0; i < count; i++) {
        airy_frame_values next = {0};
        size_t frames = part->frames;
        if (!f->parted[i] || !values[i].values)
            continue;
        airy_status status = read_one(&next, f, values[i].path, &frames, 0);
        if (status == AIRY_OK) {
            status = append(&values[i], part->first, f->stack->frames, &next, part->frames);
            if (status != AIRY_OK)
                status = airy_fail_context(status, "%s::%s", f->name, values[i].path);
        }
        free(next.values);
        if (status == AIRY_OK)
            continue;
        if (named)
            return status;
        free(values[i].values);
        values[i].values = NULL;
    }
    return AIRY_OK;
}

static airy_status read_behind(airy_frame_values *values, struct finder *f, size_t k, size_t count,
                               bool named)
{
    const struct stack_part *part = &f->stack->parts[k];
    AIRY_FAIL_ON_IF(part->plain, AIRY_ERR_NOT_FOUND, AIRY_SUBJECT_FILE,
                    "'%s' is no HDF5 file, it has no datasets", part->path);
    AIRY_TRY(airy_hdf5_open(&f->file, part->path));
    f->name = part->path;
    const airy_status status = read_part(values, f, part, count, named),
                      looked = airy_probe_result(f->file);
    H5Fclose(f->file);
    return looked == AIRY_OK ? status : looked;
}

/* The files behind the first; where one cannot be read, all that would have gone on there is dropped. */
static airy_status read_parts(airy_frame_values *values, size_t *count, struct finder *f,
                              bool named)
{
    const airy_stack *stack = f->stack;
    bool any = false;
    for (size_t i = 0; i < *count; i++)
        if (f->parted[i]) {
            any = true;
            AIRY_TRY(make_room(&values[i], values[i].text, stack->parts[0].frames, stack->frames));
        }
    for (size_t k = 1; k < stack->part_count && any; k++) {
        const airy_status status = read_behind(values, f, k, *count, named);
        if (status != AIRY_OK && named)
            return status;
        for (size_t i = 0; i < *count && status != AIRY_OK; i++)
            if (f->parted[i]) {
                free(values[i].values);
                values[i].values = NULL;
            }
    }
    size_t kept = 0;
    for (size_t i = 0; i < *count; i++)
        if (values[i].values)
            values[kept++] = values[i];
    *count = kept;
    return AIRY_OK;
}

/* The lock is held, the file open. */
static airy_status collect(airy_frame_values **values, size_t *count, struct finder *f,
                           const char *const *datasets, size_t wanted)
{
    if (!datasets) {
        AIRY_TRY(airy_memory_calloc((void **)&f->paths, AIRY_FRAME_VALUES_MAX, sizeof(f->paths[0]),
                                    "names of datasets"));
        find_values(f);
        wanted = f->count;
    }
    airy_status status =
        airy_memory_calloc((void **)values, wanted + 1, sizeof(**values), "values of frames");
    if (status == AIRY_OK)
        status = read_all(*values, count, f, datasets, wanted);
    free(f->paths);
    return status;
}

airy_status airy_stack_values(airy_frame_values **values, size_t *count, const airy_stack *stack,
                              const char *const *datasets, size_t wanted)
{
    AIRY_FAIL_IF(!values || !count || !stack, AIRY_ERR_PARAM,
                 "airy_stack_values: an argument is NULL");
    AIRY_TRY(airy_stack_refuse_pipe(stack, "airy_stack_values"));
    AIRY_FAIL_IF(wanted > AIRY_FRAME_VALUES_MAX, AIRY_ERR_PARAM,
                 "%zu datasets of one value a frame, expected at most %d", wanted,
                 (int)AIRY_FRAME_VALUES_MAX);
    struct finder f = {.stack = stack, .file = -1, .name = stack->first_path};
    airy_frame_values *made = NULL;
    size_t n = 0;
    *values = NULL;
    *count = 0;
    if (!datasets && (stack->frames < 2 || stack->first_is_plain))
        return AIRY_OK;
    AIRY_FAIL_ON_IF(stack->first_is_plain, AIRY_ERR_NOT_FOUND, AIRY_SUBJECT_FILE,
                    "'%s' is no HDF5 file, it has no datasets", stack->first_path);
    AIRY_TRY(airy_hdf5_lock_allowing(stack->allowed));
    airy_status status = airy_hdf5_open(&f.file, stack->first_path);
    if (status == AIRY_OK) {
        status = collect(&made, &n, &f, datasets, wanted);
        const airy_status looked = airy_probe_result(f.file);
        status = looked == AIRY_OK ? status : looked;
        H5Fclose(f.file);
        if (status == AIRY_OK)
            status = read_parts(made, &n, &f, datasets != NULL);
    } else if (!datasets && status == AIRY_ERR_FORMAT) {
        status = AIRY_OK; /* another format has no datasets */
    }
    airy_hdf5_unlock();
    if (status != AIRY_OK) {
        airy_frame_values_free(made, n);
        return status;
    }
    *values = made;
    *count = n;
    return AIRY_OK;
}

void airy_frame_values_free(airy_frame_values *values, size_t count)
{
    for (size_t i = 0; values && i < count; i++)
        free(values[i].values);
    free(values);
}
