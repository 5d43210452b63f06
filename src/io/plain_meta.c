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
#include "io/image_formats.h"
#include "io/stack_internal.h"

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

static bool read_comment_geometry(airy_geometry *g, const char *text)
{
    char value[128];
    const char *end;
    double x, y;
    airy_detector *d = &g->detector;
    if (!find_comment(value, sizeof(value), text, "Pixel_size") ||
        !take_length(&d->pixel2, value, 1, &end))
        return false;
    end += strspn(end, " \tx");
    if (!take_length(&d->pixel1, end, 1, &end))
        d->pixel1 = d->pixel2;
    if (!find_comment(value, sizeof(value), text, "Detector_distance") ||
        !take_length(&g->dist, value, 1, &end) ||
        !find_comment(value, sizeof(value), text, "Beam_xy"))
        return false;
    const char *at = value + strspn(value, " \t(");
    if (!take_number(&x, at, &end))
        return false;
    end += strspn(end, " \t,");
    if (!take_number(&y, end, &end))
        return false;
    g->poni1 = y * d->pixel1;
    g->poni2 = x * d->pixel2;
    if (find_comment(value, sizeof(value), text, "Wavelength"))
        (void)take_length(&g->wavelength, value, 1e-10, &end);
    if (find_comment(value, sizeof(value), text, "Detector_2theta") &&
        take_number(&x, value, &end) && x != 0)
        airy_log(AIRY_LOG_WARN, "the header's Detector_2theta = %g is ignored, use a PONI file", x);
    return true;
}

static void read_comments(airy_stack_meta *meta, const char *text)
{
    char value[128], name[128] = "";
    const char *end;
    meta->has_geometry = read_comment_geometry(&meta->geometry, text);
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

static bool read_length(double *metres, const char *text, const char *key)
{
    char value[AIRY_EDF_VALUE];
    const char *end;
    return airy_edf_value(value, text, strlen(text), key) && take_length(metres, value, 1, &end);
}

/* The numbers of axes: 1 is the fast one. */
static bool read_key_geometry(airy_geometry *g, const char *text)
{
    double center[2], offset[2] = {0, 0}, turn = 0;
    if (!read_length(&g->detector.pixel2, text, "PSize_1") ||
        !read_length(&g->detector.pixel1, text, "PSize_2") ||
        !read_length(&g->dist, text, "SampleDistance") || !read_key(&center[0], text, "Center_1") ||
        !read_key(&center[1], text, "Center_2"))
        return false;
    (void)read_key(&offset[0], text, "Offset_1");
    (void)read_key(&offset[1], text, "Offset_2");
    g->poni2 = (center[0] - offset[0]) * g->detector.pixel2;
    g->poni1 = (center[1] - offset[1]) * g->detector.pixel1;
    (void)read_length(&g->wavelength, text, "WaveLength");
    static const char *const turns[] = {"DetectorRotation_1", "DetectorRotation_2",
                                        "DetectorRotation_3"};
    for (size_t i = 0; i < 3; i++)
        if (read_key(&turn, text, turns[i]) && turn != 0) {
            airy_log(AIRY_LOG_WARN,
                     "the header's %s = %g: its geometry is not used, use a PONI file", turns[i],
                     turn);
            return false;
        }
    return true;
}

static void read_keys(airy_stack_meta *meta, const char *text)
{
    meta->has_geometry = read_key_geometry(&meta->geometry, text);
    airy_detector_recognize(&meta->geometry.detector, "");
    meta->has_dummy = read_key(&meta->dummy, text, "Dummy");
    if (!meta->has_dummy)
        meta->dummy = 0;
    if (!meta->has_dummy || !read_key(&meta->delta_dummy, text, "DDummy") || meta->delta_dummy < 0)
        meta->delta_dummy = 0;
}

void airy_plain_meta(airy_stack_meta *meta, const airy_stack *stack)
{
    struct airy_c_locale locale;
    const char *text = airy_plain_text(&stack->segments[0]);
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
    if (!meta->has_geometry)
        memset(g, 0, sizeof(*g));
}
