/*
 * What only the OpenCL back end has: loader, cache of programs, launches, copies through staging
 * memory.
 */
#include "check_cl_faults.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "airy/log.h"
#include "opencl/cl_buffer.h"
#include "opencl/cl_cache.h"
#include "opencl/cl_launch.h"
#include "opencl/cl_loader.h"
#include "opencl/cl_program.h"
#include "shared/fill_geom.h"

struct listed {
    airy_device_info info[8];
    unsigned count;
};

static void keep_listed(void *user, const airy_device_info *info)
{
    struct listed *listed = user;
    if (listed->count < 8)
        listed->info[listed->count++] = *info;
}

/* The loader with these names finds nothing, and the list has one entry that says why. */
static void check_loader_reason(struct check *c, const char *loader_name, const char *direct_name,
                                const char *part)
{
    airy_cl_loader loader;
    struct listed listed = {.count = 0};
    const char *const loader_names[] = {loader_name, NULL}, *const direct_names[] = {direct_name,
                                                                                     NULL};
    airy_cl_loader_open(&loader, &(struct airy_cl_libraries){loader_names, direct_names});
    airy_cl_list_of(&loader, true, keep_listed, &listed);
    CHECK(c, loader.platform_count == 0 && listed.count == loader.reason_count && listed.count > 0);
    bool found = false;
    for (unsigned i = 0; i < listed.count; i++) {
        CHECK(c, !listed.info[i].usable);
        found = found || strstr(listed.info[i].why, part);
    }
    if (!found)
        check_failed(c, __FILE__, __LINE__, "no reason has '%s'; the first: %s", part,
                     listed.info[0].why);
    airy_cl_loader_close(&loader);
}

/*
 * A vendor's library used without the loader, through its dispatch table: PoCL stands in for
 * NVIDIA's.
 */
static void check_loader_direct(struct check *c)
{
    airy_cl_loader loader;
    struct listed listed = {.count = 0};
    const char *const loader_names[] = {"libairy-none.so", NULL}, *const direct_names[] = {
                                                                      "libpocl.so.2", NULL};
    airy_cl_loader_open(&loader, &(struct airy_cl_libraries){loader_names, direct_names});
    if (!loader.direct_library) {
        check_skip(c, "libpocl.so.2 is not there");
    } else {
        airy_cl_list_of(&loader, true, keep_listed, &listed);
        CHECK(c, loader.platform_count == 1 && loader.platforms[0].api == &loader.direct_api);
        CHECK(c, listed.count > 0 && listed.info[0].usable &&
                     strcmp(listed.info[0].spec, "opencl:0:0") == 0);
    }
    airy_cl_loader_close(&loader);
}

static void check_loader(struct check *c)
{
    if (check_case(c, "loader_missing"))
        check_loader_reason(c, "libairy-none.so", "libairy-none.so", "cannot open libairy-none.so");
    if (check_case(c, "loader_of_another_kind"))
        check_loader_reason(c, "libm.so.6", "libairy-none.so",
                            "libm.so.6 is older than OpenCL 1.2");
    if (check_case(c, "loader_direct_of_another_kind"))
        check_loader_reason(c, "libairy-none.so", "libm.so.6",
                            "libm.so.6 has no clIcdGetPlatformIDsKHR");
    if (check_case(c, "loader_direct"))
        check_loader_direct(c);
}

static const struct airy_cache_key key = {{UINT64_C(0x0123456789abcdef), 42}};
static const char stored[] = "these bytes stand for a program";

/* True if the cache gives the stored bytes back. */
static bool loads(const char *folder)
{
    void *data = NULL;
    size_t size = 0;
    const bool there = airy_cl_cache_load(folder, key, &data, &size);
    const bool same = there && size == sizeof(stored) && memcmp(data, stored, size) == 0;
    free(data);
    return same;
}

static const char *entry_path(struct check *c, const char *folder)
{
    char *path = check_alloc(c, 512);
    snprintf(path, 512, "%s/0123456789abcdef%016x.clbin", folder, 42);
    return path;
}

/* Change one byte; at: from the start, or from the end when negative. */
static void flip_byte(struct check *c, const char *path, long at)
{
    FILE *file = fopen(path, "r+b");
    if (!CHECK(c, file))
        return;
    CHECK(c, fseek(file, at, at < 0 ? SEEK_END : SEEK_SET) == 0);
    const int byte = fgetc(file);
    CHECK(c, fseek(file, at, at < 0 ? SEEK_END : SEEK_SET) == 0 && fputc(byte ^ 1, file) != EOF);
    fclose(file);
}

static void check_cache_damage(struct check *c)
{
    const char *folder = check_tmp(c), *path = entry_path(c, folder);
    CHECK(c, !loads(folder));
    airy_cl_cache_store(folder, key, stored, sizeof(stored));
    CHECK(c, loads(folder));
    struct stat info;
    CHECK(c, stat(path, &info) == 0 && (info.st_mode & 077) == 0);
    for (off_t size = info.st_size - 1; size >= 0; size--) {
        CHECK(c, truncate(path, size) == 0);
        CHECK(c, !loads(folder));
    }
    airy_cl_cache_store(folder, key, stored, sizeof(stored)); /* over the damaged file */
    CHECK(c, loads(folder));
    static const long places[] = {0, 8, 16, 24, 32, -1, -(long)sizeof(stored)};
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        flip_byte(c, path, places[i]);
        CHECK(c, !loads(folder));
        airy_cl_cache_store(folder, key, stored, sizeof(stored));
        CHECK(c, loads(folder));
    }
    airy_cl_cache_drop(folder, key);
    CHECK(c, !loads(folder) && access(path, F_OK) != 0);
}

/* An entry of another key under this key's name; links and folders in the place of the entry. */
static void check_cache_odd_files(struct check *c)
{
    const char *folder = check_tmp(c), *path = entry_path(c, folder);
    char other[600];
    const struct airy_cache_key stale = {{UINT64_C(0x0123456789abcdef), 43}};
    airy_cl_cache_store(folder, stale, stored, sizeof(stored));
    snprintf(other, sizeof(other), "%s/0123456789abcdef%016x.clbin", folder, 43);
    CHECK(c, rename(other, path) == 0);
    CHECK(c, !loads(folder));
    CHECK(c, unlink(path) == 0);
    airy_cl_cache_store(folder, key, stored, sizeof(stored));
    CHECK(c, rename(path, other) == 0 && symlink(other, path) == 0);
    CHECK(c, !loads(folder));
    CHECK(c, unlink(path) == 0 && mkdir(path, 0700) == 0);
    CHECK(c, !loads(folder));
    /* cannot: nothing happens, nothing is left behind */
    airy_cl_cache_store(folder, key, stored, sizeof(stored));
    unsigned files = 0;
    DIR *listing = opendir(folder);
    if (CHECK(c, listing)) {
        while (readdir(listing))
            files++;
        closedir(listing);
    }
    CHECK(c, files == 4); /* ".", "..", the folder and the entry that the link meant */
}

static void check_cache_folders(struct check *c)
{
    char *made = check_alloc(c, 600), *blocked = check_alloc(c, 600);
    const char *folder = check_tmp(c);
    snprintf(made, 600, "%s/a/b/c", folder);
    airy_cl_cache_store(made, key, stored, sizeof(stored));
    CHECK(c, loads(made));
    snprintf(blocked, 600, "%s/file", folder);
    const int file = open(blocked, O_CREAT | O_WRONLY, 0600);
    CHECK(c, file >= 0 && close(file) == 0);
    snprintf(blocked, 600, "%s/file/cache", folder); /* a file is in the way: holds for root too,
                                                        unlike permissions */
    airy_cl_cache_store(blocked, key, stored, sizeof(stored));
    CHECK(c, !loads(blocked));
    airy_cl_cache_store("", key, stored, sizeof(stored));
    CHECK(c, !loads(""));
}

/* The folder does not grow without end, and what is used stays. */
static void check_cache_limit(struct check *c)
{
    const char *folder = check_tmp(c);
    unsigned files = 0;
    airy_cl_cache_store(folder, key, stored, sizeof(stored));
    for (uint64_t i = 0; i < AIRY_CL_CACHE_ENTRIES + 10; i++) {
        airy_cl_cache_store(folder, (struct airy_cache_key){{i, i}}, stored, sizeof(stored));
        CHECK(c, loads(folder));
    }
    DIR *listing = opendir(folder);
    if (CHECK(c, listing)) {
        while (readdir(listing))
            files++;
        closedir(listing);
    }
    CHECK(c, files == AIRY_CL_CACHE_ENTRIES + 2);
}

static void set_variable(const char *name, const char *value)
{
    if (value)
        setenv(name, value, 1);
    else
        unsetenv(name);
}

static void check_cache_variables(struct check *c)
{
    static const char *const names[] = {"AIRY_CACHE_DIR", "XDG_CACHE_HOME", "HOME"};
    static const struct {
        const char *values[3], *want;
    } rows[] = {
        {{"/own", "/xdg", "/home/me"}, "/own"},
        {{"none", "/xdg", "/home/me"}, ""},
        {{NULL, "/xdg", "/home/me"}, "/xdg/airy"},
        {{NULL, NULL, "/home/me"}, "/home/me/.cache/airy"},
        {{"", "relative", "/home/me"}, "/home/me/.cache/airy"},
        {{NULL, NULL, NULL}, ""},
    };
    char *before[3];
    for (int i = 0; i < 3; i++)
        before[i] = getenv(names[i]) ? strdup(getenv(names[i])) : NULL;
    for (size_t r = 0; r < sizeof(rows) / sizeof(rows[0]); r++) {
        char folder[64];
        for (int i = 0; i < 3; i++)
            set_variable(names[i], rows[r].values[i]);
        airy_cache_folder(folder, sizeof(folder));
        if (strcmp(folder, rows[r].want) != 0)
            check_failed(c, __FILE__, __LINE__, "row %zu: folder '%s', want '%s'", r, folder,
                         rows[r].want);
    }
    char narrow[4];
    set_variable("AIRY_CACHE_DIR", "/longer");
    airy_cache_folder(narrow, sizeof(narrow));
    CHECK(c, narrow[0] == 0);
    for (int i = 0; i < 3; i++) {
        set_variable(names[i], before[i]);
        free(before[i]);
    }
}

static void check_cache_key(struct check *c)
{
    const char *const one[] = {"ab", "c", NULL}, *const two[] = {"a", "bc", NULL},
                      *const three[] = {"ab", "d", NULL};
    const struct airy_cache_key a = airy_cache_key(one), b = airy_cache_key(two),
                                d = airy_cache_key(three);
    const struct airy_cache_key again = airy_cache_key(one);
    for (int i = 0; i < 2; i++)
        CHECK(c, a.half[i] != b.half[i] && a.half[i] != d.half[i] && a.half[i] == again.half[i]);
    CHECK(c, a.half[0] != a.half[1]);
}

static void check_cache(struct check *c)
{
    if (check_case(c, "cache_damaged_files"))
        check_cache_damage(c);
    if (check_case(c, "cache_odd_files"))
        check_cache_odd_files(c);
    if (check_case(c, "cache_folders"))
        check_cache_folders(c);
    if (check_case(c, "cache_limit"))
        check_cache_limit(c);
    if (check_case(c, "cache_variables"))
        check_cache_variables(c);
    if (check_case(c, "cache_key"))
        check_cache_key(c);
}

static void check_errors(struct check *c)
{
    if (check_case(c, "error_names")) {
        CHECK(c, strcmp(airy_cl_error_name(CL_OUT_OF_RESOURCES), "CL_OUT_OF_RESOURCES") == 0);
        CHECK(c, strstr(airy_cl_error_name(-4321), "-4321"));
        CHECK_FAILS(c, airy_cl_fail(CL_MEM_OBJECT_ALLOCATION_FAILURE, "opencl:0:0", "clFinish"),
                    AIRY_ERR_MEMORY,
                    "clFinish on opencl:0:0 failed: CL_MEM_OBJECT_ALLOCATION_FAILURE");
        CHECK_FAILS(c, airy_cl_fail(CL_OUT_OF_RESOURCES, "opencl:0:0", "clFinish"), AIRY_ERR_DEVICE,
                    "CL_OUT_OF_RESOURCES");
    }
    if (check_case(c, "open_no_such_device")) {
        airy_device device = {.info = {.spec = "opencl:77:0"}};
        CHECK_FAILS(c, airy_cl_open(&device), AIRY_ERR_DEVICE, "opencl:77:0");
    }
}

/* Fill count words with value through the strided kernel. */
static airy_status launch_fill(airy_queue *queue, const airy_array *dst, const char *options,
                               size_t count, size_t group, uint64_t value)
{
    const struct airy_cl_kernel_spec spec = {"fill.cl", "fill_box", options};
    const airy_fill_geom geom = {.offset = airy_cl_offset(dst),
                                 .count0 = count,
                                 .count1 = 1,
                                 .count2 = 1,
                                 .total = count,
                                 .pattern = value};
    const struct airy_cl_arg args[] = {AIRY_CL_ARRAY(dst), AIRY_CL_VALUE(geom)};
    return airy_cl_launch(queue, &spec, 1, &count, group ? &group : NULL, 4.0 * (double)count, args,
                          2);
}

static void check_launch_words(struct check *c, size_t count, size_t group)
{
    uint32_t *want = check_alloc(c, count * sizeof(*want));
    for (size_t i = 0; i < count; i++)
        want[i] = 0xdeadbeef;
    airy_array *dst = check_output(c, AIRY_DTYPE_U32, 1, &count);
    CHECK_OK(c, launch_fill(c->queue, dst, "-DT=uint", count, group, 0xdeadbeef));
    check_array(c, dst, want, NULL);
}

static void check_launch_errors(struct check *c)
{
    const size_t count = 16;
    airy_device_info info;
    airy_array *dst = check_output(c, AIRY_DTYPE_U32, 1, &count);
    CHECK_OK(c, airy_device_get_info(c->device, &info));
    CHECK_FAILS(c, launch_fill(c->queue, dst, "-DT=no_such_type", count, 0, 0), AIRY_ERR_DEVICE,
                "fill.cl");
    CHECK_FAILS(c, launch_fill(c->queue, dst, "-DT=no_such_type", count, 0, 0), AIRY_ERR_DEVICE,
                "no_such_type");
    CHECK_FAILS(c, launch_fill(c->queue, dst, "-DT=uint", count, (size_t)info.max_group + 1, 0),
                AIRY_ERR_UNSUPPORTED, "work-group of fill_box");
    struct airy_cl_kernel_spec spec = {"none.cl", "fill_box", NULL};
    CHECK_FAILS(c, airy_cl_launch(c->queue, &spec, 1, &count, NULL, 0, NULL, 0),
                AIRY_ERR_UNSUPPORTED, "none.cl");
    spec = (struct airy_cl_kernel_spec){"fill.cl", "no_such_kernel", NULL};
    CHECK_FAILS(c, airy_cl_launch(c->queue, &spec, 1, &count, NULL, 0, NULL, 0), AIRY_ERR_DEVICE,
                "clCreateKernel of no_such_kernel");
    spec = (struct airy_cl_kernel_spec){"fill.cl", "fill_box", NULL};
    const struct airy_cl_arg large[] = {AIRY_CL_ARRAY(dst),
                                        AIRY_CL_LOCAL((size_t)info.local_mem + 1)};
    CHECK_FAILS(c, airy_cl_launch(c->queue, &spec, 1, &count, NULL, 0, large, 2),
                AIRY_ERR_UNSUPPORTED, "local memory");
    const airy_fill_geom geom = {.total = 0};
    const struct airy_cl_arg many[] = {AIRY_CL_ARRAY(dst), AIRY_CL_VALUE(geom),
                                       AIRY_CL_VALUE(geom)};
    CHECK_FAILS(c, airy_cl_launch(c->queue, &spec, 1, &count, NULL, 0, many, 3), AIRY_ERR_DEVICE,
                "clSetKernelArg 2 of fill_box");
    char *options = check_alloc(c, 1200);
    memset(options, 'x', 1199);
    CHECK_FAILS(c, launch_fill(c->queue, dst, options, count, 0, 0), AIRY_ERR_UNSUPPORTED,
                "build options of fill.cl");
    CHECK_OK(c, launch_fill(c->queue, dst, "-DT=uint", 1, 0, 0)); /* the queue still works */
    CHECK_OK(c, airy_array_fill(c->queue, dst, 0));
}

static void keep_log(void *user, airy_log_level level, const char *text)
{
    char **kept = user; /* the longest message that has the compiler's log */
    const char *head = strstr(text, "fill.cl with '");
    if (level == AIRY_LOG_DEBUG && head && (!*kept || strlen(text) > strlen(*kept))) {
        free(*kept);
        *kept = strdup(text);
    }
}

/* The compiler's whole log is one message, of several lines, and the failure has one of them. */
static void check_build_log(struct check *c)
{
    const size_t count = 16;
    char *kept = NULL;
    const airy_log_level before = airy_log_get_level();
    airy_array *dst = check_output(c, AIRY_DTYPE_U32, 1, &count);
    airy_log_set(keep_log, &kept);
    airy_log_set_level(AIRY_LOG_DEBUG);
    CHECK_FAILS(c, launch_fill(c->queue, dst, "-DT=no_such_type", count, 0, 0), AIRY_ERR_DEVICE,
                "no_such_type");
    airy_log_set_level(before);
    airy_log_set(NULL, NULL);
    const char *end = kept ? strchr(kept, '\n') : NULL;
    CHECK(c, end && strstr(end, "no_such_type") && kept[strlen(kept) - 1] != '\n');
    free(kept);
}

static void check_prepare(struct check *c)
{
    const struct airy_cl_kernel_spec spec = {"fill.cl", "fill_box", NULL},
                                     bad = {"fill.cl", "fill_box", "-DT=bad"};
    struct airy_cl_kernel_info info;
    CHECK_OK(c, airy_cl_prepare(c->device, &spec, NULL));
    CHECK_OK(c, airy_cl_prepare(c->device, &spec, &info));
    CHECK(c, info.max_group >= 1 && info.multiple >= 1);
    CHECK_FAILS(c, airy_cl_prepare(c->device, &bad, &info), AIRY_ERR_DEVICE, "fill.cl");
}

/* A table of kernel objects grows; every variant keeps its own. */
static void check_many_kernels(struct check *c)
{
    const size_t count = 3;
    airy_array *dst = check_output(c, AIRY_DTYPE_U32, 1, &count);
    for (unsigned round = 0; round < 2; round++)
        for (unsigned i = 0; i < 40; i++) {
            char options[64];
            snprintf(options, sizeof(options), "-DT=uint -DVARIANT=%u", i);
            if (!CHECK_OK(c, launch_fill(c->queue, dst, options, count, 0, i)))
                return;
        }
    check_array(c, dst, (const uint32_t[]){39, 39, 39}, NULL);
}

static void check_launches(struct check *c)
{
    static const size_t groups[] = {0, 1, 16, 64};
    for (size_t g = 0; g < 4; g++)
        for (size_t count = 63; count <= 65; count++)
            if (check_case(c, "launch_%zu_by_%zu", count, groups[g]))
                check_launch_words(c, count, groups[g]);
    if (check_case(c, "launch_errors"))
        check_launch_errors(c);
    if (check_case(c, "launch_build_log"))
        check_build_log(c);
    if (check_case(c, "launch_prepare"))
        check_prepare(c);
    if (check_case(c, "launch_many_kernels"))
        check_many_kernels(c);
}

static unsigned files_in(const char *folder, char *last, size_t size)
{
    unsigned count = 0;
    DIR *listing = opendir(folder);
    if (!listing)
        return 0;
    for (const struct dirent *entry; (entry = readdir(listing));)
        if (entry->d_name[0] != '.') {
            snprintf(last, size, "%s", entry->d_name);
            count++;
        }
    closedir(listing);
    return count;
}

/* A device of its own with its cache in the folder; launches once and compares. */
static void launch_with_cache(struct check *c, const char *folder, const char *options)
{
    airy_device *device = NULL;
    airy_queue *queue = NULL;
    airy_array *dst = NULL;
    const size_t count = 5;
    uint32_t got[5] = {0};
    if (CHECK_OK(c, airy_device_create(&device, c->spec, NULL))) {
        struct airy_cl_device *impl = airy_cl_device(device);
        snprintf(impl->cache, sizeof(impl->cache), "%s", folder);
        CHECK_OK(c, airy_queue_create(&queue, device));
        CHECK_OK(c, airy_array_create(&dst, device, AIRY_DTYPE_U32, 1, &count));
        CHECK_OK(c, launch_fill(queue, dst, options, count, 0, 7));
        CHECK_OK(c, airy_array_pull(queue, got, sizeof(got), dst));
        for (size_t i = 0; i < count; i++)
            CHECK(c, got[i] == 7);
    }
    airy_array_destroy(&dst);
    airy_queue_destroy(&queue);
    airy_device_destroy(&device);
}

static void check_cached_programs(struct check *c)
{
    char name[256] = "", path[600];
    const char *folder = check_tmp(c);
    launch_with_cache(c, folder, "-DT=uint");
    CHECK(c, files_in(folder, name, sizeof(name)) == 1);
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    struct stat first, second;
    CHECK(c, stat(path, &first) == 0);
    launch_with_cache(c, folder, "-DT=uint"); /* reads it: the file stays as it is */
    CHECK(c, files_in(folder, name, sizeof(name)) == 1 && stat(path, &second) == 0 &&
                 first.st_ino == second.st_ino);
    launch_with_cache(c, folder, "-DT=uint -DOTHER");
    CHECK(c, files_in(folder, name, sizeof(name)) == 2);

    CHECK(c, truncate(path, first.st_size / 2) == 0);
    launch_with_cache(c, folder, "-DT=uint"); /* builds, and replaces it */
    CHECK(c, stat(path, &second) == 0 && second.st_size > first.st_size / 2);

    struct airy_cache_key own = {{0, 0}};
    CHECK(c, sscanf(strrchr(path, '/') + 1, "%16" SCNx64 "%16" SCNx64, &own.half[0],
                    &own.half[1]) == 2);
    /* sound file, but no program: the driver refuses it */
    airy_cl_cache_store(folder, own, stored, sizeof(stored));
    launch_with_cache(c, folder, "-DT=uint");
    CHECK(c, stat(path, &second) == 0 && second.st_size > first.st_size / 2);

    snprintf(path, sizeof(path), "%s/%s/below-a-file", folder, name);
    launch_with_cache(c, path, "-DT=uint");
    launch_with_cache(c, "", "-DT=uint");
}

static size_t view_index(const size_t at[4], const size_t shape[4])
{
    return ((at[0] * shape[1] + at[1]) * shape[2] + at[2]) * shape[3] + at[3];
}

static bool inside(const size_t at[4], const size_t start[4], const size_t box[4])
{
    for (int i = 0; i < 4; i++)
        if (at[i] < start[i] || at[i] - start[i] >= box[i])
            return false;
    return true;
}

/* Push into, pull from and fill a box of a 4-D array, against loops on the host. */
static void check_box(struct check *c, airy_dtype dtype, const size_t shape[4],
                      const size_t start[4], const size_t box[4], bool pinned)
{
    const size_t element = airy_dtype_size(dtype);
    const size_t whole = shape[0] * shape[1] * shape[2] * shape[3],
                 part = box[0] * box[1] * box[2] * box[3];
    unsigned char *want = check_alloc(c, whole * element), *got = check_alloc(c, part * element);
    airy_host *host = NULL;
    unsigned char *from = check_alloc(c, part * element), *to = got;
    check_rand(c, want, AIRY_DTYPE_U8, whole * element, 0, 255);
    check_rand(c, from, AIRY_DTYPE_U8, part * element, 0, 255);
    airy_array *array = check_upload(c, dtype, 4, shape, want), *view = NULL;
    CHECK_OK(c, airy_array_view(&view, array, start, box));
    if (pinned) {
        CHECK_OK(c, airy_host_create(&host, c->device, 2 * part * element));
        unsigned char *data = airy_host_data(host);
        memcpy(data, from, part * element);
        from = data;
        to = data + part * element;
    }
    CHECK_OK(c, airy_array_push(c->queue, view, from, part * element));
    CHECK_OK(c, airy_array_pull(c->queue, to, part * element, view));
    CHECK_OK(c, airy_queue_finish(c->queue));
    CHECK(c, memcmp(to, from, part * element) == 0);

    size_t next = 0, at[4];
    for (at[0] = 0; at[0] < shape[0]; at[0]++)
        for (at[1] = 0; at[1] < shape[1]; at[1]++)
            for (at[2] = 0; at[2] < shape[2]; at[2]++)
                for (at[3] = 0; at[3] < shape[3]; at[3]++)
                    if (inside(at, start, box))
                        memcpy(want + view_index(at, shape) * element, from + next++ * element,
                               element);
    check_array(c, array, want, NULL);

    /* The same box into another array of another pitch, then a fill of it. */
    airy_array *other = check_output(c, dtype, 4, box);
    CHECK_OK(c, airy_array_copy(c->queue, other, view));
    check_array(c, other, from, NULL);
    CHECK_OK(c, airy_array_fill(c->queue, view, 3));
    CHECK_OK(c, airy_array_pull(c->queue, got, part * element, view));
    airy_array *tight = check_output(c, dtype, 1, &part);
    unsigned char *threes = check_alloc(c, part * element);
    CHECK_OK(c, airy_array_fill(c->queue, tight, 3));
    CHECK_OK(c, airy_array_pull(c->queue, threes, part * element, tight));
    CHECK(c, memcmp(got, threes, part * element) == 0);
    airy_array_destroy(&view);
    airy_host_destroy(&host);
}

static void check_boxes(struct check *c)
{
    static const struct {
        const char *name;
        size_t shape[4], start[4], box[4];
        bool big; /* in two dtypes only: these are slow to compare */
    } rows[] = {
        {"one", {1, 1, 1, 1}, {0, 0, 0, 0}, {1, 1, 1, 1}, false},
        {"whole", {3, 4, 5, 7}, {0, 0, 0, 0}, {3, 4, 5, 7}, false},
        {"columns", {3, 4, 5, 7}, {0, 0, 0, 2}, {3, 4, 5, 3}, false},
        {"rows", {3, 4, 5, 7}, {0, 0, 1, 0}, {3, 4, 3, 7}, false},
        {"slices", {3, 4, 5, 7}, {0, 1, 0, 0}, {3, 2, 5, 7}, false},
        {"volumes", {3, 4, 5, 7}, {1, 0, 0, 0}, {2, 4, 5, 7}, false},
        {"inner", {4, 5, 6, 9}, {1, 1, 2, 3}, {2, 3, 3, 5}, false},
        {"last_column", {4, 5, 6, 9}, {0, 0, 0, 8}, {4, 5, 6, 1}, false},
        {"thin", {4, 5, 6, 9}, {1, 0, 2, 1}, {3, 1, 2, 8}, false},
        /* several pieces of staging memory */
        {"big_rows", {2, 2, 20, 60001}, {0, 1, 2, 3}, {2, 1, 17, 59990}, true},
        /* u32: 4.8 MB a row */
        {"row_over_piece", {1, 1, 3, 1200001}, {0, 0, 1, 1}, {1, 1, 2, 1199999}, true},
    };
    static const airy_dtype dtypes[] = {AIRY_DTYPE_U8, AIRY_DTYPE_F32, AIRY_DTYPE_U16,
                                        AIRY_DTYPE_I64};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        for (int pinned = 0; pinned < 2; pinned++)
            for (int d = 0; d < (rows[i].big ? 2 : 4); d++)
                if (check_case(c, "box_%s_%s_%s", airy_dtype_name(dtypes[d]), rows[i].name,
                               pinned ? "pinned" : "pageable"))
                    check_box(c, dtypes[d], rows[i].shape, rows[i].start, rows[i].box, pinned);
}

/* Sizes around the staging memory's pieces and its end. */
static void check_staged(struct check *c, size_t size)
{
    unsigned char *data = check_alloc(c, size), *got = check_alloc(c, size);
    check_rand(c, data, AIRY_DTYPE_U8, size, 0, 255);
    airy_array *array = check_output(c, AIRY_DTYPE_U8, 1, &size);
    CHECK_OK(c, airy_array_push(c->queue, array, data, size));
    unsigned char *again = check_alloc(c, size);
    memcpy(again, data, size);
    memset(data, 0, size); /* push has read it */
    CHECK_OK(c, airy_array_pull(c->queue, got, size, array));
    CHECK(c, memcmp(got, again, size) == 0);
    check_array(c, array, again, NULL);
    CHECK_BENCH(c, (double)size, 0, airy_array_push(c->queue, array, again, size));
}

/* Many small pushes: the ring's list of pieces runs over. */
static void check_small_pushes(struct check *c)
{
    enum { ROWS = 300, WIDTH = 257 };
    const size_t shape[2] = {ROWS, WIDTH}, row[2] = {1, WIDTH};
    uint16_t *data = check_alloc(c, ROWS * WIDTH * sizeof(*data));
    check_rand(c, data, AIRY_DTYPE_U16, ROWS * WIDTH, 0, 65535);
    airy_array *array = check_output(c, AIRY_DTYPE_U16, 2, shape);
    for (size_t y = 0; y < ROWS; y++) {
        airy_array *view = NULL;
        CHECK_OK(c, airy_array_view(&view, array, (const size_t[]){y, 0}, row));
        CHECK_OK(c, airy_array_push(c->queue, view, data + y * WIDTH, WIDTH * sizeof(*data)));
        airy_array_destroy(&view);
    }
    check_array(c, array, data, NULL);
}

static void check_copies(struct check *c)
{
    static const size_t sizes[] = {1,
                                   255,
                                   AIRY_CL_STAGING_PIECE - 1,
                                   AIRY_CL_STAGING_PIECE,
                                   AIRY_CL_STAGING_PIECE + 1,
                                   AIRY_CL_STAGING_BYTES,
                                   2 * AIRY_CL_STAGING_BYTES + 12345};
    check_boxes(c);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        if (check_case(c, "staged_%zu", sizes[i]))
            check_staged(c, sizes[i]);
    if (check_case(c, "small_pushes"))
        check_small_pushes(c);
}

/* One queue fills, the other copies after the event; 50 times, so that a missing order shows. */
static void check_event_order(struct check *c)
{
    const size_t count = 1 << 20;
    airy_queue *second = NULL;
    airy_event *filled = NULL, *copied = NULL;
    airy_array *src = check_output(c, AIRY_DTYPE_U32, 1, &count),
               *dst = check_output(c, AIRY_DTYPE_U32, 1, &count);
    CHECK_OK(c, airy_queue_create(&second, c->device));
    CHECK_OK(c, airy_event_create(&filled, c->device));
    CHECK_OK(c, airy_event_create(&copied, c->device));
    CHECK_OK(c, airy_queue_wait(c->queue, copied)); /* never recorded: has happened */
    CHECK_OK(c, airy_event_wait(copied));
    uint32_t *want = check_alloc(c, count * sizeof(*want));
    for (uint32_t round = 1; round <= 50; round++) {
        CHECK_OK(c, airy_queue_wait(c->queue, copied));
        CHECK_OK(c, airy_array_fill(c->queue, src, round));
        CHECK_OK(c, airy_event_record(filled, c->queue));
        CHECK_OK(c, airy_queue_wait(second, filled));
        CHECK_OK(c, airy_array_copy(second, dst, src));
        CHECK_OK(c, airy_event_record(copied, second));
        CHECK_OK(c, airy_event_wait(copied));
        uint32_t ends[2] = {0, 0};
        airy_array *view = NULL;
        for (size_t i = 0; i < 2; i++) {
            CHECK_OK(c, airy_array_view(&view, dst, &(const size_t){i * (count - 1)},
                                        &(const size_t){1}));
            CHECK_OK(c, airy_array_pull(second, &ends[i], sizeof(ends[i]), view));
            airy_array_destroy(&view);
        }
        CHECK(c, ends[0] == round && ends[1] == round);
    }
    for (size_t i = 0; i < count; i++)
        want[i] = 50;
    check_array(c, dst, want, NULL);
    airy_event_destroy(&filled);
    airy_event_destroy(&copied);
    airy_queue_destroy(&second);
}

struct worker {
    airy_device *device;
    unsigned number;
    bool good;
};

/* Compile, launch, push and pull on a queue of its own. */
static void *work(void *arg)
{
    struct worker *w = arg;
    enum { COUNT = 100003 };
    const size_t count = COUNT;
    airy_queue *queue = NULL;
    airy_array *array = NULL;
    uint32_t *data = malloc(COUNT * sizeof(*data));
    w->good = data && airy_queue_create(&queue, w->device) == AIRY_OK &&
              airy_array_create(&array, w->device, AIRY_DTYPE_U32, 1, &count) == AIRY_OK;
    for (unsigned round = 0; w->good && round < 20; round++) {
        char options[64];
        const uint32_t value = 1000 * w->number + round;
        /* the same for both threads */
        snprintf(options, sizeof(options), "-DT=uint -DTHREADS=%u", round / 5);
        for (size_t i = 0; i < COUNT; i++)
            data[i] = value + (uint32_t)i;
        w->good = airy_array_push(queue, array, data, COUNT * sizeof(*data)) == AIRY_OK &&
                  launch_fill(queue, array, options, COUNT / 2, 64, value) == AIRY_OK &&
                  airy_array_pull(queue, data, COUNT * sizeof(*data), array) == AIRY_OK;
        for (size_t i = 0; w->good && i < COUNT; i++)
            w->good = data[i] == (i < COUNT / 2 ? value : value + (uint32_t)i);
    }
    airy_array_destroy(&array);
    airy_queue_destroy(&queue);
    free(data);
    return NULL;
}

static void check_threads(struct check *c)
{
    enum { THREADS = 2 };
    struct worker workers[THREADS];
    pthread_t threads[THREADS];
    for (unsigned i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){c->device, i + 1, false};
        if (!CHECK(c, pthread_create(&threads[i], NULL, work, &workers[i]) == 0))
            exit(1);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        CHECK(c, workers[i].good);
    }
}

static const airy_profile_row *find_row(const airy_profile_row *rows, size_t count,
                                        const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(rows[i].name, name) == 0)
            return &rows[i];
    return NULL;
}

/* Every command is in the profile once, also where there are more than are kept pending. */
static void check_profile(struct check *c)
{
    enum { LAUNCHES = 1100 };
    const size_t count = 100;
    airy_device *device = NULL;
    airy_queue *queue = NULL;
    airy_array *array = NULL;
    airy_profile_row *rows = NULL;
    size_t row_count = 0;
    uint32_t data[100] = {0};
    CHECK_OK(c, airy_device_create(&device, c->spec, &(airy_device_params){.profile = true}));
    CHECK_OK(c, airy_queue_create(&queue, device));
    CHECK_OK(c, airy_array_create(&array, device, AIRY_DTYPE_U32, 1, &count));
    for (int i = 0; i < LAUNCHES; i++)
        CHECK_OK(c, launch_fill(queue, array, NULL, count, 0, 1));
    CHECK_OK(c, airy_array_push(queue, array, data, sizeof(data)));
    CHECK_OK(c, airy_array_push(queue, array, data, sizeof(data)));
    CHECK_OK(c, airy_array_fill(queue, array, 1));
    CHECK_OK(c, airy_array_pull(queue, data, sizeof(data), array));
    CHECK_OK(c, airy_queue_finish(queue));
    CHECK_OK(c, airy_profile_get(device, &rows, &row_count));
    static const struct {
        const char *name;
        uint64_t count;
        bool transfer;
        double bytes; /* of one */
    } want[] = {{"fill_box", LAUNCHES, false, 400},
                {"push", 2, true, 400},
                {"pull", 1, true, 400},
                {"fill", 1, false, 400}};
    CHECK(c, row_count == 4);
    for (size_t i = 0; i < 4; i++) {
        const airy_profile_row *row = find_row(rows, row_count, want[i].name);
        if (CHECK(c, row))
            CHECK(c, row->count == want[i].count && row->transfer == want[i].transfer &&
                         row->bytes == want[i].bytes * (double)want[i].count && row->min >= 0 &&
                         row->min <= row->max);
    }
    airy_profile_free(rows);
    airy_array_destroy(&array);
    airy_queue_destroy(&queue);
    airy_device_destroy(&device);
}

static void check_memory_limits(struct check *c)
{
    airy_device_info info;
    void *handle = NULL;
    CHECK_OK(c, airy_device_get_info(c->device, &info));
    CHECK_FAILS(c, airy_cl_alloc(c->device, (size_t)info.max_alloc + 1, &handle), AIRY_ERR_MEMORY,
                "largest single allocation");
    CHECK(c, !handle);
    airy_host *host = NULL;
    CHECK_FAILS(c, airy_host_create(&host, c->device, SIZE_MAX / 4), AIRY_ERR_MEMORY, "page-lock");
    const size_t count = 1000;
    airy_array *array = check_output(c, AIRY_DTYPE_U8, 1, &count); /* all is usable afterwards */
    CHECK_OK(c, airy_array_fill(c->queue, array, 1));
}

void check_opencl(struct check *c)
{
    if (c->is_cpu) {
        check_loader(c);
        check_cache(c);
        check_errors(c);
        check_cl_reasons(c);
        return;
    }
    check_launches(c);
    if (check_case(c, "cached_programs"))
        check_cached_programs(c);
    check_copies(c);
    if (check_case(c, "event_order"))
        check_event_order(c);
    if (check_case(c, "two_threads"))
        check_threads(c);
    if (check_case(c, "profile_rows"))
        check_profile(c);
    if (check_case(c, "memory_limits"))
        check_memory_limits(c);
    check_cl_faults(c);
}
