#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "airy/geometry.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/word.h"
#include "integrate/detector_table.h"

enum { NAME_MAX_LENGTH = 64 };

/* Lower case without blanks, '-' and '_', cut at NAME_MAX_LENGTH - 1; returns the length. */
static size_t plain_name(char out[NAME_MAX_LENGTH], const char *name, size_t size)
{
    size_t n = 0;
    for (size_t i = 0; i < size && n < NAME_MAX_LENGTH - 1; i++) {
        const unsigned char c = (unsigned char)name[i];
        if (c != ' ' && c != '-' && c != '_')
            out[n++] = (char)tolower(c);
    }
    out[n] = '\0';
    return n;
}

/* Call fn for each '|'-separated name of an entry until it returns true. */
static bool any_name(const char *names, bool (*fn)(void *arg, const char *name, size_t size),
                     void *arg)
{
    for (;;) {
        const size_t size = strcspn(names, "|");
        if (fn(arg, names, size))
            return true;
        if (names[size] == '\0')
            return false;
        names += size + 1;
    }
}

static bool is_name(void *arg, const char *name, size_t size)
{
    char plain[NAME_MAX_LENGTH];
    plain_name(plain, name, size);
    return strcmp(plain, arg) == 0;
}

struct nearest {
    const char *plain;
    size_t distance;
};

static bool measure_name(void *arg, const char *name, size_t size)
{
    struct nearest *nearest = arg;
    char plain[NAME_MAX_LENGTH];
    plain_name(plain, name, size);
    const size_t d = airy_word_distance(nearest->plain, plain);
    nearest->distance = d < nearest->distance ? d : nearest->distance;
    return false;
}

/* NULL: none is near. */
static const struct airy_detector_entry *nearest_entry(const char *plain)
{
    const struct airy_detector_entry *best = NULL;
    size_t distance = strlen(plain) / 2 + 2;
    for (size_t i = 0; i < airy_detector_table_count; i++) {
        struct nearest nearest = {plain, SIZE_MAX};
        any_name(airy_detector_table[i].names, measure_name, &nearest);
        if (nearest.distance < distance) {
            distance = nearest.distance;
            best = &airy_detector_table[i];
        }
    }
    return best;
}

const struct airy_detector_entry *airy_detector_entry_find(const char *name)
{
    char plain[NAME_MAX_LENGTH];
    if (plain_name(plain, name, strlen(name)) == 0)
        return NULL;
    for (size_t i = 0; i < airy_detector_table_count; i++)
        if (any_name(airy_detector_table[i].names, is_name, plain))
            return &airy_detector_table[i];
    return NULL;
}

/*
 * Source: J. Kieffer et al., pyFAI 2026.9, detectors of ImXPad and PSI: chips of 120 x 80 pixels with
 * borders of 2.5 pixels, of 256 x 256 with borders of 2; the S540 has modules 3.57 mm apart instead of
 * borders between its rows.
 */
const struct airy_chips *airy_detector_chips(const struct airy_detector_entry *entry)
{
    static const struct {
        const char *name;
        struct airy_chips chips;
    } known[] = {{"Imxpad S10", {{120, 2.5, 0}, {80, 2.5, 0}}},
                 {"Imxpad S140", {{120, 2.5, 0}, {80, 2.5, 0}}},
                 {"Imxpad S70", {{120, 2.5, 0}, {80, 2.5, 0}}},
                 {"Imxpad S70 V", {{80, 2.5, 0}, {120, 2.5, 0}}},
                 {"Xpad S540 flat", {{120, 1, 3.57e-3}, {80, 2.5, 0}}},
                 {"Jungfrau 500k", {{256, 2, 0}, {256, 2, 0}}}};
    const size_t size = strcspn(entry->names, "|");
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (strlen(known[k].name) == size && memcmp(known[k].name, entry->names, size) == 0)
            return &known[k].chips;
    return NULL;
}

const char *airy_detector_obstacle(const struct airy_detector_entry *entry)
{
    if (entry->flags & AIRY_DETECTOR_CURVED)
        return "is not flat";
    if (entry->flags & AIRY_DETECTOR_HEXAGONAL)
        return "has hexagonal pixels";
    if ((entry->flags & AIRY_DETECTOR_UNEVEN) && !airy_detector_chips(entry))
        return "has modules off the grid of pixels";
    return NULL;
}

static void fill_detector(airy_detector *detector, const struct airy_detector_entry *entry)
{
    *detector = (airy_detector){
        .height = entry->height,
        .width = entry->width,
        .pixel1 = entry->pixel1,
        .pixel2 = entry->pixel2,
        .dectris_dummy = (entry->flags & AIRY_DETECTOR_DECTRIS) != 0,
    };
    memcpy(detector->name, entry->names, strcspn(entry->names, "|"));
}

airy_status airy_detector_find(airy_detector *detector, const char *name)
{
    AIRY_FAIL_IF(!detector, AIRY_ERR_PARAM, "airy_detector_find: detector is NULL");
    AIRY_FAIL_IF(!name, AIRY_ERR_PARAM, "airy_detector_find: name is NULL");
    const struct airy_detector_entry *entry = airy_detector_entry_find(name);
    if (!entry) {
        char plain[NAME_MAX_LENGTH];
        plain_name(plain, name, strlen(name));
        const struct airy_detector_entry *near = *plain ? nearest_entry(plain) : NULL;
        const char *nearest = near ? near->names : "";
        AIRY_FAIL_HINT_IF(!near, AIRY_ERR_NOT_FOUND, AIRY_HINT_DETECTORS, AIRY_SUBJECT_PARAMETER,
                          "%s '%.64s' is unknown", "detector", name);
        AIRY_FAIL_HINT_IF(true, AIRY_ERR_NOT_FOUND, AIRY_HINT_DETECTORS, AIRY_SUBJECT_PARAMETER,
                          "%s '%.64s' is unknown, did you mean '%.*s'?", "detector", name,
                          (int)strcspn(nearest, "|"), nearest);
    }
    const char *obstacle = airy_detector_obstacle(entry);
    AIRY_FAIL_ON_IF(obstacle, AIRY_ERR_UNSUPPORTED, AIRY_SUBJECT_PARAMETER,
                    "%s '%.64s' %s: a NeXus detector file with its pixel_corners can stand for it",
                    "detector", name, obstacle);
    fill_detector(detector, entry);
    return AIRY_OK;
}

size_t airy_detector_count(void)
{
    return airy_detector_table_count;
}

airy_status airy_detector_get(airy_detector *detector, size_t index)
{
    AIRY_FAIL_IF(!detector, AIRY_ERR_PARAM, "airy_detector_get: detector is NULL");
    AIRY_FAIL_IF(index >= airy_detector_table_count, AIRY_ERR_PARAM,
                 "detector index = %zu, expected < %zu", index, airy_detector_table_count);
    fill_detector(detector, &airy_detector_table[index]);
    return AIRY_OK;
}

airy_status airy_detector_find_shape(airy_detector *detector, size_t height, size_t width)
{
    AIRY_FAIL_IF(!detector, AIRY_ERR_PARAM, "airy_detector_find_shape: detector is NULL");
    const struct airy_detector_entry *best = NULL;
    for (size_t i = 0; i < airy_detector_table_count; i++) {
        const struct airy_detector_entry *entry = &airy_detector_table[i];
        const bool fits = entry->height == height && entry->width == width && height && width &&
                          !airy_detector_obstacle(entry) && !airy_detector_chips(entry);
        if (fits && (!best || strcspn(entry->names, "|") < strcspn(best->names, "|")))
            best = entry;
    }
    AIRY_FAIL_IF(!best, AIRY_ERR_NOT_FOUND, "no registered detector has images of %zu x %zu pixels",
                 height, width);
    fill_detector(detector, best);
    return AIRY_OK;
}

void airy_detector_recognize(airy_detector *detector, const char *description)
{
    airy_detector found;
    const char *name = strncasecmp(description, "Dectris ", 8) == 0 ? description + 8 : description;
    bool known = *name && airy_detector_find(&found, name) == AIRY_OK;
    detector->dectris_dummy = strcasestr(description, "eiger") ||
                              strcasestr(description, "pilatus");
    for (int attempt = 0; attempt < 2; attempt++) {
        if (known && found.height == detector->height && found.width == detector->width &&
            fabs(found.pixel1 / detector->pixel1 - 1) < 1e-3 &&
            fabs(found.pixel2 / detector->pixel2 - 1) < 1e-3) {
            memcpy(detector->name, found.name, sizeof(detector->name));
            detector->dectris_dummy = found.dectris_dummy;
            return;
        }
        known = airy_detector_find_shape(&found, detector->height, detector->width) == AIRY_OK;
    }
}

/*
 * Pixels along an axis of an image with pixels of a size, and how many of the entry's are one of them;
 * 0: unknown. Sizes in files are rounded, of a sensor as of its binned images: 2 %.
 */
static size_t count_pixels(int *fold, unsigned flags, size_t size, double known, double pixel)
{
    const bool halved = (flags & AIRY_DETECTOR_HALVED) != 0;
    const double ratio = pixel / known * (halved ? 2 : 1), whole = round(ratio);
    *fold = 1;
    if ((flags & AIRY_DETECTOR_PLATE) && !(ratio > 1.98 && fabs(ratio - whole) <= 0.02 * whole))
        return ratio > 0.1 && ratio < 64 ? (size_t)((double)size / ratio + 1e-6) : 0;
    if (!(whole >= 1 && whole <= 64 && fabs(ratio - whole) <= 0.02 * whole))
        return 0;
    const size_t n = (size_t)whole;
    if (!halved || n % 2 == 0)
        *fold = (int)(halved ? n / 2 : n);
    return (halved ? 2 * size : size) / n;
}

bool airy_detector_follow_pixels(airy_detector *detector, const airy_detector *known,
                                 unsigned flags)
{
    int fold1, fold2;
    if (!(known->pixel1 > 0) || !(known->pixel2 > 0))
        return false;
    const size_t h = count_pixels(&fold1, flags, known->height, known->pixel1, detector->pixel1),
                 w = count_pixels(&fold2, flags, known->width, known->pixel2, detector->pixel2);
    if (h == 0 || w == 0)
        return false;
    detector->height = h;
    detector->width = w;
    detector->binning1 = fold1;
    detector->binning2 = fold2;
    return true;
}

/*
 * The MAR 345 scans less than its plate, too: circles of these widths in pixels.
 * Source: J. Kieffer et al., pyFAI 2026.9, valid sizes of its Mar345.
 */
static bool is_scan(const airy_detector *detector, size_t height, size_t width)
{
    static const struct {
        double pixel;
        size_t widths[4];
    } known[] = {{1e-4, {3450, 3000, 2400, 1800}}, {1.5e-4, {2300, 2000, 1600, 1200}}};
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < 4; i++)
            if (height == known[k].widths[i] && width == height &&
                fabs(detector->pixel1 / known[k].pixel - 1) < 0.02 &&
                fabs(detector->pixel2 / known[k].pixel - 1) < 0.02)
                return true;
    return false;
}

airy_status airy_detector_fit(airy_detector *detector, size_t height, size_t width)
{
    AIRY_FAIL_IF(!detector, AIRY_ERR_PARAM, "airy_detector_fit: detector is NULL");
    AIRY_FAIL_IF(height == 0 || width == 0, AIRY_ERR_PARAM,
                 "airy_detector_fit: frames of %zu x %zu pixels", height, width);
    const struct airy_detector_entry *entry = detector->file[0] || detector->corners ||
                                                      detector->bad
                                                  ? NULL
                                                  : airy_detector_entry_find(detector->name);
    airy_detector fitted = *detector;
    bool fits = detector->height == height && detector->width == width;
    if (!fits && (detector->height == 0 || detector->width == 0)) {
        fitted.height = height;
        fitted.width = width;
        fits = true;
    }
    if (!fits && entry) {
        airy_detector known;
        fill_detector(&known, entry);
        fits = airy_detector_follow_pixels(&fitted, &known, entry->flags) &&
               fitted.height == height && fitted.width == width;
    }
    if (!fits && entry && (entry->flags & AIRY_DETECTOR_PLATE) &&
        is_scan(detector, height, width)) {
        fitted = *detector;
        fitted.height = height;
        fitted.width = width;
        fits = true;
    }
    AIRY_FAIL_IF(!fits, AIRY_ERR_SHAPE,
                 "frames of %zu x %zu pixels do not fit detector '%s' of %zu x %zu", height, width,
                 detector->name, detector->height, detector->width);
    *detector = fitted;
    return AIRY_OK;
}

void airy_detector_complete(airy_detector *detector)
{
    airy_detector known;
    if (airy_detector_find(&known, detector->name) != AIRY_OK)
        return;
    detector->dectris_dummy = known.dectris_dummy;
    const double b1 = round(detector->pixel1 / known.pixel1),
                 b2 = round(detector->pixel2 / known.pixel2);
    if (b1 * b2 > 1 && b1 >= 1 && b2 >= 1 && b1 <= 64 && b2 <= 64 &&
        known.height / (size_t)b1 == detector->height &&
        known.width / (size_t)b2 == detector->width) {
        detector->binning1 = (int)b1;
        detector->binning2 = (int)b2;
    }
}

static void mask_rows(uint8_t *mask, const struct airy_band *band, size_t width)
{
    for (; band && band->size; band++)
        for (size_t k = 0; k < band->count; k++)
            memset(mask + (band->first + k * band->step) * width, 1, band->size * width);
}

static void mask_columns(uint8_t *mask, const struct airy_band *band, size_t height, size_t width)
{
    for (; band && band->size; band++)
        for (size_t k = 0; k < band->count; k++)
            for (size_t y = 0; y < height; y++)
                memset(mask + y * width + band->first + k * band->step, 1, band->size);
}

static void mask_round(uint8_t *mask, size_t height, size_t width)
{
    /* In half pixels, so that the comparison is exact. */
    const int64_t h = (int64_t)height, w = (int64_t)width;
    for (int64_t y = 0; y < h; y++)
        for (int64_t x = 0; x < w; x++) {
            const int64_t dy = 2 * y + 1 - h, dx = 2 * x + 1 - w;
            mask[y * w + x] = dy * dy + dx * dx > h * h;
        }
}

/* The mask of all of an entry's pixels. */
static void mask_entry(uint8_t *mask, const struct airy_detector_entry *entry)
{
    const size_t h = entry->height, w = entry->width;
    memset(mask, entry->chips ? 1 : 0, h * w);
    for (const struct airy_chip *chip = entry->chips; chip && chip->y1; chip++)
        for (size_t y = chip->y0; y < chip->y1; y++)
            memset(mask + y * w + chip->x0, 0, (size_t)(chip->x1 - chip->x0));
    if (entry->flags & AIRY_DETECTOR_ROUND)
        mask_round(mask, h, w);
    mask_rows(mask, entry->rows, w);
    mask_columns(mask, entry->columns, h, w);
}

static airy_status mask_binned(uint8_t *mask, const airy_detector *d,
                               const struct airy_detector_entry *entry)
{
    const size_t b1 = d->binning1 > 1 ? (size_t)d->binning1 : 1,
                 b2 = d->binning2 > 1 ? (size_t)d->binning2 : 1, w = entry->width;
    uint8_t *all = NULL;
    AIRY_TRY(airy_memory_calloc((void **)&all, entry->height, w, "the detector's mask"));
    mask_entry(all, entry);
    for (size_t y = 0; y < d->height * b1; y++)
        for (size_t x = 0; x < d->width * b2; x++)
            mask[y / b1 * d->width + x / b2] |= all[y * w + x];
    free(all);
    return AIRY_OK;
}

airy_status airy_detector_mask(const airy_detector *detector, uint8_t *mask)
{
    AIRY_FAIL_IF(!detector, AIRY_ERR_PARAM, "airy_detector_mask: detector is NULL");
    AIRY_FAIL_IF(!mask, AIRY_ERR_PARAM, "airy_detector_mask: mask is NULL");
    const size_t h = detector->height, w = detector->width;
    AIRY_FAIL_ON_IF(h == 0 || w == 0, AIRY_ERR_SHAPE, AIRY_SUBJECT_PARAMETER,
                    "%s '%s' has no shape", "detector", detector->name);
    if (detector->bad) {
        memcpy(mask, detector->bad, h * w);
        return AIRY_OK;
    }
    AIRY_FAIL_ON_IF(detector->file[0], AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s '%s' has no mask: airy_detector_open reads it", "detector", detector->name);
    memset(mask, 0, h * w);
    const struct airy_detector_entry *entry = airy_detector_entry_find(detector->name);
    const bool masked = entry && (entry->rows || entry->columns || entry->chips ||
                                  (entry->flags & AIRY_DETECTOR_ROUND));
    if (!masked)
        return AIRY_OK;
    const size_t b1 = detector->binning1 > 1 ? (size_t)detector->binning1 : 1,
                 b2 = detector->binning2 > 1 ? (size_t)detector->binning2 : 1;
    /* Other scans of a plate, and images of all of a sensor's pixels, are round by themselves. */
    if (!entry->rows && !entry->columns && !entry->chips &&
        (entry->height / b1 != h || entry->width / b2 != w)) {
        mask_round(mask, h, w);
        return AIRY_OK;
    }
    AIRY_FAIL_ON_IF(entry->height / b1 != h || entry->width / b2 != w, AIRY_ERR_SHAPE,
                    AIRY_SUBJECT_PARAMETER,
                    "%s '%s' has a mask of %zu x %zu pixels, the image has %zu x %zu", "detector",
                    detector->name, entry->height / b1, entry->width / b2, h, w);
    if (b1 * b2 > 1)
        return mask_binned(mask, detector, entry);
    mask_entry(mask, entry);
    return AIRY_OK;
}
