#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "core/registry.h"

enum { LIST_SIZE = 768 };

/* "cpu (Xeon), gpu:0 (H200, not usable: ...)": those with matches set, or all when it is NULL. */
static const char *describe(char text[LIST_SIZE], const struct airy_device_entry *entries,
                            size_t count, const bool *matches)
{
    size_t n = 0;
    text[0] = 0;
    for (size_t i = 0; i < count && n + 1 < LIST_SIZE; i++) {
        if (matches && !matches[i])
            continue;
        const airy_device_info *info = &entries[i].info;
        const int wrote = snprintf(
            text + n, LIST_SIZE - n, "%s%s (%s%s%s)", n ? ", " : "", info->spec, info->name,
            info->usable ? "" : ", not usable: ", info->usable ? "" : info->why);
        n += wrote > 0 ? (size_t)wrote : 0;
    }
    return text;
}

static bool contains(const char *text, const char *part)
{
    const size_t n = strlen(part);
    for (; *text; text++)
        if (strncasecmp(text, part, n) == 0)
            return true;
    return false;
}

/* "7" of "gpu:7"; digits only, at most 4. */
static bool parse_number(const char *text, unsigned *value)
{
    const size_t n = strspn(text, "0123456789");
    if (n == 0 || n > 4 || text[n] != 0)
        return false;
    *value = (unsigned)strtoul(text, NULL, 10);
    return true;
}

/* True if spec has the form of a spec rather than of a name. */
static bool is_formal(const char *spec)
{
    return strcasecmp(spec, "cpu") == 0 || strcasecmp(spec, "gpu") == 0 ||
           strncasecmp(spec, "gpu:", 4) == 0 || strncasecmp(spec, "opencl:", 7) == 0;
}

static airy_status check_form(const char *spec)
{
    unsigned number, platform, device;
    char rest;
    AIRY_FAIL_IF(!*spec, AIRY_ERR_PARAM,
                 "device spec is empty; expected cpu, gpu, gpu:N, opencl:P:D or a part of a name");
    AIRY_FAIL_ON_IF(strcasecmp(spec, "gpu:all") == 0 || strchr(spec, ','), AIRY_ERR_PARAM,
                    AIRY_SUBJECT_DEVICE,
                    "device spec '%s' may mean several devices, this work takes one", spec);
    AIRY_FAIL_ON_IF(strncasecmp(spec, "gpu:", 4) == 0 && !parse_number(spec + 4, &number),
                    AIRY_ERR_PARAM, AIRY_SUBJECT_DEVICE,
                    "device spec '%s' does not name one device; expected gpu:N with a number",
                    spec);
    AIRY_FAIL_ON_IF(strncasecmp(spec, "opencl:", 7) == 0 &&
                        sscanf(spec + 7, "%4u:%4u%c", &platform, &device, &rest) != 2,
                    AIRY_ERR_PARAM, AIRY_SUBJECT_DEVICE,
                    "device spec '%s' is odd; expected opencl:PLATFORM:DEVICE with two numbers",
                    spec);
    return AIRY_OK;
}

static bool answers(const struct airy_device_entry *entry, const char *spec)
{
    if (strcasecmp(spec, "opencl") == 0)
        return strncasecmp(entry->native, "opencl:", 7) == 0;
    if (is_formal(spec))
        return strcasecmp(entry->info.spec, spec) == 0 || strcasecmp(entry->native, spec) == 0;
    return contains(entry->info.name, spec);
}

static airy_status match_default(size_t *index, const struct airy_device_entry *entries,
                                 size_t count)
{
    char list[LIST_SIZE];
    for (int want_gpu = 1; want_gpu >= 0; want_gpu--)
        for (size_t i = 0; i < count; i++) {
            const airy_device_info *info = &entries[i].info;
            if (info->usable && (want_gpu ? info->gpu : strcmp(info->spec, "cpu") == 0)) {
                *index = i;
                return AIRY_OK;
            }
        }
    return airy_hinted(AIRY_HINT_STATED,
                       airy_fail(AIRY_ERR_DEVICE, "no usable device; there are: %s",
                                 describe(list, entries, count, NULL)));
}

static airy_status match_gpu(size_t *index, const struct airy_device_entry *entries, size_t count)
{
    char list[LIST_SIZE];
    for (size_t i = 0; i < count; i++)
        if (entries[i].info.gpu && entries[i].info.usable) {
            *index = i;
            return AIRY_OK;
        }
    return airy_hinted(AIRY_HINT_STATED, airy_fail(AIRY_ERR_DEVICE, "no usable GPU; there are: %s",
                                                   describe(list, entries, count, NULL)));
}

airy_status airy_device_match(size_t *index, const struct airy_device_entry *entries, size_t count,
                              const char *spec)
{
    char list[LIST_SIZE];
    if (!spec)
        return match_default(index, entries, count);
    AIRY_TRY(check_form(spec));
    if (strcasecmp(spec, "gpu") == 0)
        return match_gpu(index, entries, count);

    bool *matches = calloc(count, sizeof(*matches));
    AIRY_FAIL_IF(!matches, AIRY_ERR_MEMORY, "cannot allocate a list of %zu devices", count);
    size_t usable = 0, any = 0, last = 0;
    for (size_t i = 0; i < count; i++) {
        matches[i] = answers(&entries[i], spec);
        any += matches[i];
        if (matches[i] && (entries[i].info.usable || usable == 0))
            last = i;
        usable += matches[i] && entries[i].info.usable;
    }
    airy_status status = AIRY_OK;
    if (any == 0)
        status =
            airy_hinted(AIRY_HINT_STATED, airy_fail_on(AIRY_ERR_DEVICE, AIRY_SUBJECT_DEVICE,
                                                       "there is no device '%s'; there are: %s",
                                                       spec, describe(list, entries, count, NULL)));
    else if (usable > 1 || (usable == 0 && any > 1))
        status =
            airy_hinted(AIRY_HINT_STATED, airy_fail_on(AIRY_ERR_DEVICE, AIRY_SUBJECT_DEVICE,
                                                       "'%s' means more than one device: %s", spec,
                                                       describe(list, entries, count, matches)));
    else if (usable == 0)
        status = airy_fail_on(AIRY_ERR_DEVICE, AIRY_SUBJECT_DEVICE,
                              "device %s (%s) cannot be used: %s", entries[last].info.spec,
                              entries[last].info.name, entries[last].info.why);
    else
        *index = last;
    free(matches);
    return status;
}
