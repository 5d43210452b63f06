/*
 * Convolution: all taps at once (kernels/convolve_exact.cl, kernels/convolve.cl), and products of
 * lines (kernels/convolve_lines.cl, kernels/convolve_quads.cl, kernels/convolve_slide.cl,
 * kernels/convolve_sweep.cl, kernels/convolve_tile.cl, kernels/convolve_volume.cl).
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/size.h"
#include "core/backend.h"
#include "filter/filter_fns.h"
#include "opencl/cl_buffer.h"
#include "opencl/cl_convolve.h"
#include "opencl/cl_launch.h"
#include "opencl/cl_move.h"
#include "opencl/cl_rank.h"
#include "shared/filter_geom.h"

enum {
    WORTH_LONG = 8,           /* times exact_results with more than SHORT taps: long to compile */
    SHORT = 17,               /* taps of a line */
    MOST_EXACT = 96,          /* taps of a line for which there is such a kernel */
    LOCAL_REST = 64,          /* what a driver may add to local memory */
    SCRATCH_BYTES = 56 << 20, /* for what a pass leaves for the next */
    TILE_GROUP = 256,
    TILE_MEMORY = 19 << 10,  /* bytes of local memory */
    SOLID_MEMORY = 38 << 10, /* of convolve_volume */
    MOST_SOLID = 9,          /* taps of a line for which that is the faster way */
    MOST_TILED = 1 << 23,    /* results up to which tiles are the faster way */
    SWEEP_GROUP = 128,
    SWEEP_MEMORY = 20 << 10,
    SLIDE_GROUP = 128,
    SLIDE_MEMORY = 28 << 10,
    SLIDE_SPAN = 16,   /* results that an item makes at a time */
    MOST_SLIDING = 48, /* taps of a line */
    EACH = AIRY_FILTER_EACH,
    QUADS_GROUP = 128,
    FEW_QUADS = 32, /* taps of x and y up to which one pass along both is the faster way */
    QUADS_HIGH = QUADS_GROUP / (AIRY_FILTER_ACROSS / EACH) * AIRY_FILTER_QUAD, /* rows, along x */
    QUADS_STEP = QUADS_GROUP / (AIRY_FILTER_WIDE / AIRY_FILTER_QUAD) * EACH,   /* along y or z */
    UNIT = 16 /* bytes; local memory is counted in such */
};

static struct airy_convolve_place place_of(const airy_array *array,
                                           const struct airy_filter_geometry *g)
{
    struct airy_convolve_place p = {
        .buffer = AIRY_CL_ARRAY(array), .dtype = array->dtype, .offset = airy_cl_offset(array)};
    airy_filter_steps(p.step, array, g);
    return p;
}

/* A tight array of n[0] x n[1] x n[2] for each image in scratch. */
static airy_status place_scratch(struct airy_convolve_place *p, airy_queue *queue,
                                 enum airy_scratch slot, airy_dtype dtype, size_t images,
                                 const size_t n[3])
{
    airy_buffer *buffer;
    size_t size = airy_dtype_size(dtype);
    bool large = airy_mul_size(&size, size, images);
    for (int i = 0; i < 3; i++)
        large = large || airy_mul_size(&size, size, n[i]);
    AIRY_FAIL_IF(large, AIRY_ERR_MEMORY,
                 "%zu images of %zu x %zu x %zu do not fit the address space", images, n[0], n[1],
                 n[2]);
    AIRY_TRY(airy_queue_scratch(queue, slot, size, &buffer));
    *p = (struct airy_convolve_place){.buffer = AIRY_CL_BUFFER(buffer),
                                      .dtype = dtype,
                                      .step = {n[0] * n[1] * n[2], n[1] * n[2], n[2]}};
    return AIRY_OK;
}

static void fill_geom(struct airy_convolve_pass *pass)
{
    airy_filter_geom *g = &pass->geom;
    g->src_offset = (int64_t)pass->src.offset;
    g->dst_offset = (int64_t)pass->dst.offset;
    for (int i = 0; i < 3; i++) {
        g->src_step[i] = (int64_t)pass->src.step[i];
        g->dst_step[i] = (int64_t)pass->dst.step[i];
        g->n[i] = (int64_t)pass->axis[i].n;
        g->out[i] = (int64_t)pass->axis[i].out;
        g->offset[i] = pass->axis[i].offset;
        g->taps[i] = (uint32_t)pass->axis[i].taps;
    }
    g->border = (uint32_t)pass->border;
    g->add = pass->add;
    g->unit = pass->unit;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t divide_up(size_t a, size_t b)
{
    return (a + b - 1) / b;
}

static size_t results_of(const struct airy_convolve_pass *pass)
{
    return pass->images * pass->axis[0].out * pass->axis[1].out * pass->axis[2].out;
}

/* Whether lines of `taps` at most are worth a kernel that is built for their number. */
static bool is_worth(const struct airy_convolve_pass *pass, size_t taps)
{
    const size_t worth = airy_cl_device(pass->queue->device)->exact_results;
    return taps <= MOST_EXACT && results_of(pass) / (taps <= SHORT ? 1 : WORTH_LONG) >= worth;
}

/* The same of lines of x and y taps and one that knows where in a table its weights are. */
static bool is_exact(const struct airy_convolve_pass *pass, size_t x, size_t y)
{
    return is_worth(pass, x > y ? x : y) && airy_convolve_table(pass);
}

/* Rows of the source begin at units, and its elements go to local memory as they are. */
static bool has_units(const struct airy_convolve_pass *pass)
{
    size_t odd = pass->src.offset;
    for (int i = 0; i < 3; i++)
        odd |= pass->src.step[i];
    return pass->src.dtype == pass->dst.dtype && odd % airy_convolve_units(pass) == 0;
}

/* Elements from the beginning of a unit to the first that a row of a tile looks at. */
static int tile_shift(const struct airy_convolve_pass *pass)
{
    const int64_t units = (int64_t)airy_convolve_units(pass),
                  first = pass->axis[2].offset - (int64_t)(pass->axis[2].taps - 1);
    return (int)((first % units + units) % units);
}

/* Whether 32 bits are enough for a kernel to count elements of lines along an axis. */
static bool is_countable(const struct airy_convolve_pass *pass, int axis)
{
    const int64_t most = INT32_MAX / 16, offset = pass->axis[axis].offset;
    return (int64_t)pass->axis[axis].n < most && (int64_t)pass->axis[axis].out < most &&
           offset < most && offset > -most;
}

/* Whether what stands for elements outside of lines along an axis is found without a division. */
static bool folds_once(const struct airy_convolve_pass *pass, int axis)
{
    const struct airy_filter_axis *a = &pass->axis[axis];
    const int64_t n = (int64_t)a->n, first = a->offset - (int64_t)(a->taps - 1),
                  last = (int64_t)a->out - 1 + a->offset;
    return pass->border <= AIRY_BORDER_NEAREST || (first > -n && last < 2 * n - 1);
}

/*
 * All taps in a kernel that is built for their numbers. Its code is straight, 16 bytes a
 * multiplication on an H200, whose cache of instructions has 32 KiB: three rows an item, or two. For
 * 2048 x 2048 by 15 x 15 there 41.6 us in float (three rows 46.4), 74.9 in double; with passes down
 * more rows, a loop over rows of taps or more rows in registers 42 to 53.
 */
static airy_status run_exact(struct airy_convolve_pass *pass)
{
    enum { CODE = 30 << 10, EACH_CODE = 16, MOST_ROWS = 3 };
    const struct airy_filter_axis *a = pass->axis;
    const size_t code = a[2].taps * a[1].taps * airy_convolve_units(pass) * EACH_CODE;
    const int rows = MOST_ROWS * code <= CODE ? MOST_ROWS : MOST_ROWS - 1;
    const uint32_t most = pass->queue->device->info.max_group;
    const size_t group = most < 128   ? 64
                         : most < 256 ? 128
                                      : 256,
                 across = AIRY_FILTER_WIDE / airy_convolve_units(pass),
                 high = group / across * (size_t)rows;
    char options[96];
    const int used = snprintf(options, sizeof(options), " -DTAPS_X=%zuu -DTAPS_Y=%zuu -DROWS=%d",
                              a[2].taps, a[1].taps, rows);
    if (has_units(pass) && folds_once(pass, 2) && folds_once(pass, 1))
        snprintf(options + used, sizeof(options) - (size_t)used, " -DSHIFT=%d", tile_shift(pass));
    fill_geom(pass);
    pass->geom.strips = (uint32_t)divide_up(a[2].out, AIRY_FILTER_WIDE);
    const struct airy_convolve_shape shape = {"convolve_exact.cl", "convolve_exact", options, group,
                                              0};
    return airy_convolve_launch_box(
        pass, &shape,
        (const size_t[3]){divide_up(a[1].out, high), pass->geom.strips, a[0].out * pass->images});
}

/* All taps in kernels that are built for their number, or in blocks. */
static airy_status run_direct(struct airy_convolve_pass *pass)
{
    const struct airy_filter_axis *a = pass->axis;
    const size_t x = a[2].taps, y = a[1].taps;
    const bool few = a[0].taps == 1 && x <= AIRY_FILTER_BLOCK && y <= AIRY_FILTER_BLOCK;
    const bool steps = pass->src.step[2] < INT32_MAX / 16 && pass->dst.step[2] < INT32_MAX / 16;
    if (few && steps && is_countable(pass, 2) && is_countable(pass, 1) && is_exact(pass, x, y))
        return run_exact(pass);
    const size_t group = pass->queue->device->info.max_group < 128 ? 64 : 128,
                 rows = pass->dst.dtype == AIRY_DTYPE_F32 ? 4 : 2,
                 high = group / (AIRY_FILTER_WIDE / AIRY_FILTER_QUAD) * rows;
    char options[64];
    snprintf(options, sizeof(options), " -DROWS=%zu -DTAPS_X=%zu", rows,
             least(x, AIRY_FILTER_BLOCK));
    fill_geom(pass);
    pass->geom.strips = (uint32_t)divide_up(a[2].out, AIRY_FILTER_WIDE);
    pass->geom.segments = (uint32_t)divide_up(a[1].out, high);
    const struct airy_convolve_shape shape = {"convolve.cl", "convolve_direct", options, group, 0};
    return airy_convolve_launch(
        pass, &shape, (size_t)pass->geom.strips * pass->geom.segments * a[0].out * pass->images);
}

/*
 * Segments along an axis of `out`, each of which begins by `back` steps that give no result. Work is
 * counted in steps of EACH results; `others` groups stand beside each other. Short segments go over
 * more elements twice; with long ones units wait for the last groups, TAIL of them beside each other
 * on a unit.
 */
static void set_segments(struct airy_convolve_pass *pass, size_t out, size_t taps, size_t each_step,
                         size_t others)
{
    enum { TAIL = 3, MOST = 1024 };
    const double back = (double)divide_up(taps - 1, each_step),
                 steps = (double)divide_up(out, each_step),
                 each = (double)others / (double)pass->queue->device->info.units;
    double best = INFINITY;
    size_t chosen = 1;
    for (size_t i = 1; i <= MOST && (double)i <= steps; i++) {
        const double n = (double)i, cost = each * (steps + n * back) + TAIL * (steps / n + back);
        if (cost >= best)
            break; /* it falls, then it rises */
        best = cost;
        chosen = i;
    }
    const size_t length = divide_up(divide_up(out, chosen), each_step) * each_step;
    pass->geom.length = (uint32_t)length;
    pass->geom.segments = (uint32_t)divide_up(out, length);
}

/* The local memory of convolve_xy, in units, for groups of `group`. */
static size_t plan_xy(struct airy_convolve_pass *pass, size_t group)
{
    const struct airy_filter_axis *a = pass->axis;
    const size_t vl = airy_convolve_units(pass), x = airy_filter_rounded((uint32_t)a[2].taps),
                 y = airy_filter_rounded((uint32_t)a[1].taps), line = (group + x) / vl;
    airy_filter_geom *g = &pass->geom;
    g->pitch = (uint32_t)(line + line / 8);
    g->ring = (uint32_t)(2 * EACH * g->pitch);
    g->weights = (uint32_t)(g->ring + airy_filter_slots((uint32_t)a[1].taps) * EACH *
                                          (group + group / 8) / vl);
    return g->weights + (x + y) / vl;
}

static size_t plan_march(struct airy_convolve_pass *pass, size_t taps, size_t group)
{
    const size_t vl = airy_convolve_units(pass);
    pass->geom.ring = 0;
    pass->geom.weights = (uint32_t)(airy_filter_slots((uint32_t)taps) * EACH * group / vl);
    return pass->geom.weights + airy_filter_rounded((uint32_t)taps) / vl;
}

/* The largest group whose local memory is there; 0: none. */
static size_t choose_group(struct airy_convolve_pass *pass, size_t taps, bool xy, size_t *memory)
{
    const airy_device_info *info = &pass->queue->device->info;
    for (size_t group = 128; group >= 32; group /= 2) {
        *memory = UNIT * (xy ? plan_xy(pass, group) : plan_march(pass, taps, group));
        if (group <= info->max_group && *memory + LOCAL_REST <= info->local_mem)
            return group;
    }
    return 0;
}

/* Build options of kernels along lines of x and y taps; returns their length. */
enum { LINE_OPTIONS = 64 };

static int line_options(char options[LINE_OPTIONS], const struct airy_convolve_pass *pass,
                        int kernel, size_t x, size_t y)
{
    int used = snprintf(options, LINE_OPTIONS, " -DKERNEL=%d", kernel);
    if (is_exact(pass, x, y))
        used += snprintf(options + used, (size_t)(LINE_OPTIONS - used),
                         " -DTAPS_X=%zuu -DTAPS_Y=%zuu", x, y);
    return used;
}

/* Whether kernels of filter_tile.h can do it: floats in rows that begin at units, few taps. */
static bool is_tiled(const struct airy_convolve_pass *pass, size_t most_taps, size_t memory)
{
    const struct airy_filter_axis *a = pass->axis;
    const airy_device_info *info = &pass->queue->device->info;
    const bool units = has_units(pass) && pass->dst.dtype == AIRY_DTYPE_F32;
    const bool few = a[2].taps > 1 && a[1].taps > 1 && a[2].taps <= most_taps &&
                     a[1].taps <= most_taps && a[0].taps <= most_taps;
    const bool fits = info->max_group >= TILE_GROUP && info->local_mem >= memory;
    return units && few && fits && is_exact(pass, a[2].taps, a[1].taps);
}

/* Tiles across and down, of `high` rows of results. */
static void count_tiles(size_t count[2], const struct airy_convolve_pass *pass, size_t high)
{
    count[0] = divide_up(pass->axis[2].out, AIRY_FILTER_WIDE);
    count[1] = divide_up(pass->axis[1].out, high);
}

/* registers: a bound for an item on NVIDIA's devices, if the kernel knows REQUIRED; 0: none. */
static airy_status launch_tiles(struct airy_convolve_pass *pass, const char *file,
                                const char *kernel, size_t rows, unsigned registers,
                                const size_t groups[3])
{
    const struct airy_filter_axis *a = pass->axis;
    char options[128], bound[AIRY_CL_BOUND];
    airy_cl_bound(bound, pass->queue->device, registers);
    snprintf(options, sizeof(options),
             " -DTAPS_X=%zuu -DTAPS_Y=%zuu -DTAPS_Z=%zuu -DROWS=%zuu -DSHIFT=%d %s", a[2].taps,
             a[1].taps, a[0].taps, rows, tile_shift(pass), bound);
    const struct airy_convolve_shape shape = {file, kernel, options, TILE_GROUP, 0};
    return airy_convolve_launch_box(pass, &shape, groups);
}

/*
 * Whether convolve_tile is the way. Images that are a few tiles a compute unit are done sooner so
 * than by groups that march down strips: 13.4 us instead of 26.5 for 2048 x 2048 by 15 x 15 on an
 * H200, float; with double convolve_xy is the faster one. The kernel counts in 32 bits, finds what is
 * outside without divisions, and takes one launch.
 */
static bool is_small(const struct airy_convolve_pass *pass)
{
    const struct airy_filter_axis *a = pass->axis;
    const bool counts = is_countable(pass, 2) && is_countable(pass, 1),
               folds = folds_once(pass, 2) && folds_once(pass, 1),
               whole = a[0].out * pass->images <= AIRY_CL_MOST_GROUPS &&
                       divide_up(a[2].out, AIRY_FILTER_WIDE) <= AIRY_CL_MOST_GROUPS;
    return results_of(pass) <= MOST_TILED && counts && folds && whole &&
           is_tiled(pass, SHORT, TILE_MEMORY);
}

/*
 * As run_xy. An item makes 13 rows where all groups run at a time, to which end its registers are
 * bound, and else 7, so that the last groups end with the others.
 */
static airy_status run_tile(struct airy_convolve_pass *pass)
{
    enum {
        DOWN = 2 * TILE_GROUP / AIRY_FILTER_WIDE, /* items of two columns */
        MOST = 13 * DOWN,
        FEW = 7 * DOWN,
        RESIDENT = 5,   /* groups of a unit at a time, of an H100 or H200 */
        REGISTERS = 48, /* of an item then */
        ROW = AIRY_FILTER_WIDE * sizeof(float)
    };
    const airy_device_info *info = &pass->queue->device->info;
    const size_t lost = pass->axis[1].taps - 1, planes = pass->axis[0].out * pass->images;
    size_t tiles[2];
    fill_geom(pass);
    count_tiles(tiles, pass, MOST);
    const bool all = tiles[0] * tiles[1] * planes <= RESIDENT * (size_t)info->units &&
                     (MOST + lost) * ROW + LOCAL_REST <= info->local_mem;
    if (!all)
        count_tiles(tiles, pass, FEW);
    pass->geom.strips = (uint32_t)tiles[0];
    return launch_tiles(pass, "convolve_tile.cl", "convolve_tile", (all ? MOST : FEW) + lost,
                        all ? REGISTERS : 0, (const size_t[3]){tiles[1], tiles[0], planes});
}

/*
 * Segments along an axis of `out`, each of which begins by `back` steps that give no result, so that
 * the last groups end with the others. Work is counted in steps; `others` groups stand beside each
 * other, `resident` of all are on a unit at a time.
 */
static void set_waves(struct airy_convolve_pass *pass, size_t out, size_t back, size_t each_step,
                      size_t others, size_t resident)
{
    enum { MOST = 64 };
    const size_t steps = divide_up(out, each_step),
                 places = resident * pass->queue->device->info.units;
    size_t best = SIZE_MAX, chosen = 1;
    for (size_t n = 1; n <= MOST && n <= steps; n++) {
        const size_t cost = divide_up(others * n, places) * (divide_up(steps, n) + back);
        if (cost < best) {
            best = cost;
            chosen = n;
        }
    }
    const size_t length = divide_up(steps, chosen) * each_step;
    pass->geom.length = (uint32_t)length;
    pass->geom.segments = (uint32_t)divide_up(out, length);
}

/*
 * Whether convolve_volume is the way: 0.49 ms instead of 0.53 for 100 x 1024 x 1024 by 9 taps on an
 * H200, but 0.73 instead of 0.63 by 17. Planes beyond a border with a value are what is outside
 * times the sums of x and y where z is a pass of its own, which differs from theirs by a rounding.
 */
static bool is_solid(const struct airy_convolve_pass *pass)
{
    return (pass->border != AIRY_BORDER_VALUE || pass->outside == 0) && pass->axis[0].taps > 1 &&
           is_tiled(pass, MOST_SOLID, SOLID_MEMORY);
}

/* Along all three axes. weights: all lines. */
static airy_status run_solid(struct airy_convolve_pass *pass)
{
    enum { ROWS = 32, RESIDENT = 2, DOWN = TILE_GROUP / AIRY_FILTER_WIDE /* items of a column */ };
    size_t tiles[2];
    fill_geom(pass);
    count_tiles(tiles, pass, (ROWS - (pass->axis[1].taps - 1)) / DOWN * DOWN);
    set_waves(pass, pass->axis[0].out, pass->axis[0].taps - 1, 1,
              tiles[0] * tiles[1] * pass->images, RESIDENT);
    return launch_tiles(pass, "convolve_volume.cl", "convolve_volume", ROWS, 0,
                        (const size_t[3]){tiles[0], tiles[1], pass->geom.segments * pass->images});
}

/*
 * Whether a pass along x and y can slide (kernels/convolve_slide.cl), which is for float and for so
 * many columns that lines are not cut short for the sake of idle units: 0.30 ms instead of 0.37 for
 * 100 x 1024 x 1024 by 17 taps on an H200, 0.65 instead of 0.71 by 41.
 */
static bool is_slide(const struct airy_convolve_pass *pass)
{
    const airy_device_info *info = &pass->queue->device->info;
    const struct airy_filter_axis *a = pass->axis;
    const size_t columns = a[2].out * a[0].out * pass->images;
    return pass->dst.dtype == AIRY_DTYPE_F32 && a[2].taps > 1 && a[1].taps > 1 &&
           a[2].taps <= MOST_SLIDING && a[1].taps <= MOST_SLIDING &&
           columns >= (size_t)SLIDE_GROUP * info->units && info->max_group >= SLIDE_GROUP &&
           info->local_mem >= SLIDE_MEMORY && is_exact(pass, a[2].taps, a[1].taps);
}

/* As run_xy. Groups of 64 where taps take more registers: 0.65 ms instead of 0.69 by 41. */
static airy_status run_slide(struct airy_convolve_pass *pass)
{
    const struct airy_filter_axis *a = pass->axis;
    const size_t planes = a[0].out * pass->images,
                 group = a[2].taps > SHORT || a[1].taps > SHORT ? SLIDE_GROUP / 2 : SLIDE_GROUP;
    fill_geom(pass);
    pass->geom.strips = (uint32_t)divide_up(a[2].out, group);
    set_segments(pass, a[1].out, a[1].taps, SLIDE_SPAN, pass->geom.strips * planes);
    char options[LINE_OPTIONS];
    line_options(options, pass, 1, a[2].taps, a[1].taps);
    const struct airy_convolve_shape shape = {"convolve_slide.cl", "convolve_slide", options, group,
                                              0};
    return airy_convolve_launch(pass, &shape,
                                (size_t)pass->geom.strips * pass->geom.segments * planes);
}

/*
 * Whether a pass along one axis can be by four lines at a time (kernels/convolve_quads.cl): for
 * float results in rows that begin at units, and for so many columns that lines are not cut short
 * for the sake of idle units. For 100 x 1024 x 1024 on an H200 z takes 0.23 ms by 17 taps, 0.28 by
 * 41 and 0.46 by 81, where a march takes 0.27, 0.35 and 0.60.
 */
static bool is_quads(const struct airy_convolve_pass *pass, int axis, size_t memory)
{
    const airy_device_info *info = &pass->queue->device->info;
    const struct airy_filter_axis *a = &pass->axis[axis];
    size_t odd = pass->dst.offset | pass->axis[2].out;
    for (int i = 0; i < 3; i++)
        odd |= pass->dst.step[i];
    return pass->dst.dtype == AIRY_DTYPE_F32 && odd % airy_convolve_units(pass) == 0 &&
           !pass->add && results_of(pass) / a->out >= (size_t)QUADS_GROUP * info->units &&
           info->max_group >= QUADS_GROUP && info->local_mem >= memory + LOCAL_REST &&
           is_worth(pass, a->taps);
}

/* Along y (1) or z (0). */
static bool is_quads_column(const struct airy_convolve_pass *pass, int axis)
{
    const struct airy_filter_axis *a = &pass->axis[axis];
    const size_t blocks = airy_filter_slots((uint32_t)a->taps) + QUADS_STEP / EACH - 1;
    return has_units(pass) && a->n >= a->taps && a->n <= INT32_MAX / 2 &&
           is_quads(pass, axis, blocks * EACH * AIRY_FILTER_WIDE * sizeof(float));
}

/* As run_column. */
static airy_status run_quads(struct airy_convolve_pass *pass, int axis)
{
    const struct airy_filter_axis *a = pass->axis;
    fill_geom(pass);
    pass->geom.axis = (uint32_t)axis;
    pass->geom.strips = (uint32_t)divide_up(a[2].out * a[1 - axis].out, AIRY_FILTER_WIDE);
    pass->geom.in_place = pass->in_place;
    if (pass->in_place) {
        pass->geom.length = (uint32_t)a[axis].out;
        pass->geom.segments = 1;
    } else
        set_segments(pass, a[axis].out, a[axis].taps, QUADS_STEP, pass->geom.strips * pass->images);
    char options[LINE_OPTIONS];
    snprintf(options, sizeof(options), " -DKERNEL=2 -DTAPS_X=1u -DTAPS_Y=%zuu", a[axis].taps);
    const struct airy_convolve_shape shape = {"convolve_quads.cl", "convolve_quads", options,
                                              QUADS_GROUP, 0};
    return airy_convolve_launch(pass, &shape,
                                (size_t)pass->geom.strips * pass->geom.segments * pass->images);
}

/*
 * Whether convolve_sweep is the way: 24.4 us instead of 32.5 for 2048 x 2048 by 15 x 15 on an H200,
 * double. With float convolve_tile is the faster one. Whatever the number of results, as along y
 * comes first, which rounds otherwise.
 */
static bool is_sweep(const struct airy_convolve_pass *pass)
{
    const struct airy_filter_axis *a = pass->axis;
    const airy_device_info *info = &pass->queue->device->info;
    const bool few = a[2].taps > 1 && a[1].taps > 1 && a[2].taps <= AIRY_FILTER_SWEPT &&
                     a[1].taps <= AIRY_FILTER_SWEPT;
    return pass->dst.dtype == AIRY_DTYPE_F64 && few && info->max_group >= SWEEP_GROUP &&
           info->local_mem >= SWEEP_MEMORY && airy_convolve_table(pass);
}

/* As run_xy. */
static airy_status run_sweep(struct airy_convolve_pass *pass)
{
    enum { RESIDENT = 4 };
    const struct airy_filter_axis *a = pass->axis;
    const bool exact = is_exact(pass, a[2].taps, a[1].taps);
    const size_t planes = a[0].out * pass->images, most = AIRY_FILTER_SWEPT,
                 lead = divide_up((exact ? a[2].taps : most) - 1, EACH),
                 back = divide_up((exact ? a[1].taps : most) - 1, EACH);
    fill_geom(pass);
    pass->geom.strips = (uint32_t)divide_up(a[2].out, SWEEP_GROUP - lead * EACH);
    set_waves(pass, a[1].out, back, EACH, pass->geom.strips * planes, RESIDENT);
    char options[LINE_OPTIONS];
    line_options(options, pass, 1, a[2].taps, a[1].taps);
    const struct airy_convolve_shape shape = {"convolve_sweep.cl", "convolve_sweep", options,
                                              SWEEP_GROUP, 0};
    return airy_convolve_launch(pass, &shape,
                                (size_t)pass->geom.strips * pass->geom.segments * planes);
}

/* Along x and y, or one of them with one tap along the other. weights: both lines. */
static airy_status run_xy(struct airy_convolve_pass *pass, size_t group, size_t memory)
{
    const struct airy_filter_axis *a = pass->axis;
    const size_t planes = a[0].out * pass->images;
    fill_geom(pass);
    plan_xy(pass, group);
    pass->geom.strips = (uint32_t)divide_up(a[2].out, group);
    pass->geom.axis = 1;
    set_segments(pass, a[1].out, a[1].taps, EACH, pass->geom.strips * planes);
    char options[LINE_OPTIONS];
    line_options(options, pass, 1, a[2].taps, a[1].taps);
    const struct airy_convolve_shape shape = {"convolve_lines.cl", "convolve_xy", options, group,
                                              memory};
    return airy_convolve_launch(pass, &shape,
                                (size_t)pass->geom.strips * pass->geom.segments * planes);
}

static airy_status run_x(struct airy_convolve_pass *pass)
{
    const struct airy_filter_axis *a = pass->axis;
    const size_t group = 64, vl = airy_convolve_units(pass),
                 line = (group * EACH + airy_filter_rounded((uint32_t)a[2].taps)) / vl;
    fill_geom(pass);
    pass->geom.weights = (uint32_t)(line + line / 8);
    pass->geom.strips = (uint32_t)divide_up(a[2].out, group * EACH);
    const size_t memory = UNIT *
                          (pass->geom.weights + airy_filter_rounded((uint32_t)a[2].taps) / vl);
    const struct airy_convolve_shape shape = {"convolve_lines.cl", "convolve_x", " -DKERNEL=3",
                                              group, memory};
    return airy_convolve_launch(pass, &shape,
                                (size_t)pass->geom.strips * a[1].out * a[0].out * pass->images);
}

/* Along y (1) or z (0). */
static airy_status run_column(struct airy_convolve_pass *pass, int axis)
{
    const struct airy_filter_axis *a = pass->axis;
    const size_t columns = a[2].out * a[1 - axis].out;
    size_t memory;
    if (is_quads_column(pass, axis))
        return run_quads(pass, axis);
    fill_geom(pass);
    pass->geom.axis = (uint32_t)axis;
    const size_t group = choose_group(pass, a[axis].taps, false, &memory);
    const size_t across = group ? group : 64;
    pass->geom.strips = (uint32_t)divide_up(columns, across);
    pass->geom.in_place = pass->in_place;
    if (group && pass->in_place) {
        pass->geom.length = (uint32_t)(divide_up(a[axis].out, EACH) * EACH);
        pass->geom.segments = 1;
    } else if (group)
        set_segments(pass, a[axis].out, a[axis].taps, EACH, pass->geom.strips * pass->images);
    else
        pass->geom.segments = (uint32_t)divide_up(a[axis].out, EACH);
    char options[LINE_OPTIONS];
    line_options(options, pass, 2, 1, a[axis].taps);
    const struct airy_convolve_shape march = {"convolve_lines.cl", "convolve_march", options, group,
                                              memory},
                                     run = {"convolve_lines.cl", "convolve_run", " -DKERNEL=4",
                                            across, 0},
                                     *shape = group ? &march : &run;
    return airy_convolve_launch(pass, shape,
                                (size_t)pass->geom.strips * pass->geom.segments * pass->images);
}

static double sum_of(const double *v, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += v[i];
    return sum;
}

static struct airy_filter_axis as_it_is(size_t n)
{
    return (struct airy_filter_axis){n, n, 1, 0};
}

/* The lines of a product: x, then y at airy_filter_rounded(taps of x), then z. */
struct lines {
    double *all, *line[3];
    double sum[3];
};

/*
 * Make the lines of weights. The factors of axes with one tap go into the first line with several.
 * unit: each line adds up to 1, but for the rounding of its weights.
 */
static airy_status make_lines(struct lines *lines, const struct airy_filter_axis axis[3],
                              double *const line[3], bool unit)
{
    void *block;
    const size_t x = airy_filter_rounded((uint32_t)axis[2].taps),
                 y = airy_filter_rounded((uint32_t)axis[1].taps);
    AIRY_TRY(airy_memory_calloc(&block, x + y + axis[0].taps, sizeof(double), "weights"));
    lines->all = block;
    lines->line[2] = lines->all;
    lines->line[1] = lines->all + x;
    lines->line[0] = lines->all + x + y;
    const int first = axis[2].taps > 1 || (axis[1].taps == 1 && axis[0].taps == 1) ? 2
                      : axis[1].taps > 1                                           ? 1
                                                                                   : 0;
    double factor = 1;
    for (int i = 0; i < 3; i++)
        factor *= axis[i].taps == 1 ? line[i][0] : 1;
    for (int i = 0; i < 3; i++) {
        for (size_t k = 0; k < axis[i].taps; k++)
            lines->line[i][k] = (axis[i].taps == 1 ? 1 : line[i][k]) * (i == first ? factor : 1);
        lines->sum[i] = unit ? 1 : sum_of(lines->line[i], axis[i].taps);
    }
    return AIRY_OK;
}

static void set_weights(struct airy_convolve_pass *pass, const struct lines *lines, int axis)
{
    pass->weights = lines->line[axis];
    pass->weight_count = pass->axis[axis].taps;
}

/* Taps of x and y do not fit local memory together. */
static bool is_far(const struct airy_convolve_pass *pass)
{
    struct airy_convolve_pass copy = *pass;
    size_t memory;
    return copy.axis[2].taps > 1 && copy.axis[1].taps > 1 &&
           choose_group(&copy, 0, true, &memory) == 0;
}

/* Along y of what a pass along x left in its result. */
static struct airy_convolve_pass pass_y(const struct airy_convolve_pass *whole)
{
    struct airy_convolve_pass y = *whole;
    y.src = y.dst;
    y.in_place = true;
    y.axis[0] = as_it_is(y.axis[0].out);
    y.axis[2] = as_it_is(y.axis[2].out);
    return y;
}

/*
 * Whether along x and then along y in place, each by four lines at a time: 0.53 ms instead of 0.65
 * for 100 x 1024 x 1024 by 41 taps on an H200, 0.82 instead of 1.29 by 81, but 0.50 instead of 0.45
 * by 29. Rows beyond a border with a value are what is outside times the sum of x where y is a pass
 * of its own, which differs from theirs by a rounding.
 */
static bool is_quads_plane(const struct airy_convolve_pass *pass)
{
    const struct airy_filter_axis *a = pass->axis;
    const size_t line = divide_up(AIRY_FILTER_ACROSS + a[2].taps + 2, airy_convolve_units(pass)) |
                        1;
    const struct airy_convolve_pass y = pass_y(pass);
    return a[2].taps > FEW_QUADS && a[1].taps > FEW_QUADS &&
           (pass->border != AIRY_BORDER_VALUE || pass->outside == 0) &&
           airy_filter_in_place((int64_t)a[1].n, (int64_t)a[1].out, a[1].offset,
                                (uint32_t)a[1].taps, (uint32_t)pass->border) &&
           is_quads(pass, 2, QUADS_HIGH * line * UNIT) && is_quads_column(&y, 1);
}

static airy_status run_quads_plane(const struct airy_convolve_pass *whole,
                                   const struct lines *lines)
{
    struct airy_convolve_pass x = *whole, y = pass_y(whole);
    const struct airy_filter_axis *a = x.axis;
    x.axis[1] = as_it_is(a[1].n);
    set_weights(&x, lines, 2);
    fill_geom(&x);
    x.geom.strips = (uint32_t)divide_up(a[2].out, AIRY_FILTER_ACROSS);
    x.geom.segments = (uint32_t)divide_up(a[1].out, QUADS_HIGH);
    char options[LINE_OPTIONS];
    const int used =
        snprintf(options, sizeof(options), " -DKERNEL=1 -DTAPS_X=%zuu -DTAPS_Y=1u", a[2].taps);
    if (has_units(&x))
        snprintf(options + used, sizeof(options) - (size_t)used, " -DUNITS=1 -DSHIFT=%d",
                 tile_shift(&x));
    const struct airy_convolve_shape shape = {"convolve_quads.cl", "convolve_quads_x", options,
                                              QUADS_GROUP, 0};
    AIRY_TRY(airy_convolve_launch(&x, &shape,
                                  (size_t)x.geom.strips * x.geom.segments * a[0].out * x.images));
    set_weights(&y, lines, 1);
    return run_quads(&y, 1);
}

static airy_status run_plane(struct airy_convolve_pass *pass, const struct lines *lines);

/* x for all rows to scratch, then y: where both at a time do not fit local memory. */
static airy_status run_plane_apart(const struct airy_convolve_pass *pass, const struct lines *lines)
{
    struct airy_convolve_pass x = *pass, y = *pass;
    const size_t n[3] = {pass->axis[0].out, pass->axis[1].n, pass->axis[2].out};
    struct lines apart;
    static const double one[1] = {1};
    x.axis[1] = as_it_is(n[1]);
    x.add = false;
    AIRY_TRY(place_scratch(&x.dst, pass->queue, AIRY_SCRATCH_PARTIALS, pass->dst.dtype,
                           pass->images, n));
    AIRY_TRY(make_lines(&apart, x.axis,
                        (double *const[3]){(double *)one, (double *)one, lines->line[2]},
                        pass->unit));
    const airy_status status = run_plane(&x, &apart);
    free(apart.all);
    AIRY_TRY(status);
    y.src = x.dst;
    y.axis[2] = as_it_is(n[2]);
    y.outside *= lines->sum[2];
    return run_plane(&y, lines);
}

/* Along x and y, which may be of one tap. */
static airy_status run_plane(struct airy_convolve_pass *pass, const struct lines *lines)
{
    const size_t x = pass->axis[2].taps, y = pass->axis[1].taps;
    size_t memory;
    if (x == 1 && y > 1) {
        set_weights(pass, lines, 1);
        return run_column(pass, 1);
    }
    if (y == 1 && pass->axis[1].out < EACH) {
        set_weights(pass, lines, 2);
        return run_x(pass);
    }
    if (is_quads_plane(pass))
        return run_quads_plane(pass, lines);
    const size_t group = choose_group(pass, 0, true, &memory);
    if (!group)
        return run_plane_apart(pass, lines);
    pass->weights = lines->all;
    pass->weight_count = airy_filter_rounded((uint32_t)x) + y;
    return is_small(pass)   ? run_tile(pass)
           : is_sweep(pass) ? run_sweep(pass)
           : is_slide(pass) ? run_slide(pass)
                            : run_xy(pass, group, memory);
}

/*
 * Along x and y to dst, and along z in place. Not with so few columns that a march of each from
 * one end to the other leaves the device idle.
 */
static bool runs_in_place(const struct airy_convolve_pass *pass)
{
    enum { COLUMNS = 512 /* a compute unit */ };
    const struct airy_filter_axis *a = pass->axis;
    struct airy_convolve_pass copy = *pass;
    size_t memory;
    return !pass->add &&
           airy_filter_in_place((int64_t)a[0].n, (int64_t)a[0].out, a[0].offset,
                                (uint32_t)a[0].taps, (uint32_t)pass->border) &&
           a[1].out * a[2].out * pass->images >=
               COLUMNS * (size_t)pass->queue->device->info.units &&
           choose_group(&copy, a[0].taps, false, &memory);
}

static airy_status run_in_place(const struct airy_convolve_pass *whole, const struct lines *lines)
{
    const struct airy_filter_axis *a = whole->axis;
    struct airy_convolve_pass plane = *whole, z = *whole;
    plane.axis[0] = as_it_is(a[0].n);
    AIRY_TRY(run_plane(&plane, lines));
    z.src = z.dst;
    z.in_place = true;
    z.axis[1] = as_it_is(a[1].out);
    z.axis[2] = as_it_is(a[2].out);
    z.outside *= lines->sum[2] * lines->sum[1];
    set_weights(&z, lines, 0);
    return run_column(&z, 0);
}

/*
 * Along x and y to scratch, then along z: some rows of all planes at a time, so that scratch stays
 * small. Whole images where several fit; all rows where y has to look back over its own scratch.
 */
static airy_status run_volume(const struct airy_convolve_pass *whole, const struct lines *lines)
{
    const struct airy_filter_axis *a = whole->axis;
    const size_t row = a[0].n * a[2].out * airy_dtype_size(whole->dst.dtype);
    const size_t room = SCRATCH_BYTES / row, shortest = a[1].taps > EACH ? a[1].taps : EACH;
    size_t rows = room > shortest ? room : shortest, images = 1;
    if (rows >= a[1].out || is_far(whole)) {
        images = room / a[1].out ? room / a[1].out : 1;
        rows = a[1].out;
    } else
        rows = divide_up(divide_up(a[1].out, divide_up(a[1].out, rows)), EACH) * EACH;
    for (size_t image = 0; image < whole->images; image += images)
        for (size_t y = 0; y < a[1].out; y += rows) {
            struct airy_convolve_pass plane = *whole, z = *whole;
            plane.images = z.images = least(images, whole->images - image);
            plane.axis[0] = as_it_is(a[0].n);
            plane.axis[1].offset += (int64_t)y;
            plane.axis[1].out = least(rows, a[1].out - y);
            plane.src.offset += image * plane.src.step[0];
            plane.add = false;
            const size_t n[3] = {a[0].n, plane.axis[1].out, a[2].out};
            AIRY_TRY(place_scratch(&plane.dst, whole->queue, AIRY_SCRATCH_FRAMES, whole->dst.dtype,
                                   plane.images, n));
            AIRY_TRY(run_plane(&plane, lines));
            z.src = plane.dst;
            z.axis[1] = as_it_is(n[1]);
            z.axis[2] = as_it_is(n[2]);
            z.dst.offset += image * z.dst.step[0] + y * z.dst.step[2];
            z.outside *= lines->sum[2] * lines->sum[1];
            set_weights(&z, lines, 0);
            AIRY_TRY(run_column(&z, 0));
        }
    return AIRY_OK;
}

static struct airy_convolve_pass pass_of(airy_queue *queue, const struct airy_convolve_plan *plan)
{
    const struct airy_filter_geometry *g = &plan->geometry;
    struct airy_convolve_pass pass = {.queue = queue,
                                      .src = place_of(plan->src, g),
                                      .dst = place_of(plan->dst, g),
                                      .border = g->border,
                                      .images = g->images,
                                      .unit = plan->unit,
                                      .outside = g->border_value};
    memcpy(pass.axis, g->axis, sizeof(pass.axis));
    return pass;
}

/* One product, which writes, or adds to, dst. */
static airy_status run_product(airy_queue *queue, const struct airy_convolve_plan *plan,
                               double *const line[3], bool add)
{
    struct lines lines;
    struct airy_convolve_pass pass = pass_of(queue, plan);
    pass.add = add;
    AIRY_TRY(make_lines(&lines, pass.axis, line, pass.unit));
    pass.weights = lines.all;
    pass.weight_count = (size_t)(lines.line[0] - lines.all) + pass.axis[0].taps;
    airy_status status;
    if (pass.axis[0].taps == 1)
        status = run_plane(&pass, &lines);
    else if (pass.axis[1].taps == 1 && pass.axis[2].taps == 1) {
        set_weights(&pass, &lines, 0);
        status = run_column(&pass, 0);
    } else if (is_solid(&pass))
        status = run_solid(&pass);
    else if (runs_in_place(&pass))
        status = run_in_place(&pass, &lines);
    else
        status = run_volume(&pass, &lines);
    free(lines.all);
    return status;
}

/* A kernel along one axis is a product, with its weights as they are. */
static airy_status direct(airy_queue *queue, const struct airy_convolve_plan *plan)
{
    struct airy_convolve_pass pass = pass_of(queue, plan);
    AIRY_TRY(airy_cl_convolve_check(queue, plan));
    pass.weights = plan->kernel;
    pass.weight_count = pass.axis[0].taps * pass.axis[1].taps * pass.axis[2].taps;
    double one = 1, *line[3] = {&one, &one, &one};
    for (int i = 0; i < 3; i++)
        if (pass.axis[i].taps == pass.weight_count) {
            void *copy;
            AIRY_TRY(airy_memory_calloc(&copy, pass.weight_count, sizeof(double), "weights"));
            line[i] = copy;
            memcpy(line[i], plan->kernel, pass.weight_count * sizeof(double));
            const airy_status status = run_product(queue, plan, line, false);
            free(line[i]);
            return status;
        }
    return run_direct(&pass);
}

static airy_status separable(airy_queue *queue, const struct airy_convolve_plan *plan)
{
    AIRY_TRY(airy_cl_convolve_check(queue, plan));
    for (int r = 0; r < plan->rank; r++)
        AIRY_TRY(run_product(queue, plan, plan->line[r], r > 0));
    return AIRY_OK;
}

const struct airy_filter_fns airy_filter_opencl = {.direct = direct,
                                                   .separable = separable,
                                                   .fft_work = airy_cl_fft_work,
                                                   .fft = airy_cl_fft,
                                                   .rank = airy_cl_rank,
                                                   .hampel = airy_cl_hampel};
