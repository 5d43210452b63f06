/* airy calibrate: distance, beam centre and tilts from the rings of a calibrant. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "airy/gaps.h"
#include "cli/stack_opt.h"
#include "cmd/calibrate.h"
#include "cli/geometry_opt.h"

#define DEGREE (3.14159265358979323846 / 180)

struct calibrate_params {
    struct geometry_params geometry;
    const char *calibrant, *guess, *mask, *output, *plot;
    struct opt_list fix, free;
    double center[2], search, search_dist, max_residual, saturation;
    size_t rings, sectors, frame;
    bool has_center, has_search, has_search_dist, has_max_residual, has_rings, has_sectors,
        has_saturation, no_search, list;
};

#define FIELD(member) .offset = offsetof(struct calibrate_params, member)
#define SEEN(member)  .seen = offsetof(struct calibrate_params, member)

static const struct opt calibrate_options[] = {
    {.heading = "Input"},
    STACK_CHANNEL_OPTION(struct calibrate_params, geometry.common),
    {.heading = "Calibrant"},
    {.name = "calibrant",
     .type = OPT_STRING,
     FIELD(calibrant),
     .use = OPT_READ,
     .argument = "NAME|FILE.D",
     .help = "calibrant of the table, such as LaB6, or a file of spacings in angstrom, one a line"},
    {.name = "list",
     .type = OPT_FLAG,
     FIELD(list),
     .help = "print the table of calibrants and stop"},
    {.heading = "Guess (with the geometry options below)"},
    {.name = "guess",
     .type = OPT_STRING,
     FIELD(guess),
     .use = OPT_READ,
     .argument = "FILE",
     .help = "PONI file to begin with, as --poni"},
    {.name = "center",
     .type = OPT_PAIR,
     FIELD(center),
     SEEN(has_center),
     .argument = "Y,X",
     .help = "the beam's place in pixels, row first, 0,0 the corner of the first pixel; instead of "
             "--poni1 and --poni2"},
    {.name = "search",
     .type = OPT_FLOAT,
     FIELD(search),
     SEEN(has_search),
     .lo = 1,
     .hi = 10000,
     .argument = "PX",
     .fallback = "50",
     .help = "how far the guess of the beam's place may be off, pixels"},
    {.name = "search-dist",
     .type = OPT_FLOAT,
     FIELD(search_dist),
     SEEN(has_search_dist),
     .lo = 0.1,
     .hi = 50,
     .argument = "P",
     .fallback = "10",
     .help = "how far the guess of the distance may be off, percent"},
    {.name = "no-search",
     .type = OPT_FLAG,
     FIELD(no_search),
     .help = "the guess is good to a few pixels"},
    {.heading = "Refinement"},
    {.name = "fix",
     .type = OPT_LIST,
     FIELD(fix),
     .argument = "NAME,...",
     .fallback = "rot3,wavelength",
     .help = "hold these, too: dist, poni1, poni2, rot1, rot2"},
    {.name = "free",
     .type = OPT_LIST,
     FIELD(free),
     .argument = "wavelength",
     .help = "refine the wavelength, too"},
    {.name = "rings",
     .type = OPT_COUNT,
     FIELD(rings),
     SEEN(has_rings),
     .lo = 1,
     .hi = AIRY_CALIBRANT_RINGS,
     .argument = "N",
     .fallback = "all that stand apart",
     .help = "use the innermost N rings of the calibrant"},
    {.name = "sectors",
     .type = OPT_COUNT,
     FIELD(sectors),
     SEEN(has_sectors),
     .lo = 8,
     .hi = 3600,
     .argument = "N",
     .fallback = "180",
     .help = "points looked for along a whole ring, at most"},
    {.name = "max-residual",
     .type = OPT_FLOAT,
     FIELD(max_residual),
     SEEN(has_max_residual),
     .lo = 1e-3,
     .hi = 1000,
     .argument = "PX",
     .fallback = "1",
     .help = "fail where the points lie further (rms) off their rings, pixels"},
    {.heading = "Image"},
    {.name = "frame",
     .type = OPT_COUNT,
     FIELD(frame),
     .hi = 1e12,
     .argument = "N",
     .fallback = "0",
     .help = "of a stack"},
    {.name = "mask",
     .type = OPT_STRING,
     FIELD(mask),
     .use = OPT_READ,
     .argument = "FILE",
     .help = "more bad pixels (not 0 = bad) than the detector's and the file's"},
    {.name = "saturation",
     .type = OPT_FLOAT,
     FIELD(saturation),
     SEEN(has_saturation),
     .argument = "V",
     .fallback = "what the file says, or none",
     .help = "leave out pixels of this value and more"},
    {.heading = "Result"},
    {.name = "output",
     .letter = 'o',
     .type = OPT_STRING,
     FIELD(output),
     .use = OPT_WRITTEN,
     .argument = "OUT.poni",
     .help = "the refined geometry"},
    {.name = "plot",
     .type = OPT_STRING,
     FIELD(plot),
     .use = OPT_WRITTEN,
     .argument = "OUT.png",
     .help = "draw the image with rings (blue), points (yellow; red: left out) and beam (green)"},
    {0},
};

struct job {
    const struct calibrate_params *p;
    struct image_frame frame;
    float *image;
    uint8_t *mask;
    double saturation;
    airy_geometry guess;
    airy_calibrant calibrant;
    airy_calibration found;
};

static int print_list(const struct common *common)
{
    json_t *list = json_array();
    for (size_t i = 0; i < airy_calibrant_count(); i++) {
        airy_calibrant_info info;
        const airy_status status = airy_calibrant_get(&info, i);
        if (status != AIRY_OK)
            return tool_failed(common, status);
        const double *c = info.cell;
        json_array_append_new(
            list, json_pack("{s:s, s:s, s:s, s:[o,o,o,o,o,o], s:s}", "name", info.name, "title",
                            info.title, "group", info.group, "cell", tool_json_number(c[0]),
                            tool_json_number(c[1]), tool_json_number(c[2]), tool_json_number(c[3]),
                            tool_json_number(c[4]), tool_json_number(c[5]), "source", info.source));
        if (!common->json)
            printf("%-13s %-21s %-9s a %.10g b %.10g c %.10g  %s\n", info.name, info.title,
                   info.group, c[0], c[1], c[2], info.source);
    }
    if (common->json)
        return tool_print_json(common, list);
    json_decref(list);
    return AIRY_EXIT_OK;
}

/* --fix and --free as bits of what is refined. */
static int parse_refine(const struct calibrate_params *p, unsigned *refine)
{
    const struct common *common = &p->geometry.common;
    *refine = ((1u << AIRY_CALIBRATE_COUNT) - 1) & ~(1u << AIRY_CALIBRATE_WAVELENGTH);
    for (int list = 0; list < 2; list++) {
        const struct opt_list *words = list ? &p->fix : &p->free;
        for (size_t i = 0; i < words->count; i++)
            for (const char *word = words->items[i]; *word;) {
                const size_t n = strcspn(word, ",");
                int k = 0;
                for (; k < AIRY_CALIBRATE_COUNT; k++) {
                    const char *name = airy_calibrate_value_name((airy_calibrate_value)k);
                    if (strlen(name) == n && strncmp(word, name, n) == 0)
                        break;
                }
                const bool rot3 = n == 4 && strncmp(word, "rot3", n) == 0;
                if (rot3 && !list)
                    return tool_usage(common,
                                      "--free rot3: turns the detector about the beam, which "
                                      "no ring shows");
                if (!rot3 && k == AIRY_CALIBRATE_COUNT)
                    return tool_usage(common,
                                      "--%s %.*s: expected dist, poni1, poni2, rot1, rot2, "
                                      "rot3 or wavelength",
                                      list ? "fix" : "free", (int)n, word);
                if (!rot3)
                    *refine = list ? *refine & ~(1u << k) : *refine | 1u << k;
                word += n + (word[n] == ',');
            }
    }
    return *refine ? AIRY_EXIT_OK : tool_usage(common, "--fix: nothing is left to refine");
}

/* The beam's place becomes the PONI of a geometry whose distance and tilts are known. */
static void center_beam(airy_geometry *g, const double center[2])
{
    const airy_detector *d = &g->detector;
    const int o = d->orientation;
    const double y = o == 1 || o == 2 ? (double)d->height - center[0] : center[0],
                 x = o == 1 || o == 4 ? (double)d->width - center[1] : center[1];
    g->poni1 = y * d->pixel1 - g->dist * tan(g->rot2) / cos(g->rot1);
    g->poni2 = x * d->pixel2 + g->dist * tan(g->rot1);
}

static int check_guess(const struct job *job, const airy_stack_meta *meta, bool known)
{
    const struct calibrate_params *p = job->p;
    const struct common *common = &p->geometry.common;
    const airy_geometry *g = &job->guess;
    const char *missing = !(g->dist > 0)         ? "--dist D"
                          : !(g->wavelength > 0) ? "--wavelength L or --energy E"
                          : !known && !p->has_center &&
                                  !(p->geometry.given.has_poni1 && p->geometry.given.has_poni2)
                              ? "--center Y,X (pixels)"
                              : NULL;
    if (missing)
        return tool_usage(common, "the guess lacks %s%s%s%s", missing,
                          meta->contradicted ? " (" : "", meta->contradicted ? meta->unusable : "",
                          meta->contradicted ? ")" : "");
    if (p->has_center && (p->geometry.given.has_poni1 || p->geometry.given.has_poni2))
        return tool_usage(common, "--center and --poni1, --poni2: give one of them");
    const airy_status status = airy_geometry_check(g);
    if (status != AIRY_OK)
        return tool_failed(common, status);
    geometry_say_odd(g, &p->geometry);
    return AIRY_EXIT_OK;
}

/* What the file says of itself, where it is a stack. */
static int read_meta(struct job *job, airy_stack_meta *meta)
{
    const struct common *common = &job->p->geometry.common;
    const char *path = common->inputs.items[0];
    *meta = (airy_stack_meta){0};
    if (airy_image_is_plain(path))
        return AIRY_EXIT_OK;
    airy_stack *stack = NULL;
    airy_status status = stack_open_header(&stack, common, path);
    if (status == AIRY_OK)
        status = airy_stack_get_meta(stack, meta);
    airy_stack_destroy(&stack);
    return status == AIRY_OK ? AIRY_EXIT_OK : tool_failed(common, status);
}

/* A wavelength that is given and not the input's is used; it decides the distance. */
static void say_wavelength(const struct job *job, const airy_stack_meta *meta)
{
    const double used = job->guess.wavelength, stated = meta->geometry.wavelength;
    if (!(meta->geometry_parts & AIRY_GEOMETRY_WAVELENGTH) || !(stated > 0) ||
        fabs(used / stated - 1) < 1e-4)
        return;
    const struct geometry_params *p = &job->p->geometry;
    tool_say(&p->common, "%s gives a wavelength of %.6g m, the file says %.6g m; %.6g m is used",
             p->given.wavelength != 0 ? "--wavelength"
             : p->given.energy != 0   ? "--energy"
             : job->p->guess          ? "--guess"
                                      : "--poni",
             used, stated, used);
}

static int make_guess(struct job *job, const airy_stack_meta *meta)
{
    const struct calibrate_params *p = job->p;
    const struct geometry_params *gp = &p->geometry;
    const struct common *common = &gp->common;
    const char *poni = p->guess ? p->guess : gp->given.poni;
    airy_geometry *g = &job->guess;
    const size_t height = job->frame.height, width = job->frame.width;
    if (p->guess && gp->given.poni)
        return tool_usage(common, "--guess and --poni: give one of them");
    const bool known = poni || meta->has_geometry;
    if (poni) {
        const airy_status status = airy_geometry_read(g, poni);
        if (status != AIRY_OK)
            return tool_failed(common, status);
    } else if (meta->has_geometry) {
        *g = meta->geometry;
    } else if (!gp->given.detector && !gp->given.has_pixel) {
        if (airy_detector_find_shape(&g->detector, height, width) != AIRY_OK)
            return tool_usage(common,
                              "no detector of the registry has %zu x %zu pixels; give --detector "
                              "NAME or --pixel P1,P2",
                              height, width);
        tool_say(common, "detector: %s, by the shape of the image", g->detector.name);
    }
    int code = geometry_override(g, gp);
    if (code == AIRY_EXIT_OK)
        code = geometry_fit_shape(g, common, height, width);
    if (code == AIRY_EXIT_OK && p->has_center)
        center_beam(g, p->center);
    if (code == AIRY_EXIT_OK)
        code = check_guess(job, meta, known);
    if (code == AIRY_EXIT_OK)
        say_wavelength(job, meta);
    return code;
}

/* Pixels that do not count become NaN, for the fit and the picture. */
static int mask_image(struct job *job, const airy_stack_meta *meta)
{
    const struct calibrate_params *p = job->p;
    const struct common *common = &p->geometry.common;
    struct image_frame *frame = &job->frame;
    const size_t count = frame->height * frame->width;
    uint8_t *own = calloc(count, 1), *given = NULL;
    job->image = malloc(count * sizeof(*job->image));
    int code = own && job->image ? AIRY_EXIT_OK
                                 : tool_fail(common, "out of memory for %zu pixels", count);
    if (code == AIRY_EXIT_OK) {
        const airy_status status = airy_detector_mask(&job->guess.detector, own);
        code = status == AIRY_OK ? AIRY_EXIT_OK : tool_failed(common, status);
    }
    if (code == AIRY_EXIT_OK && p->mask)
        code = image_load_mask(common, "mask", p->mask, frame->height, frame->width, &given);
    const double saturation = p->has_saturation      ? p->saturation
                              : meta->has_saturation ? meta->saturation
                                                     : (double)INFINITY;
    for (size_t i = 0; i < count && code == AIRY_EXIT_OK; i++) {
        const double v = frame->values[i];
        const bool dummy = (job->guess.detector.dectris_dummy && v >= -3 && v <= -1) ||
                           airy_gap_is(frame->dtype, v, false); /* in any format */
        if (own[i] || (given && given[i]) || dummy || v >= saturation)
            frame->values[i] = (double)NAN;
        job->image[i] = (float)frame->values[i];
    }
    free(own);
    free(given);
    return code;
}

static int calibrate(struct job *job, unsigned refine)
{
    const struct calibrate_params *p = job->p;
    const struct common *common = &p->geometry.common;
    const airy_calibrate_params params = {
        .image = job->image,
        .guess = job->guess,
        .calibrant = &job->calibrant,
        .refine = refine,
        .no_search = p->no_search,
        .search_px = p->has_search ? p->search : 0,
        .search_dist = p->has_search_dist ? p->search_dist / 100 : 0,
        .rings = p->has_rings ? p->rings : 0,
        .sectors = p->has_sectors ? p->sectors : 0,
        .max_residual_px = p->has_max_residual ? p->max_residual : 0,
        .threads = tool_threads(common)};
    const double start = tool_now();
    const airy_status status = airy_calibrate(&job->found, &params);
    if (status != AIRY_OK)
        return tool_failed(common, status);
    if (common->verbose)
        tool_say(common, "%d rounds in %.2f s", job->found.iterations, tool_now() - start);
    return AIRY_EXIT_OK;
}

static int write_poni(const struct job *job)
{
    const struct common *common = &job->p->geometry.common;
    char notes[4600];
    snprintf(
        notes, sizeof(notes),
        "airy %s calibrate, calibrant %s\nimage %.4000s\nresidual %.4f pixels (rms) of %zu points "
        "on %zu rings",
        airy_version(), job->calibrant.name, common->inputs.items[0], job->found.rms_px,
        job->found.used, job->found.ring_count);
    const airy_status status =
        airy_geometry_write_noted(&job->found.geometry, notes, job->p->output);
    return status == AIRY_OK ? AIRY_EXIT_OK : tool_failed(common, status);
}

static double value_of(const airy_geometry *g, int k)
{
    const double values[AIRY_CALIBRATE_COUNT] = {g->dist, g->poni1, g->poni2,
                                                 g->rot1, g->rot2,  g->wavelength};
    return values[k];
}

static const struct {
    unsigned bit;
    const char *text, *word;
} doubts[] = {
    {AIRY_CALIBRATE_ONE_RING,
     "one ring alone: the tilts rest on its shape; --fix rot1,rot2 holds them", "one_ring"},
    {AIRY_CALIBRATE_TILT,
     "the rings hardly show the tilts (above 0.5 degree of error); --fix rot1,rot2 holds them",
     "tilt"},
    {AIRY_CALIBRATE_SCALE,
     "distance and wavelength cannot be told apart at these angles; hold one of them", "scale"},
    {AIRY_CALIBRATE_ARC, "the points lie on less than a third of the turn about the beam", "arc"},
    {AIRY_CALIBRATE_DISTANCE, "the distance is uncertain by more than 1 percent", "distance"},
    {AIRY_CALIBRATE_OTHERS,
     "the image has many rings that the calibrant lacks: is it the right one, and the wavelength?",
     "other_rings"},
    {AIRY_CALIBRATE_UNEVEN,
     "whole rings lie inside or outside of their places: is it the right calibrant and wavelength?",
     "uneven"},
};
enum { DOUBTS = sizeof(doubts) / sizeof(doubts[0]) };

static json_t *rings_json(const struct job *job)
{
    json_t *rings = json_array();
    for (size_t i = 0; i < job->found.ring_count; i++) {
        const airy_calibrate_ring *r = &job->found.rings[i];
        const airy_calibrant_ring *c = &job->calibrant.rings[r->index];
        json_array_append_new(
            rings, json_pack("{s:I, s:[i,i,i], s:o, s:o, s:I, s:I, s:I, s:o, s:o, s:o}", "ring",
                             (json_int_t)r->index + 1, "hkl", c->hkl[0], c->hkl[1], c->hkl[2],
                             "d_angstrom", tool_json_number(1e10 * c->spacing), "2th_deg",
                             tool_json_number(r->tth / DEGREE), "sectors", (json_int_t)r->sectors,
                             "points", (json_int_t)r->points, "used", (json_int_t)r->used, "rms_px",
                             r->used ? tool_json_number(r->rms) : json_null(), "mean_px",
                             r->used ? tool_json_number(r->mean) : json_null(), "fwhm_px",
                             r->used ? tool_json_number(r->width) : json_null()));
    }
    return rings;
}

static json_t *pair_json(const double pair[2])
{
    return isfinite(pair[0]) && isfinite(pair[1])
               ? json_pack("[o,o]", tool_json_number(pair[0]), tool_json_number(pair[1]))
               : json_null();
}

static int report_json(const struct job *job)
{
    const struct calibrate_params *p = job->p;
    const airy_calibration *f = &job->found;
    json_t *errors = json_object(), *held = json_array(), *said = json_array(),
           *correlation = json_object();
    for (int k = 0; k < AIRY_CALIBRATE_COUNT; k++) {
        const char *name = airy_calibrate_value_name((airy_calibrate_value)k);
        if (f->refined[k])
            json_object_set_new(errors, name, tool_json_number(f->error[k]));
        else
            json_array_append_new(held, json_string(name));
        for (int l = 0; l < k && f->refined[k]; l++)
            if (f->refined[l]) {
                char pair[64];
                snprintf(pair, sizeof(pair), "%s,%s",
                         airy_calibrate_value_name((airy_calibrate_value)l), name);
                json_object_set_new(correlation, pair, tool_json_number(f->correlation[l][k]));
            }
    }
    json_array_append_new(held, json_string("rot3"));
    for (size_t i = 0; i < DOUBTS; i++)
        if (f->doubts & doubts[i].bit)
            json_array_append_new(said, json_string(doubts[i].word));
    json_t *json = json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:I, s:i, s:o, s:o}",
        "output", p->output ? tool_json_string(p->output) : json_null(), "calibrant",
        tool_json_string(job->calibrant.name), "image",
        tool_json_string(p->geometry.common.inputs.items[0]), "geometry",
        geometry_json(&f->geometry), "errors", errors, "held", held, "correlation", correlation,
        "beam_px", pair_json(f->beam), "beam_error_px", pair_json(f->beam_error), "rms_px",
        tool_json_number(f->rms_px), "rms_deg", tool_json_number(f->rms_rad / DEGREE), "points",
        (json_int_t)f->point_count, "used", (json_int_t)f->used, "rounds", f->iterations, "doubts",
        said, "rings", rings_json(job));
    return tool_print_json(&p->geometry.common, json);
}

static void print_rings(const struct job *job)
{
    printf(
        "\n  ring     h   k   l    d (A)   2theta   points   used   rms px   mean px   width px\n");
    for (size_t i = 0; i < job->found.ring_count; i++) {
        const airy_calibrate_ring *r = &job->found.rings[i];
        const airy_calibrant_ring *c = &job->calibrant.rings[r->index];
        printf("  %4zu  %4d%4d%4d  %7.4f  %7.3f  %3zu/%-4zu  %4zu", r->index + 1, c->hkl[0],
               c->hkl[1], c->hkl[2], 1e10 * c->spacing, r->tth / DEGREE, r->points, r->sectors,
               r->used);
        if (r->used)
            printf("  %7.4f   %+7.4f   %8.2f", r->rms, r->mean, r->width);
        printf("\n");
    }
}

static int report(const struct job *job)
{
    const struct common *common = &job->p->geometry.common;
    const airy_calibration *f = &job->found;
    for (size_t i = 0; i < DOUBTS; i++)
        if (f->doubts & doubts[i].bit)
            tool_say(common, "note: %s", doubts[i].text);
    if (common->json)
        return report_json(job);
    for (int k = 0; k < AIRY_CALIBRATE_COUNT; k++) {
        const char *name = airy_calibrate_value_name((airy_calibrate_value)k);
        const char *unit = k == AIRY_CALIBRATE_ROT1 || k == AIRY_CALIBRATE_ROT2 ? "rad" : "m";
        printf("%-10s  %.10g", name, value_of(&f->geometry, k));
        if (f->refined[k])
            printf(" +- %.2g %s\n", f->error[k], unit);
        else
            printf(" %s (held)\n", unit);
    }
    printf("%-10s  %.10g rad (held)\n", "rot3", f->geometry.rot3);
    if (isfinite(f->beam[0]))
        printf("beam        y %.4f +- %.2g, x %.4f +- %.2g pixels\n", f->beam[0], f->beam_error[0],
               f->beam[1], f->beam_error[1]);
    printf("residual    %.4f pixels, %.5f degrees (rms) of %zu of %zu points on %zu ring%s\n",
           f->rms_px, f->rms_rad / DEGREE, f->used, f->point_count, f->ring_count,
           tool_s(f->ring_count));
    if (common->verbose)
        print_rings(job);
    return AIRY_EXIT_OK;
}

static int check_calibrate(void *user)
{
    const struct calibrate_params *p = user;
    unsigned refine;
    const struct common *common = &p->geometry.common;
    if (p->list)
        return tool_check_list(common);
    if (common->inputs.count == 0)
        return tool_usage(common, "IMAGE is missing");
    if (!p->calibrant)
        return tool_usage(common, "--calibrant NAME is missing");
    if (!p->output)
        return tool_usage(common, "-o OUT.poni is missing");
    if (p->plot && !tool_has_suffix(p->plot, ".png"))
        return tool_usage(common, "output '%s': expected a name that ends in .png", p->plot);
    if (p->no_search && (p->has_search || p->has_search_dist))
        return tool_usage(common, "--no-search and --search%s: give one of them",
                          p->has_search ? "" : "-dist");
    return parse_refine(p, &refine);
}

static int run_calibrate(void *user)
{
    const struct calibrate_params *p = user;
    const struct common *common = &p->geometry.common;
    if (p->list)
        return print_list(common);
    unsigned refine = 0;
    int code = parse_refine(p, &refine);
    if (code != AIRY_EXIT_OK)
        return code;
    struct job job = {.p = p};
    airy_stack_meta meta;
    code = image_load_frame(common, common->inputs.items[0], p->frame, p->output, NULL, &job.frame);
    if (code == AIRY_EXIT_OK)
        code = read_meta(&job, &meta);
    if (code == AIRY_EXIT_OK)
        code = make_guess(&job, &meta);
    if (code == AIRY_EXIT_OK)
        code = calibrant_load(&job.calibrant, common, p->calibrant, job.guess.wavelength);
    if (code == AIRY_EXIT_OK)
        code = mask_image(&job, &meta);
    if (code == AIRY_EXIT_OK)
        code = calibrate(&job, refine);
    if (code == AIRY_EXIT_OK)
        code = write_poni(&job);
    if (code == AIRY_EXIT_OK && p->plot)
        code = calibrate_plot(common, p->plot, &job.frame, &job.calibrant, &job.found);
    if (code == AIRY_EXIT_OK)
        code = report(&job);
    free(job.frame.values);
    free(job.image);
    airy_calibrant_free(&job.calibrant);
    airy_calibration_free(&job.found);
    return code;
}

const struct command cmd_calibrate = {
    .name = "calibrate",
    .usage = "IMAGE --calibrant NAME -o OUT.poni [options]",
    .summary = "distance, beam centre and tilts from the rings of a calibrant",
    .details =
        "Searches rings near the guess, measures them in sectors and fits the geometry by least "
        "squares; prints values with standard errors, --verbose a table of rings, too. Without "
        "--detector or --pixel the detector is the one of the image's shape. A DECTRIS file's own "
        "geometry is a guess, too.",
    .examples =
        "  airy calibrate lab6.cbf --calibrant LaB6 --energy 20 --dist 0.2 --center 520,490 "
        "-o lab6.poni --plot lab6.png\n"
        "  airy calibrate ceo2.h5 --calibrant CeO2 --guess old.poni --fix rot1,rot2 -o new.poni\n",
    .tables = {calibrate_options, geometry_options},
    .takes = TAKES_THREADS,
    .params_size = sizeof(struct calibrate_params),
    .min_inputs = 0,
    .max_inputs = 1,
    .check = check_calibrate,
    .run = run_calibrate,
};
