#include "io/image/header_write.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"

struct text {
    char *at;
    size_t used;
};

static void add(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(struct text *t, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int n = vsnprintf(t->at + t->used, AIRY_HEADER_TEXT - t->used, format, arguments);
    va_end(arguments);
    const size_t room = AIRY_HEADER_TEXT - 1 - t->used;
    t->used += n < 0 ? 0 : (size_t)n < room ? (size_t)n : room;
}

/* The fewest digits that are read back as the same number. */
static const char *digits(char text[32], double value)
{
    snprintf(text, 32, "%.15g", value);
    if (strtod(text, NULL) != value)
        snprintf(text, 32, "%.17g", value);
    return text;
}

unsigned airy_header_parts(const airy_stack_meta *meta)
{
    if (!meta)
        return 0;
    const airy_geometry *g = &meta->geometry;
    const bool turned = g->rot1 != 0 || g->rot2 != 0 || g->rot3 != 0 ||
                        (g->detector.orientation != 0 && g->detector.orientation != 3);
    const unsigned flat = AIRY_GEOMETRY_DISTANCE | AIRY_GEOMETRY_CENTER;
    return meta->geometry_parts & ~(turned ? flat : 0u);
}

/* "PILATUS 300K": detectors of DECTRIS are known by such a name; others have their own. */
static void add_detector(struct text *t, const airy_detector *detector)
{
    char name[sizeof(detector->name)];
    size_t n = 0;
    for (; n + 1 < sizeof(name) && detector->name[n]; n++) {
        const unsigned char c = (unsigned char)detector->name[n];
        name[n] = c == '_' ? ' ' : c > 31 && c < 127 ? (char)toupper(c) : '?';
    }
    name[n] = 0;
    if (n > 0 && strcmp(detector->name, "Detector") != 0)
        add(t, "# Detector: %s\r\n", name);
}

/* The parts that are known, in which case the locale is entered; 0: text is all there is, "". */
static unsigned begin(char text[AIRY_HEADER_TEXT], struct airy_c_locale *locale,
                      const airy_stack_meta *meta)
{
    const unsigned parts = airy_header_parts(meta);
    text[0] = 0;
    return parts && airy_c_locale_enter(locale) == AIRY_OK ? parts : 0;
}

size_t airy_header_comments(char text[AIRY_HEADER_TEXT], const airy_stack_meta *meta)
{
    struct airy_c_locale locale;
    const unsigned parts = begin(text, &locale, meta);
    struct text t = {.at = text};
    char a[32], b[32];
    if (!parts)
        return 0;
    const airy_geometry *g = &meta->geometry;
    add_detector(&t, &g->detector);
    if (parts & AIRY_GEOMETRY_PIXELS)
        add(&t, "# Pixel_size %s m x %s m\r\n", digits(a, g->detector.pixel2),
            digits(b, g->detector.pixel1));
    if (meta->has_saturation)
        add(&t, "# Count_cutoff %s counts\r\n", digits(a, meta->saturation));
    if (parts & AIRY_GEOMETRY_WAVELENGTH)
        add(&t, "# Wavelength %s A\r\n", digits(a, g->wavelength * 1e10));
    if (parts & AIRY_GEOMETRY_DISTANCE)
        add(&t, "# Detector_distance %s m\r\n", digits(a, g->dist));
    if (parts & AIRY_GEOMETRY_CENTER)
        add(&t, "# Beam_xy (%s, %s) pixels\r\n", digits(a, meta->center[1]),
            digits(b, meta->center[0]));
    airy_c_locale_leave(&locale);
    return t.used;
}

size_t airy_header_keys(char text[AIRY_HEADER_TEXT], const airy_stack_meta *meta)
{
    struct airy_c_locale locale;
    const unsigned parts = begin(text, &locale, meta);
    struct text t = {.at = text};
    char a[32], b[32];
    if (!parts)
        return 0;
    const airy_geometry *g = &meta->geometry;
    if (parts & AIRY_GEOMETRY_PIXELS)
        add(&t, "PSize_1 = %s ;\nPSize_2 = %s ;\n", digits(a, g->detector.pixel2),
            digits(b, g->detector.pixel1));
    if (parts & AIRY_GEOMETRY_DISTANCE)
        add(&t, "SampleDistance = %s ;\n", digits(a, g->dist));
    if (parts & AIRY_GEOMETRY_CENTER)
        add(&t, "Center_1 = %s ;\nCenter_2 = %s ;\n", digits(a, meta->center[1]),
            digits(b, meta->center[0]));
    if (parts & AIRY_GEOMETRY_WAVELENGTH)
        add(&t, "WaveLength = %s ;\n", digits(a, g->wavelength));
    if (meta->has_dummy)
        add(&t, "Dummy = %s ;\nDDummy = %s ;\n", digits(a, meta->dummy),
            digits(b, meta->delta_dummy));
    airy_c_locale_leave(&locale);
    return t.used;
}
