#include "io/image/fits_scale.h"

#include <math.h>
#include <stdint.h>

void airy_fits_scale_integers(const airy_image *image, const struct fits_stored *s, size_t count)
{
    const bool wide = image->dtype == AIRY_DTYPE_F64;
    for (size_t i = count; i-- > 0;) {
        long long raw;
        if (s->bitpix == 8)
            raw = ((const uint8_t *)image->data)[i];
        else if (s->bitpix == 16)
            raw = ((const int16_t *)image->data)[i];
        else if (s->bitpix == 32)
            raw = ((const int32_t *)image->data)[i];
        else
            raw = ((const int64_t *)image->data)[i];
        const bool blank = s->blank && raw == s->blank_value;
        if (wide) {
            const double v = (double)raw * s->scale;
            ((double *)image->data)[i] = blank ? (double)NAN : v + s->zero;
        } else {
            const float v = (float)raw * (float)s->scale;
            ((float *)image->data)[i] = blank ? NAN : v + (float)s->zero;
        }
    }
}

void airy_fits_scale_floats(const airy_image *image, const struct fits_stored *s, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (image->dtype == AIRY_DTYPE_F64) {
            double *v = (double *)image->data + i;
            *v = *v * s->scale + s->zero;
        } else {
            float *v = (float *)image->data + i;
            *v = *v * (float)s->scale + (float)s->zero;
        }
    }
}
