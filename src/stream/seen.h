/* Which images of a series came, and a digest of the pixels of each: another of its number is known. */
#ifndef AIRY_STREAM_SEEN_H
#define AIRY_STREAM_SEEN_H

#include "airy/stream.h"

enum { AIRY_STREAM_LOST = 1 }; /* instead of a digest: the image came, and cannot be read */

/* Memory follows the numbers that came: 32 KiB for each 4096 numbers of which one did. */
struct airy_stream_seen {
    uint64_t **blocks;
    size_t count;
    uint64_t key[4]; /* random: nobody makes two images of one digest */
};

airy_status airy_stream_seen_begin(struct airy_stream_seen *seen);
/* The digest of an image, 0 where there is none yet; NULL: out of memory. */
uint64_t *airy_stream_seen_at(struct airy_stream_seen *seen, uint64_t id);
/* Nothing came any more. */
void airy_stream_seen_clear(struct airy_stream_seen *seen);
/* Of shape, type, compression and bytes of all channels; more than AIRY_STREAM_LOST. Any thread. */
uint64_t airy_stream_digest(const struct airy_stream_seen *seen,
                            const airy_stream_image_message *image);

#endif
