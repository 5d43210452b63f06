/* What files hold, as JSON: stacks, images, geometries, results, and what is refused. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "airy/geometry.h"
#include "airy/image.h"
#include "airy/info.h"
#include "airy/pipeline.h"
#include "check_pipeline.h"
#include "check_stack.h"

enum { FRAMES = 5 };

/* The description has these parts, NULL behind the last. */
static void expect(struct check *c, const char *path, const airy_file_info_params *params,
                   const char *const *parts)
{
    char *json = NULL;
    if (!CHECK_OK(c, airy_file_info(&json, &path, 1, params)))
        return;
    for (; *parts; parts++)
        CHECK(c, strstr(json, *parts) != NULL);
    free(json);
}

#define PARTS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void check_files(struct check *c)
{
    if (!check_case(c, "info_files"))
        return;
    const char *stack = check_run_path(c, "stack.h5"), *npy = check_run_path(c, "image.npy"),
               *poni = check_run_path(c, "a.poni"), *result = check_run_path(c, "result.h5");
    check_run_stack(c, stack, check_run_frames(c, FRAMES), FRAMES, FRAMES, SOUND);
    expect(c, stack, NULL,
           PARTS("\"datasets\":[{\"path\":\"", "\"shape\":[5,37,44]", "\"dtype\":\"uint32\"",
                 "\"path\":\"direct\"", "\"result\":null", "\"why_no_stack\":\"\"",
                 "\"cut\":false"));
    const double pixels[2][3] = {{1, 2, 3}, {4, 5, 6}};
    const airy_image image = {
        .dtype = AIRY_DTYPE_F64, .ndim = 2, .shape = {2, 3}, .data = (void *)pixels};
    CHECK_OK(c, airy_image_write(&image, npy, false));
    expect(c, npy, NULL, PARTS("\"shape\":[2,3],\"dtype\":\"float64\",\"bytes\":48}"));
    expect(c, npy,
           &(airy_file_info_params){.raw = &(airy_raw_frames){.height = 2,
                                                              .width = 3,
                                                              .dtype = AIRY_DTYPE_F64,
                                                              .offset = 128}},
           PARTS("{\"stack\":{", "\"shape\":[1,2,3]", "\"path\":\"files\""));
    airy_geometry geometry = {.dist = 0.25, .poni1 = 0.01, .poni2 = 0.02, .wavelength = 1e-10};
    CHECK_OK(c, airy_detector_find(&geometry.detector, "pilatus_100k"));
    CHECK_OK(c, airy_geometry_write(&geometry, poni));
    expect(c, poni, NULL, PARTS("\"dist\":0.25,", "\"shape\":[195,487]"));
    airy_stack *opened = NULL;
    airy_integrator *it = check_run_integrator(c, c->device, AIRY_ERROR_MODEL_NONE);
    CHECK_OK(c, airy_stack_create(&opened, &stack, 1));
    CHECK_OK(c, airy_integrate_stack(result, opened, &it, 1, NULL, NULL));
    airy_stack_destroy(&opened);
    airy_integrator_destroy(&it);
    expect(c, result, NULL,
           PARTS("\"stack\":null", "\"result\":{\"frames\":5,\"bins\":50,\"errors\":false",
                 "\"done\":5,\"bad\":0,\"bad_rows\":[],\"complete\":true}"));
}

static void count_message(void *user, airy_log_level level, const char *text)
{
    *(size_t *)user += level == AIRY_LOG_WARN && strstr(text, " is cut off: ");
}

static void check_refused(struct check *c)
{
    if (!check_case(c, "info_refused"))
        return;
    const char *stack = check_run_path(c, "stack.h5"), *none = "/none.h5", *both[2] = {none, none},
               *no_image = stack_spill(c, "words.npy", "words", 5);
    char *json = NULL, path[4200];
    size_t size = 0, warnings = 0;
    check_run_stack(c, stack, check_run_frames(c, FRAMES), FRAMES, FRAMES, SOUND);
    CHECK_FAILS(c, airy_file_info(&json, &none, 1, NULL), AIRY_ERR_NOT_FOUND, "/none.h5");
    CHECK_FAILS(c, airy_file_info(&json, both, 2, NULL), AIRY_ERR_FORMAT, "/none.h5");
    CHECK_FAILS(c, airy_file_info(&json, &no_image, 1, NULL), AIRY_ERR_FORMAT, "words.npy");
    CHECK_FAILS(c, airy_file_info(&json, &none, 0, NULL), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_file_info(NULL, &none, 1, NULL), AIRY_ERR_PARAM, "NULL");
    both[1] = NULL;
    CHECK_FAILS(c, airy_file_info(&json, both, 2, NULL), AIRY_ERR_PARAM, "paths[1] is NULL");
    const char *dataset = path;
    snprintf(path, sizeof(path), "%s::/none", stack);
    CHECK_FAILS(c, airy_file_info(&json, &dataset, 1, NULL), AIRY_ERR_FORMAT, "/none");
    const airy_file_info_params channel = {
        .channel = "none", .message = count_message, .user = &warnings};
    CHECK_FAILS(c, airy_file_info(&json, &stack, 1, &channel), AIRY_ERR_FORMAT, "none");
    CHECK(c, warnings == 0);
    uint8_t *bytes = stack_slurp(c, stack, &size);
    const char *cut = stack_spill(c, "cut.h5", bytes, size - 1000);
    const airy_file_info_params params = {.message = count_message, .user = &warnings};
    expect(c, cut, &params, PARTS("\"cut\":true,\"file_bytes\":"));
    CHECK(c, warnings == 1);
}

static void check_planned(struct check *c)
{
    if (!check_case(c, "info_planned"))
        return;
    const uint64_t shape[3] = {100, 1024, 1024}, empty[2] = {3, 0},
                   large[2] = {UINT64_C(1) << 40, UINT64_C(1) << 40};
    char *json = NULL;
    airy_memory_limits limits;
    airy_memory_limits_get(&limits);
    CHECK(c, limits.host > 0 && limits.available <= limits.host);
    if (CHECK_OK(c, airy_image_info(&json, shape, 3, AIRY_DTYPE_F32)))
        CHECK(c,
              strstr(json, "{\"shape\":[100,1024,1024],\"dtype\":\"float32\",\"bytes\":419430400,"
                           "\"images_that_fit\":{\"host\":") == json &&
                  strstr(json, "\"largest\":"));
    free(json);
    CHECK_FAILS(c, airy_image_info(&json, empty, 2, AIRY_DTYPE_U8), AIRY_ERR_PARAM, "axis 1");
    CHECK_FAILS(c, airy_image_info(&json, large, 2, AIRY_DTYPE_U8), AIRY_ERR_PARAM, "address");
    CHECK_FAILS(c, airy_image_info(&json, shape, 0, AIRY_DTYPE_U8), AIRY_ERR_PARAM, "ndim");
    CHECK_FAILS(c, airy_image_info(&json, shape, 3, AIRY_DTYPE_COUNT), AIRY_ERR_DTYPE, "dtype");
    CHECK_FAILS(c, airy_image_info(NULL, shape, 3, AIRY_DTYPE_U8), AIRY_ERR_PARAM, "NULL");
}

void check_info(struct check *c)
{
    check_files(c);
    check_refused(c);
    check_planned(c);
}
