#include "images/found.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct found_source found_get(const struct found *found, size_t index)
{
    if (found->sources) {
        const airy_source *s = &found->sources[index];
        return (struct found_source){
            .ellipse = {.x = s->x, .y = s->y, .a = s->a, .b = s->b, .theta = s->theta},
            .flux = s->flux,
            .pixels = s->npix};
    }
    const airy_region *r = &found->regions[index];
    return (struct found_source){
        .ellipse = {.x = r->center[2], .y = r->center[1], .a = r->a, .b = r->b, .theta = r->theta},
        .flux = r->sum,
        .pixels = r->count};
}

airy_ellipse found_outline(const struct found *found, size_t index)
{
    airy_ellipse e = found_get(found, index).ellipse;
    e.a = fmax(2 * e.a, 1);
    e.b = fmax(2 * e.b, 1);
    return e;
}

static int simple_columns(const struct common *common, const airy_region *r,
                          struct catalog *catalog)
{
    const size_t step = sizeof(*r);
    if (!catalog_add_regions(catalog, r) ||
        !catalog_add_jy(catalog, "flux_jy", "sum divided by the area of the beam",
                        r ? &r->sum : NULL, step))
        return tool_fail(common, "out of memory for %zu sources", catalog->rows);
    return catalog_add_sky(catalog, common, r ? &r->center[2] : NULL, r ? &r->center[1] : NULL,
                           step);
}

#define MEMBER(...)    CATALOG_MEMBER(airy_source, __VA_ARGS__)
#define ADD(c, m, s)   catalog_add_members(c, m, sizeof(m) / sizeof(m[0]), s, sizeof(*(s)))
#define FLUX_UCD       "phot.flux.density"
#define FLUX_ERROR_UCD "stat.error;phot.flux.density"
#define MOMENT_UCD     "src.morph.param"

static const struct catalog_member place_members[] = {
    MEMBER("label", NULL, "meta.id;meta.main", "number in the segmentation image", U32, label),
    MEMBER("x", "pix", X_UCD, "center, from 0", F64, x),
    MEMBER("y", "pix", Y_UCD, "center, from 0", F64, y),
};

static const struct catalog_member measure_members[] = {
    MEMBER("npix", "pix", "meta.number;instr.pixel", "pixels", U64, npix),
    MEMBER("flux", "*", FLUX_UCD, "sum of its pixels without the background", F64, flux),
    MEMBER("flux_err", "*", FLUX_ERROR_UCD, "standard deviation of it", F64, flux_err),
    MEMBER("peak", "*", FLUX_UCD ";stat.max", "largest pixel without the background", F64, peak),
    MEMBER("background", "*", "instr.background", "background at the center", F64, background),
    MEMBER("noise", "*", "stat.stdev;instr.background", "noise at the center", F64, noise),
    MEMBER("a", "pix", "phys.size.smajAxis;instr.det", "semi-axis of the moments", F64, a),
    MEMBER("b", "pix", "phys.size.sminAxis;instr.det", "semi-axis of the moments", F64, b),
    MEMBER("theta", "rad", "pos.posAng;instr.det", "angle of a against x, towards y", F64, theta),
    MEMBER("xx", "pix2", MOMENT_UCD, "second moment about the center", F64, xx),
    MEMBER("yy", "pix2", MOMENT_UCD, "second moment about the center", F64, yy),
    MEMBER("xy", "pix2", MOMENT_UCD, "second moment about the center", F64, xy),
    MEMBER("flux_kron", "*", FLUX_UCD, "within the Kron ellipse", F64, flux_kron),
    MEMBER("flux_kron_err", "*", FLUX_ERROR_UCD, "standard deviation of it", F64, flux_kron_err),
    MEMBER("kron_radius", NULL, "phys.angSize;src", "in units of a and b", F64, kron_radius),
};

#define APERTURE(number, index)                                                                    \
    MEMBER("flux_aper_" number, "*", FLUX_UCD, "within the circle of radius APER" number, F64,     \
           flux_aper[index]),                                                                      \
        MEMBER("flux_aper_" number "_err", "*", FLUX_ERROR_UCD, "standard deviation of it", F64,   \
               flux_aper_err[index])

static const struct catalog_member aperture_members[2 * AIRY_SOURCE_APERTURES] = {
    APERTURE("1", 0), APERTURE("2", 1), APERTURE("3", 2), APERTURE("4", 3),
    APERTURE("5", 4), APERTURE("6", 5), APERTURE("7", 6), APERTURE("8", 7),
};

/* size_t */
#define PLACE(name, ucd, description, member)                                                      \
    {                                                                                              \
        name, "pix", ucd, description,                                                             \
            sizeof(size_t) == sizeof(uint64_t) ? AIRY_DTYPE_U64 : AIRY_DTYPE_U32,                  \
            offsetof(airy_source, member)                                                          \
    }

static const struct catalog_member other_members[] = {
    MEMBER("flag", NULL, "meta.code", "bits of airy_source_flags", U32, flags),
    MEMBER("half_light_radius", "pix", "phys.angSize;src", "of the circle with half of flux_kron",
           F64, half_light_radius),
    MEMBER("threshold", "*", "instr.sensitivity", "that its pixels are above", F64, threshold),
    MEMBER("err_xx", "pix2", "stat.variance;pos.cartesian.x", "variance of x", F64, err_xx),
    MEMBER("err_yy", "pix2", "stat.variance;pos.cartesian.y", "variance of y", F64, err_yy),
    MEMBER("err_xy", "pix2", "stat.covariance", "covariance of x and y", F64, err_xy),
    PLACE("peak_y", Y_UCD, "row of the largest pixel, from 0", ypeak),
    PLACE("peak_x", X_UCD, "column of the largest pixel, from 0", xpeak),
    PLACE("ymin", Y_UCD ";stat.min", "box, ends included", ymin),
    PLACE("ymax", Y_UCD ";stat.max", "box, ends included", ymax),
    PLACE("xmin", X_UCD ";stat.min", "box, ends included", xmin),
    PLACE("xmax", X_UCD ";stat.max", "box, ends included", xmax),
};

static int full_columns(const struct sources_params *p, const airy_source *s,
                        struct catalog *catalog)
{
    const size_t step = sizeof(*s);
    ADD(catalog, place_members, s);
    const int code = catalog_add_sky(catalog, &p->common, s ? &s->x : NULL, s ? &s->y : NULL, step);
    if (code != AIRY_EXIT_OK)
        return code;
    ADD(catalog, measure_members, s);
    catalog_add_members(catalog, aperture_members, 2 * (size_t)p->apertures.count, s, step);
    const bool good = catalog_add_jy(catalog, "flux_jy", "flux divided by the area of the beam",
                                     s ? &s->flux : NULL, step);
    ADD(catalog, other_members, s);
    if (!good || !catalog_add_jy(catalog, "flux_kron_jy", "flux_kron divided by the same",
                                 s ? &s->flux_kron : NULL, step))
        return tool_fail(&p->common, "out of memory for %zu sources", catalog->rows);
    return AIRY_EXIT_OK;
}

int found_columns(const struct sources_params *p, const struct found *found,
                  struct catalog *catalog)
{
    return p->simple ? simple_columns(&p->common, found->regions, catalog)
                     : full_columns(p, found->sources, catalog);
}

int found_write_catalog(const struct sources_params *p, const struct found *found,
                        const struct catalog *catalog)
{
    static const char *const radii[AIRY_SOURCE_APERTURES] = {"APER1", "APER2", "APER3", "APER4",
                                                             "APER5", "APER6", "APER7", "APER8"};
    airy_note notes[11 + AIRY_SOURCE_APERTURES] = {
        {.key = "IMAGE", .text = p->common.inputs.items[0]},
        {.key = "CREATOR", .text = "Airy", .comment = airy_version()},
        {.key = "METHOD", .text = p->simple ? "simple" : "full"},
        {.key = "SIGMA", .number = p->sigma, .comment = "threshold in noises"},
        {.key = "THRESH", .number = found->threshold, .comment = "threshold in the image's unit"},
        {.key = "BACKGRND", .number = found->background, .comment = "median background"},
        {.key = "NOISE", .number = found->noise, .comment = "median standard deviation"},
    };
    size_t count = 7;
    if (catalog->info.has_beam)
        notes[count++] = (airy_note){.key = "BEAMPIX",
                                     .number = catalog->info.beam_px,
                                     .comment = "area of the beam, pixels"};
    if (p->kernel)
        notes[count++] =
            (airy_note){.key = "KERNEL", .text = p->kernel, .comment = "detection filter"};
    if (p->fwhm > 0) {
        notes[count++] = (airy_note){
            .key = "FWHM", .number = p->fwhm, .comment = "of the matched filter, pixels"};
        notes[count++] = (airy_note){.key = "FILTNOIS",
                                     .number = found->correlation,
                                     .comment = "noise of the filtered image over white noise's"};
    }
    for (int i = 0; i < p->apertures.count; i++)
        notes[count++] = (airy_note){.key = radii[i],
                                     .number = p->apertures.radius[i],
                                     .comment = "radius of an aperture, pixels"};
    return catalog_write(catalog, &p->common, "SOURCES", "Sources of an image", notes, count,
                         p->catalog);
}

int found_write_regions(const struct sources_params *p, const struct found *found,
                        const struct catalog *catalog)
{
    airy_ellipse *ellipses = malloc((found->count + 1) * sizeof(*ellipses));
    if (!ellipses)
        return tool_fail(&p->common, "%s: out of memory for %zu regions", p->regions, found->count);
    for (size_t i = 0; i < found->count; i++)
        ellipses[i] = found_outline(found, i);
    const airy_status status =
        airy_regions_write(ellipses, found->count, catalog->sky, p->regions, p->common.force);
    free(ellipses);
    return status == AIRY_OK ? AIRY_EXIT_OK : tool_failed(&p->common, status);
}

size_t found_brightest(size_t top[FOUND_TOP], const struct found *found)
{
    size_t count = 0;
    for (size_t i = 0; i < found->count; i++) {
        const double flux = found_get(found, i).flux;
        if (isnan(flux) ||
            (count == FOUND_TOP && !(flux > found_get(found, top[FOUND_TOP - 1]).flux)))
            continue;
        size_t at = count < FOUND_TOP ? count++ : FOUND_TOP - 1;
        for (; at > 0 && flux > found_get(found, top[at - 1]).flux; at--)
            top[at] = top[at - 1];
        top[at] = i;
    }
    return count;
}

void found_say(const struct sources_params *p, const struct found *found,
               const struct catalog *catalog)
{
    const struct common *common = &p->common;
    const bool jy = !isnan(catalog->jy);
    size_t top[FOUND_TOP];
    const size_t count = found_brightest(top, found);
    tool_say(common,
             "%zu source%s above %.6g%s%s (%g x %.6g); noise alone would have %.3g pixels there",
             found->count, tool_s(found->count), found->threshold, catalog->unit[0] ? " " : "",
             catalog->unit, p->sigma, found->noise, found->expected_false);
    if (!(found->noise > 0))
        tool_say(common, "the noise of half of the image or more is 0, and where it is, no source "
                         "is found: values there hardly differ");
    if (p->simple && found->background > found->threshold)
        tool_say(common,
                 "the background, %.6g, is above the threshold itself: this method is for images "
                 "around 0",
                 found->background);
    if (p->fwhm > 0 && !p->sep)
        tool_say(common,
                 "the filtered image has %.3g times the noise of independent pixels, which counts",
                 found->correlation);
    if (!jy && p->catalog)
        tool_say(common, "%s left empty: %s",
                 catalog->sky ? "flux_jy is" : "ra, dec and flux_jy are", catalog->why_not);
    if (count > 0)
        tool_say(common, "%7s %10s %10s %12s %12s %8s %12s", "label", "x", "y",
                 catalog_sky_name(&catalog->info, 0), catalog_sky_name(&catalog->info, 1), "npix",
                 jy ? "Jy" : "flux");
    for (size_t k = 0; k < count; k++) {
        const struct found_source s = found_get(found, top[k]);
        double ra = s.ellipse.x, dec = s.ellipse.y;
        if (!catalog->sky || airy_sky_from_pixel(catalog->sky, &ra, &dec, &ra, &dec, 1) != AIRY_OK)
            ra = dec = (double)NAN;
        char text[2][24] = {"-", "-"};
        if (isfinite(ra)) {
            snprintf(text[0], sizeof(text[0]), "%.6f", ra);
            snprintf(text[1], sizeof(text[1]), "%+.6f", dec);
        }
        tool_say(common, "%7zu %10.2f %10.2f %12s %12s %8llu %12.6g", top[k] + 1, s.ellipse.x,
                 s.ellipse.y, text[0], text[1], (unsigned long long)s.pixels,
                 jy ? s.flux * catalog->jy : s.flux);
    }
}
