/**
 * Compressed chunks as HDF5 filters store them: bitshuffle-LZ4 and bitshuffle-Zstandard (32008),
 * LZ4 (32004), bitshuffle alone.
 *
 * Formats (all numbers in the framing are big-endian):
 *   bslz4  u64 decoded bytes, u32 block bytes, then for each block u32 compressed bytes + LZ4
 *   block of the bit-shuffled
 *          elements; the last block is rounded down to a multiple of 8 elements; up to 7 elements
 *          follow verbatim.
 *   bszstd as bslz4, with a Zstandard frame of each block instead of the LZ4 block; decoded by
 *          airy_decode only, in a build with libzstd.
 *   lz4    u64 decoded bytes, u32 block bytes, then for each block u32 bytes + LZ4 block (stored
 *   raw when not smaller). bshuf  no framing: bit-shuffled blocks of the default size, then the
 *   verbatim tail.
 * Decoders treat input as hostile: nothing is read or written outside the given buffers, whatever
 * the bytes are.
 *
 * Source: the filters' public format descriptions (HDF5 registered filters 32004 and 32008; LZ4
 *         block format).
 */
#ifndef AIRY_CODEC_H
#define AIRY_CODEC_H

#include "airy/array.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum airy_codec {
    AIRY_CODEC_NONE = 0, /**< plain elements */
    AIRY_CODEC_BSLZ4,
    AIRY_CODEC_LZ4,
    AIRY_CODEC_BSHUF,
    AIRY_CODEC_BSZSTD, /**< decoded on the host, by airy_decode; neither encoded nor batched */
    AIRY_CODEC_COUNT
} airy_codec;

AIRY_API const char *
airy_codec_name(airy_codec codec); /**< "none", "bslz4", "lz4", "bshuf", "bszstd" */
AIRY_API airy_status airy_codec_parse(airy_codec *codec, const char *name);

/** Zeroed: plain elements of one byte. */
typedef struct airy_codec_params {
    airy_codec codec;
    uint32_t elem_size; /**< bytes of an element; 1 to 65536, LZ4 ignores it; 0: 1 */
    /**
     * 0: the format's default (8192 / elem_size elements rounded down to a multiple of 8, at least
     * 128; LZ4: 1 GiB). Must be a multiple of 8 * elem_size. Decoders take it from the chunk where
     * the format has it (bslz4, lz4, bszstd).
     */
    uint32_t block_bytes;
    uint32_t threads; /**< encode only: 0 or 1: the caller's thread */
} airy_codec_params;

/**
 * Return the size of the largest chunk that encoding size bytes can give; 0 when it does not fit
 * size_t.
 */
AIRY_API size_t airy_encode_bound(size_t size, const airy_codec_params *params);

/**
 * Encode one chunk on the host.
 * @param dst       out, at least airy_encode_bound bytes
 * @param dst_size  in: capacity, out: bytes written
 * @param src       size bytes; size must be a multiple of elem_size (bslz4, bshuf)
 * Errors: AIRY_ERR_PARAM, AIRY_ERR_UNSUPPORTED (bszstd). Threads: any. The bytes do not depend on the machine's SIMD flags.
 */
AIRY_API airy_status airy_encode(void *dst, size_t *dst_size, const void *src, size_t size,
                                 const airy_codec_params *params);

/**
 * Decode one chunk on the host into exactly size bytes.
 * Errors: AIRY_ERR_CORRUPT with block and reason when chunk and size do not fit each other or a
 * block does not decode; dst then holds unspecified bytes. AIRY_ERR_UNSUPPORTED for bszstd in a
 * build without libzstd. Threads: any.
 */
AIRY_API airy_status airy_decode(void *dst, size_t size, const void *chunk, size_t chunk_size,
                                 const airy_codec_params *params);

/**
 * A batch of compressed frames on its way to a device: bytes and a table of blocks in one
 * page-locked buffer. Clear, add and destroy wait until the last copy of the buffer to the device
 * is done. Thread-safety: one thread at a time.
 */
typedef struct airy_batch airy_batch;

typedef struct airy_batch_params {
    airy_dtype dtype;        /**< of the elements */
    size_t height, width;    /**< of a frame, in pixels */
    airy_codec_params codec; /**< elem_size may be 0: the dtype's */
    size_t frames;           /**< capacity in frames, at least 1 */
    size_t bytes; /**< capacity for chunks; at most 4 GiB less the table; 0: frames * decoded
                       size + overhead */
} airy_batch_params;

AIRY_API airy_status airy_batch_create(airy_batch **batch, airy_device *device,
                                       const airy_batch_params *params);
AIRY_API void airy_batch_destroy(airy_batch **batch);
/** Forget the chunks. */
AIRY_API void airy_batch_clear(airy_batch *batch);
/**
 * Add one chunk as the next frame; its block lengths are walked and checked here.
 * Errors: AIRY_ERR_CORRUPT (nothing is added), AIRY_ERR_MEMORY when the batch is full.
 */
AIRY_API airy_status airy_batch_add(airy_batch *batch, const void *chunk, size_t size);
/** Return the number of frames; 0 for NULL. */
AIRY_API size_t airy_batch_frames(const airy_batch *batch);

/**
 * Decode a batch on its device: upload, decode, unshuffle.
 * @param frames  out, [n, height, width] of the batch's dtype, n = airy_batch_frames
 * @param status  out, u32 [n]: AIRY_FRAME_GOOD or the first bad block * 8 + reason; see
 *                airy_frame_error. The pixels of a bad frame are unspecified; the others are right.
 * Integers agree bit for bit between back ends.
 */
AIRY_API airy_status airy_decode_batch(airy_queue *queue, airy_array *frames, airy_array *status,
                                       airy_batch *batch);

#define AIRY_FRAME_GOOD 0xffffffffu
/**
 * Return the text for a status word: "block 17: match offset before the start of the block". Static
 * storage of the calling thread.
 */
AIRY_API const char *airy_frame_error(uint32_t status);

#ifdef __cplusplus
}
#endif
#endif
