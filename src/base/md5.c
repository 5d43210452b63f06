#include "base/md5.h"

#include <string.h>

#include "base/size.h"

/* floor(2^32 |sin(i + 1)|), i in radians. */
static const uint32_t sines[64] = {
    0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501,
    0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821,
    0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
    0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a,
    0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70,
    0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
    0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
    0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391,
};

static uint32_t turn(uint32_t v, unsigned bits)
{
    return v << bits | v >> (32 - bits);
}

static uint32_t load(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* One step; f: the round's function of b, c and d. */
#define STEP(f, a, b, c, d, k, bits, i) a = b + turn(a + (f) + words[k] + sines[i], bits)
#define ROUND(F, first, factor, offset, s0, s1, s2, s3)                                            \
    for (unsigned i = (first); i < (first) + 16; i += 4) {                                         \
        STEP(F(b, c, d), a, b, c, d, (factor * i + offset) % 16, s0, i);                           \
        STEP(F(a, b, c), d, a, b, c, (factor * (i + 1) + offset) % 16, s1, i + 1);                 \
        STEP(F(d, a, b), c, d, a, b, (factor * (i + 2) + offset) % 16, s2, i + 2);                 \
        STEP(F(c, d, a), b, c, d, a, (factor * (i + 3) + offset) % 16, s3, i + 3);                 \
    }
#define CHOOSE(x, y, z)  ((z) ^ ((x) & ((y) ^ (z))))
#define CHOOSE2(x, y, z) ((y) ^ ((z) & ((x) ^ (y))))
#define PARITY(x, y, z)  ((x) ^ (y) ^ (z))
#define ODD(x, y, z)     ((y) ^ ((x) | ~(z)))

static void add_blocks(uint32_t state[4], const uint8_t *data, size_t blocks)
{
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    for (; blocks > 0; blocks--, data += AIRY_MD5_BLOCK) {
        const uint32_t a0 = a, b0 = b, c0 = c, d0 = d;
        uint32_t words[16];
        for (size_t k = 0; k < 16; k++)
            words[k] = load(data + 4 * k);
        ROUND(CHOOSE, 0, 1, 0, 7, 12, 17, 22)
        ROUND(CHOOSE2, 16, 5, 1, 5, 9, 14, 20)
        ROUND(PARITY, 32, 3, 5, 4, 11, 16, 23)
        ROUND(ODD, 48, 7, 0, 6, 10, 15, 21)
        a += a0;
        b += b0;
        c += c0;
        d += d0;
    }
    state[0] = a;
    state[1] = b;
    state[2] = c;
    state[3] = d;
}

void airy_md5_begin(struct airy_md5 *md5)
{
    *md5 = (struct airy_md5){.state = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476}};
}

void airy_md5_add(struct airy_md5 *md5, const void *data, size_t size)
{
    const uint8_t *from = data;
    const size_t have = md5->bytes % AIRY_MD5_BLOCK;
    md5->bytes += size;
    if (have) {
        const size_t n = airy_min_size(size, AIRY_MD5_BLOCK - have);
        memcpy(md5->rest + have, from, n);
        from += n;
        size -= n;
        if (have + n < AIRY_MD5_BLOCK)
            return;
        add_blocks(md5->state, md5->rest, 1);
    }
    add_blocks(md5->state, from, size / AIRY_MD5_BLOCK);
    if (size % AIRY_MD5_BLOCK)
        memcpy(md5->rest, from + size / AIRY_MD5_BLOCK * AIRY_MD5_BLOCK, size % AIRY_MD5_BLOCK);
}

void airy_md5_end(uint8_t digest[AIRY_MD5_BYTES], struct airy_md5 *md5)
{
    static const uint8_t padding[AIRY_MD5_BLOCK] = {0x80};
    const uint64_t bits = 8 * md5->bytes;
    uint8_t length[8];
    for (size_t i = 0; i < 8; i++)
        length[i] = (uint8_t)(bits >> (8 * i));
    airy_md5_add(md5, padding, 1 + (119 - md5->bytes % AIRY_MD5_BLOCK) % AIRY_MD5_BLOCK);
    airy_md5_add(md5, length, sizeof(length));
    for (size_t i = 0; i < AIRY_MD5_BYTES; i++)
        digest[i] = (uint8_t)(md5->state[i / 4] >> (8 * (i % 4)));
}
