/* Reading images of every kind: a file of one image, or the frames of a stack. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/image_memory.h"
#include "io/hdf5/util.h"
#include "io/image/formats.h"
#include "io/stack/internal.h"
#include "io/file/pattern.h"

/* Read all frames that airy_stack_create finds under a path; one frame is a 2-D image. */
static airy_status read_stack(airy_image *image, const char *path)
{
    airy_stack *stack = NULL;
    airy_stack_info info;
    AIRY_TRY(airy_stack_create(&stack, &path, 1));
    airy_status status = airy_stack_get_info(stack, &info);
    image->dtype = info.dtype;
    image->ndim = 3;
    image->data = NULL;
    image->header = NULL;
    image->shape[0] = info.frames;
    image->shape[1] = info.height;
    image->shape[2] = info.width;
    size_t bytes = 0;
    if (status == AIRY_OK)
        status = airy_image_bytes(&bytes, image);
    if (status == AIRY_OK)
        status = airy_image_alloc(&image->data, bytes);
    const size_t frame = bytes / info.frames;
    for (size_t i = 0; i < info.frames && status == AIRY_OK; i++)
        status = airy_stack_read(stack, i, (uint8_t *)image->data + i * frame, frame);
    airy_stack_destroy(&stack);
    if (status == AIRY_OK && info.frames == 1 && info.path == AIRY_STACK_FILES) {
        image->ndim = 2;
        image->shape[0] = info.height;
        image->shape[1] = info.width;
    }
    return status;
}

/* FILE or FILE::DATASET */
static airy_status read_hdf5(airy_image *image, const char *path)
{
    airy_image made;
    memset(&made, 0, sizeof(made));
    struct stack_choice *choices = NULL;
    size_t count = 0;
    AIRY_TRY(airy_hdf5_lock());
    airy_status status = airy_stack_find(&choices, &count, path, 0);
    if (status == AIRY_OK && count == 1)
        status = airy_image_read_dataset(&made, choices[0].path, choices[0].dataset);
    airy_hdf5_unlock();
    if (status == AIRY_OK && count > 1)
        status = read_stack(&made, path);
    for (size_t i = 0; i < count; i++) {
        free(choices[i].path);
        free(choices[i].dataset);
    }
    free(choices);
    if (status != AIRY_OK) {
        free(made.data);
        return status;
    }
    *image = made;
    return AIRY_OK;
}

static airy_status read_frames(airy_image *image, const char *path)
{
    airy_image made = {.dtype = AIRY_DTYPE_F32};
    const airy_status status = read_stack(&made, path);
    if (status == AIRY_OK)
        *image = made;
    else
        free(made.data);
    return status;
}

/* Formats whose own readers take no packed files. */
static bool is_packed(enum airy_image_format format, const char *path)
{
    const size_t n = strlen(path);
    return n > 3 && strcasecmp(path + n - 3, ".gz") == 0 &&
           (format == AIRY_FORMAT_NPY || format == AIRY_FORMAT_EDF || format == AIRY_FORMAT_CBF);
}

airy_status airy_image_read(airy_image *image, const char *path)
{
    AIRY_FAIL_IF(!image || !path, AIRY_ERR_PARAM, "airy_image_read: image or path is missing");
    AIRY_FAIL_IF(!*path, AIRY_ERR_PARAM, "the image's name is empty, expected a file");
    enum airy_image_format format;
    if (airy_path_is_pattern(path))
        return read_frames(image, path);
    AIRY_TRY(airy_image_format_of(&format, path));
    if (is_packed(format, path))
        return read_frames(image, path);
    return format == AIRY_FORMAT_HDF5 ? read_hdf5(image, path)
                                      : airy_image_read_as(image, format, path);
}

airy_status airy_image_read_real(airy_image *image, const char *path)
{
    airy_image made = {.dtype = AIRY_DTYPE_F32};
    AIRY_FAIL_IF(!image || !path, AIRY_ERR_PARAM, "airy_image_read_real: image or path is missing");
    AIRY_TRY(airy_image_read(&made, path));
    const bool is_complex = made.is_complex;
    if (is_complex)
        airy_image_free(&made);
    AIRY_FAIL_HINT_IF(is_complex, AIRY_ERR_UNSUPPORTED, AIRY_HINT_COMPLEX, AIRY_SUBJECT_FILE,
                      "'%s': " AIRY_COMPLEX_REFUSED, path);
    *image = made;
    return AIRY_OK;
}
