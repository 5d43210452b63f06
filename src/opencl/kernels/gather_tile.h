/*
 * A tile of frames in local memory: what integrate.cl and integrate_azimuth.cl share.
 *
 * Build options: T, the frames' element type, with T_FLOAT for float and double, T_SIGNED for
 * signed integers and T_IS_4_BYTES; VALUE, what holds a pixel: uint, int, float or double; FRAMES,
 * frames that share a read of the matrix; MODEL, the error model: 0 none, 1
 * poisson, 2 azimuthal, 3 variance; UNWEIGHTED 1: weight and coef differ; DARK 1: there is a dark
 * image.
 */
#ifndef AIRY_KERNELS_GATHER_TILE_H
#define AIRY_KERNELS_GATHER_TILE_H

#include "shared/block_layout.h"
#include "shared/gather_geom.h"

#ifndef T
#define T            uint
#define T_IS_4_BYTES 1
#define VALUE        uint
#define FRAMES       4
#endif
#ifndef MODEL
#define MODEL 0
#endif
#ifndef UNWEIGHTED
#define UNWEIGHTED 0
#endif
#ifndef DARK
#define DARK 0
#endif

#define GROUP   AIRY_GATHER_GROUP
#define PLACES  AIRY_GATHER_PLACES
#define NOWHERE AIRY_GATHER_NOWHERE

#define PLANES         5u /* of a frame's sums */
#define SIGNAL         0u
#define VARIANCE       1u
#define NORMALIZATION  2u
#define NORMALIZATION2 3u
#define COUNT          4u

static inline bool is_invalid(T raw, const airy_gather_geom g)
{
#ifdef T_FLOAT
    const double v = raw;
    return !isfinite(v) || (v >= g.test.float_lo && v <= g.test.float_hi);
#elif defined T_SIGNED
    return g.has_invalid != 0u && ((uint)(int)raw ^ 0x80000000u) - g.lo <= g.span;
#else
    return g.has_invalid != 0u && (uint)raw - g.lo <= g.span;
#endif
}

static inline bool is_saturated(T raw, const airy_gather_geom g)
{
#ifdef T_FLOAT
    return (double)raw >= g.test.float_saturation;
#elif defined T_SIGNED
    return g.has_saturation != 0u && ((uint)(int)raw ^ 0x80000000u) >= g.saturation;
#else
    return g.has_saturation != 0u && (uint)raw >= g.saturation;
#endif
}

/* Invalid or saturated, and maybe neither: to be looked at more closely. */
static inline bool is_odd(T raw, const airy_gather_geom g)
{
#ifdef T_FLOAT
    return is_invalid(raw, g) || is_saturated(raw, g);
#elif defined T_SIGNED
    return ((uint)(int)raw ^ 0x80000000u) >= g.odd;
#else
    return (uint)raw >= g.odd;
#endif
}

/*
 * Exact. Integers: 2^52 + v is a double with v as its lowest bits; a subtraction is faster than a
 * conversion.
 */
static inline double to_double(VALUE v)
{
#ifdef T_FLOAT
    return (double)v;
#elif defined T_SIGNED
    return as_double(0x4330000000000000ul | ((uint)v ^ 0x80000000u)) - 4503601774854144.0;
#else
    return as_double(0x4330000000000000ul | v) - 4503599627370496.0;
#endif
}

/* max(1, v) - 1: what the poisson variance of a pixel is above that of an empty one. */
static inline double above_one(VALUE v)
{
#ifdef T_FLOAT
    return fmax((double)v, 1.0) - 1.0;
#elif defined T_SIGNED
    return to_double(max(v, 1) - 1);
#else
    return to_double(v - (v != 0u ? 1u : 0u));
#endif
}

/* The pixel of a place of a tile. */
static inline uint pixel_of(uint place, const airy_gather_unit unit, uint width)
{
    const uint y = place / AIRY_GATHER_PITCH, x = place - y * AIRY_GATHER_PITCH;
    return (unit.y + y) * width + unit.x + x;
}

/* Pixels of a tile are numbered row by row; the place of number i. */
static inline uint place_of(uint i)
{
    return i / AIRY_GATHER_TILE_WIDTH * AIRY_GATHER_PITCH + i % AIRY_GATHER_TILE_WIDTH;
}

static inline bool is_inside(uint i, const airy_gather_unit unit, const airy_gather_geom g)
{
    return unit.x + i % AIRY_GATHER_TILE_WIDTH < g.width &&
           unit.y + i / AIRY_GATHER_TILE_WIDTH < g.height;
}

static inline uint tile_number(const airy_gather_unit unit, const airy_gather_geom g)
{
    const uint across = (g.width + AIRY_GATHER_TILE_WIDTH - 1u) / AIRY_GATHER_TILE_WIDTH;
    return unit.y / AIRY_GATHER_TILE_HEIGHT * across + unit.x / AIRY_GATHER_TILE_WIDTH;
}

/* Elements to the first pixel of a frame; frames behind the last one are the last one once more. */
static inline ulong frame_start(uint frame, const airy_gather_geom g)
{
    return g.frames_offset + (ulong)min(frame, g.frames - 1u) * g.width * g.height;
}

#endif
