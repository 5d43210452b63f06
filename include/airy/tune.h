/**
 * Sizes that change how fast a device works, never what it gives: work-groups, blocks of a
 * work-group, batches, slots, reader threads.
 *
 * Each has a built-in default. A table in the user's cache folder ($AIRY_CACHE_DIR, else
 * $XDG_CACHE_HOME/airy, else ~/.cache/airy), written by `airy tune` through airy_tuning_save, takes
 * its place when a device is opened. The table holds for one device (back end, name, units), its
 * driver and this version; each kernel's entry for that kernel's source. What does not fit (stale,
 * cut, damaged, of another user, out of range) is ignored with a line at log level debug, and the
 * default holds.
 *
 * Sizes that are part of the order of floating-point sums are not tunable, so on one device
 * results do not depend on tuning, bit for bit.
 */
#ifndef AIRY_TUNE_H
#define AIRY_TUNE_H

#include "airy/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Where a current value comes from. */
typedef enum airy_tuning_source {
    AIRY_TUNING_DEFAULT = 0, /**< built in */
    AIRY_TUNING_MEASURED,    /**< the fastest of a measurement */
    AIRY_TUNING_SET,         /**< somebody's choice */
    AIRY_TUNING_SOURCE_COUNT
} airy_tuning_source;

AIRY_API const char *airy_tuning_source_name(airy_tuning_source source); /**< "default" ... */

enum { AIRY_TUNABLE_VALUES = 12 };

/** One size of a device. */
typedef struct airy_tunable {
    char name[48];   /**< "decode_blocks.blocks" */
    char kernel[48]; /**< the row of the profile that it changes, with those that begin with it
                          and an underscore; "": the whole run */
    char unit[48];   /**< of the values: "blocks a work-group" */
    char what[96];   /**< one line */
    uint32_t smallest, largest, standard, current; /**< standard: the default value here */
    uint32_t items; /**< work-group = items * current; 0: no work-group depends on it */
    airy_tuning_source source;
    /** Values worth a measurement, ascending, the default among them. */
    uint32_t values[AIRY_TUNABLE_VALUES];
    uint32_t value_count;
    bool only_values; /**< no value between them is admitted */
    uint64_t pixels;  /**< current holds for runs of frames of half to twice as many, elsewhere
                           standard does; 0: it holds for all */
} airy_tunable;

/**
 * List the sizes of a device that has a choice of them.
 * @param list   out; freed with airy_tuning_list_free
 * @param count  out
 * Errors: AIRY_ERR_PARAM, AIRY_ERR_MEMORY.
 */
AIRY_API airy_status airy_tuning_list(const airy_device *device, airy_tunable **list,
                                      size_t *count);
AIRY_API void airy_tuning_list_free(airy_tunable *list);

/**
 * Use another value from the next call on. Not while another thread works with the device.
 * @param name    of the size, or of a kernel: then the size of its work-group
 * @param value   0: the default, whatever source is
 * @param source  what airy_tuning_list will return
 * Errors: AIRY_ERR_NOT_FOUND for a name that the device does not have, AIRY_ERR_PARAM.
 */
AIRY_API airy_status airy_tuning_set(airy_device *device, const char *name, uint32_t value,
                                     airy_tuning_source source);

/**
 * Record that the measured value of a size was found with frames of so many pixels: it will hold
 * for frames of half to twice as many, as batches and readers that suit large frames do not suit
 * small ones. airy_tuning_set forgets it.
 * @param pixels  0: it holds for all
 * Errors: as airy_tuning_set.
 */
AIRY_API airy_status airy_tuning_set_frame(airy_device *device, const char *name, uint64_t pixels);

/**
 * Keep what is not default in the user's cache folder, in the place of what was kept before. The
 * old table stays until the new one is complete; with nothing to keep it is removed.
 * Errors: AIRY_ERR_UNSUPPORTED with AIRY_CACHE_DIR=none or without a home, AIRY_ERR_IO.
 */
AIRY_API airy_status airy_tuning_save(const airy_device *device);

/** Return the table's file, whether there is one or not; "" without a cache folder. */
AIRY_API void airy_tuning_path(const airy_device *device, char *path, size_t size);

#ifdef __cplusplus
}
#endif
#endif
