/**
 * Frames from a detector's stream: messages of DECTRIS Stream V2, ZeroMQ sockets that receive them,
 * series, and patterns published again.
 *
 * A message is one CBOR map (RFC 8949) whose first key is "type": "start", "image" or "end"; the
 * map may stand in tag 55799. Pixels are a multi-dimensional array (tag 40 of [[height, width],
 * data]), data a typed array (RFC 8746) of a byte string, or of tag 56500: ["bslz4", bytes of an
 * element, byte string] or ["lz4", 0, byte string], framed as in airy/codec.h.
 * Source: DECTRIS, "Stream V2" and "CBOR tag for DECTRIS compressed byte strings" (public interface
 *         descriptions); RFC 8949; RFC 8746. Jungfraujoch speaks the same.
 *
 * A build without libzmq and libcbor has all of these functions; they fail with
 * AIRY_ERR_UNSUPPORTED.
 */
#ifndef AIRY_STREAM_H
#define AIRY_STREAM_H

#include "airy/integrate.h"
#include "airy/stack.h"
#include "airy/error.h"
#include "airy/stream_keys.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    AIRY_STREAM_CHANNELS_MAX = 16, /**< of a detector: threshold_1, threshold_2, difference ... */
    AIRY_STREAM_NAME_BYTES = 64,   /**< bytes of a channel's name, with the 0 at its end */
    AIRY_STREAM_PEER_BYTES = 64,   /**< of an address or a key, with the 0 at its end */
    AIRY_STREAM_TEXT_MAX = 128,    /**< bytes of other texts */
    AIRY_STREAM_IMAGES_MAX = 10000000 /**< of a series, unless the handler sets another */
};

typedef enum airy_stream_type {
    AIRY_STREAM_START = 0,
    AIRY_STREAM_IMAGE,
    AIRY_STREAM_END
} airy_stream_type;

/** Pixels as they lie in a message: nothing is copied or decoded. */
typedef struct airy_stream_pixels {
    char channel[AIRY_STREAM_NAME_BYTES];
    const void *bytes; /**< in the message */
    size_t size;
    size_t height, width;
    airy_dtype dtype;
    bool big_endian; /**< elements, of more than one byte */
    /** NONE: plain pixels, size = height * width * bytes of the dtype. Else the framing's decoded
        size is that; its blocks are not looked at. */
    airy_codec_params codec;
} airy_stream_pixels;

/** What a series begins with. Zero, or has_... false: not in the message. */
typedef struct airy_stream_start_message {
    uint64_t number_of_images;
    size_t height, width; /**< always given */
    bool has_dtype;
    airy_dtype dtype;                    /**< image_dtype */
    char detector[AIRY_STREAM_TEXT_MAX]; /**< detector_description; cut */
    bool has_beam_center, has_pixel_size, has_translation, has_saturation, has_poni;
    double beam_center_x, beam_center_y; /**< pixels */
    double pixel_size_x, pixel_size_y;   /**< m */
    double translation[3];               /**< m; the distance is the last */
    double wavelength;                   /**< m, from incident_wavelength (Angstrom) or
                                              incident_energy (eV); 0 */
    double frame_time;                   /**< s; 0 */
    double saturation;
    airy_geometry poni; /**< "poni", as `airy stream` writes it: exact, and with rotations */
    size_t channels;    /**< named */
    char channel[AIRY_STREAM_CHANNELS_MAX][AIRY_STREAM_NAME_BYTES];
    size_t masks; /**< pixel_mask, one a channel */
    airy_stream_pixels mask[AIRY_STREAM_CHANNELS_MAX];
    double energy; /**< eV, from incident_energy; 0 */
} airy_stream_start_message;

typedef struct airy_stream_image_message {
    bool has_id;                             /**< image_id was read; after a failure, too */
    uint64_t id;                             /**< from 0 */
    double real_time, start_time, stop_time; /**< s; NaN */
    size_t channels;
    airy_stream_pixels pixels[AIRY_STREAM_CHANNELS_MAX];
} airy_stream_image_message;

typedef struct airy_stream_message {
    airy_stream_type type;
    bool has_type, has_series; /**< type, series_id were read; after a failure, too */
    uint64_t series_id;
    char unique_id[AIRY_STREAM_TEXT_MAX]; /**< series_unique_id; "" */
    airy_stream_start_message start;      /**< of AIRY_STREAM_START */
    airy_stream_image_message image;      /**< of AIRY_STREAM_IMAGE */
} airy_stream_message;

/**
 * Read one message. Bytes are hostile: nothing outside is read, whatever they are; depth is bounded
 * (16), and nothing is allocated. Keys that are not known are passed over, arrays and maps of
 * indefinite length are read.
 *
 * @param message  out, points into bytes; after a failure what was read so far, which may show
 *                 which image is missing
 * Errors: AIRY_ERR_FORMAT (no CBOR, cut, keys twice, missing or of another type, texts that are not
 *         UTF-8, bytes behind the end), AIRY_ERR_SHAPE (bytes that do not fit the shape),
 *         AIRY_ERR_UNSUPPORTED (strings of indefinite length, other compressions and typed arrays,
 *         by name or number).
 * Threads: any.
 */
AIRY_API airy_status airy_stream_parse(airy_stream_message *message, const void *bytes,
                                       size_t size);

/**
 * Get the metadata of a series as of a file: geometry, saturation, has_mask for the channel ("":
 * any). Of incident_wavelength and incident_energy that differ by more than a thousandth the first
 * is used, with a warning.
 */
AIRY_API void airy_stream_meta(airy_stack_meta *meta, const airy_stream_start_message *start,
                               const char *channel);
/**
 * Read a channel's pixel mask, or, where there is one only and the channel is "", that:
 * out[height * width], 1 = bad.
 * Errors: AIRY_ERR_NOT_FOUND, AIRY_ERR_SHAPE (not the image's), AIRY_ERR_DTYPE, AIRY_ERR_CORRUPT.
 */
AIRY_API airy_status airy_stream_mask(uint8_t *mask, const airy_stream_start_message *start,
                                      const char *channel);
/**
 * Find the pixels of a channel of an image; "": the only one.
 * Errors: AIRY_ERR_NOT_FOUND and, several and none named, AIRY_ERR_PARAM: lists those that are
 *         there.
 */
AIRY_API airy_status airy_stream_find_channel(const airy_stream_pixels **pixels,
                                              const airy_stream_image_message *image,
                                              const char *channel);

/**
 * Sockets that receive. Memory is bounded: `queue` messages of at most max_message bytes wait for each
 * connection, fewer where images are so large that they would take more than a quarter of `memory`;
 * then the sender has to wait. All that connections over TCP have sent and nobody has read, messages
 * that are not finished among it, takes at most `memory` bytes, and what comes within 10 ms: half of
 * them is for connections that sent messages of a series, half for all others. Where that is not
 * enough, the connection that holds most is ended, which the report counts.
 * Thread-safety: one thread at a time.
 */
typedef struct airy_stream_receiver airy_stream_receiver;

/** Zeroed members are defaults. */
typedef struct airy_stream_receiver_params {
    const char *const *endpoints; /**< "tcp://HOST:PORT", "ipc://PATH" */
    size_t count;                 /**< of endpoints, at least 1 */
    size_t sockets; /**< connections to each endpoint, each with a thread for its network and one
                             that takes what comes; 0: 1; at most 64 in all */
    bool bind;      /**< the sender connects to us; then sockets is 1 */
    size_t max_message;       /**< bytes; who sends more is cut off, at most half of memory; 0: 256
                                   MiB, or half of memory where that is less */
    size_t queue;             /**< messages; 0: 32 */
    const char *const *allow; /**< [allow_count] addresses of IPv4 or IPv6, or networks
                                   ("10.1.0.0/16"), from which alone connections are taken over TCP;
                                   NULL: all */
    size_t allow_count;
    uint64_t memory; /**< bytes for what was sent and is not read yet, at least 1 MiB; 0: a quarter
                          of the free memory */
    const airy_stream_keys *keys; /**< messages are encrypted, and with bind a series belongs to the
                                       public key that began it; NULL: they are not */
} airy_stream_receiver_params;

/**
 * Open the sockets. Errors: AIRY_ERR_PARAM, AIRY_ERR_IO (address, by name), AIRY_ERR_UNSUPPORTED.
 */
AIRY_API airy_status airy_stream_receiver_create(airy_stream_receiver **receiver,
                                                 const airy_stream_receiver_params *params);
AIRY_API void airy_stream_receiver_destroy(airy_stream_receiver **receiver);

/** What came of a series, and of the sockets since airy_stream_serve began. */
typedef struct airy_stream_report {
    uint64_t id;
    char unique_id[AIRY_STREAM_TEXT_MAX];
    uint64_t expected;    /**< number_of_images; 0: not given */
    uint64_t received;    /**< images, each counted once; also those of a series that failed */
    uint64_t duplicates;  /**< came again */
    uint64_t beyond;      /**< image_id >= number_of_images; where that is not given, one that is
                              4096 or more beyond the largest so far and stands alone */
    uint64_t broken;      /**< messages that do not parse */
    uint64_t stray;       /**< messages of no series that is at work; left out, reported once */
    uint64_t bytes;       /**< of the series' messages */
    bool ended;           /**< by its end message */
    double seconds;       /**< from the first image to the last message */
    airy_error error;     /**< status not AIRY_OK: a handler failed, whose record this is, and the
                               rest of the images was not handed on */
    uint64_t conflicts;   /**< of the duplicates: with other pixels than the image that was taken.
                               Which of the two is right is not known */
    uint64_t conflict_id; /**< the first such image */
    uint64_t refused;     /**< messages from another address than the start message, where senders
                               connect to us */
    uint64_t rivals;      /**< of those: start messages of this series */
    uint64_t overfull; /**< connections that were ended because what they sent and nobody read took
                               too much memory */
} airy_stream_report;

/**
 * Who works on series. start, first and end come from the caller of airy_stream_serve; image and
 * broken from its receiving threads, several at once, between first and end.
 */
typedef struct airy_stream_handler {
    void *user;
    /** A series begins; set up what does not depend on the kind of pixels. */
    airy_status (*start)(void *user, const airy_stream_message *start);
    /**
     * Its first image is here; `image` gets it as well. AIRY_ERR_CORRUPT: this image is not as the
     * start message describes it; it is handed to `broken`, and the next one is the first.
     */
    airy_status (*first)(void *user, const airy_stream_message *image);
    /** One image, never one twice; valid during the call. It may wait: then the sender does. */
    airy_status (*image)(void *user, const airy_stream_message *image, uint64_t received_ns);
    /** A message of this series and image that could not be read: the image is missing. */
    void (*broken)(void *user, uint64_t image_id, const char *sentence);
    /**
     * Another image of this number came, with other pixels than the one that was taken, or NULL.
     * It must not wait.
     */
    void (*conflict)(void *user, uint64_t image_id);
    /** It is over; false: stop serving. Also when start or first failed. */
    bool (*end)(void *user, const airy_stream_report *series);
    /** One sentence of what is odd, and what to do next. Any thread. */
    void (*say)(void *user, const char *sentence, airy_hint hint);
    /** True: stop; asked ten times a second, by any thread. */
    bool (*stop)(void *user);
    double grace;   /**< s that messages which were overtaken, on another socket, are waited for;
                         0: 2 */
    double timeout; /**< s without a message after which a series is over that was not ended, with
                         images or without; 0: 300; infinity: never */
    double idle;    /**< s without a message, while no series is at work, after which serving ends;
                         it counts once anything has come. 0: never */
    uint64_t max_images; /**< of a series whose start message does not give how many come: images
                              from this number on are beyond the end; 0: AIRY_STREAM_IMAGES_MAX.
                              `start` decides about a number that is announced */
} airy_stream_handler;

/**
 * Serve series one after another until a handler asks to stop. Messages come over several sockets,
 * so that an image may overtake its start message and the end message an image: they wait for each
 * other. A series is over with its end message and all its images, or `grace` after the end
 * message; when the next one begins; after `timeout`; or when stop is asked for. A message that
 * cannot be read and a series that fails are reported, and the next series is served. The next one
 * begins with a start message of a series_id that is not smaller (detectors count up; of any
 * series_id when nothing came for `grace`). Other messages of another series are stray: they end
 * nothing.
 * Errors: AIRY_ERR_CANCELLED (stop was asked for), AIRY_ERR_NOT_FOUND (handler->idle is over),
 *         AIRY_ERR_MEMORY, AIRY_ERR_IO (sockets).
 */
AIRY_API airy_status airy_stream_serve(airy_stream_receiver *receiver,
                                       const airy_stream_handler *handler);

/**
 * A PUB socket on which patterns go out, each as one CBOR map:
 *   {"type": "start", "series_id", "series_unique_id", "number_of_images", "unit", "radial": tag 86
 *    (f64), "azimuthal": tag 86 where there are two dimensions}: first, and again once a second,
 *    for those who came later
 *   {"type": "pattern", "series_id", "image_id", "status": 0 (good) or not, "message": of bad ones,
 *    "total", "max", "saturated", "invalid", "intensity": tag 85 (f32), in two dimensions tag 40 of
 *    [[azimuthal, radial], tag 85]; "std" and "sem" the same, with an error model}
 *   {"type": "end", "series_id", "series_unique_id", "patterns", "status": 0, or 1 where the series
 *    failed or is not complete, "message": why}
 * It never waits: a subscriber that is `queue` messages behind misses what comes next.
 * Thread-safety: any thread.
 */
typedef struct airy_publisher airy_publisher;

typedef struct airy_publisher_series {
    uint64_t series_id, number_of_images;
    const char *unique_id; /**< or NULL */
    const char *unit;      /**< "q_nm^-1"; at most 128 bytes */
    const double *radial;  /**< [bins] */
    size_t bins;
    const double *azimuthal; /**< [azimuth_bins], or NULL: one dimension */
    size_t azimuth_bins;
} airy_publisher_series;

typedef struct airy_publisher_pattern {
    uint64_t image_id;
    const float *intensity, *std, *sem; /**< [azimuth_bins, bins]; std, sem or NULL */
    airy_frame_stats stats;
    airy_status status;
    const char *message; /**< or NULL */
} airy_publisher_pattern;

/** Zeroed members are defaults. */
typedef struct airy_publisher_params {
    const char *endpoint;         /**< "tcp://HOST:PORT", "ipc://PATH" */
    size_t queue;                 /**< messages a subscriber may be behind; 0: 1000 */
    const airy_stream_keys *keys; /**< messages are encrypted, for the peers alone; NULL: for all */
} airy_publisher_params;

/**
 * Bind a publisher to its address.
 * Errors: AIRY_ERR_PARAM, AIRY_ERR_IO (address, by name), AIRY_ERR_UNSUPPORTED, AIRY_ERR_MEMORY.
 */
AIRY_API airy_status airy_publisher_open(airy_publisher **publisher,
                                         const airy_publisher_params *params);
/** Bind a publisher without keys, as airy_publisher_open does. */
AIRY_API airy_status airy_publisher_create(airy_publisher **publisher, const char *endpoint,
                                           size_t queue);
AIRY_API void airy_publisher_destroy(airy_publisher **publisher);
/** Begin a series; values are copied. Errors: AIRY_ERR_PARAM, AIRY_ERR_MEMORY, AIRY_ERR_IO. */
AIRY_API airy_status airy_publisher_start(airy_publisher *publisher,
                                          const airy_publisher_series *series);
/** Publish a pattern. Errors: AIRY_ERR_PARAM (no series was begun), AIRY_ERR_IO. */
AIRY_API airy_status airy_publisher_send(airy_publisher *publisher,
                                         const airy_publisher_pattern *pattern);
/**
 * End a series.
 * @param patterns  out, sent of this series; or NULL
 * Errors: AIRY_ERR_PARAM, AIRY_ERR_IO.
 */
AIRY_API airy_status airy_publisher_end(airy_publisher *publisher, uint64_t *patterns);
/**
 * End a series that failed, instead of airy_publisher_end, also one for which airy_publisher_start
 * was not called, so that no subscriber waits for it.
 *
 * @param unique_id  or NULL
 * @param message    why
 * Errors: AIRY_ERR_PARAM, AIRY_ERR_IO.
 */
AIRY_API airy_status airy_publisher_fail(airy_publisher *publisher, uint64_t series_id,
                                         const char *unique_id, const char *message,
                                         uint64_t *patterns);

#ifdef __cplusplus
}
#endif
#endif
