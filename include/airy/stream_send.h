/**
 * Frames sent as a detector sends them: DECTRIS Stream V2, one CBOR map a message over ZeroMQ PUSH
 * sockets.
 *
 * A series is a start message, an image message for each exposure and an end message. Over several
 * sockets each gets the start and the end, and the images are dealt out.
 *
 *     airy_stream_sender_create(&sender,
 *                               &(airy_stream_sender_params){.url = "tcp://127.0.0.1:31001"});
 *     airy_stream_send_start(sender, &series, timeout, &sent);
 *     airy_stream_image_create(&image, &series, &codec, &size);
 *     read the frame as it is stored into airy_stream_image_data(image, 0);
 *     airy_stream_send_image(sender, image, &series, &exposure, timeout, &sent);
 *     airy_stream_image_destroy(&image);           the bytes stay until they are sent
 *     airy_stream_send_end(sender, &series, timeout, &sent);
 *     airy_stream_sender_destroy(&sender, linger);
 *
 * Source: DECTRIS Stream V2 and CBOR tag 56500 (public descriptions), RFC 8949, RFC 8746.
 */
#ifndef AIRY_STREAM_SEND_H
#define AIRY_STREAM_SEND_H

#include "airy/codec.h"
#include "airy/geometry.h"
#include "airy/stream_keys.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    AIRY_STREAM_CHANNELS = 16,   /**< of an image, at most */
    AIRY_STREAM_NAME_MAX = 63,   /**< bytes of a channel's name */
    AIRY_STREAM_UNIQUE_MAX = 127 /**< bytes of a series' unique id */
};

/** What a start message contains; the zero value is the default. */
typedef enum airy_stream_detail {
    AIRY_STREAM_DETAIL_ALL = 0, /**< what is known */
    AIRY_STREAM_DETAIL_BASIC,   /**< without the pixel mask */
    AIRY_STREAM_DETAIL_NONE,    /**< series, channels, size, type and number of images only */
    AIRY_STREAM_DETAIL_COUNT
} airy_stream_detail;

/** A series. Plain data; texts are UTF-8. */
typedef struct airy_stream_series {
    uint64_t id;
    const char *unique_id; /**< at most AIRY_STREAM_UNIQUE_MAX bytes */
    const char *date; /**< of the start, "2024-05-06T07:08:09.123Z", at most 40 bytes; NULL: none */
    uint64_t images;
    size_t height, width;
    airy_dtype dtype;
    const char *const *channels; /**< [channel_count]; NULL: one, "threshold_1" */
    size_t channel_count;        /**< 0 with NULL */
    double frame_time;           /**< s between exposures; 0: not known */
    /**
     * NULL: not known. Distance and beam centre are sent where the detector faces the beam and has
     * orientation 0 or 3, as detectors send them; all of it in a map "poni" of Airy's own:
     * detector, orientation, pixel1, pixel2, dist, poni1, poni2, rot1, rot2, rot3, wavelength (m,
     * rad).
     */
    const airy_geometry *geometry;
    const uint8_t *mask; /**< [height * width], not 0 = bad, sent as 32-bit words; NULL: none */
    bool has_saturation;
    double saturation;
    airy_stream_detail detail;
} airy_stream_series;

/** One exposure; times in ns since the series began. */
typedef struct airy_stream_exposure {
    uint64_t image_id; /**< from 0 */
    uint64_t start_ns, stop_ns;
} airy_stream_exposure;

/**
 * An image message with room for its payload. Thread-safety: several threads may send it at once,
 * each through its own sender; else one thread at a time. What is being sent is not touched.
 */
typedef struct airy_stream_image airy_stream_image;

/**
 * Create an image message.
 * @param image  out
 * @param codec  NONE: plain little-endian elements; BSLZ4 (elem_size as the payload has it) or LZ4:
 *               payloads are encoded as the HDF5 filters do
 * @param sizes  [channels] bytes of each payload
 * Errors: AIRY_ERR_PARAM, AIRY_ERR_SHAPE (plain elements of another size than the image),
 *         AIRY_ERR_DTYPE, AIRY_ERR_UNSUPPORTED (a codec the stream has no name for; a build without
 *         ZeroMQ), AIRY_ERR_MEMORY.
 */
AIRY_API airy_status airy_stream_image_create(airy_stream_image **image,
                                              const airy_stream_series *series,
                                              const airy_codec_params *codec, const size_t *sizes);
/** Return where a channel's bytes go; they must not be written while airy_stream_image_busy. */
AIRY_API void *airy_stream_image_data(airy_stream_image *image, size_t channel);
/** Return whether it is on its way: ZeroMQ has its bytes. */
AIRY_API bool airy_stream_image_busy(const airy_stream_image *image);
/** Destroy it, at any time, and set *image to NULL. */
AIRY_API void airy_stream_image_destroy(airy_stream_image **image);

typedef struct airy_stream_sender_params {
    const char *url; /**< "tcp://HOST:PORT" ("*": all interfaces; any free port), "ipc://PATH" */
    bool connect;    /**< connect to a PULL socket that is bound; else bind and be connected to */
    uint32_t high_water;          /**< messages that wait for one receiver; 0: 128 */
    const airy_stream_keys *keys; /**< messages are encrypted; NULL: they are not */
} airy_stream_sender_params;

/** A PUSH socket and its I/O thread. Thread-safety: one thread at a time. */
typedef struct airy_stream_sender airy_stream_sender;

/**
 * Open a socket.
 * Errors: AIRY_ERR_PARAM (no such URL), AIRY_ERR_IO (port in use, no such interface),
 *         AIRY_ERR_UNSUPPORTED (a build without ZeroMQ), AIRY_ERR_MEMORY.
 */
AIRY_API airy_status airy_stream_sender_create(airy_stream_sender **sender,
                                               const airy_stream_sender_params *params);
/** Return the URL where it is bound, with the port that was chosen; with connect the URL itself. */
AIRY_API const char *airy_stream_sender_url(const airy_stream_sender *sender);

/**
 * Hand a message over. *sent: it was; false: no receiver had room for it within timeout_ns (or
 * there is none).
 * Errors: AIRY_ERR_PARAM, AIRY_ERR_IO, AIRY_ERR_MEMORY.
 */
AIRY_API airy_status airy_stream_send_start(airy_stream_sender *sender,
                                            const airy_stream_series *series, uint64_t timeout_ns,
                                            bool *sent);
AIRY_API airy_status airy_stream_send_end(airy_stream_sender *sender,
                                          const airy_stream_series *series, uint64_t timeout_ns,
                                          bool *sent);
/**
 * Send an image, whose payload is not copied unless it is still on its way from an earlier
 * call: then a copy is sent.
 */
AIRY_API airy_status airy_stream_send_image(airy_stream_sender *sender, airy_stream_image *image,
                                            const airy_stream_series *series,
                                            const airy_stream_exposure *exposure,
                                            uint64_t timeout_ns, bool *sent);
/**
 * Return the number of images handed over that ZeroMQ still holds; at 0 the system has all of them.
 * @param left_ns  out, CLOCK_MONOTONIC when one of them left last, 0: none has; may be NULL
 * Thread-safety: any thread.
 */
AIRY_API size_t airy_stream_sender_pending(const airy_stream_sender *sender, uint64_t *left_ns);
/** Wait up to linger_ns until all messages have left, then close. Sets *sender to NULL. */
AIRY_API void airy_stream_sender_destroy(airy_stream_sender **sender, uint64_t linger_ns);

#ifdef __cplusplus
}
#endif
#endif
