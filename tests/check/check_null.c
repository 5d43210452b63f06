/*
 * Every public function with NULL where something is expected: a sentence that names it, or
 * nothing happens.
 */
#include "airy/pipeline.h"
#include "airy/stack_write.h"
#include "check.h"

#include <math.h>
#include <stdio.h>

#define REFUSES(expr, name) CHECK_FAILS(c, expr, AIRY_ERR_PARAM, name)

static void check_null_names(struct check *c)
{
    if (!check_case(c, "null_names"))
        return;
    airy_unit unit;
    airy_split split;
    airy_method method;
    airy_error_model model;
    airy_codec codec;
    REFUSES(airy_unit_parse(NULL, "r_m"), "unit is NULL");
    REFUSES(airy_unit_parse(&unit, NULL), "name is NULL");
    REFUSES(airy_split_parse(NULL, "no"), "v is NULL");
    REFUSES(airy_split_parse(&split, NULL), "name is NULL");
    REFUSES(airy_method_parse(NULL, "csr"), "v is NULL");
    REFUSES(airy_method_parse(&method, NULL), "name is NULL");
    REFUSES(airy_error_model_parse(NULL, "none"), "v is NULL");
    REFUSES(airy_error_model_parse(&model, NULL), "name is NULL");
    REFUSES(airy_codec_parse(NULL, "lz4"), "codec is NULL");
    REFUSES(airy_codec_parse(&codec, NULL), "name = NULL");
}

static void check_null_geometry(struct check *c, const airy_geometry *g)
{
    if (!check_case(c, "null_geometry"))
        return;
    airy_detector d;
    airy_geometry back;
    double out[4] = {0};
    uint8_t mask[4];
    REFUSES(airy_detector_find(NULL, "Eiger 1M"), "detector is NULL");
    REFUSES(airy_detector_find(&d, NULL), "name is NULL");
    REFUSES(airy_detector_get(NULL, 0), "detector is NULL");
    REFUSES(airy_detector_find_shape(NULL, 1065, 1030), "detector is NULL");
    REFUSES(airy_detector_mask(NULL, mask), "detector is NULL");
    REFUSES(airy_detector_mask(&g->detector, NULL), "mask is NULL");
    airy_detector_arrays *arrays = NULL;
    REFUSES(airy_detector_read(NULL, "x.h5"), "detector is NULL");
    REFUSES(airy_detector_read(&d, NULL), "path is NULL");
    REFUSES(airy_detector_open(NULL, &d), "arrays is NULL");
    REFUSES(airy_detector_open(&arrays, NULL), "detector is NULL");
    REFUSES(airy_detector_bin(NULL, 1, 1), "detector is NULL");
    REFUSES(airy_sensor_attenuation(NULL, "Si", 1e-10), "attenuation is NULL");
    REFUSES(airy_sensor_attenuation(out, NULL, 1e-10), "material is NULL");
    REFUSES(airy_geometry_efficiency(NULL, out), "geometry is NULL");
    REFUSES(airy_geometry_efficiency(g, NULL), "out is NULL");
    CHECK(c, !airy_detector_needs_arrays(NULL));
    airy_detector_arrays_destroy(NULL);
    REFUSES(airy_geometry_read(NULL, "x.poni"), "geometry is NULL");
    REFUSES(airy_geometry_read(&back, NULL), "path is NULL");
    REFUSES(airy_geometry_write(NULL, "x.poni"), "geometry is NULL");
    REFUSES(airy_geometry_write(g, NULL), "path is NULL");
    REFUSES(airy_geometry_parse(NULL, "{}"), "geometry or json is NULL");
    REFUSES(airy_geometry_parse(&back, NULL), "geometry or json is NULL");
    REFUSES(airy_geometry_check(NULL), "geometry is NULL");
    REFUSES(airy_geometry_centers(NULL, AIRY_UNIT_R_M, out), "geometry is NULL");
    REFUSES(airy_geometry_centers(g, AIRY_UNIT_R_M, NULL), "out is NULL");
    REFUSES(airy_geometry_chi(NULL, out), "geometry is NULL");
    REFUSES(airy_geometry_chi(g, NULL), "out is NULL");
    REFUSES(airy_geometry_solid_angle(NULL, out), "geometry is NULL");
    REFUSES(airy_geometry_solid_angle(g, NULL), "out is NULL");
    REFUSES(airy_geometry_polarization(NULL, 1, 0, out), "geometry is NULL");
    REFUSES(airy_geometry_polarization(g, 1, 0, NULL), "out is NULL");
    REFUSES(airy_image_from_pattern(NULL, g, NULL, out, out, 1), "image is NULL");
    REFUSES(airy_image_from_pattern(out, NULL, NULL, out, out, 1), "geometry is NULL");
    REFUSES(airy_image_from_pattern(out, g, NULL, NULL, out, 1), "radial is NULL");
    REFUSES(airy_image_from_pattern(out, g, NULL, out, NULL, 1), "curve is NULL");
}

static void check_null_integrator(struct check *c, const airy_geometry *g)
{
    if (!check_case(c, "null_integrator"))
        return;
    airy_integrator *it = NULL;
    airy_batch *batch = NULL;
    airy_integrator_info info;
    float curve[3];
    double sums[3 * AIRY_SUM_PLANES] = {0};
    const size_t shape[3] = {1, 2, 2}, sums_shape[3] = {1, AIRY_SUM_PLANES, 3};
    const size_t stats_shape[2] = {1, sizeof(airy_frame_stats)};
    const airy_batch_params batch_params = {
        .dtype = AIRY_DTYPE_U8, .height = 2, .width = 2, .frames = 1};
    airy_array *frames = check_output(c, AIRY_DTYPE_U8, 3, shape),
               *a = check_output(c, AIRY_DTYPE_F64, 3, sums_shape);
    airy_array *stats = check_output(c, AIRY_DTYPE_U8, 2, stats_shape);
    airy_queue *q = c->queue;
    const airy_integrator_params params = {.bins = 3, .unit = AIRY_UNIT_R_M};
    REFUSES(airy_integrator_create(NULL, c->device, g, &params), "integrator is NULL");
    REFUSES(airy_integrator_create(&it, NULL, g, &params), "device is NULL");
    REFUSES(airy_integrator_create(&it, c->device, NULL, &params), "geometry is NULL");
    if (CHECK_OK(c, airy_integrator_create(&it, c->device, g, &params)) &&
        CHECK_OK(c, airy_batch_create(&batch, c->device, &batch_params))) {
        REFUSES(airy_integrator_get_info(NULL, &info), "integrator is NULL");
        REFUSES(airy_integrator_get_info(it, NULL), "info is NULL");
        REFUSES(airy_integrate(NULL, a, stats, it, frames), "queue is NULL");
        REFUSES(airy_integrate(q, NULL, stats, it, frames), "sums is NULL");
        REFUSES(airy_integrate(q, a, NULL, it, frames), "stats is NULL");
        REFUSES(airy_integrate(q, a, stats, NULL, frames), "integrator is NULL");
        REFUSES(airy_integrate(q, a, stats, it, NULL), "frames is NULL");
        REFUSES(airy_integrate_batch(NULL, a, stats, it, batch), "queue is NULL");
        REFUSES(airy_integrate_batch(q, NULL, stats, it, batch), "sums is NULL");
        REFUSES(airy_integrate_batch(q, a, NULL, it, batch), "stats is NULL");
        REFUSES(airy_integrate_batch(q, a, stats, NULL, batch), "integrator is NULL");
        REFUSES(airy_integrate_batch(q, a, stats, it, NULL), "batch is NULL");
        REFUSES(airy_integrator_finish(NULL, sums, 1, curve, curve, curve), "integrator is NULL");
        REFUSES(airy_integrator_finish(it, NULL, 1, curve, curve, curve), "sums is NULL");
        REFUSES(airy_integrator_finish(it, sums, 1, NULL, curve, curve), "intensity is NULL");
    }
    CHECK(c, airy_integrator_bins(NULL) == 0 && !airy_integrator_radial(NULL));
    airy_batch_destroy(&batch);
    airy_integrator_destroy(&it);
    airy_integrator_destroy(&it);
    airy_integrator_destroy(NULL);
}

static void check_null_batch(struct check *c)
{
    if (!check_case(c, "null_batch"))
        return;
    airy_batch *batch = NULL;
    const airy_batch_params params = {.dtype = AIRY_DTYPE_U8, .height = 2, .width = 2, .frames = 1};
    const size_t shape[3] = {1, 2, 2}, one = 1;
    const uint8_t pixels[4] = {0};
    uint8_t chunk[64];
    size_t size = sizeof chunk;
    airy_array *frames = check_output(c, AIRY_DTYPE_U8, 3, shape),
               *status = check_output(c, AIRY_DTYPE_U32, 1, &one);
    REFUSES(airy_batch_create(NULL, c->device, &params), "NULL");
    REFUSES(airy_batch_create(&batch, NULL, &params), "NULL");
    REFUSES(airy_batch_create(&batch, c->device, NULL), "NULL");
    REFUSES(airy_batch_add(NULL, pixels, sizeof pixels), "NULL");
    if (CHECK_OK(c, airy_batch_create(&batch, c->device, &params))) {
        REFUSES(airy_batch_add(batch, NULL, sizeof pixels), "NULL");
        REFUSES(airy_decode_batch(NULL, frames, status, batch), "NULL");
        REFUSES(airy_decode_batch(c->queue, NULL, status, batch), "NULL");
        REFUSES(airy_decode_batch(c->queue, frames, NULL, batch), "NULL");
        REFUSES(airy_decode_batch(c->queue, frames, status, NULL), "NULL");
    }
    REFUSES(airy_encode(NULL, &size, pixels, 4, NULL), "NULL");
    REFUSES(airy_encode(chunk, NULL, pixels, 4, NULL), "NULL");
    REFUSES(airy_encode(chunk, &size, NULL, 4, NULL), "NULL");
    REFUSES(airy_decode(NULL, 4, pixels, 4, NULL), "NULL");
    REFUSES(airy_decode(chunk, 4, NULL, 4, NULL), "NULL");
    CHECK(c, airy_batch_frames(NULL) == 0);
    airy_batch_clear(NULL);
    airy_batch_destroy(&batch);
    airy_batch_destroy(&batch);
    airy_batch_destroy(NULL);
}

static void check_null_stack(struct check *c)
{
    if (!check_case(c, "null_stack"))
        return;
    const char *path = check_golden(c, "diffraction/hdf5/frame_chunk.h5");
    airy_stack *stack = NULL;
    airy_stack_info info;
    airy_stack_meta meta;
    airy_stack_place place;
    uint8_t bytes[8];
    double value;
    char text[8];
    if (!path || !CHECK_OK(c, airy_stack_create(&stack, &path, 1)))
        return;
    REFUSES(airy_stack_create(NULL, &path, 1), "stack");
    REFUSES(airy_stack_create(&stack, NULL, 1), "paths");
    REFUSES(airy_stack_create_growing(NULL, &path, 1), "stack");
    REFUSES(airy_stack_get_info(NULL, &info), "NULL");
    REFUSES(airy_stack_get_info(stack, NULL), "NULL");
    REFUSES(airy_stack_read(NULL, 0, bytes, sizeof bytes), "stack is NULL");
    REFUSES(airy_stack_read(stack, 0, NULL, sizeof bytes), "pixels is NULL");
    REFUSES(airy_stack_where(NULL, 0, text, sizeof text), "stack is NULL");
    REFUSES(airy_stack_where(stack, 0, NULL, sizeof text), "text is NULL");
    REFUSES(airy_stack_get_place(NULL, 0, &place), "stack is NULL");
    REFUSES(airy_stack_get_place(stack, 0, NULL), "place is NULL");
    REFUSES(airy_stack_get_meta(NULL, &meta), "NULL");
    REFUSES(airy_stack_get_meta(stack, NULL), "NULL");
    REFUSES(airy_stack_mask(NULL, bytes), "NULL");
    REFUSES(airy_stack_mask(stack, NULL), "NULL");
    REFUSES(airy_stack_monitor(NULL, "/x", &value), "NULL");
    REFUSES(airy_stack_monitor(stack, NULL, &value), "NULL");
    REFUSES(airy_stack_monitor(stack, "/x", NULL), "NULL");
    airy_stack_destroy(&stack);
    airy_stack_destroy(&stack);
    airy_stack_destroy(NULL);
}

static void check_null_files(struct check *c)
{
    if (!check_case(c, "null_files"))
        return;
    airy_stack_writer *writer = NULL;
    const airy_stack_writer_params params = {
        .dtype = AIRY_DTYPE_U8, .frames = 1, .height = 2, .width = 2};
    const uint8_t pixels[4] = {0};
    airy_image image = {.ndim = 1, .shape = {1}};
    airy_hdf5_entry *entries;
    size_t count;
    char path[4200], *text;
    snprintf(path, sizeof path, "%s/null.h5", check_tmp(c));
    REFUSES(airy_stack_writer_create(NULL, path, &params), "NULL");
    REFUSES(airy_stack_writer_create(&writer, NULL, &params), "NULL");
    REFUSES(airy_stack_writer_create(&writer, path, NULL), "NULL");
    REFUSES(airy_stack_writer_add(NULL, 0, pixels, 4), "writer");
    REFUSES(airy_stack_writer_finish(NULL), "writer");
    if (CHECK_OK(c, airy_stack_writer_create(&writer, path, &params)))
        REFUSES(airy_stack_writer_add(writer, 0, NULL, 4), "chunk");
    airy_frame_place place = {0};
    const airy_stack_fill_params fill = {0};
    REFUSES(airy_stack_writer_place(NULL, 0, pixels, 4, &place), "writer");
    REFUSES(airy_stack_writer_place(writer, 0, pixels, 4, NULL), "place");
    REFUSES(airy_stack_writer_put(NULL, &place, pixels, 4), "writer");
    REFUSES(airy_stack_writer_put(writer, NULL, pixels, 4), "place");
    REFUSES(airy_stack_writer_put(writer, &place, NULL, 4), "chunk");
    REFUSES(airy_stack_writer_skip(NULL, 0), "writer");
    REFUSES(airy_stack_writer_fill(writer, NULL, NULL), "params is NULL");
    REFUSES(airy_stack_writer_fill(NULL, &fill, NULL), "no writer");
    REFUSES(airy_stack_write_file(NULL, &(airy_stack_write_params){.fill = fill}, NULL), "is NULL");
    REFUSES(airy_stack_write_file("x.h5", NULL, NULL), "is NULL");
    airy_stack_writer_destroy(&writer);
    airy_stack_writer_destroy(&writer);
    airy_stack_writer_destroy(NULL);
    REFUSES(airy_image_read(NULL, path), "image");
    REFUSES(airy_image_read(&image, NULL), "path");
    REFUSES(airy_image_write(NULL, path, false), "image");
    REFUSES(airy_image_write(&image, path, false), "image");
    image.data = &text;
    REFUSES(airy_image_write(&image, NULL, false), "path");
    REFUSES(airy_png_write(NULL, pixels, 1, 1, false), "path");
    REFUSES(airy_png_write(path, NULL, 1, 1, false), "pixels");
    REFUSES(airy_hdf5_list(NULL, &count, path), "NULL");
    REFUSES(airy_hdf5_list(&entries, NULL, path), "NULL");
    REFUSES(airy_hdf5_list(&entries, &count, NULL), "NULL");
    REFUSES(airy_hdf5_text(NULL, path, "/x"), "NULL");
    REFUSES(airy_hdf5_text(&text, NULL, "/x"), "NULL");
    REFUSES(airy_hdf5_text(&text, path, NULL), "NULL");
    REFUSES(airy_integrate_stack(path, NULL, NULL, 0, NULL, NULL), "NULL");
    REFUSES(airy_integrate_plan(NULL, NULL, NULL, 0, NULL), "NULL");
    CHECK(c, isnan(airy_image_value(NULL, 0)));
    airy_image_free(NULL);
    airy_hdf5_list_free(NULL);
}

/*
 * What core hands out of NULL, and that all of it can be destroyed; its refusals are in
 * check_core.c.
 */
static void check_null_core(struct check *c)
{
    if (!check_case(c, "null_core"))
        return;
    CHECK(c, !airy_array_device(NULL) && airy_array_dtype(NULL) == AIRY_DTYPE_COUNT &&
                 airy_array_ndim(NULL) == 0);
    CHECK(c, !airy_array_shape(NULL) && !airy_array_pitch(NULL));
    CHECK(c, airy_array_count(NULL) == 0 && airy_array_size(NULL) == 0);
    CHECK(c, !airy_queue_device(NULL) && !airy_host_data(NULL) && airy_host_size(NULL) == 0);
    CHECK(c, airy_device_spec(NULL)[0] == '?');
    airy_array_destroy(NULL);
    airy_queue_destroy(NULL);
    airy_event_destroy(NULL);
    airy_host_destroy(NULL);
    airy_device_destroy(NULL);
    airy_device_list_free(NULL);
    airy_profile_free(NULL);
}

void check_null(struct check *c)
{
    if (!c->is_cpu)
        return;
    const airy_geometry g = {
        .detector = {.name = "Detector", .height = 2, .width = 2, .pixel1 = 1e-3, .pixel2 = 1e-3},
        .dist = 0.1};
    check_null_names(c);
    check_null_geometry(c, &g);
    check_null_integrator(c, &g);
    check_null_batch(c);
    check_null_stack(c);
    check_null_files(c);
    check_null_core(c);
}
