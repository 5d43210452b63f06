/*
 * Images: read NPY, EDF or HDF5, find the brightest pixel, write NPY and a grey PNG.
 *
 * Build: cc image.c $(pkg-config --cflags --libs airy)
 * Run:   ./image IMAGE OUT.npy OUT.png
 */
#include <airy/image.h>
#include <stdio.h>
#include <stdlib.h>

static airy_status write_png(const airy_image *image, const char *path, double brightest)
{
    /* The last two axes of the first frame. */
    const size_t height = image->ndim > 1 ? image->shape[image->ndim - 2] : 1,
                 width = image->shape[image->ndim - 1];
    uint8_t *rgb = malloc(3 * height * width);
    if (!rgb)
        return AIRY_ERR_MEMORY;
    for (size_t i = 0; i < height * width; i++) {
        const double value = airy_image_value(image, i);
        const double grey = brightest > 0 && value > 0 ? 255 * value / brightest : 0;
        rgb[3 * i] = rgb[3 * i + 1] = rgb[3 * i + 2] = (uint8_t)(grey < 255 ? grey : 255);
    }
    const airy_status status = airy_png_write(path, rgb, height, width, true);
    free(rgb);
    return status;
}

static airy_status run(const char *in, const char *npy, const char *png)
{
    airy_image image;
    airy_status status;
    if ((status = airy_image_read_real(&image, in)) != AIRY_OK)
        return status;
    size_t count = 1, at = 0;
    for (int axis = 0; axis < image.ndim; axis++)
        count *= image.shape[axis];
    for (size_t i = 1; i < count; i++)
        if (airy_image_value(&image, i) > airy_image_value(&image, at))
            at = i;
    printf("%d axes of %s, brightest pixel %zu: %g\n", image.ndim, airy_dtype_name(image.dtype), at,
           airy_image_value(&image, at));
    status = airy_image_write(&image, npy, true);
    if (status == AIRY_OK)
        status = write_png(&image, png, airy_image_value(&image, at));
    airy_image_free(&image);
    return status;
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "usage: image IMAGE OUT.npy OUT.png\n");
        return 2;
    }
    if (run(argv[1], argv[2], argv[3]) == AIRY_OK)
        return EXIT_SUCCESS;
    fprintf(stderr, "image: %s\n", airy_last_error());
    return EXIT_FAILURE;
}
