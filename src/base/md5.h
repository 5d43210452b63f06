/* MD5 against transfer and storage errors; not for secrets. Source: RFC 1321. */
#ifndef AIRY_BASE_MD5_H
#define AIRY_BASE_MD5_H

#include <stddef.h>
#include <stdint.h>

enum { AIRY_MD5_BYTES = 16, AIRY_MD5_BLOCK = 64 };

struct airy_md5 {
    uint32_t state[4];
    uint64_t bytes;               /* hashed so far */
    uint8_t rest[AIRY_MD5_BLOCK]; /* of a block that is not full yet */
};

void airy_md5_begin(struct airy_md5 *md5);
void airy_md5_add(struct airy_md5 *md5, const void *data, size_t size);
void airy_md5_end(uint8_t digest[AIRY_MD5_BYTES], struct airy_md5 *md5);

#endif
