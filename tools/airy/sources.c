#include "sources.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct found_source sources_get(const struct found *found, size_t index)
{
    const airy_region *r = &found->regions[index];
    return (struct found_source){
        .ellipse = {.x = r->center[2], .y = r->center[1], .a = r->a, .b = r->b, .theta = r->theta},
        .flux = r->sum,
        .pixels = r->count};
}

airy_ellipse sources_outline(const struct found *found, size_t index)
{
    airy_ellipse e = sources_get(found, index).ellipse;
    e.a = fmax(2 * e.a, 1);
    e.b = fmax(2 * e.b, 1);
    return e;
}

int sources_columns(const struct sources_params *p, const struct found *found,
                    struct catalog *catalog)
{
    const size_t step = sizeof(airy_region);
    const airy_region *r = found->regions;
    const struct common *common = &p->common;
    if (!catalog_add_regions(catalog, r) || !catalog_add_jy(catalog, r ? &r->sum : NULL, step))
        return tool_fail(common, "out of memory for %zu sources", found->count);
    return catalog_add_sky(catalog, common, r ? &r->center[2] : NULL, r ? &r->center[1] : NULL,
                           step);
}

int sources_write_catalog(const struct sources_params *p, const struct found *found,
                          const struct catalog *catalog)
{
    const airy_note notes[] = {
        {.key = "IMAGE", .text = p->common.inputs.items[0]},
        {.key = "CREATOR", .text = "Airy", .comment = airy_version()},
        {.key = "METHOD", .text = p->simple ? "simple" : "full"},
        {.key = "SIGMA", .number = p->sigma, .comment = "threshold in noise"},
        {.key = "THRESH", .number = found->threshold, .comment = "threshold in the image's unit"},
        {.key = "BACKGRND", .number = found->background, .comment = "background"},
        {.key = "NOISE", .number = found->noise, .comment = "standard deviation"},
        {.key = "BEAMPIX", .number = catalog->info.beam_px, .comment = "area of the beam, pixels"},
    };
    const size_t count = sizeof(notes) / sizeof(notes[0]) - (catalog->info.has_beam ? 0 : 1);
    return catalog_write(catalog, &p->common, "SOURCES", "Sources of an image", notes, count,
                         p->catalog);
}

int sources_write_regions(const struct sources_params *p, const struct found *found,
                          const struct catalog *catalog)
{
    airy_ellipse *ellipses = malloc((found->count + 1) * sizeof(*ellipses));
    if (!ellipses)
        return tool_fail(&p->common, "%s: out of memory for %zu regions", p->regions, found->count);
    for (size_t i = 0; i < found->count; i++)
        ellipses[i] = sources_outline(found, i);
    const airy_status status =
        airy_regions_write(ellipses, found->count, catalog->sky, p->regions, p->common.force);
    free(ellipses);
    return status == AIRY_OK ? AIRY_EXIT_OK : tool_failed(&p->common, status);
}

size_t sources_brightest(size_t top[SOURCES_TOP], const struct found *found)
{
    size_t count = 0;
    for (size_t i = 0; i < found->count; i++) {
        const double flux = sources_get(found, i).flux;
        if (isnan(flux) ||
            (count == SOURCES_TOP && !(flux > sources_get(found, top[SOURCES_TOP - 1]).flux)))
            continue;
        size_t at = count < SOURCES_TOP ? count++ : SOURCES_TOP - 1;
        for (; at > 0 && flux > sources_get(found, top[at - 1]).flux; at--)
            top[at] = top[at - 1];
        top[at] = i;
    }
    return count;
}

void sources_say(const struct sources_params *p, const struct found *found,
                 const struct catalog *catalog)
{
    const struct common *common = &p->common;
    const bool jy = !isnan(catalog->jy);
    size_t top[SOURCES_TOP];
    const size_t count = sources_brightest(top, found);
    tool_say(common,
             "%zu source%s above %.6g%s%s (%g x %.6g); noise alone would have %.3g pixels there",
             found->count, tool_s(found->count), found->threshold, catalog->unit[0] ? " " : "",
             catalog->unit, p->sigma, found->noise, found->expected_false);
    if (p->simple && found->background > found->threshold)
        tool_say(common,
                 "the background, %.6g, is above the threshold itself: this method is for images "
                 "around 0",
                 found->background);
    if (!jy)
        tool_say(common, "flux_jy is left empty: %s", catalog->why_not);
    if (count > 0)
        tool_say(common, "%7s %10s %10s %12s %12s %8s %12s", "label", "x", "y", "ra", "dec", "npix",
                 jy ? "Jy" : "flux");
    for (size_t k = 0; k < count; k++) {
        const struct found_source s = sources_get(found, top[k]);
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
