/* A build without ZeroMQ says so. */
#include "airy/stream_send.h"

#include "base/error.h"

static airy_status lacking(void)
{
    return airy_fail(AIRY_ERR_UNSUPPORTED,
                     "this build knows no live streams, it lacks libzmq and libcbor");
}

airy_status airy_stream_image_create(airy_stream_image **image, const airy_stream_series *series,
                                     const airy_codec_params *codec, const size_t *sizes)
{
    (void)image;
    (void)series;
    (void)codec;
    (void)sizes;
    return lacking();
}

void *airy_stream_image_data(airy_stream_image *image, size_t channel)
{
    (void)image;
    (void)channel;
    return NULL;
}

bool airy_stream_image_busy(const airy_stream_image *image)
{
    (void)image;
    return false;
}

void airy_stream_image_destroy(airy_stream_image **image)
{
    (void)image;
}

airy_status airy_stream_sender_create(airy_stream_sender **sender,
                                      const airy_stream_sender_params *params)
{
    (void)sender;
    (void)params;
    return lacking();
}

const char *airy_stream_sender_url(const airy_stream_sender *sender)
{
    (void)sender;
    return "";
}

airy_status airy_stream_send_start(airy_stream_sender *sender, const airy_stream_series *series,
                                   uint64_t timeout_ns, bool *sent)
{
    (void)sender;
    (void)series;
    (void)timeout_ns;
    (void)sent;
    return lacking();
}

airy_status airy_stream_send_end(airy_stream_sender *sender, const airy_stream_series *series,
                                 uint64_t timeout_ns, bool *sent)
{
    return airy_stream_send_start(sender, series, timeout_ns, sent);
}

airy_status airy_stream_send_image(airy_stream_sender *sender, airy_stream_image *image,
                                   const airy_stream_series *series,
                                   const airy_stream_exposure *exposure, uint64_t timeout_ns,
                                   bool *sent)
{
    (void)image;
    (void)exposure;
    return airy_stream_send_start(sender, series, timeout_ns, sent);
}

size_t airy_stream_sender_pending(const airy_stream_sender *sender, uint64_t *left_ns)
{
    (void)sender;
    if (left_ns)
        *left_ns = 0;
    return 0;
}

void airy_stream_sender_destroy(airy_stream_sender **sender, uint64_t linger_ns)
{
    (void)sender;
    (void)linger_ns;
}
