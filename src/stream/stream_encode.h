/* Messages of a stream as bytes. */
#ifndef AIRY_STREAM_ENCODE_H
#define AIRY_STREAM_ENCODE_H

#include "airy/stream_send.h"
#include "stream/cbor_write.h"

enum { AIRY_STREAM_HEAD_MAX = 512, AIRY_STREAM_TIME_BASE = 1000000000 };

airy_status airy_stream_series_check(const airy_stream_series *series);
/* malloc'ed. */
airy_status airy_stream_encode_start(unsigned char **bytes, size_t *size,
                                     const airy_stream_series *series);
airy_status airy_stream_encode_end(unsigned char **bytes, size_t *size,
                                   const airy_stream_series *series);
/* What stands in front of the body of an image, which airy_stream_encode_body begins. */
void airy_stream_encode_head(struct airy_stream_bytes *bytes, const airy_stream_series *series,
                             const airy_stream_exposure *exposure);
/* "data" and the number of channels; then for each channel all that stands in front of its payload. */
void airy_stream_encode_body(struct airy_stream_bytes *bytes, const airy_stream_series *series);
void airy_stream_encode_channel(struct airy_stream_bytes *bytes, const airy_stream_series *series,
                                size_t channel, const airy_codec_params *codec, size_t size);

#endif
