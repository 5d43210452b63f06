/* What a back end does for the codec family. */
#ifndef AIRY_CODEC_CODEC_FNS_H
#define AIRY_CODEC_CODEC_FNS_H

#include "codec/chunks.h"

struct airy_decode_plan {
    struct airy_chunks chunks;
    const airy_array *frames; /* out, [chunks.frames, height, width], tight */
    const airy_array *status; /* out, u32 [chunks.frames] */
};

struct airy_codec_fns {
    airy_status (*decode)(airy_queue *queue, const struct airy_decode_plan *plan);
    /*
     * Return the block decoders of the host, for airy_block_fns. Only airy_codec_cpu has this
     * entry.
     */
    const struct airy_block_fns *(*blocks)(void);
};

extern const struct airy_codec_fns airy_codec_cpu, airy_codec_opencl;

#endif
