/**
 * Optical coherence tomography: raw spectra to depth profiles.
 *
 * A line is one spectrum of `samples` numbers, a frame (B-scan) `lines` of them. airy_oct_create
 * makes all tables once, in double precision; airy_oct_process takes raw frames and gives profiles.
 * Of each line x, in this order:
 *   1. samples are unpacked, put into the machine's byte order and shifted right by bit_shift;
 *   2. the background is subtracted;
 *   3. the window is applied here instead of in 5, where window_first is set;
 *   4. resampling: z[j] = x at position r[j], interpolated;
 *   5. z[j] *= window[j];
 *   6. dispersion: z[j] *= exp(+i phase[j]);
 *   7. F[p] = sum_j z[j] exp(-2 pi i p j / samples), not divided; bins depth_first to depth_last -
 *      1;
 *   8. the fixed pattern, a complex number for each bin, is subtracted;
 *   9. quantity: power |F|^2, magnitude |F|, db 10 log10 of the power (at least -300 dB), phase in
 *      radians from -pi to pi, or F itself;
 *   10. every other raw frame reversed; means of frames, then of lines, or flow between repeats;
 *   11. the sinusoidal scan straightened;
 *   12. display: g = multiply ((v - low) / (high - low) + add), less the post background, and
 *       clipped to 0..1 and made an integer where the result is one.
 *
 * A bin's depth is p / (2 (kmax - kmin)), k in 1/length without 2 pi, in a medium of index 1.
 */
#ifndef AIRY_OCT_H
#define AIRY_OCT_H

#include <stdint.h>

#include "airy/array.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    AIRY_OCT_MIN_SAMPLES = 2,
    AIRY_OCT_MAX_SAMPLES = 8192,
    AIRY_OCT_MAX_LINES = 1 << 20, /**< of a frame */
    AIRY_OCT_TERMS = 4            /**< coefficients of a polynomial */
};

/**
 * On a device; made by airy_oct_create, changed by airy_oct_learn alone.
 * Thread-safety: any thread; queues of its device share it once the call that made it has returned,
 * but while airy_oct_learn runs nothing else may use it.
 */
typedef struct airy_oct airy_oct;

typedef enum airy_oct_packing {
    AIRY_OCT_PACKING_NONE = 0,
    AIRY_OCT_PACKING_10, /**< unsigned samples of 10 bits without gaps; a line fills whole bytes */
    AIRY_OCT_PACKING_12, /**< of 12 bits */
    AIRY_OCT_PACKING_COUNT
} airy_oct_packing;

typedef enum airy_oct_background {
    AIRY_OCT_BACKGROUND_NONE = 0,
    AIRY_OCT_BACKGROUND_LINE,    /**< a recorded line: background_line */
    AIRY_OCT_BACKGROUND_MEAN,    /**< the mean of the frame's lines */
    AIRY_OCT_BACKGROUND_ROLLING, /**< x[i] less the mean of x[i - W + 1] to x[i + W], cut at the
                                      ends of the line, W = rolling */
    AIRY_OCT_BACKGROUND_COUNT
} airy_oct_background;

/** Where a line is read at. Beyond its ends interpolation repeats its first and last sample. */
typedef enum airy_oct_axis {
    AIRY_OCT_AXIS_NONE = 0,
    AIRY_OCT_AXIS_WAVELENGTH, /**< axis[i]: wavelength of sample i in m, strictly monotonic */
    AIRY_OCT_AXIS_K,          /**< axis[i]: wavenumber 1/wavelength in 1/m, strictly monotonic */
    AIRY_OCT_AXIS_CURVE, /**< axis[j]: position r[j] itself, in samples; kept within the line */
    AIRY_OCT_AXIS_POLY,  /**< r[j] = sum_n poly[n] t^n, t = j / (samples - 1); kept in the line */
    AIRY_OCT_AXIS_COUNT
} airy_oct_axis;

typedef enum airy_oct_interpolation {
    AIRY_OCT_LINEAR = 0,
    AIRY_OCT_CUBIC,   /**< Catmull and Rom's, of 4 samples */
    AIRY_OCT_LANCZOS, /**< of 16 samples, weights divided by their sum */
    AIRY_OCT_INTERPOLATION_COUNT
} airy_oct_interpolation;

typedef enum airy_oct_window {
    AIRY_OCT_WINDOW_RECT = 0,
    AIRY_OCT_WINDOW_HANN,
    AIRY_OCT_WINDOW_HAMMING,
    AIRY_OCT_WINDOW_BLACKMAN,
    AIRY_OCT_WINDOW_GAUSS, /**< exp(-10 u^2), not cut;
                                u = (j - floor(center samples)) / (fill (samples - 1)) */
    AIRY_OCT_WINDOW_SINE,
    AIRY_OCT_WINDOW_FLATTOP, /**< 5 terms */
    AIRY_OCT_WINDOW_TUKEY,   /**< flat in the middle half, half a Hann window at either end */
    AIRY_OCT_WINDOW_TABLE,   /**< window_table */
    AIRY_OCT_WINDOW_COUNT
} airy_oct_window;

typedef enum airy_oct_output {
    AIRY_OCT_DB = 0,
    AIRY_OCT_MAGNITUDE,
    AIRY_OCT_POWER,
    AIRY_OCT_PHASE,
    AIRY_OCT_COMPLEX, /**< a last axis of 2: real and imaginary part; see airy_frame_writer_params */
    AIRY_OCT_OUTPUT_COUNT
} airy_oct_output;

typedef enum airy_oct_flow {
    AIRY_OCT_FLOW_NONE = 0,
    AIRY_OCT_FLOW_PHASE, /**< arg sum_r conj(F_r) F_(r+1), radians; output PHASE. The sum goes over
                                 average_lines and average_frames too. */
    AIRY_OCT_FLOW_VARIANCE, /**< of the repeats' output (DB, MAGNITUDE or POWER), divided by their
                                 number, then means; A. Mariampillai et al., Opt. Lett. 33 (2008)
                                 1530 */
    AIRY_OCT_FLOW_COUNT
} airy_oct_flow;

/** Which frames run backwards: bidirectional scans. Frames count from airy_oct_run.first_frame. */
typedef enum airy_oct_flip {
    AIRY_OCT_FLIP_NONE = 0,
    AIRY_OCT_FLIP_EVEN, /**< 0, 2, 4, ... */
    AIRY_OCT_FLIP_ODD,
    AIRY_OCT_FLIP_ALL,
    AIRY_OCT_FLIP_COUNT
} airy_oct_flip;

typedef enum airy_oct_compat {
    AIRY_OCT_COMPAT_NONE = 0,
    /**
     * As PyMotionOCT: of a wavelength or k table the neighbours are the nearest sample and the one
     * before it, so that half of the bins are extrapolated (the first one from samples 0 and 1);
     * the window comes before resampling.
     */
    AIRY_OCT_COMPAT_PYMOTIONOCT,
    /**
     * As OCTproZ 1.8: the inverse transform, not divided; power is |F|^2 / (samples / 2), db of
     * that, magnitude |F| / (samples / 2); positions may be beyond the line; cubic reads sample 1
     * left of sample 0; Lanczos weights are not divided by their sum; windows are 0 outside of
     * 0.0001 to 0.999 of the filled width.
     */
    AIRY_OCT_COMPAT_OCTPROZ,
    AIRY_OCT_COMPAT_COUNT
} airy_oct_compat;

/** Tables need to live for the call only. Zeroed but for samples and lines is a plain transform. */
typedef struct airy_oct_params {
    size_t samples;   /**< of a line, AIRY_OCT_MIN_SAMPLES to AIRY_OCT_MAX_SAMPLES */
    size_t lines;     /**< of a frame */
    airy_dtype dtype; /**< of raw samples: F32 (0), U8, U16, I16; packed ones are U8 */
    airy_oct_packing packing;
    /** Bytes of a sample, or bits of packed ones, begin with the most significant. */
    bool big_endian;
    int bit_shift; /**< 0 to 15; integers only */

    airy_oct_background background;
    const double *background_line; /**< samples, as the raw ones are after the shift */
    size_t rolling;                /**< 1 to samples */

    airy_oct_axis axis;
    /**
     * samples numbers. Of wavelength and k tables line positions are equal steps of k, falling from
     * kmax by (kmax - kmin) / samples.
     */
    const double *axis_table;
    double poly[AIRY_OCT_TERMS];
    airy_oct_interpolation interpolation;

    airy_oct_window window;
    const double *window_table; /**< samples */
    double window_center;       /**< middle of the window, of the line's length; 0: 0.5 */
    double window_fill;         /**< width, above 0 up to 1 (Gauss: any); 0: 1 */
    bool window_first;          /**< before resampling */

    bool has_dispersion;
    double
        dispersion[AIRY_OCT_TERMS]; /**< phase = sum_n d[n] t^n, radians, t = j / (samples - 1) */
    const double *phase_table;      /**< samples, radians, instead; NULL: none */

    airy_oct_output output;
    size_t depth_first, depth_last; /**< bins; last 0: samples / 2; at most samples / 2 + 1 */
    /**
     * Frames that airy_oct_learn estimates the fixed pattern from; 0: none. Their lines are cut
     * into 9 equal segments (what is left over is not used); for each bin the mean of the segment
     * of least variance is the pattern. Source: S. Moon et al., Opt. Express 18 (2010) 24395.
     */
    size_t fixed_pattern;

    size_t average_lines, average_frames; /**< 0 and 1: none. Means of the power (DB, POWER), of the
                                               magnitude, or of F (PHASE, COMPLEX) */
    airy_oct_flow flow;
    size_t repeats;   /**< of flow, 2 or more */
    bool flow_frames; /**< repeats are frames; else lines that follow each other */
    airy_oct_flip flip;
    bool sinusoidal; /**< line k is read at (lines / pi) acos(1 - 2 k / lines), linearly */

    bool display;     /**< step 12 */
    airy_dtype to;    /**< of the result: F32 (0); U8 and U16 with display: times 255 or 65535,
                             truncated */
    double low, high; /**< of v; low < high */
    double multiply;  /**< 0: 1 */
    double add;
    bool post_background; /**< airy_oct_learn finds it: the mean over the lines of frame 0 of g */
    double post_weight, post_offset; /**< g - (post_weight background + post_offset) */

    airy_oct_compat compat;
} airy_oct_params;

typedef struct airy_oct_info {
    size_t depth;             /**< bins of a profile */
    double depth_step_m;      /**< of a bin in vacuum; NaN where no wavelength or k is known */
    size_t line_bytes;        /**< of a raw line */
    size_t frame_bytes;       /**< of a raw frame */
    size_t out_lines;         /**< of a frame that comes out */
    size_t frames_per_result; /**< raw frames for one frame that comes out */
    size_t result_bytes;      /**< of a frame that comes out */
    const char *method;       /**< how this device transforms this length */
} airy_oct_info;

/** Of one call of airy_oct_process. */
typedef struct airy_oct_run {
    uint64_t first_frame; /**< number of the first frame, of which flip knows the direction */
} airy_oct_run;

/**
 * Prepare tables on a device.
 * @param oct     out
 * @param queue   tables are copied on it; the call waits for them
 *
 * Errors: AIRY_ERR_PARAM (names the parameter; also tables that are not finite or not monotonic),
 *         AIRY_ERR_DTYPE, AIRY_ERR_MEMORY, AIRY_ERR_UNSUPPORTED.
 */
AIRY_API airy_status airy_oct_create(airy_oct **oct, airy_queue *queue,
                                     const airy_oct_params *params);

AIRY_API airy_status airy_oct_get_info(const airy_oct *oct, airy_oct_info *info);

/**
 * Estimate from frames what some parameters need: the fixed pattern and the post background.
 * Earlier estimates are replaced. The call waits for its work.
 *
 * @param src  as of airy_oct_process; at least as many frames as params->fixed_pattern, and one
 *
 * Errors: AIRY_ERR_PARAM (the parameters ask for nothing of the kind), AIRY_ERR_SHAPE,
 *         AIRY_ERR_DTYPE, AIRY_ERR_MEMORY.
 */
AIRY_API airy_status airy_oct_learn(airy_queue *queue, airy_oct *oct, const airy_array *src);

/**
 * Warm up for calls of airy_oct_process with so many frames. A device compiles its kernels
 * at the first call, for a number of frames each: hundreds of milliseconds, and the camera does not
 * wait. Goes once through all of it with frames of zeros, and returns when it is done. A stream
 * (airy_oct_stream_create) does so by itself.
 *
 * @param frames  a multiple of frames_per_result
 *
 * Errors: AIRY_ERR_SHAPE, AIRY_ERR_PARAM (airy_oct_learn was to come first), AIRY_ERR_MEMORY,
 *         AIRY_ERR_DEVICE.
 */
AIRY_API airy_status airy_oct_rehearse(airy_queue *queue, const airy_oct *oct, size_t frames);

/**
 * Process frames to depth profiles.
 *
 * @param dst  out, params->to [frames / frames_per_result, out_lines, depth], with output COMPLEX
 *             f32 and a last axis of 2; tight; must not overlap src
 * @param src  params->dtype [frames, lines, samples], packed ones u8 [frames, lines, line_bytes];
 *             tight; frames: a multiple of frames_per_result
 * @param run  NULL: the first frame is frame 0
 *
 * Returns before it is done.
 *
 * NaN:       a line with a sample that is read and not finite gives NaN in all its bins (integers:
 *            0), and no other line changes, except through means (the background's too) and flow.
 * Accuracy:  of F relative to its largest in two lines that follow each other: 4e-7 root mean
 *            square, 2e-6 at most; a background that is subtracted adds the rounding of samples,
 *            about 6e-8 sqrt(samples) of the largest one. db, power and magnitude follow from that.
 *            Not bit-equal between devices; the same line gives the same result at any place of a
 *            call of the same device, but for its neighbour's share.
 * Errors:    AIRY_ERR_SHAPE, AIRY_ERR_DTYPE, AIRY_ERR_PARAM (airy_oct_learn was to come first),
 *            AIRY_ERR_MEMORY.
 */
AIRY_API airy_status airy_oct_process(airy_queue *queue, const airy_oct *oct, airy_array *dst,
                                      const airy_array *src, const airy_oct_run *run);

/** Destroy it and set *oct to NULL; work that is queued still finishes. */
AIRY_API void airy_oct_destroy(airy_oct **oct);

#ifdef __cplusplus
}
#endif
#endif
