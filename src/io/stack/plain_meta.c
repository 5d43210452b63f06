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
#include "base/number.h"
#include "io/stack/header_geometry.h"
#include "io/image/formats.h"
#include "io/stack/internal.h"

#define DEGREE 0.017453292519943295 /* rad */

/* What follows "# KEY" in a line, without a colon or equals sign; false: no such line. */
static bool find_comment(char *value, size_t size, const char *text, const char *key)
{
    const size_t n = strlen(key);
    for (const char *at = text; at; at = strchr(at, '\n')) {
        at += *at == '\n';
        const char *from = at + strspn(at, " \t\r");
        if (*from != '#')
            continue;
        from += 1 + strspn(from + 1, " \t");
        if (strncasecmp(from, key, n) != 0 || isalnum((unsigned char)from[n]) || from[n] == '_')
            continue;
        from += n;
        from += strspn(from, " \t:=");
        snprintf(value, size, "%.*s", (int)strcspn(from, "\r\n"), from);
        return true;
    }
    return false;
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
    if (!find_comment(value, sizeof(value), text, "Pixel_size") ||
        !take_named(&h->pixel[1], unusable, "Pixel_size", value, 1, &end))
        return;
    end += strspn(end, " \tx");
    if (!take_length(&h->pixel[0], end, 1, &end))
        h->pixel[0] = h->pixel[1];
    h->parts |= AIRY_GEOMETRY_PIXELS;
}

static void read_comment_center(struct airy_header *h, struct airy_unusable *unusable,
                                const char *text)
{
    char value[128];
    const char *end;
    double x, y;
    if (!find_comment(value, sizeof(value), text, "Beam_xy"))
        return;
    bool good = take_number(&x, value + strspn(value, " \t("), &end);
    if (good) {
        end += strspn(end, " \t,");
        good = take_number(&y, end, &end);
    }
    if (good)
        airy_header_set_center(h, unusable, "Beam_xy", y, x);
    else
        airy_unusable_add(unusable, "Beam_xy is '%.24s'", value);
}

static void read_comment_header(struct airy_header *h, struct airy_unusable *unusable,
                                const char *text)
{
    char value[128];
    const char *end;
    double angle;
    read_comment_pixels(h, unusable, text);
    if (find_comment(value, sizeof(value), text, "Detector_distance") &&
        take_named(&h->dist, unusable, "Detector_distance", value, 1, &end))
        h->parts |= AIRY_GEOMETRY_DISTANCE;
    read_comment_center(h, unusable, text);
    if (find_comment(value, sizeof(value), text, "Wavelength") &&
        take_named(&h->wavelength, unusable, "Wavelength", value, 1e-10, &end))
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

static bool read_length(double *metres, struct airy_unusable *unusable, const char *text,
                        const char *key)
{
    char value[AIRY_EDF_VALUE];
    const char *end;
    return airy_edf_value(value, text, strlen(text), key) &&
           take_named(metres, unusable, key, value, 1, &end);
}

/* The numbers of axes: 1 is the fast one. */
static void read_key_header(struct airy_header *h, struct airy_unusable *unusable, const char *text)
{
    static const char *const turns[3] = {"DetectorRotation_1", "DetectorRotation_2",
                                         "DetectorRotation_3"};
    double center[2], offset[2] = {0, 0};
    if (read_length(&h->pixel[1], unusable, text, "PSize_1") &&
        read_length(&h->pixel[0], unusable, text, "PSize_2"))
        h->parts |= AIRY_GEOMETRY_PIXELS;
    else
        h->pixel[0] = h->pixel[1] = 0;
    if (read_length(&h->dist, unusable, text, "SampleDistance"))
        h->parts |= AIRY_GEOMETRY_DISTANCE;
    (void)read_key(&offset[0], text, "Offset_1");
    (void)read_key(&offset[1], text, "Offset_2");
    if (read_key(&center[0], text, "Center_1") && read_key(&center[1], text, "Center_2"))
        airy_header_set_center(h, unusable, "Center_1, Center_2", center[1] - offset[1],
                               center[0] - offset[0]);
    if (read_length(&h->wavelength, unusable, text, "WaveLength"))
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
