/*
 * Splitting on the device: kernels/integrate_split.cl. Its work is that of the host to the last
 * bit, so the host's matrix can be made later, where something asks for it.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"
#include "opencl/cl_buffer.h"
#include "opencl/cl_integrate.h"
#include "opencl/cl_launch.h"
#include "shared/fused_geom.h"
#include "shared/split_geom.h"
#include "shared/split_math.h"

static const char what[] = "the splitting";

/* Bins of a join's group: see the kernels. */
enum { JOIN_BINS = 8, LOCAL_BYTES = 23 << 10 };

/* Bytes a pixel of the tables that are made afterwards. */
enum { TABLE_BYTES = 14 };

/* The unit as kernels have it; false: it takes more than roots and quotients. */
static bool find_unit(airy_split_geom *g, const struct airy_split_rule *rule)
{
    const double q = rule->pose.q_scale;
    g->unit = AIRY_SPLIT_SINE;
    switch (rule->unit) {
    case AIRY_UNIT_Q_NM:
    case AIRY_UNIT_QTOT_NM:
        g->scale = q;
        return true;
    case AIRY_UNIT_Q_A:
    case AIRY_UNIT_QTOT_A:
        g->scale = 0.1 * q;
        return true;
    case AIRY_UNIT_D2_NM:
        g->unit = AIRY_SPLIT_SINE_SQUARED;
        g->scale = q / (2 * PI);
        return true;
    case AIRY_UNIT_R_MM:
        g->unit = AIRY_SPLIT_RADIUS;
        g->scale = 1000;
        return true;
    case AIRY_UNIT_R_M:
        g->unit = AIRY_SPLIT_RADIUS;
        g->scale = 1;
        return true;
    default:
        return false;
    }
}

static bool takes(const airy_integrator *it)
{
    const struct airy_split_rule *rule = &it->rule;
    const airy_device_info *info = &it->device->info;
    return airy_cl_device(it->device)->splits && it->ring.kind == AIRY_RING_NONE &&
           !airy_cl_fused_declines(it) && rule->relative && !rule->has_azimuth &&
           !rule->pose.parallax && info->max_group >= AIRY_SPLIT_GROUP &&
           info->local_mem >= LOCAL_BYTES;
}

static void set_corrections(airy_split_geom *g, const airy_integrator *it)
{
    const airy_integrator_params *p = &it->params;
    const double offset = p->polarization_offset_deg * (PI / 180);
    g->dist = it->rule.pose.dist;
    g->normalization = p->normalization;
    g->solid_angle = !p->no_solid_angle;
    g->polarized = p->has_polarization;
    g->polarization[0] = p->polarization * cos(2 * offset);
    g->polarization[1] = p->polarization * sin(2 * offset);
}

static void set_geometry(airy_split_geom *g, const airy_integrator *it)
{
    const struct airy_pose *pose = &it->rule.pose;
    memcpy(g->m, pose->m, sizeof(g->m));
    g->pixel1 = pose->pixel1;
    g->pixel2 = pose->pixel2;
    g->poni1 = pose->poni1;
    g->poni2 = pose->poni2;
    g->height = pose->height;
    g->width = pose->width;
    g->beam1 = pose->beam1;
    g->beam2 = pose->beam2;
    g->flip1 = pose->flip1;
    g->flip2 = pose->flip2;
    g->polar = it->rule.polar;
    g->rows = (uint32_t)it->height;
    g->columns = (uint32_t)it->width;
    g->pixels = (uint32_t)it->pixels;
    g->tiles_x = (g->columns + AIRY_SPLIT_SIDE - 1) / AIRY_SPLIT_SIDE;
    g->tiles = g->tiles_x * ((g->rows + AIRY_SPLIT_SIDE - 1) / AIRY_SPLIT_SIDE);
    g->bins = (uint32_t)it->bins;
    g->has_dark = it->has_dark;
    g->poisson = it->params.error_model == AIRY_ERROR_MODEL_POISSON;
}

/* A group of each tile, or of other things. */
static airy_status run(airy_queue *queue, const char *kernel, size_t groups,
                       const struct airy_cl_arg *args, size_t count)
{
    const struct airy_cl_kernel_spec spec = {"integrate_split.cl", kernel, ""};
    const size_t group = AIRY_SPLIT_GROUP, items = groups * group;
    return airy_cl_launch(queue, &spec, 1, &items, &group, 0, args, count);
}

static airy_status fetch(airy_queue *queue, void *data, airy_buffer *buffer, size_t size)
{
    const airy_array bytes = airy_cl_bytes_of(buffer, size);
    AIRY_TRY(airy_cl_pull(queue, data, &bytes, true));
    return airy_queue_finish(queue);
}

/* Images that corrections are made of, on the device. */
struct images {
    airy_buffer *mask, *flat, *absorption, *dark;
};

static airy_status upload_image(airy_buffer **buffer, const struct airy_cl_split *s,
                                const void *data, size_t each)
{
    return data ? airy_cl_upload_begin(buffer, s->queue, data, s->geom.pixels * each, what)
                : AIRY_OK;
}

/*
 * Where the host has made corrections, as it has to with what a sensor absorbs, these are the
 * flat image, and there is nothing else.
 */
static airy_status upload_images(struct images *images, const struct airy_cl_split *s,
                                 const airy_integrator *it, const airy_integrator_params *params)
{
    const bool made = it->norm != NULL;
    AIRY_TRY(upload_image(&images->mask, s, params->mask, 1));
    AIRY_TRY(upload_image(&images->flat, s, made ? it->norm : params->flat, sizeof(float)));
    AIRY_TRY(upload_image(&images->absorption, s, made ? NULL : params->absorption, sizeof(float)));
    return upload_image(&images->dark, s, params->dark, sizeof(float));
}

static struct airy_cl_arg buffer_or_null(const airy_buffer *buffer)
{
    return buffer ? AIRY_CL_BUFFER(buffer) : AIRY_CL_NULL;
}

/* Corrections of all pixels, and the facts of tiles. */
static airy_status make_corrections(airy_split_facts *facts, const struct airy_cl_split *s,
                                    const airy_integrator *it, const airy_integrator_params *params)
{
    struct airy_cl_integrator *state = it->state;
    const size_t size = s->geom.tiles * sizeof(*facts), image = it->pixels * sizeof(float);
    struct images images = {.mask = NULL};
    airy_buffer *found = NULL;
    airy_status status;
    AIRY_TRY_OR(out, airy_buffer_create(&found, it->device, size, what));
    AIRY_TRY_OR(out, upload_images(&images, s, it, params));
    AIRY_TRY_OR(out, airy_buffer_create(&state->norm, it->device, image, "the corrections"));
    if (it->has_dark)
        AIRY_TRY_OR(out, airy_buffer_create(&state->dark, it->device, image, "the dark image"));
    const struct airy_cl_arg args[] = {
        buffer_or_null(images.mask), buffer_or_null(images.flat), buffer_or_null(images.absorption),
        buffer_or_null(images.dark), AIRY_CL_BUFFER(state->norm), buffer_or_null(state->dark),
        AIRY_CL_BUFFER(found),       AIRY_CL_VALUE(s->geom)};
    AIRY_TRY_OR(out, run(s->queue, "split_pixels", s->geom.tiles, args, 8));
    AIRY_TRY_OR(out, fetch(s->queue, facts, found, size));
out:
    if (status != AIRY_OK) /* the host's arrays are no one's afterwards */
        (void)airy_queue_finish(s->queue);
    airy_buffer_release(&images.mask);
    airy_buffer_release(&images.flat);
    airy_buffer_release(&images.absorption);
    airy_buffer_release(&images.dark);
    airy_buffer_release(&found);
    return status;
}

/*
 * The bins of each tile and the places of their sums; returns how many these are. 0: a tile has
 * more bins than a group has items, so that pixels have too many, too.
 */
static uint64_t place_tiles(airy_split_tile *tiles, const airy_split_facts *facts,
                            const airy_split_geom *g)
{
    uint64_t rows = 0;
    for (uint32_t t = 0; t < g->tiles; t++) {
        const double low = (facts[t].lower - g->lower) / g->delta,
                     high = (facts[t].upper - g->lower) / g->delta;
        tiles[t] = (airy_split_tile){0, 0, (uint32_t)rows};
        if (!(low <= high) || high < 0 || low >= (double)g->bins)
            continue;
        const uint32_t last = high < (double)g->bins ? (uint32_t)high : g->bins - 1;
        tiles[t].first = low > 0 ? (uint32_t)low : 0;
        tiles[t].count = last - tiles[t].first + 1;
        if (tiles[t].count > AIRY_SPLIT_GROUP)
            return 0;
        rows += tiles[t].count;
    }
    return rows;
}

static airy_status keep_sums(airy_integrator *it, struct airy_cl_split *s,
                             const airy_split_row *sums)
{
    const size_t bins = it->bins;
    AIRY_TRY(airy_memory_calloc((void **)&s->largest, bins, sizeof(*s->largest), what));
    AIRY_TRY(airy_base_sums_alloc(it));
    it->matrix = (struct airy_matrix){.pixels = it->pixels, .bins = bins};
    for (size_t b = 0; b < bins; b++) {
        for (size_t p = 0; p < AIRY_BASE_PLANES; p++) {
            it->base_normalization[p * bins + b] = sums[b].sum[p];
            it->base_low[p * bins + b] = sums[b].sum[AIRY_BASE_PLANES + p];
        }
        it->base_entries[b] = sums[b].entries;
        s->largest[b] = sums[b].largest;
        it->matrix.entries += sums[b].entries;
    }
    return AIRY_OK;
}

/*
 * Base sums, where every pixel has room; made says whether. A row behind those of bins says where
 * one has none.
 */
static airy_status make_sums(airy_integrator *it, struct airy_cl_split *s, bool *made)
{
    const struct airy_cl_integrator *state = it->state;
    const size_t size = (it->bins + 1) * sizeof(airy_split_row);
    airy_buffer *joined = NULL;
    airy_split_row *sums = NULL;
    airy_status status;
    AIRY_TRY_OR(out, airy_buffer_create(&joined, it->device, size, what));
    AIRY_TRY_OR(out, airy_memory_calloc((void **)&sums, it->bins + 1, sizeof(*sums), what));
    const struct airy_cl_arg args[] = {AIRY_CL_BUFFER(state->norm), buffer_or_null(state->dark),
                                       AIRY_CL_BUFFER(s->tiles),    AIRY_CL_BUFFER(s->rows),
                                       AIRY_CL_BUFFER(joined),      AIRY_CL_VALUE(s->geom)};
    AIRY_TRY_OR(out, run(s->queue, "split_sums", s->geom.tiles, args, 6));
    const struct airy_cl_arg join[] = {AIRY_CL_BUFFER(s->tiles), AIRY_CL_BUFFER(s->rows),
                                       AIRY_CL_BUFFER(joined), AIRY_CL_VALUE(s->geom)};
    AIRY_TRY_OR(out, run(s->queue, "split_join", (it->bins + JOIN_BINS - 1) / JOIN_BINS, join, 4));
    AIRY_TRY_OR(out, fetch(s->queue, sums, joined, size));
    if (sums[it->bins].entries)
        goto out;
    AIRY_TRY_OR(out, keep_sums(it, s, sums));
    *made = true;
out:
    airy_buffer_release(&joined);
    free(sums);
    return status;
}

static bool has_room(const airy_integrator *it, uint64_t rows)
{
    const uint64_t bytes = rows * sizeof(airy_split_row);
    return rows <= UINT32_MAX && bytes <= it->device->info.max_alloc &&
           bytes + it->pixels * TABLE_BYTES <= airy_device_room(it->device);
}

/* What is known of all tiles. */
static airy_status take_facts(airy_integrator *it, struct airy_cl_split *s,
                              const airy_integrator_params *params, const airy_split_facts *facts)
{
    struct airy_split_limits found = airy_split_no_limits;
    struct airy_losses losses = {0};
    for (size_t t = 0; t < s->geom.tiles; t++) {
        found.lower = fmin(found.lower, facts[t].lower);
        found.upper = fmax(found.upper, facts[t].upper);
        losses.masked += facts[t].masked;
        losses.not_finite += facts[t].not_finite;
        losses.zero += facts[t].zero;
        s->most_norm = fmaxf(s->most_norm, facts[t].norm);
        s->most_dark = fmaxf(s->most_dark, facts[t].dark);
    }
    if (!it->norm) /* else they are counted */
        AIRY_TRY(airy_corrections_count(it, &losses));
    AIRY_TRY(airy_matrix_range(&it->rule, &it->limits, params, &found));
    s->geom.lower = it->rule.radial.lower;
    s->geom.delta = it->rule.radial.delta;
    return AIRY_OK;
}

/* Corrections and the axes, then the sums. */
static airy_status split(airy_integrator *it, struct airy_cl_split *s,
                         const airy_integrator_params *params, bool *made)
{
    const airy_split_geom *g = &s->geom;
    airy_split_facts *facts = NULL;
    airy_split_tile *tiles = NULL;
    airy_status status;
    AIRY_TRY_OR(out, airy_memory_calloc((void **)&facts, g->tiles, sizeof(*facts), what));
    AIRY_TRY_OR(out, airy_memory_calloc((void **)&tiles, g->tiles, sizeof(*tiles), what));
    const uint64_t start = airy_clock_ns();
    AIRY_TRY_OR(out, make_corrections(facts, s, it, params));
    const uint64_t corrected = airy_clock_ns();
    AIRY_TRY_OR(out, take_facts(it, s, params, facts));
    const uint64_t rows = place_tiles(tiles, facts, g);
    if (rows == 0 || !has_room(it, rows))
        goto out;
    AIRY_TRY_OR(
        out, airy_buffer_create(&s->rows, it->device, (size_t)rows * sizeof(airy_split_row), what));
    AIRY_TRY_OR(out,
                airy_cl_upload_begin(&s->tiles, s->queue, tiles, g->tiles * sizeof(*tiles), what));
    AIRY_TRY_OR(out, make_sums(it, s, made));
    airy_log(AIRY_LOG_DEBUG, "integrator: split on the device%s: corrections %.1f ms, sums %.1f ms",
             *made ? "" : ", where a pixel has too many bins, so the host does it",
             (double)(corrected - start) * 1e-6, (double)(airy_clock_ns() - corrected) * 1e-6);
out:
    if (status != AIRY_OK)
        (void)airy_queue_finish(s->queue); /* of tiles, which are gone then */
    free(facts);
    free(tiles);
    return status;
}

airy_status airy_cl_split(airy_integrator *it, const airy_integrator_params *params, bool *made)
{
    airy_split_geom geom = {.normalization = 1};
    if (!takes(it) || !find_unit(&geom, &it->rule))
        return AIRY_OK;
    AIRY_TRY(airy_cl_integrator_begin(it));
    struct airy_cl_integrator *state = it->state;
    AIRY_TRY(airy_memory_calloc((void **)&state->split, 1, sizeof(*state->split), what));
    struct airy_cl_split *s = state->split;
    s->queue = state->queue;
    s->geom = geom;
    set_geometry(&s->geom, it);
    if (params->sensor_efficiency)
        AIRY_TRY(airy_corrections_make(it, params));
    else
        set_corrections(&s->geom, it);
    AIRY_TRY(split(it, s, params, made));
    if (!*made)
        airy_cl_split_free(&state->split);
    return AIRY_OK;
}

airy_status airy_cl_pull_corrections(const airy_integrator *it, float *norm, float *dark)
{
    const struct airy_cl_integrator *state = it->state;
    airy_queue *queue = NULL;
    AIRY_TRY(airy_queue_create(&queue, it->device));
    airy_status status = fetch(queue, norm, state->norm, it->pixels * sizeof(*norm));
    if (status == AIRY_OK && dark)
        status = fetch(queue, dark, state->dark, it->pixels * sizeof(*dark));
    airy_queue_destroy(&queue);
    return status;
}

/* Sums in fixed point, in the place of the others. */
static airy_status make_fixed(struct airy_cl_fused *fused, const struct airy_cl_split *s,
                              const airy_integrator *it)
{
    const struct airy_cl_integrator *state = it->state;
    const size_t bins = it->bins;
    AIRY_TRY(airy_buffer_create(&fused->base, it->device,
                                AIRY_SPLIT_PLANES * bins * sizeof(uint64_t), what));
    AIRY_TRY(airy_buffer_create(&fused->base_entries, it->device, bins * sizeof(uint32_t), what));
    const struct airy_cl_arg args[] = {AIRY_CL_BUFFER(state->norm),  buffer_or_null(state->dark),
                                       AIRY_CL_BUFFER(fused->shift), AIRY_CL_BUFFER(s->tiles),
                                       AIRY_CL_BUFFER(s->rows),      AIRY_CL_VALUE(s->geom)};
    AIRY_TRY(run(s->queue, "split_fixed", s->geom.tiles, args, 6));
    const struct airy_cl_arg join[] = {AIRY_CL_BUFFER(s->tiles), AIRY_CL_BUFFER(s->rows),
                                       AIRY_CL_BUFFER(fused->base),
                                       AIRY_CL_BUFFER(fused->base_entries), AIRY_CL_VALUE(s->geom)};
    return run(s->queue, "split_fixed_join", (bins + JOIN_BINS - 1) / JOIN_BINS, join, 5);
}

/* Counts of tiles become starts on their way through the host; then the entries. */
static airy_status make_extra(struct airy_cl_fused *fused, const struct airy_cl_split *s,
                              const airy_integrator *it, size_t most)
{
    const struct airy_cl_integrator *state = it->state;
    const size_t tiles = fused->extra_start->size / sizeof(uint32_t) - 1,
                 size = fused->extra_start->size;
    uint32_t *start;
    AIRY_TRY(airy_memory_calloc((void **)&start, tiles + 1, sizeof(*start), what));
    airy_status status = fetch(s->queue, start, fused->extra_start, size);
    uint64_t count = 0;
    for (size_t t = 0; status == AIRY_OK && t < tiles; t++) {
        count += start[t + 1];
        start[t + 1] = (uint32_t)count;
    }
    if (status == AIRY_OK && count > most)
        fused->why = AIRY_CL_TOO_MANY_EXTRA;
    else if (status == AIRY_OK) {
        const airy_array bytes = airy_cl_bytes_of(fused->extra_start, size);
        fused->extra_count = (size_t)count;
        AIRY_TRY_OR(out, airy_buffer_create(&fused->extra, it->device,
                                            count ? count * sizeof(airy_fused_extra) : 4, what));
        AIRY_TRY_OR(out, airy_cl_push(s->queue, &bytes, start, true));
        const struct airy_cl_arg args[] = {AIRY_CL_BUFFER(state->norm),
                                           AIRY_CL_BUFFER(fused->shift),
                                           AIRY_CL_BUFFER(fused->extra_start),
                                           AIRY_CL_BUFFER(fused->extra), AIRY_CL_VALUE(s->geom)};
        if (count)
            AIRY_TRY_OR(out, run(s->queue, "split_extra", tiles, args, 5));
        status = airy_queue_finish(s->queue);
    }
out:
    free(start);
    return status;
}

airy_status airy_cl_split_table(struct airy_cl_fused *fused, const airy_integrator *it,
                                size_t most_extra)
{
    const struct airy_cl_integrator *state = it->state;
    struct airy_cl_split *s = state->split;
    const size_t tiles = (it->pixels + AIRY_FUSED_TILE - 1) / AIRY_FUSED_TILE,
                 word = sizeof(uint32_t);
    s->geom.fraction_bits = fused->fraction_bits;
    s->geom.fixed[0] = fused->normalization_scale;
    s->geom.fixed[1] = fused->normalization2_scale;
    s->geom.fixed[2] = fused->dark_scale;
    AIRY_TRY(airy_buffer_create(&fused->table, it->device, tiles * AIRY_FUSED_TILE * word, what));
    AIRY_TRY(airy_buffer_create(&fused->valid_words, it->device,
                                (tiles * 32 + AIRY_FUSED_VALID_BEHIND) * word, what));
    AIRY_TRY(airy_buffer_create(&fused->extra_start, it->device, (tiles + 1) * word, what));
    const struct airy_cl_arg args[] = {
        AIRY_CL_BUFFER(state->norm),        AIRY_CL_BUFFER(fused->shift),
        AIRY_CL_BUFFER(fused->table),       AIRY_CL_BUFFER(fused->valid_words),
        AIRY_CL_BUFFER(fused->extra_start), AIRY_CL_VALUE(s->geom)};
    AIRY_TRY(run(s->queue, "split_table", tiles, args, 6));
    AIRY_TRY(make_fixed(fused, s, it));
    AIRY_TRY(make_extra(fused, s, it, most_extra));
    airy_buffer_release(&s->rows);
    airy_buffer_release(&s->tiles);
    return AIRY_OK;
}

void airy_cl_split_free(struct airy_cl_split **split)
{
    struct airy_cl_split *s = *split;
    if (!s)
        return;
    airy_buffer_release(&s->rows);
    airy_buffer_release(&s->tiles);
    free(s->largest);
    free(s);
    *split = NULL;
}

airy_status airy_cl_integrator_begin(airy_integrator *integrator)
{
    struct airy_cl_integrator *state;
    AIRY_TRY(airy_memory_calloc((void **)&state, 1, sizeof(*state), "the integrator"));
    pthread_mutex_init(&state->lock, NULL);
    integrator->state = state;
    return airy_queue_create(&state->queue, integrator->device);
}
