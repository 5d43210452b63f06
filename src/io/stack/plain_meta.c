/*
 * What the headers of single images say about the experiment: comments that DECTRIS detectors
 * write into CBF and TIFF, and EDF keys of small-angle scattering.
 * Source: the headers of Pilatus files themselves ("# Beam_xy (1231.50, 1263.50) pixels");
 *         P. Boesecke, J. Appl. Cryst. 40 (2007) s423 (doi:10.1107/S0021889807001100).
 */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/size.h"
#include "base/number.h"
#include "io/stack/header_geometry.h"
#include "io/image/formats.h"
#include "io/stack/internal.h"

#define DEGREE     0.017453292519943295 /* rad */
#define SAME_PIXEL 0.1                  /* up to here two beam centres are one */

/*
 * What follows "# KEY" in the next line that has it, without a colon or equals sign; *text becomes
 * what is behind it. False: no such line.
 */
static bool next_comment(char *value, size_t size, const char **text, const char *key)
{
    const size_t n = strlen(key);
    for (const char *at = *text; at; at = strchr(at, '\n')) {
        at += *at == '\n';
        const char *from = at + strspn(at, " \t\r");
        if (*from != '#')
            continue;
        from += 1 + strspn(from + 1, " \t");
        if (strncasecmp(from, key, n) != 0 || isalnum((unsigned char)from[n]) || from[n] == '_')
            continue;
        from += n;
        from += strspn(from, " \t:=");
        const size_t length = airy_min_size(strcspn(from, "\r\n"), size - 1);
        memcpy(value, from, length);
        value[length] = 0;
        *text = from + strcspn(from, "\n");
        return true;
    }
    return false;
}

/* Of the first of such lines. */
static bool find_comment(char *value, size_t size, const char *text, const char *key)
{
    return next_comment(value, size, &text, key);
}

/* A number at the start of a text; *end behind it. */
static bool take_number(double *value, const char *text, const char **end)
{
    char *stop;
    *value = strtod(text, &stop);
    *end = stop;
    return stop != text && isfinite(*value);
}

/* A length above 0 in metres; without a unit `usual` metres. */
static bool take_length(double *metres, const char *text, double usual, const char **end)
{
    static const struct {
        const char *name;
        double factor;
    } units[] = {{"mm", 1e-3},        {"um", 1e-6}, {"nm", 1e-9},
                 {"Angstrom", 1e-10}, {"A", 1e-10}, {"m", 1}};
    double value;
    if (!take_number(&value, text, end))
        return false;
    const char *unit = *end + strspn(*end, " \t_");
    double factor = usual;
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        const size_t n = strlen(units[i].name);
        if (strncmp(unit, units[i].name, n) == 0 && !isalpha((unsigned char)unit[n])) {
            factor = units[i].factor;
            *end = unit + n;
            break;
        }
    }
    *metres = value * factor;
    return *metres > 0;
}

/* A length; what is there and is none is noted. */
static bool take_named(double *metres, struct airy_unusable *unusable, const char *name,
                       const char *text, double usual, const char **end)
{
    if (take_length(metres, text, usual, end))
        return true;
    airy_unusable_add(unusable, "%s is '%.24s'", name, text);
    *metres = 0;
    return false;
}

static void read_comment_pixels(struct airy_header *h, struct airy_unusable *unusable,
                                const char *text)
{
    char value[128];
    const char *end;
    double height, width;
    struct airy_stated rows = {.unit = "m"}, columns = rows;
    while (next_comment(value, sizeof(value), &text, "Pixel_size")) {
        if (!take_named(&width, unusable, "Pixel_size", value, 1, &end))
            continue;
        end += strspn(end, " \tx");
        airy_stated_add(&columns, unusable, "Pixel_size", width);
        airy_stated_add(&rows, unusable, "Pixel_size",
                        take_length(&height, end, 1, &end) ? height : width);
    }
    if (airy_stated_get(&width, h, AIRY_GEOMETRY_PIXELS, &columns) &&
        airy_stated_get(&height, h, AIRY_GEOMETRY_PIXELS, &rows)) {
        h->pixel[0] = height;
        h->pixel[1] = width;
        h->parts |= AIRY_GEOMETRY_PIXELS;
    }
}

static bool take_center(double *x, double *y, const char *text)
{
    const char *end;
    if (!take_number(x, text + strspn(text, " \t("), &end))
        return false;
    return take_number(y, end + strspn(end, " \t,"), &end);
}

static void read_comment_center(struct airy_header *h, struct airy_unusable *unusable,
                                const char *text)
{
    char value[128];
    double x, y;
    struct airy_stated row = {.unit = "pixels", .within = SAME_PIXEL}, column = row;
    while (next_comment(value, sizeof(value), &text, "Beam_xy")) {
        if (!take_center(&x, &y, value)) {
            airy_unusable_add(unusable, "Beam_xy is '%.24s'", value);
            continue;
        }
        airy_stated_add(&column, unusable, "Beam_xy", x);
        airy_stated_add(&row, unusable, "Beam_xy", y);
    }
    if (airy_stated_get(&x, h, AIRY_GEOMETRY_CENTER, &column) &&
        airy_stated_get(&y, h, AIRY_GEOMETRY_CENTER, &row))
        airy_header_set_center(h, unusable, "Beam_xy", y, x);
}

/* Lengths of all lines with that key. */
static void add_lengths(struct airy_stated *stated, struct airy_unusable *unusable,
                        const char *text, const char *key, double usual)
{
    char value[128];
    const char *end;
    double metres;
    while (next_comment(value, sizeof(value), &text, key))
        if (take_named(&metres, unusable, key, value, usual, &end))
            airy_stated_add(stated, unusable, key, metres);
}

/* Photon energies, in eV or keV, as wavelengths; 0 was not set. */
static void add_energies(struct airy_stated *stated, struct airy_unusable *unusable,
                         const char *text)
{
    char value[128];
    const char *end;
    double energy;
    while (next_comment(value, sizeof(value), &text, "Photon_energy")) {
        if (!take_number(&energy, value, &end) || !(energy > 0))
            continue;
        end += strspn(end, " \t");
        energy *= strncasecmp(end, "keV", 3) == 0 ? 1e3 : 1;
        airy_stated_add(stated, unusable, "Photon_energy", AIRY_HC_EV_M / energy);
    }
}

static void read_comment_header(struct airy_header *h, struct airy_unusable *unusable,
                                const char *text)
{
    char value[128];
    const char *end;
    double angle;
    struct airy_stated dist = {.unit = "m"}, wavelength = dist;
    read_comment_pixels(h, unusable, text);
    add_lengths(&dist, unusable, text, "Detector_distance", 1);
    if (airy_stated_get(&h->dist, h, AIRY_GEOMETRY_DISTANCE, &dist))
        h->parts |= AIRY_GEOMETRY_DISTANCE;
    read_comment_center(h, unusable, text);
    add_lengths(&wavelength, unusable, text, "Wavelength", 1e-10);
    add_energies(&wavelength, unusable, text);
    if (airy_stated_get(&h->wavelength, h, AIRY_GEOMETRY_WAVELENGTH, &wavelength))
        h->parts |= AIRY_GEOMETRY_WAVELENGTH;
    if (find_comment(value, sizeof(value), text, "Detector_2theta") &&
        take_number(&angle, value, &end))
        h->tilt[0] = angle * DEGREE;
}

static void read_comments(airy_stack_meta *meta, const char *text)
{
    char value[128], name[128] = "";
    const char *end;
    struct airy_header header = {0};
    struct airy_unusable unusable = {""};
    read_comment_header(&header, &unusable, text);
    airy_header_describe(meta, &header, &unusable);
    if (meta->has_geometry && header.tilt[0] != 0)
        airy_log(AIRY_LOG_WARN, "the header's Detector_2theta = %g is ignored, use a PONI file",
                 header.tilt[0] / DEGREE);
    double height;
    if (meta->geometry_parts && find_comment(value, sizeof(value), text, "Detector_Voffset") &&
        take_number(&height, value, &end) && height != 0)
        airy_log(AIRY_LOG_WARN, "the header's Detector_Voffset = %g m is ignored, use a PONI file",
                 height);
    if (find_comment(name, sizeof(name), text, "Detector"))
        name[strcspn(name, ",")] = 0;
    airy_detector_recognize(&meta->geometry.detector, name);
    meta->has_saturation = find_comment(value, sizeof(value), text, "Count_cutoff") &&
                           take_number(&meta->saturation, value, &end) && meta->saturation > 0;
    if (!meta->has_saturation)
        meta->saturation = 0;
}

static bool read_key(double *number, const char *text, const char *key)
{
    char value[AIRY_EDF_VALUE];
    const char *end;
    return airy_edf_value(value, text, strlen(text), key) && take_number(number, value, &end);
}

/* True where the header has no other length of that key, which is noted. */
static bool is_one_length(double metres, struct airy_header *h, unsigned part,
                          struct airy_unusable *unusable, const char *text, const char *key)
{
    char other[AIRY_EDF_VALUE];
    const char *end;
    double second;
    struct airy_stated stated = {.unit = "m"};
    airy_stated_add(&stated, unusable, key, metres);
    if (airy_edf_differs(other, text, strlen(text), key) && take_length(&second, other, 1, &end))
        airy_stated_add(&stated, unusable, key, second);
    return airy_stated_get(&metres, h, part, &stated);
}

static bool read_length(double *metres, struct airy_header *h, unsigned part,
                        struct airy_unusable *unusable, const char *text, const char *key)
{
    char value[AIRY_EDF_VALUE];
    const char *end;
    if (airy_edf_value(value, text, strlen(text), key) &&
        take_named(metres, unusable, key, value, 1, &end) &&
        is_one_length(*metres, h, part, unusable, text, key))
        return true;
    *metres = 0;
    return false;
}

/* One coordinate of the beam's centre. */
static bool read_center_key(double *pixels, struct airy_header *h, struct airy_unusable *unusable,
                            const char *text, const char *key)
{
    char other[AIRY_EDF_VALUE];
    const char *end;
    double second;
    struct airy_stated stated = {.unit = "pixels", .within = SAME_PIXEL};
    if (!read_key(pixels, text, key))
        return false;
    airy_stated_add(&stated, unusable, key, *pixels);
    if (airy_edf_differs(other, text, strlen(text), key) && take_number(&second, other, &end))
        airy_stated_add(&stated, unusable, key, second);
    return airy_stated_get(pixels, h, AIRY_GEOMETRY_CENTER, &stated);
}

/* The numbers of axes: 1 is the fast one. */
static void read_key_header(struct airy_header *h, struct airy_unusable *unusable, const char *text)
{
    static const char *const turns[3] = {"DetectorRotation_1", "DetectorRotation_2",
                                         "DetectorRotation_3"};
    double center[2], offset[2] = {0, 0};
    if (read_length(&h->pixel[1], h, AIRY_GEOMETRY_PIXELS, unusable, text, "PSize_1") &&
        read_length(&h->pixel[0], h, AIRY_GEOMETRY_PIXELS, unusable, text, "PSize_2"))
        h->parts |= AIRY_GEOMETRY_PIXELS;
    else
        h->pixel[0] = h->pixel[1] = 0;
    if (read_length(&h->dist, h, AIRY_GEOMETRY_DISTANCE, unusable, text, "SampleDistance"))
        h->parts |= AIRY_GEOMETRY_DISTANCE;
    (void)read_key(&offset[0], text, "Offset_1");
    (void)read_key(&offset[1], text, "Offset_2");
    if (read_center_key(&center[0], h, unusable, text, "Center_1") &&
        read_center_key(&center[1], h, unusable, text, "Center_2"))
        airy_header_set_center(h, unusable, "Center_1, Center_2", center[1] - offset[1],
                               center[0] - offset[0]);
    if (read_length(&h->wavelength, h, AIRY_GEOMETRY_WAVELENGTH, unusable, text, "WaveLength"))
        h->parts |= AIRY_GEOMETRY_WAVELENGTH;
    for (size_t i = 0; i < 3; i++)
        if (!read_key(&h->tilt[i], text, turns[i]))
            h->tilt[i] = 0;
}

static void read_keys(airy_stack_meta *meta, const char *text)
{
    struct airy_header header = {0};
    struct airy_unusable unusable = {""};
    read_key_header(&header, &unusable, text);
    for (size_t i = 0; i < 3 && header.parts; i++)
        if (header.tilt[i] != 0) {
            airy_log(AIRY_LOG_WARN,
                     "the header's DetectorRotation_%zu = %g: its geometry is not used, use a PONI "
                     "file",
                     i + 1, header.tilt[i]);
            header.parts = 0;
        }
    double raster;
    if (header.parts && read_key(&raster, text, "RasterOrientation") && raster != 1)
        airy_log(AIRY_LOG_WARN,
                 "the header's RasterOrientation = %g is ignored: pixels are taken in the order of "
                 "the file; a PONI file can state another orientation",
                 raster);
    airy_header_describe(meta, &header, &unusable);
    airy_detector_recognize(&meta->geometry.detector, "");
    meta->has_dummy = read_key(&meta->dummy, text, "Dummy");
    if (!meta->has_dummy)
        meta->dummy = 0;
    if (!meta->has_dummy || !read_key(&meta->delta_dummy, text, "DDummy") || meta->delta_dummy < 0)
        meta->delta_dummy = 0;
}

void airy_plain_meta(airy_stack_meta *meta, const airy_stack *stack, const char *text)
{
    struct airy_c_locale locale;
    airy_geometry *g = &meta->geometry;
    memset(meta, 0, sizeof(*meta));
    if (!text || airy_c_locale_enter(&locale) != AIRY_OK)
        return;
    snprintf(g->detector.name, sizeof(g->detector.name), "Detector");
    g->detector.height = stack->height;
    g->detector.width = stack->width;
    if (text[0] == '{')
        read_keys(meta, text + 1);
    else
        read_comments(meta, text);
    airy_c_locale_leave(&locale);
    const bool marks = g->detector.dectris_dummy;
    if (!meta->geometry_parts)
        memset(g, 0, sizeof(*g));
    g->detector.dectris_dummy = marks; /* of whatever geometry is used */
}

void airy_plain_header(struct airy_header *header, const char *text)
{
    struct airy_c_locale locale;
    struct airy_unusable unusable = {""};
    *header = (struct airy_header){0};
    if (!text || airy_c_locale_enter(&locale) != AIRY_OK)
        return;
    if (text[0] == '{')
        read_key_header(header, &unusable, text + 1);
    else
        read_comment_header(header, &unusable, text);
    airy_c_locale_leave(&locale);
}
