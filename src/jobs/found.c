#include "jobs/found.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static airy_status simple_columns(const airy_region *r, struct airy_catalog *catalog)
{
    const size_t step = sizeof(*r);
    AIRY_TRY(airy_catalog_add_regions(catalog, r));
    AIRY_TRY(airy_catalog_add_jy(catalog, "flux_jy", "sum divided by the area of the beam",
                                 r ? &r->sum : NULL, step));
    return airy_catalog_add_sky(catalog, r ? &r->center[2] : NULL, r ? &r->center[1] : NULL, step);
}

#define MEMBER(...)    AIRY_CATALOG_MEMBER(airy_source, __VA_ARGS__)
#define ADD(c, m, s)   airy_catalog_add_members(c, m, sizeof(m) / sizeof(m[0]), s, sizeof(*(s)))
#define FLUX_UCD       "phot.flux.density"
#define FLUX_ERROR_UCD "stat.error;phot.flux.density"
#define MOMENT_UCD     "src.morph.param"

static const struct airy_catalog_member place_members[] = {
    MEMBER("label", NULL, "meta.id;meta.main", "number in the segmentation image", U32, label),
    MEMBER("x", "pix", AIRY_X_UCD, "center, from 0", F64, x),
    MEMBER("y", "pix", AIRY_Y_UCD, "center, from 0", F64, y),
};

static const struct airy_catalog_member measure_members[] = {
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

static const struct airy_catalog_member aperture_members[2 * AIRY_SOURCE_APERTURES] = {
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

static const struct airy_catalog_member other_members[] = {
    MEMBER("flag", NULL, "meta.code", "bits of airy_source_flags", U32, flags),
    MEMBER("half_light_radius", "pix", "phys.angSize;src", "of the circle with half of flux_kron",
           F64, half_light_radius),
    MEMBER("threshold", "*", "instr.sensitivity", "that its pixels are above", F64, threshold),
    MEMBER("err_xx", "pix2", "stat.variance;pos.cartesian.x", "variance of x", F64, err_xx),
    MEMBER("err_yy", "pix2", "stat.variance;pos.cartesian.y", "variance of y", F64, err_yy),
    MEMBER("err_xy", "pix2", "stat.covariance", "covariance of x and y", F64, err_xy),
    PLACE("peak_y", AIRY_Y_UCD, "row of the largest pixel, from 0", ypeak),
    PLACE("peak_x", AIRY_X_UCD, "column of the largest pixel, from 0", xpeak),
    PLACE("ymin", AIRY_Y_UCD ";stat.min", "box, ends included", ymin),
    PLACE("ymax", AIRY_Y_UCD ";stat.max", "box, ends included", ymax),
    PLACE("xmin", AIRY_X_UCD ";stat.min", "box, ends included", xmin),
    PLACE("xmax", AIRY_X_UCD ";stat.max", "box, ends included", xmax),
};

static airy_status full_columns(const struct airy_found *found, struct airy_catalog *catalog)
{
    const airy_source *s = found->sources;
    const size_t step = sizeof(*s);
    ADD(catalog, place_members, s);
    AIRY_TRY(airy_catalog_add_sky(catalog, s ? &s->x : NULL, s ? &s->y : NULL, step));
    ADD(catalog, measure_members, s);
    airy_catalog_add_members(catalog, aperture_members, 2 * found->v->apertures.count, s, step);
    AIRY_TRY(airy_catalog_add_jy(catalog, "flux_jy", "flux divided by the area of the beam",
                                 s ? &s->flux : NULL, step));
    ADD(catalog, other_members, s);
    return airy_catalog_add_jy(catalog, "flux_kron_jy", "flux_kron divided by the same",
                               s ? &s->flux_kron : NULL, step);
}

airy_status airy_found_columns(const struct airy_found *found, struct airy_catalog *catalog)
{
    return found->simple ? simple_columns(found->regions, catalog) : full_columns(found, catalog);
}

airy_status airy_found_put_catalog(const struct airy_found *found,
                                   const struct airy_catalog *catalog)
{
    static const char *const radii[AIRY_SOURCE_APERTURES] = {"APER1", "APER2", "APER3", "APER4",
                                                             "APER5", "APER6", "APER7", "APER8"};
    const struct airy_sources_values *v = found->v;
    airy_note notes[11 + AIRY_SOURCE_APERTURES] = {
        {.key = "IMAGE", .text = airy_job_image_name(&found->d)},
        {.key = "CREATOR", .text = "Airy", .comment = airy_version()},
        {.key = "METHOD", .text = found->simple ? "simple" : "full"},
        {.key = "SIGMA", .number = v->sigma, .comment = "threshold in noises"},
        {.key = "THRESH", .number = found->threshold, .comment = "threshold in the image's unit"},
        {.key = "BACKGRND", .number = found->background, .comment = "median background"},
        {.key = "NOISE", .number = found->noise, .comment = "median standard deviation"},
    };
    size_t count = 7;
    if (catalog->info.has_beam)
        notes[count++] = (airy_note){.key = "BEAMPIX",
                                     .number = catalog->info.beam_px,
                                     .comment = "area of the beam, pixels"};
    if (airy_source_is_given(&v->kernel))
        notes[count++] = (airy_note){.key = "KERNEL",
                                     .text = v->kernel.path ? v->kernel.path : "kernel",
                                     .comment = "detection filter"};
    if (v->matched > 0) {
        notes[count++] = (airy_note){
            .key = "FWHM", .number = v->matched, .comment = "of the matched filter, pixels"};
        notes[count++] = (airy_note){.key = "FILTNOIS",
                                     .number = found->correlation,
                                     .comment = "noise of the filtered image over white noise's"};
    }
    for (size_t i = 0; i < v->apertures.count; i++)
        notes[count++] = (airy_note){.key = radii[i],
                                     .number = v->apertures.values[i],
                                     .comment = "radius of an aperture, pixels"};
    const struct airy_catalog_output output = {.path = v->catalog,
                                               .force = v->force,
                                               .name = "SOURCES",
                                               .description = "Sources of an image",
                                               .notes = notes,
                                               .count = count};
    return airy_catalog_put(catalog, found->job, "catalog", &output);
}

/* Twice the moments' axes, which is the outline of an even disc, and a pixel at least. */
static airy_ellipse outline(const struct airy_found *found, size_t i)
{
    const airy_source *s = found->sources ? &found->sources[i] : NULL;
    const airy_region *r = s ? NULL : &found->regions[i];
    return (airy_ellipse){.x = s ? s->x : r->center[2],
                          .y = s ? s->y : r->center[1],
                          .a = fmax(2 * (s ? s->a : r->a), 1),
                          .b = fmax(2 * (s ? s->b : r->b), 1),
                          .theta = s ? s->theta : r->theta};
}

airy_status airy_found_write_regions(const struct airy_found *found,
                                     const struct airy_catalog *catalog)
{
    airy_ellipse *ellipses;
    AIRY_TRY(
        airy_memory_calloc((void **)&ellipses, found->count + 1, sizeof(*ellipses), "regions"));
    for (size_t i = 0; i < found->count; i++)
        ellipses[i] = outline(found, i);
    const airy_status status = airy_regions_write(ellipses, found->count, catalog->sky,
                                                  found->v->regions, found->v->force);
    free(ellipses);
    return status;
}
