#include "opencl/cl_tuning.h"

#include <string.h>

#include "base/hash.h"
#include "opencl/cl_decode.h"
#include "opencl/cl_program.h"

/* LOCAL_REST: what a driver may add to the local memory of a work-group. */
enum { LOCAL_REST = 64, LARGEST_GROUP = 256 };

/* Whose source a size was measured with. */
static const char *const files[AIRY_TUNE_COUNT] = {
    [AIRY_TUNE_DECODE_LANES] = "decode.cl",
    [AIRY_TUNE_DECODE_BLOCKS] = "decode.cl",
    [AIRY_TUNE_UNSHUFFLE_GROUP] = "decode_large.cl",
    [AIRY_TUNE_FUSED_BLOCKS] = "integrate_blocks.cl",
    [AIRY_TUNE_FUSED_FLUSH] = "integrate_blocks.cl",
    [AIRY_TUNE_FUSED_GROUPS] = "integrate_blocks.cl",
    [AIRY_TUNE_FUSED_FINISH_GROUP] = "integrate_blocks.cl",
    [AIRY_TUNE_PLANES_BLOCKS] = "integrate_planes.cl",
    [AIRY_TUNE_PLANES_MIB] = "integrate_planes.cl",
    [AIRY_TUNE_GATHER_FRAMES] = "integrate.cl",
    [AIRY_TUNE_GATHER_GROUP] = "integrate.cl",
    [AIRY_TUNE_OCT_TRANSFORMS] = "oct.cl",
    [AIRY_TUNE_OCT_REGISTERS] = "oct.cl",
};

/* Sizes of whole runs depend on all kernels. */
static void hash_sources(struct airy_tuning *tuning)
{
    uint64_t all = AIRY_HASH_START;
    for (size_t s = 0; s < airy_cl_source_count; s++) {
        const uint64_t hash = airy_hash_text(AIRY_HASH_START, airy_cl_sources[s].text);
        all = airy_hash_bytes(all, &hash, sizeof(hash));
        for (size_t i = 0; i < AIRY_TUNE_COUNT; i++)
            if (files[i] && strcmp(files[i], airy_cl_sources[s].name) == 0)
                tuning->entries[i].hash = hash;
    }
    for (size_t i = 0; i < AIRY_TUNE_COUNT; i++)
        if (!files[i])
            tuning->entries[i].hash = all;
}

/*
 * A warp on NVIDIA. Other GPUs may have 64 items in step. A CPU runs a work-group's items one
 * after the other: one item a block needs no barriers.
 */
static struct airy_tune_range lanes_range(const airy_device *device)
{
    const uint32_t group = device->info.max_group;
    if (airy_cl_device(device)->nvidia)
        return (struct airy_tune_range){32, 32, 32};
    if (device->info.gpu && group >= 32)
        return (struct airy_tune_range){32, group, 32};
    return (struct airy_tune_range){1, group, 1};
}

/* Blocks that share a work-group: warps on NVIDIA, else single items. */
static struct airy_tune_range blocks_range(const airy_device *device)
{
    const bool nvidia = airy_cl_device(device)->nvidia;
    const uint64_t local = device->info.local_mem;
    const uint64_t fit = local > LOCAL_REST ? (local - LOCAL_REST) / AIRY_CL_BLOCK_LOCAL : 0;
    const uint32_t most = device->info.max_group / (nvidia ? 32 : 1);
    const uint32_t largest = fit < most ? (uint32_t)fit : most;
    if (nvidia)
        return (struct airy_tune_range){1, largest, 4};
    return (struct airy_tune_range){1, device->info.gpu ? 1 : largest, 1};
}

void airy_cl_tuning(const airy_device *device, struct airy_tuning *tuning)
{
    static const enum airy_tune groups[] = {AIRY_TUNE_UNSHUFFLE_GROUP,
                                            AIRY_TUNE_FUSED_FINISH_GROUP};
    const uint32_t most = device->info.max_group < LARGEST_GROUP ? device->info.max_group
                                                                 : LARGEST_GROUP;
    const struct airy_tune_range lanes = lanes_range(device), blocks = blocks_range(device);
    struct airy_tune_range pairs = blocks;
    if (pairs.standard > 2)
        pairs.standard = 2; /* more leave local memory over */
    airy_tuning_bound(tuning, AIRY_TUNE_DECODE_LANES, lanes);
    airy_tuning_bound(tuning, AIRY_TUNE_DECODE_BLOCKS, pairs);
    airy_tuning_bound(tuning, AIRY_TUNE_FUSED_BLOCKS, blocks);
    airy_tuning_bound(tuning, AIRY_TUNE_PLANES_BLOCKS, pairs);
    if (!airy_cl_device(device)->nvidia)
        airy_tuning_bound(tuning, AIRY_TUNE_OCT_REGISTERS, (struct airy_tune_range){255, 255, 255});
    for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
        airy_tuning_bound(tuning, groups[i], (struct airy_tune_range){1, most, 64});
        tuning->entries[groups[i]].items = 1;
    }
    if (blocks.largest == 1)
        tuning->entries[AIRY_TUNE_DECODE_LANES].items = 1;
    else
        tuning->entries[AIRY_TUNE_DECODE_BLOCKS].items = lanes.standard;
    tuning->entries[AIRY_TUNE_FUSED_BLOCKS].items = lanes.standard;
    tuning->entries[AIRY_TUNE_PLANES_BLOCKS].items = lanes.standard;
    tuning->entries[AIRY_TUNE_GATHER_GROUP].items = 1;
    hash_sources(tuning);
}
