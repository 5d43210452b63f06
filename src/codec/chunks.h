/*
 * A batch of compressed frames as the back ends see it (struct airy_chunks, plain data), and the
 * batch object that fills it.
 *
 * Bytes of a batch: the block table, frames * layout.blocks entries of struct airy_block, frame by
 * frame; behind it the chunks in any order at any alignment; behind them at least AIRY_BATCH_SLACK
 * readable bytes. Everything is below 4 GiB.
 */
#ifndef AIRY_CODEC_CHUNKS_H
#define AIRY_CODEC_CHUNKS_H

#include "airy/codec.h"
#include "shared/block_layout.h"

enum {
    AIRY_BATCH_SLACK = 64,
    AIRY_MAX_ELEM_SIZE = 65536 /* bytes; 128 of them, the smallest default block, stay far below
                                  2^32 */
};

struct airy_chunks {
    airy_block_layout layout;
    airy_dtype dtype;
    size_t height, width;
    size_t frames;
    const airy_array *bytes;      /* u8, on the device; of a batch that borrows, without table */
    const airy_block *host_table; /* the same table on the host: the one that the CPU uses, and for
                                     planning */
};

/*
 * The layout of frames of `bytes` bytes. params->block_bytes 0: the default. AIRY_ERR_PARAM where
 * the sizes do not fit.
 */
airy_status airy_block_layout_make(airy_block_layout *layout, size_t frame_bytes,
                                   const airy_codec_params *params);

/*
 * Read a chunk's framing: decoded bytes and block bytes (bslz4, lz4). AIRY_ERR_CORRUPT when there
 * are fewer than 12 bytes or the sizes are absurd (block bytes 0 or no multiple of 8 elements for
 * bslz4). elem_size: 1 to AIRY_MAX_ELEM_SIZE, else AIRY_ERR_PARAM.
 */
airy_status airy_chunk_header(uint64_t *decoded, uint32_t *block_bytes, const void *chunk,
                              size_t size, airy_codec codec, uint32_t elem_size);

/*
 * Walk the block lengths of one chunk into table[layout.blocks], offsets counted from `base`.
 * Every length is checked against size. AIRY_ERR_CORRUPT with the block's number;
 * AIRY_ERR_UNSUPPORTED when the chunk is sound but cut into blocks of another size than the
 * layout's (the caller decodes it on the host then). For bshuf and none the table is plain
 * arithmetic.
 */
airy_status airy_chunk_walk(airy_block *table, const airy_block_layout *layout, const void *chunk,
                            size_t size, uint32_t base);

/*
 * Filling a batch in place, by several threads. airy_batch_reserve fixes how many frames come and
 * where each one's bytes go; then for each frame, from any thread: write size bytes at
 * airy_batch_place, then airy_batch_index (compressed), airy_batch_index_stored (native pixels) or
 * airy_batch_index_absent. Last, one thread: airy_batch_upload. A sound chunk in blocks of another
 * size than the layout's is decoded into what room the batch has left; AIRY_ERR_MEMORY when that
 * is too little.
 */
airy_status airy_batch_reserve(airy_batch *batch, size_t frames, const size_t *sizes);
/*
 * The same where frames come one by one: after airy_batch_clear a place for one more, by one
 * thread at a time, while others fill the places before it. False: there is no room for it.
 */
bool airy_batch_append(airy_batch *batch, size_t size, size_t *frame);
void *airy_batch_place(airy_batch *batch, size_t frame);
airy_status airy_batch_index(airy_batch *batch, size_t frame, size_t size);
/*
 * The same while the bytes arrive, so that each piece is looked at while it is in cache: the chunk
 * has `size` bytes, the first `have` are there: for begin its header or all of them, for the last
 * step all of them. walk: src/codec/framing.h, the caller's, for one frame.
 */
struct airy_chunk_walk;
airy_status airy_batch_index_begin(airy_batch *batch, size_t frame, size_t size,
                                   struct airy_chunk_walk *walk);
airy_status airy_batch_index_on(airy_batch *batch, size_t frame, struct airy_chunk_walk *walk,
                                size_t have);
void airy_batch_index_stored(airy_batch *batch, size_t frame);
void airy_batch_index_absent(airy_batch *batch, size_t frame);
/*
 * The frames of a batch that was reserved are native pixels in this memory, which stays as it is, on a
 * device that works in place: for each frame airy_batch_index_borrowed instead of the others. False:
 * offsets do not reach so far, and the frames must be copied.
 */
bool airy_batch_borrow(airy_batch *batch, const void *memory, size_t size);
bool airy_batch_borrows(const airy_batch *batch);
void airy_batch_index_borrowed(airy_batch *batch, size_t frame, const void *pixels);
/* Enqueue the copy to the device (nothing to do on the CPU) and describe the batch. */
airy_status airy_batch_upload(airy_queue *queue, airy_batch *batch, struct airy_chunks *chunks);
/* Chunks to frames [chunks->frames, height, width] and status [frames]; of the right kinds, tight. */
airy_status airy_decode_chunks(airy_queue *queue, const airy_array *frames,
                               const airy_array *status, const struct airy_chunks *chunks);

/*
 * Decoders of blocks on the host. The CPU back end has one set of them for the instruction sets of
 * this machine. Thread-safety: any thread.
 */
struct airy_block_fns {
    /*
     * LZ4 block to exactly dst_size bytes; AIRY_STATUS_GOOD or an AIRY_REASON_*. Never touches
     * bytes outside src and dst.
     */
    uint32_t (*lz4)(uint8_t *dst, size_t dst_size, const uint8_t *src, size_t src_size);
    /*
     * The same, but zeros that end the block need not be written: dst holds the block up to
     * *filled, what follows is 0. dst is dst_size bytes all the same.
     */
    uint32_t (*lz4_front)(uint8_t *dst, size_t dst_size, const uint8_t *src, size_t src_size,
                          size_t *filled);
    /*
     * Bit transpose of `elements` (a multiple of 8) elements of elem_size bytes, there and back.
     * dst and src do not overlap.
     */
    void (*unshuffle)(uint8_t *dst, const uint8_t *src, size_t elements, size_t elem_size);
    void (*shuffle)(uint8_t *dst, const uint8_t *src, size_t elements, size_t elem_size);
    const char *name; /* "avx512+vbmi" */
};
const struct airy_block_fns *airy_block_fns(void);
/*
 * One block of a batch to native pixels: LZ4, then the transpose, or a copy. dst:
 * airy_block_decoded_bytes; bytes: start of the batch; scratch: block_bytes. AIRY_STATUS_GOOD or
 * an AIRY_REASON_*.
 */
uint32_t airy_block_decode(uint8_t *dst, const airy_block_layout *layout, uint32_t block,
                           airy_block place, const uint8_t *bytes, uint8_t *scratch);

#endif
