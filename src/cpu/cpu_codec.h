/* The bit transpose for each instruction set of the CPU back end, and the LZ4 block decoder. */
#ifndef AIRY_CPU_CPU_CODEC_H
#define AIRY_CPU_CPU_CODEC_H

#include <stddef.h>
#include <stdint.h>

/*
 * The transpose of a block of n elements (a multiple of 8) of s bytes: bit k of byte b of element
 * 8 j + i stands, shuffled, as bit i of byte j of row 8 b + k; a row has n / 8 bytes.
 */
typedef void airy_transpose_fn(uint8_t *dst, const uint8_t *src, size_t elements, size_t elem_size);

airy_transpose_fn airy_bitunshuffle_portable, airy_bitshuffle_portable;
airy_transpose_fn airy_bitunshuffle_sse2, airy_bitshuffle_sse2;
airy_transpose_fn airy_bitunshuffle_avx2, airy_bitshuffle_avx2;
airy_transpose_fn airy_bitunshuffle_avx512, airy_bitshuffle_avx512;
airy_transpose_fn airy_bitunshuffle_vbmi, airy_bitshuffle_vbmi;
airy_transpose_fn airy_bitunshuffle_neon, airy_bitshuffle_neon;

/* LZ4 block decoders; see struct airy_block_fns. */
typedef uint32_t airy_lz4_fn(uint8_t *dst, size_t dst_size, const uint8_t *src, size_t src_size);

airy_lz4_fn airy_lz4_block_portable, airy_lz4_block_avx2, airy_lz4_block_neon;
typedef uint32_t airy_lz4_front_fn(uint8_t *dst, size_t dst_size, const uint8_t *src,
                                   size_t src_size, size_t *filled);
airy_lz4_front_fn airy_lz4_front_portable, airy_lz4_front_avx2, airy_lz4_front_neon;

/* Return the set for this machine; it is the entry `blocks` of airy_codec_cpu. */
const struct airy_block_fns *airy_cpu_block_fns(void);

#endif
