#include "io/image/beam.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/image/fits_header.h"

static bool number_behind(const char *card, const char *word, double *number)
{
    const char *at = strstr(card, word);
    char *end;
    if (!at)
        return false;
    *number = strtod(at + strlen(word), &end);
    return end != at + strlen(word) && isfinite(*number);
}

/* HISTORY AIPS   CLEAN BMAJ=  1.3889E-02 BMIN=  1.3889E-02 BPA=   0.00: the last one holds. */
static bool from_history(double beam[3], const airy_header *header)
{
    bool found = false;
    for (size_t i = 0; i < header->cards; i++) {
        char card[FITS_CARD + 1];
        double v[3];
        memcpy(card, header->text + i * FITS_CARD, FITS_CARD);
        airy_header_clean(card);
        card[FITS_CARD] = 0;
        if (memcmp(card, "HISTORY ", 8) == 0 && strstr(card, "AIPS") && strstr(card, "CLEAN") &&
            number_behind(card, "BMAJ=", &v[0]) && number_behind(card, "BMIN=", &v[1]) &&
            number_behind(card, "BPA=", &v[2])) {
            memcpy(beam, v, sizeof(v));
            found = true;
        }
    }
    return found;
}

void airy_header_beam(airy_sky_info *info, const airy_header *header)
{
    double beam[3] = {0};
    bool found = airy_header_number(header, "BMAJ", &beam[0]) &&
                 airy_header_number(header, "BMIN", &beam[1]);
    if (found)
        (void)airy_header_number(header, "BPA", &beam[2]);
    else
        found = from_history(beam, header);
    if (!found || !(beam[0] > 0) || !(beam[1] > 0))
        return;
    const double pi = 3.14159265358979323846, ln2 = 0.69314718055994530942;
    info->has_beam = true;
    info->beam_major_deg = beam[0];
    info->beam_minor_deg = beam[1];
    info->beam_angle_deg = beam[2];
    info->beam_px = pi / (4 * ln2) * beam[0] * beam[1] / info->pixel_deg2;
}
