#include "opencl/cl_program.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/clock.h"
#include "base/memory.h"
#include "opencl/cl_cache.h"

struct airy_cl_program {
    struct airy_cl_program *next;
    cl_program program;
    const struct airy_cl_source *source;
    char options[];
};

static const struct airy_cl_source *find_source(const char *file)
{
    for (size_t i = 0; i < airy_cl_source_count; i++)
        if (strcmp(airy_cl_sources[i].name, file) == 0)
            return &airy_cl_sources[i];
    return NULL;
}

/* The compiler's log, or NULL; freed with free. */
static char *build_log(const struct airy_cl_device *device, cl_program program)
{
    size_t size = 0;
    if (device->cl->GetProgramBuildInfo(program, device->id, CL_PROGRAM_BUILD_LOG, 0, NULL,
                                        &size) != CL_SUCCESS)
        return NULL;
    char *log = calloc(1, size + 1);
    if (log && device->cl->GetProgramBuildInfo(program, device->id, CL_PROGRAM_BUILD_LOG, size, log,
                                               NULL) != CL_SUCCESS)
        log[0] = 0;
    return log;
}

/* The first line that speaks of an error, else the first line. */
static void first_error(const char *log, char *line, size_t size)
{
    const char *chosen = NULL;
    for (const char *at = log; at && *at; at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL) {
        const size_t length = strcspn(at, "\r\n");
        if (length == 0)
            continue;
        if (!chosen)
            chosen = at;
        snprintf(line, size, "%.*s", (int)length, at);
        if (strcasestr(line, "error")) {
            chosen = at;
            break;
        }
    }
    snprintf(line, size, "%.*s", chosen ? (int)strcspn(chosen, "\r\n") : 0, chosen ? chosen : "");
}

static airy_status fail_build(const struct airy_cl_device *device, const char *file,
                              const char *options, const char *log, cl_int code)
{
    char line[400];
    first_error(log ? log : "", line, sizeof(line));
    airy_log(AIRY_LOG_DEBUG, "opencl: %s with '%s' does not build on %s%s%s", file, options,
             device->spec, log ? "\n" : "", log ? log : "");
    return airy_fail(AIRY_ERR_DEVICE, "%s does not build on %s: %s (%s)", file, device->spec,
                     line[0] ? line : "no log", airy_cl_error_name(code));
}

static airy_status build_from_source(struct airy_cl_device *device,
                                     const struct airy_cl_source *source, const char *options,
                                     cl_program *program)
{
    const struct airy_cl_api *cl = device->cl;
    cl_int code = CL_SUCCESS;
    cl_program made = cl->CreateProgramWithSource(
        device->context, 1, (const char *[]){source->text}, &source->size, &code);
    if (!made)
        return airy_cl_fail(code, device->spec, "clCreateProgramWithSource");
    code = cl->BuildProgram(made, 1, &device->id, options, NULL, NULL);
    char *log = build_log(device, made);
    if (code != CL_SUCCESS) {
        const airy_status status = fail_build(device, source->name, options, log, code);
        free(log);
        cl->ReleaseProgram(made);
        return status;
    }
    if (log && log[strspn(log, " \r\n")])
        airy_log(AIRY_LOG_DEBUG, "opencl: %s with '%s':\n%s", source->name, options, log);
    free(log);
    *program = made;
    return AIRY_OK;
}

static bool build_from_cache(struct airy_cl_device *device, struct airy_cache_key key,
                             const char *options, cl_program *program)
{
    const struct airy_cl_api *cl = device->cl;
    void *data;
    size_t size;
    if (!airy_cl_cache_load(device->cache, key, &data, &size))
        return false;
    cl_int code = CL_SUCCESS, accepted = CL_SUCCESS;
    cl_program made = cl->CreateProgramWithBinary(
        device->context, 1, &device->id, &size, (const unsigned char *[]){data}, &accepted, &code);
    free(data);
    if (made && code == CL_SUCCESS && accepted == CL_SUCCESS &&
        cl->BuildProgram(made, 1, &device->id, options, NULL, NULL) == CL_SUCCESS) {
        *program = made;
        return true;
    }
    if (made)
        cl->ReleaseProgram(made);
    airy_log(AIRY_LOG_INFO, "opencl: the driver does not take a kept program, it is built again");
    airy_cl_cache_drop(device->cache, key);
    return false;
}

static void keep_in_cache(const struct airy_cl_device *device, struct airy_cache_key key,
                          cl_program program)
{
    size_t size = 0; /* of the one device that the program was built for */
    if (!device->cache[0] ||
        device->cl->GetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof(size), &size, NULL) !=
            CL_SUCCESS ||
        size == 0)
        return;
    unsigned char *data = malloc(size);
    if (data && device->cl->GetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof(data), &data,
                                           NULL) == CL_SUCCESS)
        airy_cl_cache_store(device->cache, key, data, size);
    free(data);
}

static airy_status build(struct airy_cl_device *device, const struct airy_cl_source *source,
                         const char *options, cl_program *program)
{
    char all[1024];
    const int length =
        snprintf(all, sizeof(all), "%s%s%s", device->options, options[0] ? " " : "", options);
    AIRY_FAIL_IF(length < 0 || length >= (int)sizeof(all), AIRY_ERR_UNSUPPORTED,
                 "build options of %s are %d characters, expected fewer than %zu", source->name,
                 length, sizeof(all));
    const char *parts[] = {AIRY_VERSION, device->driver, all, source->name, source->text, NULL};
    const struct airy_cache_key key = airy_cache_key(parts);
    const uint64_t start = airy_clock_ns();
    const bool cached = build_from_cache(device, key, all, program);
    if (!cached) {
        AIRY_TRY(build_from_source(device, source, all, program));
        keep_in_cache(device, key, *program);
    }
    const double seconds = (double)(airy_clock_ns() - start) * 1e-9;
    device->start.programs_seconds += seconds;
    device->start.programs++;
    device->start.compiled += !cached;
    airy_log(AIRY_LOG_INFO, "opencl: %s with '%s' %s in %.1f ms", source->name, all,
             cached ? "loaded from the cache" : "built", 1e3 * seconds);
    return AIRY_OK;
}

static airy_status find_or_build(struct airy_cl_device *device, const char *file,
                                 const char *options, cl_program *program)
{
    for (const struct airy_cl_program *p = device->programs; p; p = p->next)
        if (strcmp(p->source->name, file) == 0 && strcmp(p->options, options) == 0) {
            *program = p->program;
            return AIRY_OK;
        }
    const struct airy_cl_source *source = find_source(file);
    AIRY_FAIL_IF(!source, AIRY_ERR_UNSUPPORTED, "this build has no kernel file '%s'", file);
    struct airy_cl_program *entry;
    const size_t size = strlen(options) + 1;
    AIRY_TRY(airy_memory_calloc((void **)&entry, 1, sizeof(*entry) + size, "a program"));
    const airy_status status = build(device, source, options, &entry->program);
    if (status != AIRY_OK) {
        free(entry);
        return status;
    }
    entry->source = source;
    memcpy(entry->options, options, size);
    entry->next = device->programs;
    device->programs = entry;
    *program = entry->program;
    return AIRY_OK;
}

airy_status airy_cl_program_get(struct airy_cl_device *device, const char *file,
                                const char *options, cl_program *program)
{
    AIRY_TRY(airy_cl_ready(device));
    pthread_mutex_lock(&device->build_lock);
    const airy_status status = find_or_build(device, file, options, program);
    pthread_mutex_unlock(&device->build_lock);
    return status;
}

void airy_cl_programs_release(struct airy_cl_device *device)
{
    while (device->programs) {
        struct airy_cl_program *next = device->programs->next;
        device->cl->ReleaseProgram(device->programs->program);
        free(device->programs);
        device->programs = next;
    }
}
