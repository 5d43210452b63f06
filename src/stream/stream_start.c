/* What a start message says, in the form in which a file says it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "airy/stream.h"
#include "base/error.h"

static const airy_stream_pixels *find_mask(const airy_stream_start_message *start,
                                           const char *channel)
{
    for (size_t i = 0; i < start->masks; i++)
        if (strcmp(start->mask[i].channel, channel) == 0 || (!*channel && start->masks == 1))
            return &start->mask[i];
    return NULL;
}

/* A series goes on all the same: its images come once. */
static void compare_energy(const airy_stream_start_message *start)
{
    const double of_energy = start->energy > 0 ? AIRY_HC_EV_M / start->energy : start->wavelength;
    if (fabs(of_energy - start->wavelength) > 1e-3 * start->wavelength)
        airy_log(AIRY_LOG_WARN,
                 "the start message: incident_wavelength gives %.6g m, which is used, but "
                 "incident_energy gives %.6g m; a PONI file decides",
                 start->wavelength, of_energy);
}

/* A detector that faces the beam, as of the files of the same detectors. */
static bool plain_geometry(airy_geometry *g, const airy_stream_start_message *start)
{
    g->dist = fabs(start->translation[2]);
    if (!start->has_beam_center || !start->has_pixel_size || !start->has_translation ||
        !(g->dist > 0))
        return false;
    g->detector.pixel1 = start->pixel_size_y;
    g->detector.pixel2 = start->pixel_size_x;
    g->poni1 = start->beam_center_y * g->detector.pixel1;
    g->poni2 = start->beam_center_x * g->detector.pixel2;
    g->wavelength = start->wavelength;
    snprintf(g->detector.name, sizeof(g->detector.name), "Detector");
    airy_detector_recognize(&g->detector, start->detector);
    return true;
}

void airy_stream_meta(airy_stack_meta *meta, const airy_stream_start_message *start,
                      const char *channel)
{
    memset(meta, 0, sizeof(*meta));
    airy_geometry *g = &meta->geometry;
    if (start->has_poni)
        *g = start->poni;
    g->detector.height = start->height;
    g->detector.width = start->width;
    meta->has_geometry = start->has_poni || plain_geometry(g, start);
    if (start->has_poni)
        airy_detector_complete(&g->detector);
    else
        compare_energy(start);
    meta->has_saturation = start->has_saturation;
    meta->saturation = start->saturation;
    meta->has_mask = find_mask(start, channel) != NULL;
}

airy_status airy_stream_mask(uint8_t *mask, const airy_stream_start_message *start,
                             const char *channel)
{
    const airy_stream_pixels *found = find_mask(start, channel);
    AIRY_FAIL_IF(!found, AIRY_ERR_NOT_FOUND, "the start message has no pixel_mask of channel '%s'",
                 channel);
    AIRY_FAIL_IF(found->height != start->height || found->width != start->width, AIRY_ERR_SHAPE,
                 "pixel_mask of '%s' is %zu x %zu, the images are %zu x %zu", found->channel,
                 found->height, found->width, start->height, start->width);
    AIRY_FAIL_IF(airy_dtype_is_float(found->dtype), AIRY_ERR_DTYPE,
                 "pixel_mask of '%s' is %s, expected integers", found->channel,
                 airy_dtype_name(found->dtype));
    const size_t elem = airy_dtype_size(found->dtype), count = found->height * found->width;
    const uint8_t *bytes = found->bytes;
    uint8_t *decoded = NULL;
    airy_status status = AIRY_OK;
    if (found->codec.codec != AIRY_CODEC_NONE) {
        decoded = malloc(count * elem);
        AIRY_FAIL_IF(!decoded, AIRY_ERR_MEMORY, "out of memory for a pixel_mask of %zu bytes",
                     count * elem);
        status = airy_decode(decoded, count * elem, found->bytes, found->size, &found->codec);
        bytes = decoded;
    }
    for (size_t i = 0; status == AIRY_OK && i < count; i++) {
        mask[i] = 0;
        for (size_t k = 0; k < elem; k++)
            mask[i] |= bytes[i * elem + k] != 0;
    }
    free(decoded);
    return status;
}

airy_status airy_stream_find_channel(const airy_stream_pixels **pixels,
                                     const airy_stream_image_message *image, const char *channel)
{
    char names[AIRY_STREAM_CHANNELS_MAX * (AIRY_STREAM_NAME_BYTES + 2)] = "";
    size_t used = 0;
    AIRY_FAIL_IF(image->channels == 0, AIRY_ERR_NOT_FOUND, "image %llu has no channels",
                 (unsigned long long)image->id);
    for (size_t i = 0; i < image->channels; i++) {
        if (strcmp(image->pixels[i].channel, channel) == 0 || (!*channel && image->channels == 1)) {
            *pixels = &image->pixels[i];
            return AIRY_OK;
        }
        used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s", i ? ", " : "",
                                 image->pixels[i].channel);
    }
    AIRY_FAIL_IF(!*channel, AIRY_ERR_PARAM, "the images have %zu channels, name one: %s",
                 image->channels, names);
    AIRY_FAIL_IF(true, AIRY_ERR_NOT_FOUND, "the images have no channel '%s', expected one of: %s",
                 channel, names);
}
