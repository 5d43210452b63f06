/*
 * A device's tunable sizes (airy/tune.h): what there is stands in tuning.c, what a device admits
 * comes from its back end, current values from the table in the cache folder.
 */
#ifndef AIRY_CORE_TUNING_H
#define AIRY_CORE_TUNING_H

#include "airy/tune.h"

enum airy_tune {
    AIRY_TUNE_DECODE_LANES,
    AIRY_TUNE_DECODE_BLOCKS,
    AIRY_TUNE_UNSHUFFLE_GROUP,
    AIRY_TUNE_FUSED_BLOCKS,
    AIRY_TUNE_FUSED_FLUSH,
    AIRY_TUNE_FUSED_GROUPS,
    AIRY_TUNE_FUSED_FINISH_GROUP,
    AIRY_TUNE_PLANES_BLOCKS,
    AIRY_TUNE_PLANES_MIB,
    AIRY_TUNE_GATHER_FRAMES,
    AIRY_TUNE_GATHER_GROUP,
    AIRY_TUNE_OCT_TRANSFORMS,
    AIRY_TUNE_OCT_REGISTERS,
    AIRY_TUNE_BATCH_MIB,
    AIRY_TUNE_BATCH_FRAMES,
    AIRY_TUNE_SLOTS,
    AIRY_TUNE_COPIES,
    AIRY_TUNE_READERS,
    AIRY_TUNE_COUNT
};

struct airy_tune_entry {
    uint32_t smallest, largest, standard, current; /* smallest 0: the device does not have it */
    uint32_t items;                                /* of airy_tunable */
    airy_tuning_source source;
    uint64_t pixels; /* of a frame that it was measured with; 0: it holds for all */
    uint64_t hash;   /* of what the value was measured with, beside device and version */
};

struct airy_tuning {
    struct airy_tune_entry entries[AIRY_TUNE_COUNT];
};

/*
 * The size as it holds for frames of so many pixels: a value that was measured with frames of less
 * than half or more than twice as many gives way to the default.
 */
struct airy_tune_entry airy_tuned_for(const airy_device *device, enum airy_tune which,
                                      uint64_t pixels);
/* Fill device->tuning; the device is open. */
void airy_tuning_open(airy_device *device);
struct airy_tune_range {
    uint32_t smallest, largest, standard;
};
/* For a back end's `tuning`: what of a size's range the device admits, and its own default. */
void airy_tuning_bound(struct airy_tuning *tuning, enum airy_tune which,
                       struct airy_tune_range range);
/*
 * Values of a table's text, size bytes, into tuning; what it does not admit is left out. Returns
 * how many were taken. Whatever the bytes are.
 */
size_t airy_tuning_parse(struct airy_tuning *tuning, const char *text, size_t size);
/* The text of what is not default, with its end; "" when everything is. Returns its length. */
enum { AIRY_TUNING_TEXT = 144 * AIRY_TUNE_COUNT };
size_t airy_tuning_print(const struct airy_tuning *tuning, char text[AIRY_TUNING_TEXT]);

#endif
