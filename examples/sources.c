/*
 * Sources in an image: the classic chain of blur, clip, threshold, labels and fluxes.
 *
 * Build: cc sources.c $(pkg-config --cflags --libs airy)
 * Run:   ./sources [DEVICE]        such as cpu
 */
#include <airy/airy.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIDE = 64 };

/* Noise of 0 to 3 around two bright spots. */
static void draw(float *image)
{
    uint32_t words[SIDE * SIDE];
    airy_random_words(words, SIDE * SIDE, 1, 0, 0);
    for (size_t i = 0; i < SIDE * SIDE; i++)
        image[i] = (float)(words[i] >> 30);
    image[20 * SIDE + 12] += 400;
    image[41 * SIDE + 50] += 900;
}

static airy_status find(airy_queue *queue, airy_device *device, const float *pixels)
{
    const size_t shape[2] = {SIDE, SIDE};
    airy_array *image = NULL, *smooth = NULL;
    airy_region *regions = NULL;
    airy_clip_result clip;
    size_t count = 0;
    airy_status status = airy_array_create_from(&image, queue, AIRY_DTYPE_F32, 2, shape, pixels);
    if (status == AIRY_OK)
        status = airy_array_create(&smooth, device, AIRY_DTYPE_F32, 2, shape);
    if (status == AIRY_OK)
        status = airy_gaussian_blur(queue, smooth, image, &(airy_blur_params){.sigma = {1.5, 1.5}});
    /* What is left when everything beyond three standard deviations is gone, is background. */
    if (status == AIRY_OK)
        status = airy_clip(queue, &clip, smooth, NULL, NULL);
    if (status == AIRY_OK) {
        const airy_label_params params = {
            .has_above = true, .above = clip.kept.median + 5 * clip.kept.std, .min_count = 3};
        printf("%llu passes, background %.2f +- %.2f\n", (unsigned long long)clip.iterations,
               clip.kept.median, clip.kept.std);
        status = airy_label(queue, NULL, smooth, &params, &count, &regions);
    }
    for (size_t i = 0; i < count && status == AIRY_OK; i++)
        printf("at x = %.2f, y = %.2f: %llu pixels, sum %.0f\n", regions[i].center[2],
               regions[i].center[1], (unsigned long long)regions[i].count, regions[i].sum);
    airy_regions_free(regions);
    airy_array_destroy(&smooth);
    airy_array_destroy(&image);
    return status;
}

int main(int argc, char **argv)
{
    airy_device *device = NULL;
    airy_queue *queue = NULL;
    float pixels[SIDE * SIDE];
    draw(pixels);
    airy_status status = airy_device_create(&device, argc > 1 ? argv[1] : NULL, NULL);
    if (status == AIRY_OK)
        status = airy_queue_create(&queue, device);
    if (status == AIRY_OK)
        status = find(queue, device, pixels);
    if (status != AIRY_OK)
        fprintf(stderr, "%s\n", airy_last_error());
    airy_queue_destroy(&queue);
    airy_device_destroy(&device);
    return status == AIRY_OK ? 0 : 1;
}
