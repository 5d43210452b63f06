#include "jobs/merge_overlap.h"

#include <stdlib.h>
#include <string.h>

#include "airy/provenance.h"
#include "airy/result.h"

/* Frames first, first + step, ... last of a row; rows with the same key are of the same files. */
struct span {
    const char *key;
    size_t result;
    uint64_t first, last, step;
};

struct spans {
    const char *const *paths;
    char **keys; /* [results] or NULL: not known what the frames are of */
    struct span *items;
    size_t count, room;
};

static const char *hash_of(const json_t *file)
{
    const char *hash = json_string_value(json_object_get(file, "sha256"));
    return hash ? hash : json_string_value(json_object_get(file, "sha256_of_name_size_time"));
}

/* The hashes of the files that an integration read, one after the other; NULL: not all have one. */
static char *key_of_inputs(const json_t *configuration)
{
    const json_t *inputs = json_object_get(configuration, "inputs");
    const char *command = json_string_value(json_object_get(configuration, "command"));
    const size_t count = json_array_size(inputs);
    char *key = count && command && strcmp(command, "integrate") == 0 ? calloc(count, 65) : NULL;
    for (size_t i = 0; key && i < count; i++) {
        const char *hash = hash_of(json_array_get(inputs, i));
        if (!hash || strlen(hash) != 64) {
            free(key);
            return NULL;
        }
        memcpy(key + 64 * i, hash, 64);
    }
    return key;
}

/* Else results are of the same frames where they are the same file. */
static char *key_of_file(const char *path)
{
    char *text = NULL;
    json_t *json = airy_file_identify(&text, path) == AIRY_OK ? json_loads(text, 0, NULL) : NULL;
    const char *hash = hash_of(json);
    char *key = hash ? strdup(hash) : NULL;
    json_decref(json);
    free(text);
    return key;
}

/* Frames that a row is of, by --average and --sum; 0: all that there are. */
static uint64_t group_of(const json_t *configuration)
{
    const json_t *options = json_object_get(configuration, "options");
    for (size_t i = 0; i < json_array_size(options); i++) {
        const char *word = json_string_value(json_array_get(options, i));
        const char *value = !word                                  ? NULL
                            : strncmp(word, "--average=", 10) == 0 ? word + 10
                            : strncmp(word, "--sum=", 6) == 0      ? word + 6
                                                                   : NULL;
        if (value)
            return strtoull(value, NULL, 10); /* "all": 0 */
    }
    return 1;
}

static bool add_span(struct spans *s, struct span span)
{
    if (s->count == s->room) {
        const size_t room = s->room ? 2 * s->room : 1024;
        struct span *items = realloc(s->items, room * sizeof(*items));
        if (!items)
            return false;
        s->items = items;
        s->room = room;
    }
    s->items[s->count++] = span;
    return true;
}

/* The numbers of the frames of all rows; NULL: the result has none, or memory is short. */
static double *read_index(airy_result *result, size_t *rows)
{
    airy_result_plane plane;
    if (airy_result_find_plane(result, "frame/index", &plane) != AIRY_OK || plane.ndim ||
        !plane.has_rows || plane.text)
        return NULL;
    double *index = calloc(plane.rows, sizeof(*index));
    *rows = plane.rows;
    if (index && airy_result_read(result, "frame/index", 0, plane.rows, AIRY_DTYPE_F64, index,
                                  plane.rows * sizeof(*index)) == AIRY_OK)
        return index;
    free(index);
    return NULL;
}

/* The spans of the good rows of a result. false: memory is short. */
static bool add_rows(struct spans *s, size_t at, airy_result *result, const json_t *configuration)
{
    const char *frames = json_string_value(json_object_get(configuration, "frames"));
    unsigned long long first = 0, end = 0, step = 1;
    const uint64_t group = group_of(configuration);
    size_t rows = 0;
    bool fits = true;
    double *index = read_index(result, &rows);
    if (!frames || sscanf(frames, "%llu:%llu:%llu", &first, &end, &step) != 3 || step == 0)
        step = 1;
    for (size_t i = 0; index && fits && i < rows; i++) {
        if (!(index[i] >= 0 && index[i] < 9e15) || airy_result_get_row(result, i) != AIRY_ROW_GOOD)
            continue;
        const uint64_t frame = (uint64_t)index[i];
        uint64_t more = group == 1 || end <= frame ? 0 : (end - 1 - frame) / step;
        more = group && more > group - 1 ? group - 1 : more;
        fits = add_span(s, (struct span){s->keys[at], at, frame, frame + more * step, step});
    }
    free(index);
    return fits;
}

static int by_key_and_frame(const void *a, const void *b)
{
    const struct span *p = a, *q = b;
    const int keys = strcmp(p->key, q->key);
    return keys ? keys : (p->first > q->first) - (p->first < q->first);
}

/* a begins no later than b. */
static bool share_frames(const struct span *a, const struct span *b)
{
    return a->last >= b->first && (a->step != b->step || (b->first - a->first) % a->step == 0);
}

/* Rows of a frame that an earlier one has; *a, *b: the first two. */
static size_t count_shared(const struct spans *s, const struct span **a, const struct span **b)
{
    const struct span *far = NULL, *other = NULL; /* reach farthest; other: of another result */
    size_t shared = 0;
    for (size_t i = 0; i < s->count; i++) {
        const struct span *now = &s->items[i];
        if (far && strcmp(far->key, now->key) != 0)
            far = other = NULL;
        const struct span *before = far && far->result != now->result ? far : other;
        if (before && share_frames(before, now) && shared++ == 0) {
            *a = before;
            *b = now;
        }
        if (!far || far->result == now->result) {
            far = !far || now->last > far->last ? now : far;
        } else if (now->last > far->last) {
            other = far;
            far = now;
        } else if (!other || now->last > other->last) {
            other = now;
        }
    }
    return shared;
}

static void warn_of(const airy_job *job, const struct spans *s)
{
    const struct span *a = NULL, *b = NULL;
    const size_t shared = count_shared(s, &a, &b);
    char more[64] = "";
    if (shared == 0)
        return;
    if (shared > 1)
        snprintf(more, sizeof(more), " (and %zu more rows like that)", shared - 1);
    const char *const *names = s->paths;
    airy_job_message(
        job, AIRY_LOG_WARN,
        "'%s' and '%s' both have frame %llu of the same input%s; it is in the result twice",
        names[a->result < b->result ? a->result : b->result],
        names[a->result < b->result ? b->result : a->result], (unsigned long long)b->first, more);
}

/* The key and the rows of a result. false: memory is short. */
static bool add_result(struct spans *s, size_t at)
{
    char *text = NULL;
    airy_result *result = NULL;
    if (airy_result_open(&result, s->paths[at]) != AIRY_OK)
        return true;
    json_t *configuration = airy_result_get_text(result, "configuration", &text) == AIRY_OK
                                ? json_loads(text, JSON_REJECT_DUPLICATES, NULL)
                                : NULL;
    s->keys[at] = key_of_inputs(configuration);
    if (!s->keys[at])
        s->keys[at] = key_of_file(s->paths[at]);
    const bool fits = !s->keys[at] || add_rows(s, at, result, configuration);
    json_decref(configuration);
    free(text);
    airy_result_close(&result);
    return fits;
}

void airy_job_warn_overlap(const airy_job *job, const char *const *paths, size_t count)
{
    struct spans s = {.paths = paths, .keys = calloc(count, sizeof(*s.keys))};
    bool fits = s.keys != NULL;
    for (size_t i = 0; fits && i < count; i++)
        fits = add_result(&s, i);
    if (fits && s.count > 1) {
        qsort(s.items, s.count, sizeof(*s.items), by_key_and_frame);
        warn_of(job, &s);
    }
    for (size_t i = 0; s.keys && i < count; i++)
        free(s.keys[i]);
    free(s.keys);
    free(s.items);
    if (!fits)
        airy_job_message(job, AIRY_LOG_WARN,
                         "out of memory for the rows of %zu files: frames that two of them have "
                         "are not looked for",
                         count);
}
