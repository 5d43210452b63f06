/* What a run has beside its patterns: regions, maps of scans, values carried over. */
#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "airy/pipeline.h"
#include "check_pipeline.h"

enum { FRAMES = 11, BINS = RUN_BINS, ROIS = 2, ROWS = 3, COLUMNS = 4 };

static void put(hid_t file, const char *path, hid_t type, int ndim, const hsize_t *shape,
                const void *values)
{
    const hid_t links = H5Pcreate(H5P_LINK_CREATE);
    H5Pset_create_intermediate_group(links, 1);
    const hid_t space = H5Screate_simple(ndim, shape, NULL);
    const hid_t dataset = H5Dcreate2(file, path, type, space, links, H5P_DEFAULT, H5P_DEFAULT);
    if (values)
        H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
    H5Dclose(dataset);
    H5Sclose(space);
    H5Pclose(links);
}

static hid_t text_type(size_t size)
{
    const hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, size);
    return type;
}

/* Motors and the like beside the frames of a stack, and things that must be passed over. */
static void add_values(struct check *c, const char *path)
{
    double omega[FRAMES];
    uint16_t phi[FRAMES];
    int64_t index[FRAMES];
    char fixed[FRAMES][6];
    const char *times[FRAMES];
    char text[FRAMES][24];
    for (int i = 0; i < FRAMES; i++) {
        omega[i] = 0.5 * i;
        phi[i] = (uint16_t)(3 * i);
        index[i] = -i;
        snprintf(fixed[i], sizeof(fixed[i]), "ab%02d", i);
        snprintf(text[i], sizeof(text[i]), "2026-01-01T00:00:%02d", i);
        times[i] = i == 4 ? "" : text[i];
    }
    const hsize_t one[1] = {FRAMES}, column[2] = {FRAMES, 1}, other[1] = {FRAMES + 1},
                  square[2] = {FRAMES, FRAMES};
    const hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT), six = text_type(6),
                any = text_type(H5T_VARIABLE), long_text = text_type(300);
    if (!CHECK(c, file >= 0))
        return;
    put(file, "/entry/sample/goniometer/omega", H5T_NATIVE_DOUBLE, 1, one, omega);
    put(file, "/entry/instrument/phi/value", H5T_STD_U16BE, 2, column, NULL);
    const hid_t dataset = H5Dopen2(file, "/entry/instrument/phi/value", H5P_DEFAULT);
    H5Dwrite(dataset, H5T_NATIVE_UINT16, H5S_ALL, H5S_ALL, H5P_DEFAULT, phi);
    H5Dclose(dataset);
    put(file, "/entry/instrument/omega/value", H5T_NATIVE_DOUBLE, 1, one, omega);
    put(file, "/entry/index", H5T_NATIVE_INT64, 1, one, index);
    put(file, "/entry/fixed", six, 1, one, fixed);
    put(file, "/entry/times", any, 1, one, times);
    put(file, "/entry/long", long_text, 1, one, NULL);
    put(file, "/entry/other", H5T_NATIVE_DOUBLE, 1, other, NULL);
    put(file, "/entry/square", H5T_NATIVE_DOUBLE, 2, square, NULL);
    put(file, "/elsewhere/chi", H5T_NATIVE_DOUBLE, 1, one, omega);
    H5Tclose(long_text);
    H5Tclose(six);
    H5Tclose(any);
    H5Fclose(file);
}

struct scene {
    const char *path, *out;
    airy_stack *stack;
    airy_integrator *integrator;
    airy_frame_values *values;
    size_t count;
};

static bool open_scene(struct check *c, struct scene *s, size_t special)
{
    *s = (struct scene){.path = check_run_path(c, "stack.h5"), .out = check_run_path(c, "out.h5")};
    check_run_stack(c, s->path, check_run_frames(c, FRAMES), FRAMES, special, FLIPPED);
    add_values(c, s->path);
    s->integrator = check_run_integrator(c, c->device, AIRY_ERROR_MODEL_POISSON);
    return s->integrator && CHECK_OK(c, airy_stack_create(&s->stack, &s->path, 1));
}

static void close_scene(struct scene *s)
{
    airy_frame_values_free(s->values, s->count);
    airy_stack_destroy(&s->stack);
    airy_integrator_destroy(&s->integrator);
}

static const airy_frame_values *find(struct check *c, const struct scene *s, const char *name)
{
    static const airy_frame_values none;
    for (size_t i = 0; i < s->count; i++)
        if (strcmp(s->values[i].name, name) == 0)
            return &s->values[i];
    check_failed(c, __FILE__, __LINE__, "'%s' was not found", name);
    return &none;
}

static void check_values_found(struct check *c)
{
    if (!c->is_cpu || !check_case(c, "frame_values"))
        return;
    struct scene s;
    if (!open_scene(c, &s, FRAMES) ||
        !CHECK_OK(c, airy_stack_values(&s.values, &s.count, s.stack, NULL, 0))) {
        close_scene(&s);
        return;
    }
    CHECK(c, s.count == 6);
    const airy_frame_values *phi = find(c, &s, "phi"), *index = find(c, &s, "index"),
                            *fixed = find(c, &s, "fixed"), *times = find(c, &s, "times");
    CHECK(c, phi->dtype == AIRY_DTYPE_U64 && index->dtype == AIRY_DTYPE_I64 && fixed->text == 6 &&
                 times->text == 19);
    /* Two of a name: the second has its parent's, too. */
    CHECK(c, strcmp(find(c, &s, "omega")->path, "/entry/instrument/omega/value") == 0);
    CHECK(c, strcmp(find(c, &s, "goniometer_omega")->path, "/entry/sample/goniometer/omega") == 0);
    for (size_t i = 0; i < FRAMES && phi->values && index->values && times->values; i++) {
        CHECK(c, ((uint64_t *)phi->values)[i] == 3 * i);
        CHECK(c, ((int64_t *)index->values)[i] == -(int64_t)i);
        CHECK(c, ((char *)times->values)[19 * i] == (i == 4 ? 0 : '2'));
    }
    airy_frame_values *few = NULL;
    size_t count = 9;
    static const struct {
        const char *path, *part;
        airy_status status;
    } bad[] = {{"/entry/nothing", "has no dataset", AIRY_ERR_NOT_FOUND},
               {"/entry/other", "expected one for each of 11", AIRY_ERR_SHAPE},
               {"/entry/square", "121 elements", AIRY_ERR_SHAPE},
               {"/entry/long", "300 bytes", AIRY_ERR_FORMAT},
               {"/entry/sample", "cannot be opened", AIRY_ERR_FORMAT}};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        CHECK_FAILS(c, airy_stack_values(&few, &count, s.stack, &bad[i].path, 1), bad[i].status,
                    bad[i].part);
    const char *named = "/elsewhere/chi";
    if (CHECK_OK(c, airy_stack_values(&few, &count, s.stack, &named, 1)))
        CHECK(c, count == 1 && strcmp(few->name, "chi") == 0);
    airy_frame_values_free(few, count);
    CHECK_FAILS(c, airy_stack_values(&few, &count, s.stack, &named, 65), AIRY_ERR_PARAM, "most 64");
    CHECK_FAILS(c, airy_stack_values(NULL, &count, s.stack, NULL, 0), AIRY_ERR_PARAM, "NULL");
    close_scene(&s);
}

static double *read_result(struct check *c, const char *path, const char *name, size_t count)
{
    airy_image image = {0};
    char where[700];
    double *values = check_alloc(c, count * sizeof(*values));
    snprintf(where, sizeof(where), "%s::/entry/integrate/%s", path, name);
    if (CHECK_OK(c, airy_image_read(&image, where))) {
        size_t have = 1;
        for (int d = 0; d < image.ndim; d++)
            have *= image.shape[d];
        if (CHECK(c, have == count && image.dtype == AIRY_DTYPE_F64))
            memcpy(values, image.data, count * sizeof(*values));
    }
    airy_image_free(&image);
    return values;
}

/* Regions of the file's own sums, in rows and on the map. */
static void compare_regions(struct check *c, const struct scene *s, const airy_run_params *p,
                            size_t rows, size_t bad)
{
    airy_integrator_info axes;
    CHECK_OK(c, airy_integrator_get_info(s->integrator, &axes));
    const double *signal = read_result(c, s->out, "merged/sum_signal", rows * BINS),
                 *sum = read_result(c, s->out, "frame/roi_sum", rows * ROIS),
                 *mean = read_result(c, s->out, "frame/roi_mean", rows * ROIS),
                 *total = read_result(c, s->out, "frame/total", rows);
    const double *maps[3] = {read_result(c, s->out, "map/total", ROWS * COLUMNS),
                             read_result(c, s->out, "map/roi_1", ROWS * COLUMNS),
                             read_result(c, s->out, "map/roi_1_mean", ROWS * COLUMNS)};
    double sums[AIRY_SUM_PLANES * BINS] = {0}, want = 0;
    for (size_t i = 0; i < ROWS * COLUMNS; i++) {
        const size_t y = i / COLUMNS, x = i % COLUMNS,
                     at = y * COLUMNS + (p->zigzag && y % 2 ? COLUMNS - 1 - x : x);
        if (i >= rows || i == bad) {
            CHECK(c, isnan(maps[0][at]) && isnan(maps[1][at]) && isnan(maps[2][at]));
            continue;
        }
        CHECK(c, maps[0][at] == total[i] && maps[1][at] == sum[i * ROIS + 1] &&
                     maps[2][at] == mean[i * ROIS + 1]);
        memcpy(sums, signal + i * BINS, BINS * sizeof(double));
        CHECK_OK(c, airy_roi_sum(&want, NULL, sums, &axes, &p->rois[0]));
        CHECK(c, want == sum[i * ROIS] && isfinite(mean[i * ROIS]));
    }
}

static void check_scan(struct check *c, size_t group, bool zigzag, size_t bad)
{
    if (!check_case(c, "run_scan_%zu%s%s", group, zigzag ? "_zigzag" : "",
                    bad < FRAMES ? "_bad" : ""))
        return;
    struct scene s;
    if (open_scene(c, &s, bad) &&
        CHECK_OK(c, airy_stack_values(&s.values, &s.count, s.stack, NULL, 0))) {
        const double *radial = airy_integrator_radial(s.integrator);
        const airy_roi rois[ROIS] = {{.radial = {radial[3], radial[9]}},
                                     {.radial = {radial[20], radial[40]}}};
        airy_run_info info;
        const airy_run_params params = {.group = group,
                                        .batch = 3,
                                        .skip_bad = true,
                                        .rois = rois,
                                        .roi_count = ROIS,
                                        .grid = {ROWS, COLUMNS},
                                        .zigzag = zigzag,
                                        .carried = s.values,
                                        .carried_count = s.count};
        const size_t rows = (FRAMES - 1) / group + 1;
        if (CHECK_OK(c, airy_integrate_stack(s.out, s.stack, &s.integrator, 1, &params, &info))) {
            compare_regions(c, &s, &params, rows, group == 1 ? bad : FRAMES);
            const double *omega = read_result(c, s.out, "frame/goniometer_omega", rows);
            for (size_t i = 0; i < rows; i++) {
                const size_t first = i * group,
                             last = (first + group < FRAMES ? first + group : FRAMES) - 1;
                CHECK(c, omega[i] == 0.25 * (double)(first + last));
            }
            char *source = NULL;
            CHECK_OK(c,
                     airy_hdf5_text(&source, s.out, "/entry/integrate/frame/input_index@source"));
            CHECK(c, source && strcmp(source, "/entry/index") == 0);
            free(source);
        }
    }
    close_scene(&s);
}

/* Carried values of one name, which the result has of its own. */
static void check_same_names(struct check *c)
{
    if (!c->is_cpu || !check_case(c, "run_carried_names"))
        return;
    struct scene s;
    if (open_scene(c, &s, FRAMES) &&
        CHECK_OK(c, airy_stack_values(&s.values, &s.count, s.stack, NULL, 0))) {
        airy_run_info info;
        const airy_run_params params = {
            .carried = s.values, .carried_count = s.count, .force = true};
        static const char *const names[] = {"input_index", "input_input_index"};
        for (size_t i = 0; i < 3; i++)
            snprintf(s.values[i].name, sizeof(s.values[i].name), i < 2 ? "index" : "own");
        if (CHECK_OK(c, airy_integrate_stack(s.out, s.stack, &s.integrator, 1, &params, &info)))
            for (size_t i = 0; i < 2; i++) {
                char *source = NULL, object[80];
                snprintf(object, sizeof(object), "/entry/integrate/frame/%s@source", names[i]);
                CHECK_OK(c, airy_hdf5_text(&source, s.out, object));
                CHECK(c, source && strcmp(source, s.values[i].path) == 0);
                free(source);
            }
        snprintf(s.values[2].name, sizeof(s.values[2].name), "index");
        CHECK_FAILS(c, airy_integrate_stack(s.out, s.stack, &s.integrator, 1, &params, &info),
                    AIRY_ERR_PARAM, "several datasets are called 'index'");
    }
    close_scene(&s);
}

static bool stop_after(void *user, size_t done, size_t total)
{
    (void)total;
    return done < *(size_t *)user;
}

/* Points of a stopped scan are NaN until they are done; another scan is another run. */
static void check_scan_resume(struct check *c)
{
    if (!check_case(c, "run_scan_resume"))
        return;
    struct scene s;
    if (open_scene(c, &s, FRAMES)) {
        const double *radial = airy_integrator_radial(s.integrator);
        const airy_roi rois[ROIS] = {{.radial = {radial[3], radial[9]}},
                                     {.radial = {radial[20], radial[40]}}};
        size_t limit = 4;
        char partial[700];
        airy_run_info info;
        airy_run_params params = {.batch = 2,
                                  .slots = 1,
                                  .rois = rois,
                                  .roi_count = ROIS,
                                  .grid = {ROWS, COLUMNS},
                                  .progress = stop_after,
                                  .user = &limit};
        snprintf(partial, sizeof(partial), "%s.partial", s.out);
        CHECK_FAILS(c, airy_integrate_stack(s.out, s.stack, &s.integrator, 1, &params, &info),
                    AIRY_ERR_CANCELLED, "of 11");
        const double *map = read_result(c, partial, "map/total", ROWS * COLUMNS);
        CHECK(c, map[0] > 0 && isnan(map[ROWS * COLUMNS - 1]) && isnan(map[FRAMES - 1]));
        airy_run_params other = params;
        other.progress = NULL;
        other.resume = true;
        other.grid[0] = COLUMNS;
        CHECK_FAILS(c, airy_integrate_stack(s.out, s.stack, &s.integrator, 1, &other, &info),
                    AIRY_ERR_FORMAT, "not a map of 4 x 4");
        other.grid[0] = other.grid[1] = 0;
        CHECK_FAILS(c, airy_integrate_stack(s.out, s.stack, &s.integrator, 1, &other, &info),
                    AIRY_ERR_FORMAT, "map");
        other = params;
        other.progress = NULL;
        other.resume = true;
        other.roi_count = 1;
        CHECK_FAILS(c, airy_integrate_stack(s.out, s.stack, &s.integrator, 1, &other, &info),
                    AIRY_ERR_FORMAT, "shape");
        other.roi_count = ROIS;
        CHECK_OK(c, airy_integrate_stack(s.out, s.stack, &s.integrator, 1, &other, &info));
        CHECK(c, info.resumed + info.frames == FRAMES && info.resumed > 0);
        compare_regions(c, &s, &params, FRAMES, FRAMES);
    }
    close_scene(&s);
}

static void check_refused(struct check *c)
{
    if (!c->is_cpu || !check_case(c, "run_scan_refused"))
        return;
    struct scene s;
    if (open_scene(c, &s, FRAMES)) {
        airy_run_info info;
        const airy_roi far = {.radial = {1e6, 2e6}};
        airy_roi *many = check_alloc(c, 65 * sizeof(*many));
        for (size_t i = 0; i < 65; i++)
            many[i] = (airy_roi){.radial = {0.1, 0.2}};
        const struct {
            airy_run_params params;
            const char *part;
        } rows[] = {{{.rois = &far, .roi_count = 1}, "outside"},
                    {{.rois = many, .roi_count = 65}, "65 regions"},
                    {{.grid = {2, 3}}, "grid of 2 x 3"},
                    {{.grid = {2, 0}}, "at least 1 x 1"},
                    {{.grid = {1u << 20, 1u << 20}}, "grid of"}};
        for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
            CHECK_FAILS(
                c, airy_integrate_stack(s.out, s.stack, &s.integrator, 1, &rows[i].params, &info),
                AIRY_ERR_PARAM, rows[i].part);
    }
    close_scene(&s);
}

void check_around(struct check *c)
{
    check_values_found(c);
    check_scan(c, 1, false, FRAMES);
    check_scan(c, 1, true, FRAMES);
    check_scan(c, 1, true, 5);
    check_scan(c, 2, true, FRAMES);
    check_same_names(c);
    check_scan_resume(c);
    check_refused(c);
}
