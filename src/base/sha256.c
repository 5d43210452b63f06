#include "base/sha256.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * First 32 bits of the fractional parts of the cube roots of the first 64 primes (FIPS 180-4,
 * 4.2.2).
 */
static const uint32_t round_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotate(uint32_t x, int n)
{
    return (x >> n) | (x << (32 - n));
}

static void add_block(uint32_t state[8], const uint8_t block[64])
{
    uint32_t w[64];
    for (size_t i = 0; i < 16; i++)
        w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
               (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
    for (size_t i = 16; i < 64; i++) {
        const uint32_t s0 = rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ (w[i - 15] >> 3);
        const uint32_t s1 = rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ (w[i - 2] >> 10);
        w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    uint32_t v[8];
    memcpy(v, state, sizeof(v));
    /* The eight words change their parts with each round: in eight rounds once around. */
    for (size_t i = 0; i < 64; i += 8) {
        for (size_t k = 0; k < 8; k++) {
            const uint32_t a = v[-k % 8], b = v[(1 - k) % 8], c = v[(2 - k) % 8],
                           e = v[(4 - k) % 8], f = v[(5 - k) % 8], g = v[(6 - k) % 8];
            uint32_t *d = &v[(3 - k) % 8], *h = &v[(7 - k) % 8];
            const uint32_t s1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
            const uint32_t t1 = *h + s1 + ((e & f) ^ (~e & g)) + round_constants[i + k] + w[i + k];
            const uint32_t s0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
            *d += t1;
            *h = t1 + s0 + ((a & b) ^ (a & c) ^ (b & c));
        }
    }
    for (size_t i = 0; i < 8; i++)
        state[i] += v[i];
}

void airy_sha256_begin(struct airy_sha256 *hash)
{
    /* fractional parts of the square roots of the first eight primes (FIPS 180-4, 5.3.3) */
    static const uint32_t start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    memcpy(hash->state, start, sizeof(start));
    hash->bytes = 0;
}

void airy_sha256_add(struct airy_sha256 *hash, const void *data, size_t size)
{
    const uint8_t *next = data;
    while (size) {
        const size_t used = (size_t)(hash->bytes % 64), step = size < 64 - used ? size : 64 - used;
        memcpy(hash->block + used, next, step);
        hash->bytes += step;
        next += step;
        size -= step;
        if (hash->bytes % 64 == 0)
            add_block(hash->state, hash->block);
    }
}

void airy_sha256_end(struct airy_sha256 *hash, char hex[65])
{
    const uint64_t bits = 8 * hash->bytes;
    static const uint8_t padding[64] = {0x80};
    const size_t used = (size_t)(hash->bytes % 64);
    airy_sha256_add(hash, padding, used < 56 ? 56 - used : 120 - used);
    uint8_t length[8];
    for (size_t i = 0; i < 8; i++)
        length[i] = (uint8_t)(bits >> (56 - 8 * i));
    airy_sha256_add(hash, length, 8);
    for (size_t i = 0; i < 8; i++)
        snprintf(hex + 8 * i, 9, "%08x", (unsigned)hash->state[i]);
}

/* What is not a regular file may have no end. */
static FILE *open_regular(const char *path, off_t most)
{
    struct stat about;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const bool known = fd >= 0 && fstat(fd, &about) == 0;
    const bool good = known && S_ISREG(about.st_mode) && about.st_size <= most;
    FILE *file = good ? fdopen(fd, "rb") : NULL;
    const int why = known && !good ? 0 : errno;
    if (!file && fd >= 0)
        close(fd);
    errno = why;
    return file;
}

bool airy_sha256_file(const char *path, off_t most, char hex[65])
{
    FILE *file = open_regular(path, most);
    if (!file)
        return false;
    struct airy_sha256 hash;
    airy_sha256_begin(&hash);
    uint8_t buffer[16384];
    size_t n;
    while (hash.bytes <= (uint64_t)most && (n = fread(buffer, 1, sizeof(buffer), file)) > 0)
        airy_sha256_add(&hash, buffer, n);
    const int why = ferror(file) ? errno : 0;
    const bool good = !ferror(file) && hash.bytes <= (uint64_t)most;
    fclose(file);
    errno = why;
    if (good)
        airy_sha256_end(&hash, hex);
    return good;
}
