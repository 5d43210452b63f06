#include "stream/seen.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/error.h"
#include "base/size.h"

enum { BLOCK = 4096, LANES = 4, STEP = 2 * LANES * sizeof(uint64_t) };

airy_status airy_stream_seen_begin(struct airy_stream_seen *seen)
{
    *seen = (struct airy_stream_seen){.blocks = NULL};
    AIRY_FAIL_IF(getrandom(seen->key, sizeof(seen->key), 0) != (ssize_t)sizeof(seen->key),
                 AIRY_ERR_IO, "the system gives no random numbers");
    return AIRY_OK;
}

uint64_t *airy_stream_seen_at(struct airy_stream_seen *seen, uint64_t id)
{
    const size_t block = (size_t)(id / BLOCK);
    if (block >= seen->count) {
        const size_t count = airy_max_size(block + 1, 2 * seen->count);
        uint64_t **more = realloc(seen->blocks, count * sizeof(*more));
        if (!more)
            return NULL;
        memset(more + seen->count, 0, (count - seen->count) * sizeof(*more));
        seen->blocks = more;
        seen->count = count;
    }
    if (!seen->blocks[block])
        seen->blocks[block] = calloc(BLOCK, sizeof(uint64_t));
    return seen->blocks[block] ? seen->blocks[block] + id % BLOCK : NULL;
}

void airy_stream_seen_clear(struct airy_stream_seen *seen)
{
    for (size_t i = 0; i < seen->count; i++)
        free(seen->blocks[i]);
    free(seen->blocks);
    seen->blocks = NULL;
    seen->count = 0;
}

/* Both halves of a product of 128 bits, added without carry. */
static uint64_t fold(uint64_t a, uint64_t b)
{
    __extension__ typedef unsigned __int128 product;
    const product p = (product)a * b;
    return (uint64_t)p ^ (uint64_t)(p >> 64);
}

static uint64_t load(const uint8_t *bytes)
{
    uint64_t value;
    memcpy(&value, bytes, sizeof(value));
    return value;
}

/* Four chains that do not wait for each other, each a product of what came and what comes. */
static uint64_t digest_bytes(const uint64_t key[4], const uint8_t *bytes, size_t size)
{
    uint64_t chain[LANES], sum = size;
    memcpy(chain, key, sizeof(chain));
    for (; size >= STEP; size -= STEP, bytes += STEP)
        for (size_t i = 0; i < LANES; i++)
            chain[i] = fold(load(bytes + 16 * i) ^ key[i], load(bytes + 16 * i + 8) ^ chain[i]) +
                       key[LANES - 1 - i];
    uint8_t rest[STEP] = {0};
    memcpy(rest, bytes, size);
    for (size_t i = 0; i < LANES; i++)
        chain[i] = fold(load(rest + 16 * i) ^ key[i], load(rest + 16 * i + 8) ^ chain[i]);
    for (size_t i = 0; i < LANES; i++)
        sum = fold(sum ^ key[i], chain[i] ^ key[LANES - 1 - i]) + i;
    return sum;
}

uint64_t airy_stream_digest(const struct airy_stream_seen *seen,
                            const airy_stream_image_message *image)
{
    uint64_t sum = image->channels;
    for (size_t i = 0; i < image->channels; i++) {
        const airy_stream_pixels *p = &image->pixels[i];
        const uint64_t kind[] = {
            p->height,
            p->width,
            (uint64_t)p->dtype << 32 | (uint64_t)p->codec.codec << 1 | p->big_endian,
            digest_bytes(seen->key, (const uint8_t *)p->channel, strlen(p->channel)),
            digest_bytes(seen->key, p->bytes, p->size),
            sum};
        sum = digest_bytes(seen->key, (const uint8_t *)kind, sizeof(kind));
    }
    return sum > AIRY_STREAM_LOST ? sum : sum + AIRY_STREAM_LOST + 1;
}
