/* Where to begin: distances, beam centres and tilts whose rings lie on bright curves. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "integrate/calibrate_parts.h"

#define PI 3.14159265358979323846

_Static_assert(AIRY_CALIBRATE_PONI1 == 1 && AIRY_CALIBRATE_PONI2 == 2 && AIRY_CALIBRATE_ROT1 == 3 &&
                   AIRY_CALIBRATE_ROT2 == 4,
               "the values of struct beam have the same order");

enum {
    MAP_SIZE = 1024, /* the image is binned until it is no larger */
    CONTRAST = 15,   /* half of the box that mean and contrast are made even in, binned pixels */
    COARSEST = 8,    /* half of the largest box that the map is blurred by */
    LEVELS = 5,      /* of blur: COARSEST, 4, 2, 1, 0 */
    GRID_RINGS = 12,
    GRID_SAMPLES = 72,
    MOST_RINGS = 48,
    SAMPLES = 240,
    VALUES = 5
};

/* Of the grid: a minute of one core. */
#define MOST_TRIES 5e6

static const int blurs[LEVELS] = {COARSEST, 4, 2, 1, 0};

struct map {
    size_t height, width;
    int bin;              /* image pixels a map pixel */
    float *level[LEVELS]; /* contrast, blurred */
};

/* Sums over all pixels above and left: [height + 1][width + 1]. */
static void integral(double *sums, const float *values, const float *weights, size_t height,
                     size_t width, bool square)
{
    memset(sums, 0, (width + 1) * sizeof(*sums));
    for (size_t y = 0; y < height; y++) {
        double row = 0;
        sums[(y + 1) * (width + 1)] = 0;
        for (size_t x = 0; x < width; x++) {
            const double v = (double)values[y * width + x];
            const double w = weights ? (double)weights[y * width + x] : 1;
            row += w * (square ? v * v : v);
            sums[(y + 1) * (width + 1) + x + 1] = sums[y * (width + 1) + x + 1] + row;
        }
    }
}

static double box_sum(const double *sums, size_t height, size_t width, size_t y, size_t x,
                      size_t half)
{
    const size_t y0 = y > half ? y - half : 0, x0 = x > half ? x - half : 0;
    const size_t y1 = y + half + 1 < height ? y + half + 1 : height,
                 x1 = x + half + 1 < width ? x + half + 1 : width;
    const size_t step = width + 1;
    return sums[y1 * step + x1] - sums[y0 * step + x1] - sums[y1 * step + x0] +
           sums[y0 * step + x0];
}

/* Means of the good pixels, and 1 where there are any. */
static void bin_image(const struct map *map, const struct airy_ring_image *image, float *values,
                      float *weights)
{
    const size_t bin = (size_t)map->bin;
    for (size_t y = 0; y < map->height; y++)
        for (size_t x = 0; x < map->width; x++) {
            double sum = 0;
            size_t n = 0;
            for (size_t i = y * bin; i < (y + 1) * bin && i < image->height; i++)
                for (size_t j = x * bin; j < (x + 1) * bin && j < image->width; j++) {
                    const float v = image->values[i * image->width + j];
                    if (isfinite(v)) {
                        sum += (double)v;
                        n++;
                    }
                }
            values[y * map->width + x] = n ? (float)(sum / (double)n) : 0;
            weights[y * map->width + x] = n > 0;
        }
}

/* Less the local mean, by the local standard deviation, so that weak rings count as strong ones do. */
static void even_out(const struct map *map, float *values, const float *weights, double *count,
                     double *sums)
{
    const size_t height = map->height, width = map->width;
    integral(count, weights, NULL, height, width, false);
    integral(sums, values, weights, height, width, false);
    float *out = map->level[LEVELS - 1];
    for (size_t y = 0; y < height; y++)
        for (size_t x = 0; x < width; x++) {
            const size_t i = y * width + x;
            const double n = box_sum(count, height, width, y, x, CONTRAST);
            out[i] = weights[i] > 0 ? (float)((double)values[i] -
                                              box_sum(sums, height, width, y, x, CONTRAST) / n)
                                    : 0;
        }
    integral(sums, out, weights, height, width, true);
    memcpy(values, out, height * width * sizeof(*values));
    for (size_t y = 0; y < height; y++)
        for (size_t x = 0; x < width; x++) {
            const size_t i = y * width + x;
            const double n = box_sum(count, height, width, y, x, CONTRAST);
            const double deviation =
                sqrt(fmax(box_sum(sums, height, width, y, x, CONTRAST), 0) / n);
            const double v = weights[i] > 0 && deviation > 0 ? (double)values[i] / deviation : 0;
            out[i] = (float)fmin(fmax(v, -2), 4);
        }
}

static void free_map(struct map *map)
{
    for (int l = 0; l < LEVELS; l++)
        free(map->level[l]);
}

static airy_status make_map(struct map *map, const struct airy_ring_image *image)
{
    const size_t longer = image->height > image->width ? image->height : image->width;
    map->bin = (int)((longer + MAP_SIZE - 1) / MAP_SIZE);
    map->height = (image->height + (size_t)map->bin - 1) / (size_t)map->bin;
    map->width = (image->width + (size_t)map->bin - 1) / (size_t)map->bin;
    const size_t count = map->height * map->width, corners = (map->height + 1) * (map->width + 1);
    float *values = calloc(count, sizeof(float)), *weights = calloc(count, sizeof(float));
    double *sums = malloc(corners * sizeof(double)), *number = malloc(corners * sizeof(double));
    bool made = values && weights && sums && number;
    for (int l = 0; l < LEVELS; l++) {
        map->level[l] = malloc(count * sizeof(float));
        made = made && map->level[l];
    }
    if (made) {
        bin_image(map, image, values, weights);
        even_out(map, values, weights, number, sums);
        integral(sums, map->level[LEVELS - 1], NULL, map->height, map->width, false);
        for (int l = 0; l < LEVELS - 1; l++)
            for (size_t i = 0; i < count; i++) {
                const size_t half = (size_t)blurs[l], side = 2 * half + 1;
                map->level[l][i] = (float)(box_sum(sums, map->height, map->width, i / map->width,
                                                   i % map->width, half) /
                                           (double)(side * side));
            }
    }
    free(values);
    free(weights);
    free(sums);
    free(number);
    AIRY_FAIL_IF(!made, AIRY_ERR_MEMORY, "out of memory for the search of rings");
    return AIRY_OK;
}

struct search {
    const airy_calibrate_params *params;
    unsigned refine;
    size_t rings;
    struct map map;
    struct airy_ring_window *windows; /* of the guess */
    size_t chosen[MOST_RINGS], chosen_count;
    double reach; /* pixels, radius of the outermost chosen */
    double chi[SAMPLES][2];
    /* the grid */
    double step_px;
    int level, centers, distances; /* steps to either side */
    double *grid_score;            /* [2 distances + 1] */
    airy_geometry *grid;
};

/*
 * The beam's place in the plane (m) and the length of its way, instead of the PONI and the distance:
 * these are what rings show at once, and a tilt about the beam's place leaves inner rings nearly alone.
 */
struct beam {
    double v[VALUES]; /* length, y, x, rot1, rot2 */
    bool along; /* else v is dist, poni1, poni2, rot1, rot2: the beam misses the plane, or some of
                         these are held */
};

/* Those of VALUES that may move, in their order. */
static bool is_free(const struct search *s, int k)
{
    return (s->refine & 1u << k) != 0;
}

static struct beam to_beam(const struct search *s, const airy_geometry *g)
{
    const double c = cos(g->rot1) * cos(g->rot2);
    if (!(c > 0.17) || !is_free(s, 0) || !is_free(s, 1) ||
        !is_free(s, 2)) /* 0.17: 80 degrees off */
        return (struct beam){{g->dist, g->poni1, g->poni2, g->rot1, g->rot2}, false};
    return (struct beam){{g->dist / c, g->poni1 + g->dist * tan(g->rot2) / cos(g->rot1),
                          g->poni2 - g->dist * tan(g->rot1), g->rot1, g->rot2},
                         true};
}

static airy_geometry from_beam(const airy_geometry *base, const struct beam *b)
{
    airy_geometry g = *base;
    g.rot1 = b->v[3];
    g.rot2 = b->v[4];
    g.dist = b->along ? b->v[0] * cos(g.rot1) * cos(g.rot2) : b->v[0];
    g.poni1 = b->along ? b->v[1] - g.dist * tan(g.rot2) / cos(g.rot1) : b->v[1];
    g.poni2 = b->along ? b->v[2] + g.dist * tan(g.rot1) : b->v[2];
    return g;
}

/* Mean brightness under the chosen rings, as often as chance makes it: times the root of the number. */
static double score(const struct search *s, const airy_geometry *g, int level, int every)
{
    if (!(g->dist > 0))
        return -(double)INFINITY;
    const struct map *map = &s->map;
    struct airy_pose pose;
    airy_pose_make(&pose, g);
    const double per = 1.0 / map->bin;
    double sum = 0;
    size_t n = 0;
    for (size_t k = 0; k < s->chosen_count; k++) {
        const double tth = s->windows[s->chosen[k]].tth, t[2] = {sin(tth), cos(tth)};
        for (int i = 0; i < SAMPLES; i += every) {
            double c[2];
            if (!airy_ring_place(&pose, t, s->chi[i], c))
                continue;
            const double y = c[0] * per, x = c[1] * per;
            if (!(y >= 0) || !(x >= 0) || !(y < (double)map->height) || !(x < (double)map->width))
                continue;
            sum += (double)map->level[level][(size_t)y * map->width + (size_t)x];
            n++;
        }
    }
    return n ? sum / sqrt((double)n) : 0;
}

/* Rings that stay apart at a level of blur, `most` of them. */
static void choose(struct search *s, int level, size_t most)
{
    s->chosen_count = 0;
    s->reach = 0;
    const double apart = 2.5 * (blurs[level] + 1) * s->map.bin;
    for (size_t k = 0; k < s->rings && s->chosen_count < most; k++)
        if (s->windows[k].scale > 0 && s->windows[k].gap >= apart) {
            s->chosen[s->chosen_count++] = k;
            s->reach = fmax(s->reach, s->windows[k].scale * sin(s->windows[k].tth));
        }
}

/* One distance: the best of all centres. */
static void scan_centers(void *user, size_t index, unsigned worker)
{
    (void)worker;
    struct search *s = user;
    const airy_geometry *guess = &s->params->guess;
    const struct beam base = to_beam(s, guess);
    const int off = (int)index - s->distances;
    double best = -(double)INFINITY;
    const int rows = is_free(s, 1) ? s->centers : 0, columns = is_free(s, 2) ? s->centers : 0;
    for (int i = -rows; i <= rows; i++)
        for (int j = -columns; j <= columns; j++) {
            struct beam b = base;
            b.v[0] *= 1 + off * s->step_px / s->reach;
            b.v[1] += i * s->step_px * guess->detector.pixel1;
            b.v[2] += j * s->step_px * guess->detector.pixel2;
            const airy_geometry g = from_beam(guess, &b);
            const double value = score(s, &g, s->level, SAMPLES / GRID_SAMPLES);
            if (value > best) {
                best = value;
                s->grid[index] = g;
            }
        }
    s->grid_score[index] = best;
}

/* Steps along the axes, halved where none helps. */
static double climb(const struct search *s, airy_geometry *g, int level)
{
    const airy_detector *d = &g->detector;
    const double px = (blurs[level] + 1) * s->map.bin;
    struct beam at = to_beam(s, g);
    /* A tilt moves a ring of radius r at distance L by r^2 / L for each radian. */
    const double length = at.v[0] / airy_pixel_length(d);
    const double tilt = fmin(px * length / (s->reach * s->reach), 0.05);
    const double step[VALUES] = {px / s->reach * at.v[0], px * d->pixel1, px * d->pixel2, tilt,
                                 tilt};
    double best = score(s, g, level, 1);
    for (double size = 1; size > 0.2;) {
        bool better = false;
        for (int k = 0; k < VALUES; k++)
            for (int sign = -1; sign <= 1 && is_free(s, k); sign += 2) {
                struct beam b = at;
                b.v[k] += sign * size * step[k];
                const airy_geometry next = from_beam(g, &b);
                const double value = score(s, &next, level, 1);
                if (value > best * (1 + 1e-9)) {
                    best = value;
                    at = b;
                    better = true;
                }
            }
        if (!better)
            size *= 0.5;
    }
    *g = from_beam(g, &at);
    return best;
}

/* The level where enough rings stay apart: blurred as far as they allow. */
static int coarsest_level(struct search *s)
{
    choose(s, LEVELS - 1, GRID_RINGS);
    const size_t enough = s->chosen_count < 4 ? s->chosen_count : 4;
    for (int level = 0; level < LEVELS - 1; level++) {
        choose(s, level, GRID_RINGS);
        if (s->chosen_count && s->chosen_count >= enough)
            return level;
    }
    choose(s, LEVELS - 1, GRID_RINGS);
    return LEVELS - 1;
}

static airy_status scan(struct search *s, int level, airy_pool *pool)
{
    const airy_calibrate_params *p = s->params;
    const double px = p->search_px > 0 ? p->search_px : 50;
    const double part = p->search_dist > 0 ? p->search_dist : 0.1;
    s->step_px = (blurs[level] + 1) * s->map.bin;
    const double centers = ceil(px / s->step_px),
                 distances = is_free(s, 0) ? ceil(part * s->reach / s->step_px) : 0;
    const double tries = (2 * centers + 1) * (2 * centers + 1) * (2 * distances + 1);
    AIRY_FAIL_IF(
        !(tries <= MOST_TRIES), AIRY_ERR_PARAM,
        "a search of %g pixels and %g percent in steps of %g pixels has %.2g tries, expected "
        "at most %.2g; begin nearer, or use fewer rings",
        px, 100 * part, s->step_px, tries, MOST_TRIES);
    s->centers = (int)centers;
    s->distances = (int)distances;
    const size_t count = 2 * (size_t)s->distances + 1;
    s->grid_score = malloc(count * sizeof(*s->grid_score));
    s->grid = malloc(count * sizeof(*s->grid));
    AIRY_FAIL_IF(!s->grid_score || !s->grid, AIRY_ERR_MEMORY,
                 "out of memory for the search of rings");
    s->level = level;
    airy_pool_run(pool, count, scan_centers, s);
    return AIRY_OK;
}

/* Candidates, best first: of the grid, and the guess. */
struct candidate {
    double score;
    airy_geometry geometry;
};

static int by_score(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    return (x->score < y->score) - (x->score > y->score);
}

struct polish {
    struct search *s;
    struct candidate *candidates;
    int level;
};

static void polish_one(void *user, size_t index, unsigned worker)
{
    (void)worker;
    const struct polish *p = user;
    p->candidates[index].score = climb(p->s, &p->candidates[index].geometry, p->level);
}

/* From blurred to sharp, with ever more rings. */
static airy_status polish(struct search *s, int first, airy_geometry *found, size_t *count,
                          airy_pool *pool)
{
    enum { MOST = 2 * AIRY_SEARCH_MOST };
    const size_t grid = 2 * (size_t)s->distances + 1;
    struct candidate *all = malloc((grid + 1) * sizeof(*all));
    AIRY_FAIL_IF(!all, AIRY_ERR_MEMORY, "out of memory for the search of rings");
    for (size_t i = 0; i < grid; i++)
        all[i] = (struct candidate){s->grid_score[i], s->grid[i]};
    qsort(all, grid, sizeof(*all), by_score);
    size_t n = grid < MOST - 1 ? grid : MOST - 1;
    all[n++].geometry = s->params->guess;
    for (int level = first; level < LEVELS; level++) {
        choose(s, level, MOST_RINGS);
        struct polish work = {.s = s, .candidates = all, .level = level};
        if (s->chosen_count)
            airy_pool_run(pool, n, polish_one, &work);
    }
    qsort(all, n, sizeof(*all), by_score);
    *count = n < AIRY_SEARCH_MOST ? n : AIRY_SEARCH_MOST;
    for (size_t i = 0; i < *count; i++)
        found[i] = all[i].geometry;
    free(all);
    return AIRY_OK;
}

airy_status airy_ring_search(airy_geometry found[AIRY_SEARCH_MOST], size_t *count,
                             const struct airy_ring_image *image, const double *spacing,
                             size_t rings, const airy_calibrate_params *params, unsigned refine,
                             airy_pool *pool)
{
    struct search *s = calloc(1, sizeof(*s));
    AIRY_FAIL_IF(!s, AIRY_ERR_MEMORY, "out of memory for the search of rings");
    *s = (struct search){.params = params, .refine = refine, .rings = rings};
    for (int i = 0; i < SAMPLES; i++) {
        s->chi[i][0] = sin(2 * PI * i / SAMPLES);
        s->chi[i][1] = cos(2 * PI * i / SAMPLES);
    }
    *count = 0;
    s->windows = calloc(rings + 1, sizeof(*s->windows));
    airy_status status = s->windows
                             ? make_map(&s->map, image)
                             : airy_fail(AIRY_ERR_MEMORY, "out of memory for %zu rings", rings);
    if (status == AIRY_OK) {
        airy_ring_windows(s->windows, &params->guess, spacing, rings);
        const int level = coarsest_level(s);
        if (s->chosen_count) {
            status = scan(s, level, pool);
            if (status == AIRY_OK)
                status = polish(s, level, found, count, pool);
        }
    }
    free_map(&s->map);
    free(s->windows);
    free(s->grid_score);
    free(s->grid);
    free(s);
    return status;
}
