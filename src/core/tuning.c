#include "core/tuning.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cache_file.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/memory.h"
#include "core/backend.h"
#include "shared/gather_geom.h"

#define SUFFIX ".tune"

enum {
    MAX_TABLE = 64 << 10,
    MAX_LINE = 127,
    NAME_SIZE = 32,
    MAX_FOLDER = 512,
    MAX_TABLES = 64 /* of devices, in the cache folder; the one used longest ago goes */
};

/* cpu: where memory is in place; device: elsewhere. All 0: it has none. */
static const struct definition {
    const char *name, *kernel, *unit, *what;
    struct airy_tune_range cpu, device;
    uint32_t values[AIRY_TUNABLE_VALUES]; /* worth measuring, 0 at the end */
    bool only_values;
} definitions[AIRY_TUNE_COUNT] = {
    [AIRY_TUNE_DECODE_LANES] = {"decode_blocks.lanes",
                                "decode_blocks",
                                "work-items a block",
                                "items that decode a compressed block together",
                                {0, 0, 0},
                                {1, 64, 32},
                                {1, 32, 64},
                                true},
    [AIRY_TUNE_DECODE_BLOCKS] = {"decode_blocks.blocks",
                                 "decode_blocks",
                                 "blocks a work-group",
                                 "compressed blocks that a work-group decodes side by side",
                                 {0, 0, 0},
                                 {1, 16, 1},
                                 {1, 2, 3, 4, 5, 6, 8, 12, 16},
                                 false},
    [AIRY_TUNE_UNSHUFFLE_GROUP] = {"unshuffle_large_blocks.group",
                                   "unshuffle_large_blocks",
                                   "work-items",
                                   "work-group of the unshuffle of blocks over 8 KiB",
                                   {0, 0, 0},
                                   {1, 256, 64},
                                   {32, 64, 128, 256},
                                   false},
    [AIRY_TUNE_FUSED_BLOCKS] = {"integrate_blocks.blocks",
                                "integrate_blocks",
                                "blocks a work-group",
                                "compressed blocks beside the bins in a work-group's local memory",
                                {0, 0, 0},
                                {1, 16, 1},
                                {1, 2, 3, 4, 5, 6, 8, 12, 16},
                                false},
    /* 64: with more blocks the local sums could run over, see integrate_blocks.cl. */
    [AIRY_TUNE_FUSED_FLUSH] = {"integrate_blocks.flush",
                               "integrate_blocks",
                               "blocks, at most",
                               "blocks that a work-group adds up before it writes its bins",
                               {0, 0, 0},
                               {1, 64, 64},
                               {8, 16, 24, 32, 48, 64},
                               false},
    [AIRY_TUNE_FUSED_GROUPS] = {"integrate_blocks.groups",
                                "integrate_blocks",
                                "work-groups a compute unit",
                                "work-groups that each unit should get of a batch",
                                {0, 0, 0},
                                {1, 1024, 40},
                                {4, 8, 16, 24, 32, 40, 64, 96, 128},
                                false},
    [AIRY_TUNE_FUSED_FINISH_GROUP] = {"integrate_blocks_finish.group",
                                      "integrate_blocks_finish",
                                      "work-items",
                                      "work-group of the step from integer sums to doubles",
                                      {0, 0, 0},
                                      {1, 256, 64},
                                      {32, 64, 128, 256},
                                      false},
    [AIRY_TUNE_PLANES_BLOCKS] = {"integrate_planes.blocks",
                                 "integrate_planes",
                                 "blocks a work-group",
                                 "compressed blocks that a work-group turns into planes",
                                 {0, 0, 0},
                                 {1, 16, 1},
                                 {1, 2, 3, 4, 5, 6, 8, 12, 16},
                                 false},
    /*
     * 320: all blocks of 32 frames of 4.4 million pixels, since each further range leaves units
     * idle at its end.
     */
    [AIRY_TUNE_PLANES_MIB] = {"integrate_planes.mib",
                              "integrate_planes",
                              "MiB of planes, at most",
                              "planes kept between the two kernels that sum frames together",
                              {0, 0, 0},
                              {16, 1024, 320},
                              {32, 64, 96, 160, 320, 640},
                              false},
    [AIRY_TUNE_GATHER_FRAMES] = {"gather_tiles.frames",
                                 "gather_tiles",
                                 "frames",
                                 "frames that share a read of the matrix",
                                 {0, 0, 0},
                                 {1, 4, 4},
                                 {1, 2, 4},
                                 true},
    [AIRY_TUNE_GATHER_GROUP] = {"gather_tiles.group",
                                "gather_tiles",
                                "work-items",
                                "fixed: part of the order of the sums",
                                {0, 0, 0},
                                {AIRY_GATHER_GROUP, AIRY_GATHER_GROUP, AIRY_GATHER_GROUP},
                                {AIRY_GATHER_GROUP},
                                true},
    [AIRY_TUNE_OCT_TRANSFORMS] = {"oct_lines.transforms",
                                  "oct_lines",
                                  "transforms",
                                  "transforms of spectra that share a read of the tables",
                                  {0, 0, 0},
                                  {1, 2, 2},
                                  {1, 2},
                                  true},
    [AIRY_TUNE_OCT_REGISTERS] = {"oct_lines.registers",
                                 "oct_lines",
                                 "registers an item, at most",
                                 "bound for NVIDIA's compiler; 255: it chooses",
                                 {0, 0, 0},
                                 {48, 255, 96},
                                 {64, 72, 80, 88, 96, 104, 112, 128, 168, 255},
                                 false},
    /*
     * Page-locking costs 0.45 ms a MB at the start, and more bytes bring nothing (4,096 Eiger 4M
     * frames on an H200: batches of 8, 16, 32 and 64 frames of 2.4 MB in 0.36, 0.38, 0.49 and 0.61
     * s).
     */
    [AIRY_TUNE_BATCH_MIB] = {"pipeline.batch_mib",
                             "",
                             "MiB of compressed frames",
                             "bytes of frames that go to the device together",
                             {0, 0, 0},
                             {1, 256, 24},
                             {4, 8, 12, 16, 24, 32, 48, 64, 96},
                             false},
    [AIRY_TUNE_BATCH_FRAMES] = {"pipeline.batch_frames",
                                "",
                                "frames",
                                "frames that are integrated together",
                                {1, 256, 16},
                                {0, 0, 0},
                                {8, 16, 32, 48, 64},
                                false},
    [AIRY_TUNE_SLOTS] = {"pipeline.slots",
                         "",
                         "batches",
                         "batches in flight",
                         {1, 16, 4},
                         {1, 16, 5},
                         {2, 3, 4, 5, 6, 8, 12},
                         false},
    /* A copy that is ready on another queue follows without a pause, but may share the wire. */
    [AIRY_TUNE_COPIES] = {"pipeline.copies",
                          "",
                          "queues",
                          "queues that batches are copied to the device on, in turn",
                          {0, 0, 0},
                          {1, 4, 1},
                          {1, 2, 3},
                          false},
    [AIRY_TUNE_READERS] = {"pipeline.readers",
                           "",
                           "threads",
                           "threads that read files",
                           {1, 256, 8},
                           {1, 256, 12},
                           {1, 2, 3, 4, 6, 8, 10, 12, 16, 24, 32},
                           false},
};

static const char *const source_names[AIRY_TUNING_SOURCE_COUNT] = {
    [AIRY_TUNING_DEFAULT] = "default",
    [AIRY_TUNING_MEASURED] = "measured",
    [AIRY_TUNING_SET] = "set",
};

const char *airy_tuning_source_name(airy_tuning_source source)
{
    return (unsigned)source < AIRY_TUNING_SOURCE_COUNT ? source_names[source] : "?";
}

static bool admits(const struct airy_tuning *tuning, enum airy_tune which, uint32_t value)
{
    const struct airy_tune_entry *e = &tuning->entries[which];
    const struct definition *d = &definitions[which];
    if (e->smallest == 0 || value < e->smallest || value > e->largest)
        return false;
    bool listed = !d->only_values || value == e->standard;
    for (size_t i = 0; !listed && i < AIRY_TUNABLE_VALUES && d->values[i]; i++)
        listed = d->values[i] == value;
    return listed;
}

static uint32_t clamp(uint32_t value, uint32_t smallest, uint32_t largest)
{
    return value < smallest ? smallest : value > largest ? largest : value;
}

void airy_tuning_bound(struct airy_tuning *tuning, enum airy_tune which,
                       struct airy_tune_range range)
{
    struct airy_tune_entry *e = &tuning->entries[which];
    e->smallest = clamp(range.smallest, e->smallest, e->largest);
    e->largest = clamp(range.largest, e->smallest, e->largest);
    e->standard = e->current = clamp(range.standard, e->smallest, e->largest);
}

static void fill_defaults(struct airy_tuning *tuning, bool in_place)
{
    for (size_t i = 0; i < AIRY_TUNE_COUNT; i++) {
        const struct airy_tune_range *range = in_place ? &definitions[i].cpu
                                                       : &definitions[i].device;
        tuning->entries[i] = (struct airy_tune_entry){.smallest = range->smallest,
                                                      .largest = range->largest,
                                                      .standard = range->standard,
                                                      .current = range->standard};
    }
}

struct airy_tune_entry airy_tuned_for(const airy_device *device, enum airy_tune which,
                                      uint64_t pixels)
{
    struct airy_tune_entry e = device->tuning.entries[which];
    if (e.pixels && (pixels < e.pixels / 2 || pixels / 2 > e.pixels)) {
        e.current = e.standard;
        e.source = AIRY_TUNING_DEFAULT;
    }
    return e;
}

/*
 * Slots and readers as the threads there are ask for. A CPU of several has two lanes of two slots;
 * there reading takes a quarter of the time of the sums, on the same cores.
 */
static void fit_threads(airy_device *device)
{
    struct airy_tune_entry *slots = &device->tuning.entries[AIRY_TUNE_SLOTS],
                           *readers = &device->tuning.entries[AIRY_TUNE_READERS];
    const unsigned limit = airy_thread_limit(), pool = airy_pool_size(device->pool);
    if (device->backend->in_place) {
        const unsigned threads = limit < pool ? limit : pool;
        slots->current = slots->standard = threads > 1 ? 4 : 3;
        readers->current = readers->standard = threads > 1 ? clamp(threads / 2, 2, 8) : 1;
    } else {
        readers->current = readers->standard = clamp(readers->standard, 1, limit);
    }
}

/*
 * What a line "name value source hash" says, with the pixels of a frame behind it where it holds
 * for frames of that size; line: without its end, with a 0.
 */
static bool parse_line(struct airy_tuning *tuning, const char *line)
{
    char name[64], source[16];
    uint32_t value;
    uint64_t hash, pixels = 0;
    int used = 0, all = 0;
    if (sscanf(line, "%63s %9" SCNu32 " %15s %16" SCNx64 "%n", name, &value, source, &hash,
               &used) != 4)
        return false;
    if (line[used] != 0 && (sscanf(line + used, " %15" SCNu64 "%n", &pixels, &all) != 1 ||
                            line[used + all] != 0 || line[used] != ' ' || pixels == 0))
        return false;
    for (unsigned i = 0; i < AIRY_TUNE_COUNT; i++) {
        struct airy_tune_entry *e = &tuning->entries[i];
        if (strcmp(definitions[i].name, name) != 0)
            continue;
        const bool measured = strcmp(source, source_names[AIRY_TUNING_MEASURED]) == 0;
        if ((!measured && strcmp(source, source_names[AIRY_TUNING_SET]) != 0) || hash != e->hash ||
            !admits(tuning, i, value))
            return false;
        e->current = value;
        e->source = measured ? AIRY_TUNING_MEASURED : AIRY_TUNING_SET;
        e->pixels = pixels;
        return true;
    }
    return false;
}

size_t airy_tuning_parse(struct airy_tuning *tuning, const char *text, size_t size)
{
    size_t taken = 0;
    for (size_t at = 0; at < size;) {
        const char *end = memchr(text + at, '\n', size - at);
        const size_t length = end ? (size_t)(end - text) - at : size - at;
        char line[MAX_LINE + 1];
        if (length <= MAX_LINE) {
            memcpy(line, text + at, length);
            line[length] = 0;
            if (strlen(line) == length && parse_line(tuning, line))
                taken++;
            else
                airy_log(AIRY_LOG_DEBUG, "tuning: an entry does not fit this device: ignored");
        }
        at += length + 1;
    }
    return taken;
}

size_t airy_tuning_print(const struct airy_tuning *tuning, char text[AIRY_TUNING_TEXT])
{
    size_t used = 0;
    text[0] = 0;
    for (unsigned i = 0; i < AIRY_TUNE_COUNT; i++) {
        const struct airy_tune_entry *e = &tuning->entries[i];
        if (e->smallest == 0 || e->source == AIRY_TUNING_DEFAULT)
            continue;
        used += (size_t)snprintf(text + used, AIRY_TUNING_TEXT - used,
                                 "%s %" PRIu32 " %s %016" PRIx64, definitions[i].name, e->current,
                                 source_names[e->source], e->hash);
        used += e->pixels ? (size_t)snprintf(text + used, AIRY_TUNING_TEXT - used, " %" PRIu64 "\n",
                                             e->pixels)
                          : (size_t)snprintf(text + used, AIRY_TUNING_TEXT - used, "\n");
    }
    return used;
}

/* A file for each device; its key has what makes it stale. */
static struct airy_cache_key table_name(const airy_device *device, char name[NAME_SIZE])
{
    char units[32];
    snprintf(units, sizeof(units), "%u", device->info.units);
    const char *const place[] = {device->info.backend, device->info.name, units, NULL};
    snprintf(name, NAME_SIZE, "%016" PRIx64 SUFFIX, airy_cache_key(place).half[0]);
    const char *const parts[] = {
        AIRY_VERSION, device->info.backend, device->info.name, device->info.driver, units, NULL};
    return airy_cache_key(parts);
}

void airy_tuning_open(airy_device *device)
{
    char folder[MAX_FOLDER], name[NAME_SIZE];
    void *text;
    size_t size;
    fill_defaults(&device->tuning, device->backend->in_place);
    fit_threads(device);
    if (device->backend->tuning)
        device->backend->tuning(device, &device->tuning);
    airy_cache_folder(folder, sizeof(folder));
    const struct airy_cache_key key = table_name(device, name);
    if (!airy_cache_load(folder, name, key, MAX_TABLE, &text, &size))
        return;
    const size_t taken = airy_tuning_parse(&device->tuning, text, size);
    airy_log(AIRY_LOG_DEBUG, "tuning: %zu sizes of %s from %s/%s", taken, device->info.name, folder,
             name);
    free(text);
}

static void describe(airy_tunable *out, const struct airy_tuning *tuning, enum airy_tune which)
{
    const struct definition *d = &definitions[which];
    const struct airy_tune_entry *e = &tuning->entries[which];
    *out = (airy_tunable){.smallest = e->smallest,
                          .largest = e->largest,
                          .standard = e->standard,
                          .current = e->current,
                          .items = e->items,
                          .source = e->source,
                          .only_values = d->only_values,
                          .pixels = e->pixels};
    snprintf(out->name, sizeof(out->name), "%s", d->name);
    snprintf(out->kernel, sizeof(out->kernel), "%s", d->kernel);
    snprintf(out->unit, sizeof(out->unit), "%s", d->unit);
    snprintf(out->what, sizeof(out->what), "%s", d->what);
    bool standard = false; /* is in the list */
    for (size_t i = 0; i < AIRY_TUNABLE_VALUES; i++) {
        const uint32_t value = d->values[i];
        if (!standard && (value == 0 || value >= e->standard)) {
            if (out->value_count < AIRY_TUNABLE_VALUES)
                out->values[out->value_count++] = e->standard;
            standard = true;
        }
        if (value && value != e->standard && admits(tuning, which, value) &&
            out->value_count < AIRY_TUNABLE_VALUES)
            out->values[out->value_count++] = value;
    }
}

airy_status airy_tuning_list(const airy_device *device, airy_tunable **list, size_t *count)
{
    void *block;
    AIRY_FAIL_IF(!device || !list || !count, AIRY_ERR_PARAM, "airy_tuning_list: argument is NULL");
    AIRY_TRY(airy_memory_calloc(&block, AIRY_TUNE_COUNT, sizeof(airy_tunable), "a list of sizes"));
    *list = block;
    *count = 0;
    for (unsigned i = 0; i < AIRY_TUNE_COUNT; i++)
        if (device->tuning.entries[i].smallest)
            describe(&(*list)[(*count)++], &device->tuning, i);
    return AIRY_OK;
}

void airy_tuning_list_free(airy_tunable *list)
{
    free(list);
}

/* By name, else by kernel where its work-group depends on it. */
static unsigned find(const struct airy_tuning *tuning, const char *name)
{
    for (unsigned i = 0; i < AIRY_TUNE_COUNT; i++)
        if (tuning->entries[i].smallest && strcmp(definitions[i].name, name) == 0)
            return i;
    for (unsigned i = 0; i < AIRY_TUNE_COUNT; i++)
        if (tuning->entries[i].smallest && tuning->entries[i].items &&
            strcmp(definitions[i].kernel, name) == 0)
            return i;
    return AIRY_TUNE_COUNT;
}

/* "256, which is fixed", "one of 1, 2, 4" or "1 to 16" */
static void say_admitted(char *text, size_t size, const struct airy_tuning *tuning,
                         enum airy_tune which)
{
    airy_tunable t;
    describe(&t, tuning, which);
    if (t.smallest == t.largest) {
        snprintf(text, size, "%u, which is fixed", t.smallest);
        return;
    }
    if (!t.only_values) {
        snprintf(text, size, "%u to %u", t.smallest, t.largest);
        return;
    }
    size_t used = (size_t)snprintf(text, size, "one of");
    for (size_t i = 0; i < t.value_count && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s %u", i ? "," : "", t.values[i]);
}

airy_status airy_tuning_set(airy_device *device, const char *name, uint32_t value,
                            airy_tuning_source source)
{
    AIRY_FAIL_IF(!device || !name, AIRY_ERR_PARAM, "airy_tuning_set: device or name is NULL");
    AIRY_FAIL_ON_IF((unsigned)source >= AIRY_TUNING_SOURCE_COUNT, AIRY_ERR_PARAM,
                    AIRY_SUBJECT_PARAMETER, "%s = %d, expected less than %d", "source", (int)source,
                    AIRY_TUNING_SOURCE_COUNT);
    const unsigned which = find(&device->tuning, name);
    AIRY_FAIL_ON_IF(which == AIRY_TUNE_COUNT, AIRY_ERR_NOT_FOUND, AIRY_SUBJECT_DEVICE,
                    "device '%s' has no tunable '%s'", device->info.spec, name);
    struct airy_tune_entry *e = &device->tuning.entries[which];
    char admitted[128];
    say_admitted(admitted, sizeof(admitted), &device->tuning, which);
    AIRY_FAIL_ON_IF(value && !admits(&device->tuning, which, value), AIRY_ERR_PARAM,
                    AIRY_SUBJECT_PARAMETER, "%s = %u, expected %s on %s", definitions[which].name,
                    value, admitted, device->info.spec);
    e->pixels = 0;
    e->current = value ? value : e->standard;
    e->source = value ? source : AIRY_TUNING_DEFAULT;
    return AIRY_OK;
}

airy_status airy_tuning_set_frame(airy_device *device, const char *name, uint64_t pixels)
{
    AIRY_FAIL_IF(!device || !name, AIRY_ERR_PARAM, "airy_tuning_set_frame: device or name is NULL");
    const unsigned which = find(&device->tuning, name);
    AIRY_FAIL_ON_IF(which == AIRY_TUNE_COUNT, AIRY_ERR_NOT_FOUND, AIRY_SUBJECT_DEVICE,
                    "device '%s' has no tunable '%s'", device->info.spec, name);
    AIRY_FAIL_ON_IF(pixels > UINT32_MAX, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s = %llu, expected fewer than 2^32", "pixels", (unsigned long long)pixels);
    struct airy_tune_entry *e = &device->tuning.entries[which];
    e->pixels = e->source == AIRY_TUNING_MEASURED ? pixels : 0;
    return AIRY_OK;
}

airy_status airy_tuning_save(const airy_device *device)
{
    char folder[MAX_FOLDER], name[NAME_SIZE], text[AIRY_TUNING_TEXT];
    AIRY_FAIL_IF(!device, AIRY_ERR_PARAM, "airy_tuning_save: device is NULL");
    airy_cache_folder(folder, sizeof(folder));
    AIRY_FAIL_IF(!folder[0], AIRY_ERR_UNSUPPORTED,
                 "there is no cache folder to keep the table in: set AIRY_CACHE_DIR, not to none, "
                 "or HOME");
    const struct airy_cache_key key = table_name(device, name);
    const size_t size = airy_tuning_print(&device->tuning, text);
    const bool done = size ? airy_cache_store(folder, name, key, text, size)
                           : airy_cache_drop(folder, name);
    AIRY_FAIL_HINT_IF(!done, AIRY_ERR_IO, airy_hint_of_errno(errno), AIRY_SUBJECT_NONE,
                      "the table cannot be kept in %s/%s: %s", folder, name, strerror(errno));
    airy_cache_bound(folder, SUFFIX, MAX_TABLES);
    return AIRY_OK;
}

void airy_tuning_path(const airy_device *device, char *path, size_t size)
{
    char folder[MAX_FOLDER], name[NAME_SIZE];
    if (!path || !size)
        return;
    path[0] = 0;
    airy_cache_folder(folder, sizeof(folder));
    if (!device || !folder[0])
        return;
    (void)table_name(device, name);
    snprintf(path, size, "%s/%s", folder, name);
}
