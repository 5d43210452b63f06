/*
 * What the shell cases cannot do alone: files that are wrong on purpose, arithmetic on results, and
 * the peak of memory.
 *
 * helper strings FILE
 *     a file whose only dataset holds strings
 * helper damage FILE DATASET FRAME flip|truncate
 *     spoil one chunk
 * helper image FILE HEIGHT WIDTH VALUE
 *     f32 image FILE::/image, every pixel VALUE ("nan" too)
 * helper detector FILE HEIGHT WIDTH PIXEL plane|bent|broken
 *     a NeXus detector file with corners of its own; broken: they are of fewer pixels
 * helper monitor FILE DATASET COUNT [I VALUE]
 *     add f64 values 1, 2, 3, ... to a file; VALUE is the I-th, from 0
 * helper number FILE DATASET[@ATTRIBUTE] VALUE
 *     add a f64 number to a file, or to a dataset of it
 * helper unlink FILE LINK
 *     take a name out of a file
 * helper increment RESULT M
 *     row i minus row 0 is (i mod M) sum of weights / sum of normalisation
 * helper rows A B FIRST COUNT
 *     rows FIRST.. of result A are rows 0.. of result B, bit for bit
 * helper nxdata FILE FRAMES
 *     the last NXdata below /entry in the order of names, its axis of radii and the units of that;
 *     fails where a text has one axis of FRAMES, which GSAS-II cannot compare
 * helper nan RESULT ROW...
 *     exactly these rows are not finite
 * helper virtual FILE SOURCE DATASET COUNT
 *     /entry/data/data of FILE is the stack SOURCE::DATASET COUNT times in a row
 * helper lose FILE DATASET
 *     the second half of a dataset of one dimension is in another file, which is not there
 * helper grow FILE SOURCE MILLISECONDS
 *     write /entry/data/data of SOURCE into FILE chunk by chunk, so that others can read it as it
 *     grows, with a pause behind each
 * helper begun FILE SOURCE COUNT [WITHOUT]
 *     write the first COUNT frames of /entry/data/data of SOURCE, but not number WITHOUT, into a
 *     dataset with room for all of them
 * helper turned FILE
 *     turn each frame of the plain u32 stack /entry/data/data by 180 degrees: its sums stay
 * helper series MASTER SOURCE EACH [IMAGES]
 *     the frames of SOURCE::/entry/data/data in files of EACH frames, MASTER_1.h5 and on, and
 *     MASTER.h5 with links to them; it says that there are IMAGES
 * helper channels FILE [NAME]
 *     u16 frames [3 images][2 channels, low (or NAME) and high][4][5] in chunks of one; pixels are
 *     100 * image + 10 * channel + 1; those of the last image were never written
 * helper feed PIPE FILE COUNT
 *     write COUNT bytes of FILE into PIPE, say "taken" when they were read out of it, and fall silent
 * helper catalog GOT WANT
 *     the columns of one CSV table beside those of the same names in another
 * helper peak COMMAND...
 *     run it, print the bytes it held at most and the ms of processors that it took
 * helper pull [--count] URL...
 *     print a line for each message of a stream (or their number and rate), until the end came from
 *     each URL; @URL: bound
 * helper hostile PORT SENDERS SECONDS SEED
 *     senders that mean harm, each from an address of its own, do one of ten things again and again
 * helper push URL WORD...
 *     a detector of u16 pixels that is bound: start,SERIES,HEIGHT,WIDTH,IMAGES[,DESCRIPTION]
 *     image,SERIES,ID other,SERIES,ID broken,SERIES,ID end,SERIES; named,SERIES,TEXT is a series of one
 *     image whose texts are all TEXT; file,FILE sends the bytes of a file; await,FILE waits for a file, until,FILE sends the
 *     images of the last start from 0 on meanwhile
 * helper subscribe URL FILE COUNT
 *     print the next COUNT ends of series that are published; FILE is made with the first message
 */
#include <fcntl.h>
#include <hdf5.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#if AIRY_HAVE_ZMQ
#include "hostile.h"
#include "pull.h"
#include "push.h"
#endif

static int fail(const char *what)
{
    fprintf(stderr, "helper: %s\n", what);
    return 1;
}

static int make_strings(const char *path)
{
    const hsize_t count = 3;
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT),
                space = H5Screate_simple(1, &count, NULL);
    const hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, 8);
    const hid_t set = H5Dcreate2(file, "names", type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    const char text[3][8] = {"one", "two", "three"};
    const herr_t written = H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text);
    H5Dclose(set);
    H5Tclose(type);
    H5Sclose(space);
    return written < 0 || H5Fclose(file) < 0 ? fail("strings cannot be written") : 0;
}

static int damage(const char *path, const char *name, const char *frame, const char *how)
{
    const hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT),
                set = H5Dopen2(file, name, H5P_DEFAULT);
    const hsize_t at[3] = {strtoull(frame, NULL, 10), 0, 0};
    hsize_t size = 0;
    uint32_t mask = 0;
    if (set < 0 || H5Dget_chunk_storage_size(set, at, &size) < 0 || size < 64)
        return fail("no such chunk");
    unsigned char *chunk = malloc(size);
    if (!chunk || H5Dread_chunk(set, H5P_DEFAULT, at, &mask, chunk) < 0)
        return fail("the chunk cannot be read");
    if (strcmp(how, "truncate") == 0)
        size /= 2;
    else
        for (hsize_t i = 12; i < size; i += 97)
            chunk[i] ^= 0xff; /* block lengths, tokens and offsets among them */
    const herr_t written = H5Dwrite_chunk(set, H5P_DEFAULT, mask, at, size, chunk);
    free(chunk);
    H5Dclose(set);
    return written < 0 || H5Fclose(file) < 0 ? fail("the chunk cannot be written") : 0;
}

static int make_image(const char *path, const char *height, const char *width, const char *value)
{
    const hsize_t shape[2] = {strtoull(height, NULL, 10), strtoull(width, NULL, 10)};
    float *pixels = malloc(shape[0] * shape[1] * sizeof(float));
    if (!pixels)
        return fail("out of memory");
    for (hsize_t i = 0; i < shape[0] * shape[1]; i++)
        pixels[i] = strtof(value, NULL);
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT),
                space = H5Screate_simple(2, shape, NULL);
    const hid_t set =
        H5Dcreate2(file, "image", H5T_IEEE_F32LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    const herr_t written = H5Dwrite(set, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, pixels);
    free(pixels);
    H5Dclose(set);
    H5Sclose(space);
    return written < 0 || H5Fclose(file) < 0 ? fail("the image cannot be written") : 0;
}

/* Corner k of a pixel: z, y, x. */
static void set_corner(float out[3], size_t row, size_t column, int k, double pixel, bool bent)
{
    const double y = (double)(row + (k == 1 || k == 2)), x = (double)(column + (k >= 2));
    out[0] = bent ? (float)(1e-7 * x * x) : 0;
    out[1] = (float)(pixel * y);
    out[2] = (float)(pixel * x);
}

static void put_set(hid_t group, const char *name, hid_t type, int ndim, const hsize_t *shape,
                    const void *values)
{
    const hid_t space = H5Screate_simple(ndim, shape, NULL);
    const hid_t set = H5Dcreate2(group, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
    H5Dclose(set);
    H5Sclose(space);
}

static int make_detector(const char *path, const char *height, const char *width,
                         const char *pixel_text, const char *kind)
{
    const size_t h = strtoull(height, NULL, 10), w = strtoull(width, NULL, 10);
    const double pixel = strtod(pixel_text, NULL), sizes[2] = {pixel, pixel};
    const hsize_t two = 2, whole[4] = {strcmp(kind, "broken") == 0 ? h - 1 : h, w, 4, 3};
    const long shape[2] = {(long)h, (long)w};
    float *corners = malloc(h * w * 12 * sizeof(float));
    if (!corners)
        return fail("out of memory");
    for (size_t i = 0; i < 4 * h * w; i++)
        set_corner(corners + 3 * i, i / 4 / w, i / 4 % w, (int)(i % 4), pixel,
                   strcmp(kind, "bent") == 0);
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t group = H5Gcreate2(file, "detector", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t word = H5Tcopy(H5T_C_S1), scalar = H5Screate(H5S_SCALAR);
    H5Tset_size(word, 10);
    const hid_t note = H5Acreate2(group, "NX_class", word, scalar, H5P_DEFAULT, H5P_DEFAULT);
    H5Awrite(note, word, "NXdetector");
    H5Aclose(note);
    put_set(group, "pixel_size", H5T_NATIVE_DOUBLE, 1, &two, sizes);
    put_set(group, "shape", H5T_NATIVE_LONG, 1, &two, shape);
    put_set(group, "pixel_corners", H5T_NATIVE_FLOAT, 4, whole, corners);
    free(corners);
    H5Sclose(scalar);
    H5Tclose(word);
    H5Gclose(group);
    return H5Fclose(file) < 0 ? fail("the detector cannot be written") : 0;
}

static int add_monitor(const char *path, const char *name, const char *count_text,
                       const char *const odd[2])
{
    const hsize_t count = strtoull(count_text, NULL, 10);
    double *values = malloc(count * sizeof(double));
    if (!values)
        return fail("out of memory");
    for (hsize_t i = 0; i < count; i++)
        values[i] = odd && i == strtoull(odd[0], NULL, 10) ? strtod(odd[1], NULL) : (double)(i + 1);
    const hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT),
                space = H5Screate_simple(1, &count, NULL);
    const hid_t link = H5Pcreate(H5P_LINK_CREATE);
    H5Pset_create_intermediate_group(link, 1);
    const hid_t set = H5Dcreate2(file, name, H5T_IEEE_F64LE, space, link, H5P_DEFAULT, H5P_DEFAULT);
    const herr_t written = H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
    free(values);
    H5Pclose(link);
    H5Dclose(set);
    H5Sclose(space);
    return written < 0 || H5Fclose(file) < 0 ? fail("the monitor cannot be written") : 0;
}

static int add_number(const char *path, const char *name, const char *text)
{
    char dataset[256];
    const char *at = strchr(name, '@');
    const double value = strtod(text, NULL);
    snprintf(dataset, sizeof(dataset), "%.*s", at ? (int)(at - name) : 255, name);
    const hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT), space = H5Screate(H5S_SCALAR),
                links = H5Pcreate(H5P_LINK_CREATE);
    H5Pset_create_intermediate_group(links, 1);
    const hid_t set =
        at ? H5Dopen2(file, dataset, H5P_DEFAULT)
           : H5Dcreate2(file, dataset, H5T_IEEE_F64LE, space, links, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t attribute =
        at ? H5Acreate2(set, at + 1, H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT) : -1;
    const herr_t written =
        at ? H5Awrite(attribute, H5T_NATIVE_DOUBLE, &value)
           : H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, &value);
    if (at)
        H5Aclose(attribute);
    H5Dclose(set);
    H5Pclose(links);
    H5Sclose(space);
    return written < 0 || H5Fclose(file) < 0 ? fail("the number cannot be written") : 0;
}

static int drop_link(const char *path, const char *name)
{
    const hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    const herr_t done = H5Ldelete(file, name, H5P_DEFAULT);
    return done < 0 || H5Fclose(file) < 0 ? fail("the link cannot be removed") : 0;
}

/* A dataset of a result as doubles; rows = 1 for one dimension. */
static double *load(const char *path, const char *name, size_t *rows, size_t *bins)
{
    char where[256];
    hsize_t shape[3] = {1, 1, 1};
    snprintf(where, sizeof(where), "/entry/integrate/%s", name);
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    const hid_t set = file >= 0 ? H5Dopen2(file, where, H5P_DEFAULT) : -1;
    const hid_t space = set >= 0 ? H5Dget_space(set) : -1;
    const int ndim = space >= 0 ? H5Sget_simple_extent_dims(space, shape, NULL) : -1;
    if (ndim < 1 || ndim > 2)
        return NULL;
    *rows = ndim == 2 ? shape[0] : 1;
    *bins = shape[ndim - 1];
    double *values = malloc(*rows * *bins * sizeof(double));
    if (values && H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0) {
        free(values);
        values = NULL;
    }
    H5Sclose(space);
    H5Dclose(set);
    H5Fclose(file);
    return values;
}

static int check_increment(const char *path, const char *text)
{
    const size_t modulus = strtoull(text, NULL, 10);
    size_t rows = 0, bins = 0, n = 0, m = 0, different = 0;
    double *intensity = load(path, "result/intensity", &rows, &bins),
           *signal = load(path, "merged/sum_signal", &rows, &bins);
    double *norm = load(path, "merged/sum_normalization", &n, &m),
           *count = load(path, "merged/count", &n, &m);
    if (!intensity || !signal || !norm || !count || n != 1 || m != bins || modulus == 0)
        return fail("datasets are missing");
    for (size_t i = 0; i < rows; i++)
        for (size_t b = 0; b < bins; b++) {
            const double step = count[b] / norm[b], want = (double)(i % modulus) * step;
            const double got = (signal[i * bins + b] - signal[b]) / norm[b],
                         rounded = intensity[i * bins + b] - intensity[b];
            if (count[b] <= 0)
                continue;
            /*
             * sums are doubles of coefficients rounded to f32 once; intensities are rounded to
             * f32, 2^-24 each
             */
            if (fabs(got - want) > 1e-5 * fmax(want, step) ||
                fabs(rounded - want) >
                    1e-5 * fmax(want, step) + 0x1p-23 * (fabs(intensity[b]) + want))
                different++;
            if (i >= modulus && intensity[i * bins + b] != intensity[(i - modulus) * bins + b])
                different++;
        }
    free(count);
    free(norm);
    free(signal);
    free(intensity);
    printf("%zu rows, %zu elements differ\n", rows, different);
    return different != 0;
}

static int compare_rows(const char *a, const char *b, const char *first_text,
                        const char *count_text)
{
    const size_t first = strtoull(first_text, NULL, 10), count = strtoull(count_text, NULL, 10);
    size_t rows_a = 0, rows_b = 0, bins_a = 0, bins_b = 0;
    double *x = load(a, "result/intensity", &rows_a, &bins_a),
           *y = load(b, "result/intensity", &rows_b, &bins_b);
    if (!x || !y || bins_a != bins_b || rows_a < first + count || rows_b != count)
        return fail("shapes do not fit");
    const int different = memcmp(x + first * bins_a, y, count * bins_a * sizeof(double)) != 0;
    free(x);
    free(y);
    return different ? fail("rows differ") : 0;
}

struct nxdata_walk {
    hsize_t frames;
    char last[256];
    int texts; /* of one axis of frames */
};

/* Objects come in the order of names, a group before what is in it. */
static herr_t visit_nxdata(hid_t root, const char *name, const H5L_info_t *info, void *user)
{
    struct nxdata_walk *walk = user;
    (void)info;
    const hid_t object = H5Oopen(root, name, H5P_DEFAULT);
    char *class = NULL;
    hsize_t shape[H5S_MAX_RANK] = {0};
    if (object >= 0 && H5Iget_type(object) == H5I_GROUP && H5Aexists(object, "NX_class") > 0) {
        const hid_t attribute = H5Aopen(object, "NX_class", H5P_DEFAULT),
                    type = H5Aget_type(attribute);
        if (H5Aread(attribute, type, &class) >= 0 && strcmp(class, "NXdata") == 0)
            snprintf(walk->last, sizeof(walk->last), "%s", name);
        H5free_memory(class);
        H5Tclose(type);
        H5Aclose(attribute);
    } else if (object >= 0 && H5Iget_type(object) == H5I_DATASET) {
        const hid_t space = H5Dget_space(object), type = H5Dget_type(object);
        const int ndim = H5Sget_simple_extent_dims(space, shape, NULL);
        walk->texts += ndim == 1 && shape[0] == walk->frames && H5Tget_class(type) == H5T_STRING;
        H5Tclose(type);
        H5Sclose(space);
    }
    H5Oclose(object);
    return 0;
}

/* As GSAS-II's reader of NXazint files goes over them (August 2026). */
static int find_nxdata(const char *path, const char *frames)
{
    struct nxdata_walk walk = {.frames = strtoull(frames, NULL, 10)};
    char *units = NULL, axis[300];
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT),
                entry = H5Gopen2(file, "/entry", H5P_DEFAULT);
    if (entry < 0 || H5Lvisit(entry, H5_INDEX_NAME, H5_ITER_INC, visit_nxdata, &walk) < 0)
        return fail("no entry");
    snprintf(axis, sizeof(axis), "%s/radial_axis", walk.last);
    const hid_t set = H5Dopen2(entry, axis, H5P_DEFAULT),
                attribute = H5Aopen(set, "units", H5P_DEFAULT), type = H5Aget_type(attribute);
    if (attribute < 0 || H5Aread(attribute, type, &units) < 0)
        return fail("the last NXdata has no radial_axis with units");
    printf("%s %s\n", axis, units);
    H5free_memory(units);
    H5Tclose(type);
    H5Aclose(attribute);
    H5Dclose(set);
    H5Gclose(entry);
    H5Fclose(file);
    return walk.texts ? fail("a text has one axis of frames") : 0;
}

static int check_nan(int argc, char **argv)
{
    size_t rows = 0, bins = 0;
    double *x = load(argv[0], "result/intensity", &rows, &bins);
    if (!x)
        return fail("no intensity");
    int wrong = 0;
    for (size_t i = 0; i < rows; i++) {
        size_t finite = 0;
        bool named = false;
        for (size_t b = 0; b < bins; b++)
            finite += isfinite(x[i * bins + b]) != 0;
        for (int k = 1; k < argc; k++)
            named |= strtoull(argv[k], NULL, 10) == i;
        wrong += named ? finite != 0 : finite == 0;
    }
    free(x);
    return wrong ? fail("other rows are not finite") : 0;
}

static int make_virtual(const char *path, const char *source, const char *name, const char *times)
{
    const hid_t real = H5Fopen(source, H5F_ACC_RDONLY, H5P_DEFAULT),
                set = H5Dopen2(real, name, H5P_DEFAULT);
    hsize_t part[3], all[3], at[3] = {0};
    const hid_t piece = H5Dget_space(set), type = H5Dget_type(set),
                creation = H5Pcreate(H5P_DATASET_CREATE), links = H5Pcreate(H5P_LINK_CREATE);
    if (H5Sget_simple_extent_ndims(piece) != 3 || H5Sget_simple_extent_dims(piece, part, NULL) < 0)
        return fail("no stack to map");
    memcpy(all, part, sizeof(all));
    all[0] *= strtoull(times, NULL, 10);
    const hid_t space = H5Screate_simple(3, all, NULL);
    herr_t status = H5Pset_create_intermediate_group(links, 1);
    for (; at[0] < all[0] && status >= 0; at[0] += part[0]) {
        status = H5Sselect_hyperslab(space, H5S_SELECT_SET, at, NULL, part, NULL);
        if (status >= 0)
            status = H5Pset_virtual(creation, space, source, name, piece);
    }
    H5Sselect_all(space);
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t made =
        H5Dcreate2(file, "/entry/data/data", type, space, links, creation, H5P_DEFAULT);
    H5Dclose(made);
    H5Dclose(set);
    H5Fclose(real);
    return status < 0 || made < 0 || H5Fclose(file) < 0 ? fail("no virtual dataset") : 0;
}

static int lose_half(const char *path, const char *name)
{
    char kept[512];
    snprintf(kept, sizeof(kept), "%s_kept", name);
    const hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    if (file < 0 || H5Lmove(file, name, file, kept, H5P_DEFAULT, H5P_DEFAULT) < 0)
        return fail("no dataset to lose a half of");
    const hid_t set = H5Dopen2(file, kept, H5P_DEFAULT), type = H5Dget_type(set),
                space = H5Dget_space(set), creation = H5Pcreate(H5P_DATASET_CREATE);
    hsize_t count = 0;
    if (H5Sget_simple_extent_ndims(space) != 1 ||
        H5Sget_simple_extent_dims(space, &count, NULL) != 1)
        return fail("the dataset has not one dimension");
    const hid_t whole = H5Screate_simple(1, &count, NULL);
    herr_t status = 0;
    for (hsize_t half = 0; half < 2 && status >= 0; half++) {
        const hsize_t at = half * (count / 2), size = half ? count - at : count / 2;
        H5Sselect_hyperslab(whole, H5S_SELECT_SET, &at, NULL, &size, NULL);
        status = H5Pset_virtual(creation, whole, half ? "gone.h5" : ".", kept, whole);
    }
    H5Sselect_all(whole);
    const hid_t made = H5Dcreate2(file, name, type, whole, H5P_DEFAULT, creation, H5P_DEFAULT);
    H5Dclose(made);
    H5Dclose(set);
    return status < 0 || made < 0 || H5Fclose(file) < 0 ? fail("no virtual dataset") : 0;
}

/* Field number `which` of a CSV line without quotes. */
static bool get_field(char field[64], const char *line, size_t which)
{
    for (; which > 0; which--) {
        line += strcspn(line, ",\r\n");
        if (*line++ != ',')
            return false;
    }
    snprintf(field, 64, "%.*s", (int)strcspn(line, ",\r\n"), line);
    return true;
}

/*
 * Labels, counts and places are equal; sums to 1e-10, centers to 1e-9 px. Moments to 4e-9 px^2: the
 * tables were made from sums of squares of coordinates up to 2048, which are rounded to 2^-53 of
 * them. Semi-axes are roots of eigenvalues, so that squares are compared; angles are modulo pi.
 */
static bool is_near(const char *name, double got, double want)
{
    static const char *const exact[] = {"label", "npix", "peak_y", "peak_x",
                                        "ymin",  "ymax", "xmin",   "xmax"};
    for (size_t i = 0; i < sizeof(exact) / sizeof(exact[0]); i++)
        if (strcmp(name, exact[i]) == 0)
            return got == want;
    if (strcmp(name, "theta") == 0)
        return fabs(remainder(got - want, 3.14159265358979323846)) <= 1e-6;
    if (strcmp(name, "a") == 0 || strcmp(name, "b") == 0)
        return fabs(got * got - want * want) <= 4e-9 * (1 + want * want);
    if (strncmp(name, "com_", 4) == 0)
        return fabs(got - want) <= 1e-9;
    return fabs(got - want) <= (name[0] == 'm' && name[1] != 'e' ? 4e-9 : 1e-10) * (1 + fabs(want));
}

static int compare_catalogs(const char *path_a, const char *path_b)
{
    char head[2][1024], line[2][1024], name[64], other[64], field[2][64];
    FILE *file[2] = {fopen(path_a, "r"), fopen(path_b, "r")};
    size_t rows = 0, columns = 0, different = 0;
    if (!file[0] || !file[1] || !fgets(head[0], 1024, file[0]) || !fgets(head[1], 1024, file[1]))
        return fail("no tables");
    for (;; rows++) {
        const bool more[2] = {fgets(line[0], 1024, file[0]), fgets(line[1], 1024, file[1])};
        if (more[0] != more[1])
            return fail("the tables have different numbers of rows");
        if (!more[0])
            break;
        columns = 0;
        for (size_t i = 0; get_field(name, head[1], i); i++)
            for (size_t k = 0; get_field(other, head[0], k); k++)
                if (strcmp(name, other) == 0 && get_field(field[0], line[0], k) &&
                    get_field(field[1], line[1], i)) {
                    const double got = strtod(field[0], NULL), want = strtod(field[1], NULL);
                    columns++;
                    if (!*field[0] || !is_near(name, got, want)) {
                        different++;
                        fprintf(stderr, "row %zu: %s = %s, want %s\n", rows, name, field[0],
                                field[1]);
                    }
                }
    }
    fclose(file[0]);
    fclose(file[1]);
    printf("%zu rows, %zu columns, %zu differ\n", rows, columns, different);
    return different != 0;
}

static double ms_of(const struct timeval *time)
{
    return 1e3 * (double)time->tv_sec + 1e-3 * (double)time->tv_usec;
}

static int measure_peak(char **command)
{
    struct rusage usage;
    int status = 0;
    const pid_t child = fork();
    if (child == 0) {
        execv(command[0], command);
        _exit(127);
    }
    if (child < 0 || wait4(child, &status, 0, &usage) != child)
        return fail("it cannot be run");
    printf("%lld %.0f\n", 1024LL * (long long)usage.ru_maxrss,
           ms_of(&usage.ru_utime) + ms_of(&usage.ru_stime));
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

/* Stands for the filter of the chunks, which are copied as they are. */
static size_t no_filter(unsigned flags, size_t count, const unsigned values[], size_t bytes,
                        size_t *size, void **data)
{
    (void)flags;
    (void)count;
    (void)values;
    (void)size;
    (void)data;
    return bytes;
}

/* A dataset like that of SOURCE, without frames, which may grow. */
static hid_t make_growing(hid_t file, hid_t from)
{
    hsize_t shape[3];
    const hid_t space = H5Dget_space(from), type = H5Dget_type(from),
                creation = H5Dget_create_plist(from), links = H5Pcreate(H5P_LINK_CREATE);
    if (H5Sget_simple_extent_dims(space, shape, NULL) != 3)
        return -1;
    const hsize_t none[3] = {0, shape[1], shape[2]}, most[3] = {H5S_UNLIMITED, shape[1], shape[2]};
    H5Pset_create_intermediate_group(links, 1);
    const hid_t growing = H5Screate_simple(3, none, most);
    const hid_t set =
        H5Dcreate2(file, "/entry/data/data", type, growing, links, creation, H5P_DEFAULT);
    H5Sclose(growing);
    H5Sclose(space);
    H5Tclose(type);
    H5Pclose(creation);
    H5Pclose(links);
    return set;
}

static herr_t copy_chunk(hid_t to, hsize_t row, hid_t from, hsize_t frame)
{
    hsize_t at[3] = {frame, 0, 0}, size = 0, shape[3];
    uint32_t mask = 0;
    const hid_t space = H5Dget_space(from);
    H5Sget_simple_extent_dims(space, shape, NULL);
    H5Sclose(space);
    shape[0] = row + 1;
    if (H5Dget_chunk_storage_size(from, at, &size) < 0)
        return -1;
    void *chunk = malloc(size);
    const herr_t done =
        !chunk || H5Dread_chunk(from, H5P_DEFAULT, at, &mask, chunk) < 0 ||
                H5Dset_extent(to, shape) < 0 ||
                H5Dwrite_chunk(to, H5P_DEFAULT, mask, (hsize_t[3]){row, 0, 0}, size, chunk) < 0
            ? -1
            : H5Dflush(to);
    free(chunk);
    return done;
}

static void register_no_filter(void)
{
    static const H5Z_class2_t filter = {.version = H5Z_CLASS_T_VERS,
                                        .id = 32008,
                                        .encoder_present = 1,
                                        .decoder_present = 1,
                                        .name = "none",
                                        .filter = no_filter};
    H5Zregister(&filter);
}

static int grow(const char *path, const char *source, const char *pause)
{
    const long ms = strtol(pause, NULL, 10);
    const struct timespec time = {ms / 1000, ms % 1000 * 1000000};
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    register_no_filter();
    H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
    const hid_t from = H5Fopen(source, H5F_ACC_RDONLY, H5P_DEFAULT),
                file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    const hid_t frames = H5Dopen2(from, "/entry/data/data", H5P_DEFAULT),
                set = frames < 0 ? -1 : make_growing(file, frames);
    hsize_t shape[3] = {0};
    if (set < 0 || H5Fstart_swmr_write(file) < 0)
        return fail("the growing file cannot be made");
    const hid_t space = H5Dget_space(frames);
    H5Sget_simple_extent_dims(space, shape, NULL);
    H5Sclose(space);
    for (hsize_t i = 0; i < shape[0]; i++) {
        if (copy_chunk(set, i, frames, i) < 0)
            return fail("a chunk cannot be copied");
        nanosleep(&time, NULL);
    }
    H5Dclose(set);
    H5Dclose(frames);
    H5Pclose(access);
    return H5Fclose(from) < 0 || H5Fclose(file) < 0 ? fail("the growing file cannot be closed") : 0;
}

static int feed(const char *pipe, const char *path, const char *count)
{
    char bytes[4096];
    const size_t size = strtoul(count, NULL, 10);
    const struct timespec nap = {.tv_nsec = 1000000};
    FILE *file = fopen(path, "rb");
    const bool read = file && size <= sizeof(bytes) && fread(bytes, 1, size, file) == size;
    if (file)
        fclose(file);
    const int out = read ? open(pipe, O_WRONLY) : -1;
    if (out < 0 || write(out, bytes, size) != (ssize_t)size)
        return fail("the pipe cannot be fed");
    for (int left = 1; left > 0; nanosleep(&nap, NULL))
        if (ioctl(out, FIONREAD, &left) != 0)
            return fail("the pipe does not say what is in it");
    puts("taken");
    fflush(stdout);
    pause();
    return 0;
}

/* Write frames [first, last) of a dataset, but not one of them, into a file of their own. */
static bool put_part(const char *path, hid_t frames, hsize_t first, hsize_t last, hsize_t without)
{
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT),
                set = make_growing(file, frames);
    bool good = set >= 0;
    for (hsize_t i = first; good && i < last; i++)
        good = i == without || copy_chunk(set, i - first, frames, i) >= 0;
    return H5Dclose(set) >= 0 && H5Fclose(file) >= 0 && good;
}

static int make_begun(const char *path, const char *source, const char *count, const char *without)
{
    register_no_filter();
    const hid_t from = H5Fopen(source, H5F_ACC_RDONLY, H5P_DEFAULT),
                frames = H5Dopen2(from, "/entry/data/data", H5P_DEFAULT),
                space = H5Dget_space(frames);
    hsize_t shape[3] = {0};
    bool good = H5Sget_simple_extent_dims(space, shape, NULL) == 3 &&
                put_part(path, frames, 0, strtoull(count, NULL, 10),
                         without ? strtoull(without, NULL, 10) : HSIZE_UNDEF);
    const hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT),
                set = H5Dopen2(file, "/entry/data/data", H5P_DEFAULT);
    good = good && H5Dset_extent(set, shape) >= 0 && H5Dclose(set) >= 0 && H5Fclose(file) >= 0;
    H5Sclose(space);
    H5Dclose(frames);
    H5Fclose(from);
    return good ? 0 : fail("the frames cannot be written");
}

static int turn_frames(const char *path)
{
    hsize_t shape[3] = {0};
    const hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT),
                set = H5Dopen2(file, "/entry/data/data", H5P_DEFAULT), space = H5Dget_space(set);
    const bool known = H5Sget_simple_extent_dims(space, shape, NULL) == 3;
    const size_t pixels = (size_t)(shape[1] * shape[2]), all = (size_t)shape[0] * pixels;
    uint32_t *frames = known ? calloc(all + 1, sizeof(*frames)) : NULL;
    bool good = frames &&
                H5Dread(set, H5T_NATIVE_UINT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, frames) >= 0;
    for (uint32_t *f = frames; good && f < frames + all; f += pixels)
        for (size_t i = 0; i < pixels / 2; i++) {
            const uint32_t kept = f[i];
            f[i] = f[pixels - 1 - i];
            f[pixels - 1 - i] = kept;
        }
    good = good && H5Dwrite(set, H5T_NATIVE_UINT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, frames) >= 0;
    free(frames);
    H5Sclose(space);
    H5Dclose(set);
    return H5Fclose(file) >= 0 && good ? 0 : fail("the frames cannot be turned");
}

static int make_series(const char *name, const char *source, const char *each, const char *images)
{
    char path[512], part[512], link[64];
    hsize_t shape[3] = {0};
    const hsize_t step = strtoull(each, NULL, 10);
    const uint64_t total = images ? strtoull(images, NULL, 10) : 0;
    register_no_filter();
    snprintf(path, sizeof(path), "%s.h5", name);
    const hid_t links = H5Pcreate(H5P_LINK_CREATE), scalar = H5Screate(H5S_SCALAR),
                from = H5Fopen(source, H5F_ACC_RDONLY, H5P_DEFAULT),
                frames = H5Dopen2(from, "/entry/data/data", H5P_DEFAULT),
                file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT),
                space = H5Dget_space(frames);
    H5Pset_create_intermediate_group(links, 1);
    bool good = step > 0 && H5Sget_simple_extent_dims(space, shape, NULL) == 3;
    for (hsize_t k = 0; good && k * step < shape[0]; k++) {
        const hsize_t end = (k + 1) * step < shape[0] ? (k + 1) * step : shape[0];
        snprintf(part, sizeof(part), "%s_%d.h5", name, (int)k + 1);
        snprintf(link, sizeof(link), "/entry/data/data_%06d", (int)k + 1);
        good = put_part(part, frames, k * step, end, HSIZE_UNDEF) &&
               H5Lcreate_external(strrchr(part, '/') ? strrchr(part, '/') + 1 : part,
                                  "/entry/data/data", file, link, links, H5P_DEFAULT) >= 0;
    }
    if (good && images) {
        const hid_t count = H5Dcreate2(file, "/entry/instrument/detector/detectorSpecific/nimages",
                                       H5T_NATIVE_UINT64, scalar, links, H5P_DEFAULT, H5P_DEFAULT);
        good = H5Dwrite(count, H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, &total) >= 0;
        H5Dclose(count);
    }
    H5Dclose(frames);
    H5Fclose(from);
    return good && H5Fclose(file) >= 0 ? 0 : fail("the series cannot be written");
}

static int make_channels(const char *path, const char *first)
{
    const hsize_t shape[4] = {3, 2, 4, 5}, chunk[4] = {1, 1, 4, 5}, two = 2;
    const char *const names[2] = {first, "high"};
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT),
                links = H5Pcreate(H5P_LINK_CREATE), creation = H5Pcreate(H5P_DATASET_CREATE),
                space = H5Screate_simple(4, shape, NULL), list = H5Screate_simple(1, &two, NULL),
                text = H5Tcopy(H5T_C_S1);
    bool good = H5Pset_create_intermediate_group(links, 1) >= 0 &&
                H5Pset_chunk(creation, 4, chunk) >= 0 && H5Tset_size(text, H5T_VARIABLE) >= 0;
    const hid_t set = H5Dcreate2(file, "/entry/data/data", H5T_NATIVE_UINT16, space, links,
                                 creation, H5P_DEFAULT),
                channel = H5Dcreate2(file, "/entry/data/channel", text, list, links, H5P_DEFAULT,
                                     H5P_DEFAULT);
    good = good && set >= 0 && H5Dwrite(channel, text, H5S_ALL, H5S_ALL, H5P_DEFAULT, names) >= 0;
    for (hsize_t i = 0; good && i < 4; i++) {
        const hsize_t start[4] = {i / 2, i % 2, 0, 0};
        uint16_t pixels[20];
        for (size_t k = 0; k < 20; k++)
            pixels[k] = (uint16_t)(100 * start[0] + 10 * start[1] + 1);
        const hid_t memory = H5Screate_simple(4, chunk, NULL);
        good = H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, chunk, NULL) >= 0 &&
               H5Dwrite(set, H5T_NATIVE_UINT16, memory, space, H5P_DEFAULT, pixels) >= 0;
        H5Sclose(memory);
    }
    H5Dclose(channel);
    H5Dclose(set);
    return H5Fclose(file) >= 0 && good ? 0 : fail("the channels cannot be written");
}

int main(int argc, char **argv)
{
    const char *what = argc > 2 ? argv[1] : "";
    if (strcmp(what, "strings") == 0)
        return make_strings(argv[2]);
    if (strcmp(what, "damage") == 0 && argc == 6)
        return damage(argv[2], argv[3], argv[4], argv[5]);
    if (strcmp(what, "image") == 0 && argc == 6)
        return make_image(argv[2], argv[3], argv[4], argv[5]);
    if (strcmp(what, "detector") == 0 && argc == 7)
        return make_detector(argv[2], argv[3], argv[4], argv[5], argv[6]);
    if (strcmp(what, "monitor") == 0 && (argc == 5 || argc == 7))
        return add_monitor(argv[2], argv[3], argv[4],
                           argc == 7 ? (const char *const *)argv + 5 : NULL);
    if (strcmp(what, "increment") == 0 && argc == 4)
        return check_increment(argv[2], argv[3]);
    if (strcmp(what, "rows") == 0 && argc == 6)
        return compare_rows(argv[2], argv[3], argv[4], argv[5]);
    if (strcmp(what, "nxdata") == 0 && argc == 4)
        return find_nxdata(argv[2], argv[3]);
    if (strcmp(what, "nan") == 0)
        return check_nan(argc - 2, argv + 2);
    if (strcmp(what, "virtual") == 0 && argc == 6)
        return make_virtual(argv[2], argv[3], argv[4], argv[5]);
    if (strcmp(what, "lose") == 0 && argc == 4)
        return lose_half(argv[2], argv[3]);
    if (strcmp(what, "grow") == 0 && argc == 5)
        return grow(argv[2], argv[3], argv[4]);
    if (strcmp(what, "begun") == 0 && (argc == 5 || argc == 6))
        return make_begun(argv[2], argv[3], argv[4], argc == 6 ? argv[5] : NULL);
    if (strcmp(what, "number") == 0 && argc == 5)
        return add_number(argv[2], argv[3], argv[4]);
    if (strcmp(what, "unlink") == 0 && argc == 4)
        return drop_link(argv[2], argv[3]);
    if (strcmp(what, "turned") == 0 && argc == 3)
        return turn_frames(argv[2]);
    if (strcmp(what, "series") == 0 && (argc == 5 || argc == 6))
        return make_series(argv[2], argv[3], argv[4], argc == 6 ? argv[5] : NULL);
    if (strcmp(what, "channels") == 0)
        return make_channels(argv[2], argc == 4 ? argv[3] : "low");
    if (strcmp(what, "feed") == 0 && argc == 5)
        return feed(argv[2], argv[3], argv[4]);
    if (strcmp(what, "catalog") == 0 && argc == 4)
        return compare_catalogs(argv[2], argv[3]);
    if (strcmp(what, "peak") == 0)
        return measure_peak(argv + 2);
    if (strcmp(what, "hostile") == 0)
        return hostile(argc - 2, argv + 2);
#if AIRY_HAVE_ZMQ
    if (strcmp(what, "pull") == 0)
        return pull(argc - 2, argv + 2);
    if (strcmp(what, "push") == 0)
        return push(argc - 2, argv + 2);
    if (strcmp(what, "subscribe") == 0)
        return subscribe(argc - 2, argv + 2);
#endif
    return fail("usage: see the comment at the top of helper.c");
}
