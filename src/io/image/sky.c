/*
 * Sky coordinates through wcslib.
 *
 * wcslib's header parser keeps its state in variables of the program, so one lock of ours is held
 * while an object is made; an object's own lock is held while it computes.
 *
 * Source: M. R. Calabretta, E. W. Greisen, A&A 395 (2002) 1077, doi:10.1051/0004-6361:20021327.
 */
#include "airy/sky.h"

#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wcs.h>
#include <wcsfix.h>
#include <wcshdr.h>
#include <wcsmath.h>
#include <wcsunits.h>

#include "base/error.h"
#include "base/size.h"
#include "io/image/beam.h"
#include "io/image/fits_header.h"

enum { BATCH = 128, MAX_AXES = 64 };

static pthread_mutex_t parser_mutex = PTHREAD_MUTEX_INITIALIZER; /* wcspih */

struct airy_sky {
    struct wcsprm wcs; /* the two celestial axes */
    airy_sky_info info;
    pthread_mutex_t mutex;
};

/* What the header says of the axes that wcslib does not take; of a unit that is none, that alone. */
static void describe_axes(char text[512], const struct wcsprm *wcs)
{
    size_t used = 0;
    double scale, offset, power;
    for (int i = 0; i < wcs->naxis && i < 4; i++) {
        const char *type = wcs->ctype[i], *unit = wcs->cunit[i];
        const bool celestial = strncmp(type, "RA", 2) == 0 || strncmp(type, "DEC", 3) == 0 ||
                               (type[0] && strncmp(type + 1, "LON", 3) == 0) ||
                               (type[0] && strncmp(type + 1, "LAT", 3) == 0);
        if (celestial && unit[0] && wcsunits(unit, "deg", &scale, &offset, &power) != 0) {
            snprintf(text, 512, "CUNIT%d is '%.70s', expected a unit of angle such as 'deg'", i + 1,
                     unit);
            return;
        }
        used += (size_t)snprintf(text + used, 512 - used, "%sCTYPE%d is '%.70s'", used ? ", " : "",
                                 i + 1, type);
    }
}

/* The primary description's celestial axes into sub, which the caller frees. */
static airy_status take_celestial(struct wcsprm *sub, struct wcsprm *all, int count)
{
    int index = 0;
    while (index < count && all[index].alt[0] != ' ')
        index++;
    AIRY_FAIL_IF(index == count, AIRY_ERR_NOT_FOUND, "the header has no coordinates");
    struct wcsprm *wcs = all + index;
    int axes[MAX_AXES] = {(int)WCSSUB_CELESTIAL}, number = 1, fixes[NWCSFIX];
    AIRY_FAIL_IF(wcs->naxis > MAX_AXES, AIRY_ERR_UNSUPPORTED,
                 "the header has %d coordinate axes, expected at most %d", wcs->naxis, MAX_AXES);
    (void)wcsfix(0, NULL, wcs, fixes); /* old projections and units; wcsset judges what is left */
    int code = wcsset(wcs);
    char axes_text[512] = "";
    if (code != 0)
        describe_axes(axes_text, wcs);
    AIRY_FAIL_IF(code != 0, AIRY_ERR_FORMAT,
                 "the header's coordinates cannot be used, %s (wcslib: %s)", axes_text,
                 wcs_errmsg[code]);
    AIRY_FAIL_HINT_IF(wcs->lng < 0 || wcs->lat < 0, AIRY_ERR_NOT_FOUND, AIRY_HINT_CELESTIAL,
                      AIRY_SUBJECT_NONE, "the header has no celestial axes");
    AIRY_FAIL_IF(wcs->lng > 1 || wcs->lat > 1, AIRY_ERR_UNSUPPORTED,
                 "the celestial axes are %d and %d of the header, expected 1 and 2", wcs->lng + 1,
                 wcs->lat + 1);
    code = wcssub(1, wcs, &number, axes, sub);
    AIRY_FAIL_IF(code == 2, AIRY_ERR_MEMORY, "wcslib: %s", wcs_errmsg[code]);
    AIRY_FAIL_IF(code != 0, AIRY_ERR_UNSUPPORTED,
                 "the celestial axes cannot be taken from the others: wcslib: %s",
                 wcs_errmsg[code]);
    code = wcsset(sub);
    AIRY_FAIL_IF(code != 0 || sub->naxis != 2 || sub->lng < 0 || sub->lat < 0, AIRY_ERR_FORMAT,
                 "the header's celestial axes: wcslib: %s", wcs_errmsg[code]);
    return AIRY_OK;
}

/* Source: M. R. Calabretta, E. W. Greisen, section 3.1, for the frame that is meant where none is
 * named. */
static airy_sky_system find_system(const airy_sky_info *info)
{
    if (memcmp(info->longitude, "GLON", 4) == 0)
        return AIRY_SKY_GALACTIC;
    if (memcmp(info->longitude, "ELON", 4) == 0)
        return AIRY_SKY_ECLIPTIC;
    if (memcmp(info->longitude, "RA--", 4) != 0 && strcmp(info->longitude, "RA") != 0)
        return AIRY_SKY_OTHER;
    if (!info->frame[0])
        return isnan(info->equinox)   ? AIRY_SKY_ICRS
               : info->equinox < 1984 ? AIRY_SKY_FK4
                                      : AIRY_SKY_FK5;
    return strcmp(info->frame, "ICRS") == 0      ? AIRY_SKY_ICRS
           : strcmp(info->frame, "FK5") == 0     ? AIRY_SKY_FK5
           : strncmp(info->frame, "FK4", 3) == 0 ? AIRY_SKY_FK4 /* FK4-NO-E too */
                                                 : AIRY_SKY_OTHER;
}

static void fill_info(airy_sky_info *info, const struct wcsprm *wcs)
{
    snprintf(info->longitude, sizeof(info->longitude), "%.15s", wcs->ctype[wcs->lng]);
    snprintf(info->latitude, sizeof(info->latitude), "%.15s", wcs->ctype[wcs->lat]);
    snprintf(info->frame, sizeof(info->frame), "%.15s", wcs->radesys);
    info->equinox = undefined(wcs->equinox) ? (double)NAN : wcs->equinox;
    info->reference[0] = wcs->crval[wcs->lng];
    info->reference[1] = wcs->crval[wcs->lat];
    info->reference_px[0] = wcs->crpix[0] - 1;
    info->reference_px[1] = wcs->crpix[1] - 1;
    const double *pc = wcs->pc; /* CD and CROTA are in it after wcsset */
    info->system = find_system(info);
    info->pixel_deg2 = fabs((pc[0] * pc[3] - pc[1] * pc[2]) * wcs->cdelt[0] * wcs->cdelt[1]);
}

/* Source: FITS standard 4.0, tables 22 and 23, for what holds where a keyword is missing. */
static void fill_assumed(airy_sky_info *info, const struct wcsprm *wcs, const airy_header *header)
{
    static const struct {
        const char *keyword, *value;
        bool scale;
    } keys[] = {{"CRPIX1", "0", false},    {"CRPIX2", "0", false},     {"CDELT1", "1 deg", true},
                {"CDELT2", "1 deg", true}, {"CRVAL1", "0 deg", false}, {"CRVAL2", "0 deg", false}};
    enum { PC = 1, CD = 2 }; /* of altlin */
    const bool scaled = wcs->altlin & CD || (wcs->altlin & PC && fabs(info->pixel_deg2 - 1) > 1e-6);
    double value;
    size_t used = 0;
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        if (!(keys[i].scale && scaled) && !airy_header_number(header, keys[i].keyword, &value))
            used += (size_t)snprintf(info->assumed + used, sizeof(info->assumed) - used,
                                     "%s%s = %s", used ? ", " : "", keys[i].keyword, keys[i].value);
}

static void add_warning(airy_sky_info *info, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void add_warning(airy_sky_info *info, const char *format, ...)
{
    const size_t used = strlen(info->warnings), room = sizeof(info->warnings) - used;
    va_list arguments;
    va_start(arguments, format);
    const int before = used ? snprintf(info->warnings + used, room, "; ") : 0;
    if ((size_t)before + 1 < room)
        vsnprintf(info->warnings + used + before, room - (size_t)before, format, arguments);
    va_end(arguments);
}

/*
 * Source: D. L. Shupe et al., ASP Conf. Ser. 347 (2005) 491, for the suffix of CTYPE. wcslib
 * takes terms without it, too.
 */
static void fill_warnings(airy_sky_info *info, const airy_image *image)
{
    char type[FITS_CARD];
    double order;
    const size_t height = image->ndim > 1 ? image->shape[image->ndim - 2] : 1,
                 width = image->ndim > 0 ? image->shape[image->ndim - 1] : 1;
    const double across = sqrt(info->pixel_deg2) * (double)airy_max_size(height, width);
    if (info->has_beam && info->beam_major_deg > across)
        add_warning(info,
                    "its beam of %.6g deg (BMAJ) is larger than the image of %.4g deg; BMAJ and "
                    "BMIN are in degrees",
                    info->beam_major_deg, across);
    if ((airy_header_number(image->header, "A_ORDER", &order) ||
         airy_header_number(image->header, "B_ORDER", &order)) &&
        airy_header_get(image->header, "CTYPE1", type) && !strstr(type, "-SIP"))
        add_warning(info, "its distortion of SIP (A_ORDER) is applied, though CTYPE1 does not end "
                          "in -SIP");
}

/*
 * wcslib knows printable characters of ASCII alone, and copies a string without its end beyond its
 * own: such cards are left blank.
 */
static void clean_cards(char *text, size_t cards)
{
    for (size_t i = 0; i < cards; i++) {
        char *card = text + i * FITS_CARD;
        airy_header_clean(card);
        for (size_t k = 0; k < FITS_CARD; k++)
            card[k] = (unsigned char)card[k] > '~' ? '?' : card[k];
        const char *quote = memchr(card, '\'', FITS_CARD);
        const char *end = quote ? memchr(quote + 1, '\'', (size_t)(card + FITS_CARD - quote - 1))
                                : card;
        if (!end)
            memset(card, ' ', FITS_CARD);
    }
}

static airy_status parse(airy_sky *sky, const airy_header *header)
{
    int rejected = 0, count = 0;
    struct wcsprm *all = NULL;
    char *text = malloc(header->cards * FITS_CARD + 1); /* wcspih's is not const */
    AIRY_FAIL_IF(!text, AIRY_ERR_MEMORY, "cannot allocate %zu cards", header->cards);
    memcpy(text, header->text, header->cards * FITS_CARD + 1);
    clean_cards(text, header->cards);
    pthread_mutex_lock(&parser_mutex);
    const int code = wcspih(text, (int)header->cards, WCSHDR_all, 0, &rejected, &count, &all);
    airy_status status =
        code ? airy_fail(code == 2 ? AIRY_ERR_MEMORY : AIRY_ERR_FORMAT,
                         "the header's coordinates cannot be read: wcspih gives %d", code)
             : take_celestial(&sky->wcs, all, count);
    wcsvfree(&count, &all);
    pthread_mutex_unlock(&parser_mutex);
    free(text);
    return status;
}

airy_status airy_sky_create(airy_sky **sky, const airy_image *image)
{
    AIRY_FAIL_IF(!sky || !image, AIRY_ERR_PARAM, "airy_sky_create: sky or image is missing");
    AIRY_FAIL_HINT_IF(!image->header, AIRY_ERR_NOT_FOUND, AIRY_HINT_CELESTIAL, AIRY_SUBJECT_NONE,
                      "the image has no FITS header, so there are no sky coordinates");
    airy_sky *made = calloc(1, sizeof(*made));
    AIRY_FAIL_IF(!made, AIRY_ERR_MEMORY, "cannot allocate %zu bytes", sizeof(*made));
    made->wcs.flag = -1; /* not yet initialised */
    const int code = wcsinit(1, 2, &made->wcs, 0, 0, 0);
    airy_status status = code ? airy_fail(AIRY_ERR_MEMORY, "wcslib: %s", wcs_errmsg[code])
                              : parse(made, image->header);
    if (status == AIRY_OK)
        fill_info(&made->info, &made->wcs);
    if (status == AIRY_OK)
        fill_assumed(&made->info, &made->wcs, image->header);
    if (status == AIRY_OK && !(made->info.pixel_deg2 > 0 && isfinite(made->info.pixel_deg2)))
        status = airy_fail(AIRY_ERR_FORMAT, "the header's pixels have an area of %g deg^2",
                           made->info.pixel_deg2);
    if (status != AIRY_OK) {
        wcsfree(&made->wcs);
        free(made);
        return status;
    }
    airy_header_beam(&made->info, image->header);
    fill_warnings(&made->info, image);
    pthread_mutex_init(&made->mutex, NULL);
    *sky = made;
    return AIRY_OK;
}

void airy_sky_destroy(airy_sky **sky)
{
    if (!sky || !*sky)
        return;
    wcsfree(&(*sky)->wcs);
    pthread_mutex_destroy(&(*sky)->mutex);
    free(*sky);
    *sky = NULL;
}

airy_status airy_sky_get_info(const airy_sky *sky, airy_sky_info *info)
{
    AIRY_FAIL_IF(!sky || !info, AIRY_ERR_PARAM, "airy_sky_get_info: sky or info is missing");
    *info = sky->info;
    return AIRY_OK;
}

/* wcslib's codes for "some of the coordinates are invalid" */
enum { BAD_PIXELS = 8, BAD_WORLD = 9 };

airy_status airy_sky_from_pixel(airy_sky *sky, double *ra, double *dec, const double *x,
                                const double *y, size_t count)
{
    AIRY_FAIL_IF(!sky || (count && (!ra || !dec || !x || !y)), AIRY_ERR_PARAM,
                 "airy_sky_from_pixel: sky or an array is missing");
    double pixel[BATCH][2], image[BATCH][2], phi[BATCH], theta[BATCH], world[BATCH][2];
    int bad[BATCH], code = 0;
    pthread_mutex_lock(&sky->mutex);
    const int lng = sky->wcs.lng, lat = sky->wcs.lat;
    for (size_t at = 0; at < count && (code == 0 || code == BAD_PIXELS); at += BATCH) {
        const size_t n = airy_min_size(BATCH, count - at);
        for (size_t i = 0; i < n; i++) {
            pixel[i][0] = x[at + i] + 1; /* FITS counts from 1 */
            pixel[i][1] = y[at + i] + 1;
        }
        memset(bad, 0, sizeof(bad));
        code = wcsp2s(&sky->wcs, (int)n, 2, pixel[0], image[0], phi, theta, world[0], bad);
        for (size_t i = 0; i < n && (code == 0 || code == BAD_PIXELS); i++) {
            double longitude = fmod(world[i][lng], 360);
            if (longitude < 0)
                longitude += 360;
            if (longitude >= 360) /* a tiny negative one was rounded up */
                longitude = 0;
            ra[at + i] = bad[i] ? (double)NAN : longitude;
            dec[at + i] = bad[i] ? (double)NAN : world[i][lat];
        }
    }
    pthread_mutex_unlock(&sky->mutex);
    AIRY_FAIL_IF(code != 0 && code != BAD_PIXELS, AIRY_ERR_FORMAT, "wcslib: %s", wcs_errmsg[code]);
    return AIRY_OK;
}

airy_status airy_sky_to_pixel(airy_sky *sky, double *x, double *y, const double *ra,
                              const double *dec, size_t count)
{
    AIRY_FAIL_IF(!sky || (count && (!ra || !dec || !x || !y)), AIRY_ERR_PARAM,
                 "airy_sky_to_pixel: sky or an array is missing");
    double pixel[BATCH][2], image[BATCH][2], phi[BATCH], theta[BATCH], world[BATCH][2];
    int bad[BATCH], code = 0;
    pthread_mutex_lock(&sky->mutex);
    const int lng = sky->wcs.lng, lat = sky->wcs.lat;
    for (size_t at = 0; at < count && (code == 0 || code == BAD_WORLD); at += BATCH) {
        const size_t n = airy_min_size(BATCH, count - at);
        for (size_t i = 0; i < n; i++) {
            world[i][lng] = ra[at + i];
            world[i][lat] = dec[at + i];
        }
        memset(bad, 0, sizeof(bad));
        code = wcss2p(&sky->wcs, (int)n, 2, world[0], phi, theta, image[0], pixel[0], bad);
        for (size_t i = 0; i < n && (code == 0 || code == BAD_WORLD); i++) {
            x[at + i] = bad[i] ? (double)NAN : pixel[i][0] - 1;
            y[at + i] = bad[i] ? (double)NAN : pixel[i][1] - 1;
        }
    }
    pthread_mutex_unlock(&sky->mutex);
    AIRY_FAIL_IF(code != 0 && code != BAD_WORLD, AIRY_ERR_FORMAT, "wcslib: %s", wcs_errmsg[code]);
    return AIRY_OK;
}
