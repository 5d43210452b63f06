/* Sparse frames read, and put together again. The file is hostile: see airy_sparse_create. */
#include "airy/sparse.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/size.h"
#include "io/hdf5/chunk_address.h"
#include "io/hdf5/sources.h"
#include "io/hdf5/util.h"

#define MOST_PIXELS ((uint64_t)1 << 26) /* of a frame; three times the largest detector */
#define MOST_FRAMES ((uint64_t)1 << 28)
#define MOST_BINS   ((uint64_t)1000000)

struct airy_sparse {
    char *path;
    char group[256];                                  /* of the frames */
    hid_t file, average, deviation, index, intensity; /* negative: none */
    airy_sparse_info info;
    char *configuration;
    int64_t *frame_ptr;          /* [frames + 1] */
    double *radial;              /* [bins] */
    uint32_t *bin;               /* [pixels] in front of the radius; UINT32_MAX: does not count */
    float *fraction;             /* [pixels] between that and the next */
    float *normalization, *dark; /* [pixels] or NULL */
};

/* An open dataset with the shape that it has. Lock held. */
struct opened {
    hid_t dataset;
    int ndim;
    hsize_t shape[4];
    airy_dtype dtype;
    char what[640];
};

static void close_opened(struct opened *o)
{
    if (o->dataset >= 0)
        H5Dclose(o->dataset);
    o->dataset = -1;
}

static airy_status look_at(struct opened *o)
{
    bool native;
    const hid_t type = H5Dget_type(o->dataset), space = H5Dget_space(o->dataset),
                creation = H5Dget_create_plist(o->dataset);
    airy_status status = AIRY_OK;
    if (type < 0 || space < 0 || creation < 0)
        status =
            airy_hdf5_fail(AIRY_ERR_FORMAT, AIRY_SUBJECT_DATASET, "%s cannot be opened", o->what);
    if (status == AIRY_OK)
        status = airy_hdf5_dtype(&o->dtype, &native, type, o->what);
    if (status == AIRY_OK)
        status = airy_filter_check(creation, o->what);
    if (status == AIRY_OK) {
        o->ndim = H5Sget_simple_extent_ndims(space);
        if (o->ndim < 0 || o->ndim > 4 ||
            H5Sget_simple_extent_dims(space, o->shape, NULL) != o->ndim)
            status = airy_fail_on(AIRY_ERR_SHAPE, AIRY_SUBJECT_DATASET,
                                  "%s has %d dimensions, expected at most 4", o->what, o->ndim);
    }
    if (type >= 0)
        H5Tclose(type);
    if (space >= 0)
        H5Sclose(space);
    if (creation >= 0)
        H5Pclose(creation);
    return status;
}

/* needed false: where there is none, o->dataset is negative. */
static airy_status open_dataset(struct opened *o, const airy_sparse *s, const char *name,
                                bool needed)
{
    char path[320];
    *o = (struct opened){.dataset = -1};
    snprintf(path, sizeof(path), "%s/%s", s->group, name);
    snprintf(o->what, sizeof(o->what), "%.300s::%s", s->path, path);
    if (!airy_hdf5_exists(s->file, path)) {
        AIRY_FAIL_ON_IF(needed, AIRY_ERR_FORMAT, AIRY_SUBJECT_DATASET,
                        "%s is not there, which sparse frames have", o->what);
        return AIRY_OK;
    }
    o->dataset = airy_hdf5_dataset_own(s->file, path);
    if (o->dataset < 0)
        return airy_hdf5_fail(AIRY_ERR_FORMAT, AIRY_SUBJECT_DATASET, "%s is no dataset", o->what);
    const airy_status status = look_at(o);
    if (status != AIRY_OK)
        close_opened(o);
    return status;
}

/* What libhdf5 would take for zeros, or read from behind its buffer. Lock held. */
static airy_status check_stored(hid_t dataset, const hsize_t *start, const hsize_t *count,
                                const char *what)
{
    AIRY_TRY(airy_sources_check(dataset, start, count, what));
    AIRY_TRY(airy_sources_check_chunks(dataset, start, count, what));
    const airy_status status = airy_chunk_check(dataset, start, count);
    return status == AIRY_OK ? status : airy_fail_context(status, "%s", what);
}

/* rows from `first` on of a dataset of one or two dimensions, as native values of the dtype. */
static airy_status read_rows(hid_t dataset, airy_dtype dtype, uint64_t first, uint64_t rows,
                             uint64_t columns, void *values, const char *what)
{
    const int ndim = columns ? 2 : 1;
    const hsize_t start[2] = {first, 0}, part[2] = {rows, columns};
    airy_status status = AIRY_OK;
    if (rows == 0)
        return AIRY_OK;
    AIRY_TRY(check_stored(dataset, start, part, what));
    const hid_t space = H5Dget_space(dataset), memory = H5Screate_simple(ndim, part, NULL);
    if (space < 0 || memory < 0 || H5Sget_simple_extent_ndims(space) != ndim ||
        H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, part, NULL) < 0 ||
        airy_hdf5_read(dataset, dtype, memory, space, values) < 0)
        status = airy_hdf5_fail(airy_hdf5_failed_io() ? AIRY_ERR_IO : AIRY_ERR_CORRUPT,
                                AIRY_SUBJECT_DATASET, "%s cannot be read", what);
    if (space >= 0)
        H5Sclose(space);
    if (memory >= 0)
        H5Sclose(memory);
    return status;
}

/* Where the frames are: what entry and its attributes say, or /entry/sparse_frames. */
static airy_status find_group(airy_sparse *s)
{
    char *entry = NULL, *data = NULL;
    char entry_path[120] = "/entry";
    strcpy(s->group, "/entry/sparse_frames");
    if (airy_hdf5_attribute_open(&entry, s->file, "default") == AIRY_OK && strlen(entry) < 100)
        snprintf(entry_path, sizeof(entry_path), "%s%s", entry[0] == '/' ? "" : "/", entry);
    const hid_t group =
        airy_hdf5_exists(s->file, entry_path) ? H5Oopen(s->file, entry_path, H5P_DEFAULT) : -1;
    if (group >= 0) {
        const bool named = airy_hdf5_attribute_open(&data, group, "pyFAI_sparse_frames") ==
                               AIRY_OK ||
                           airy_hdf5_attribute_open(&data, group, "default") == AIRY_OK;
        if (named && strlen(data) < 100)
            snprintf(s->group, sizeof(s->group), "%s%s%s", data[0] == '/' ? "" : entry_path,
                     data[0] == '/' ? "" : "/", data);
        H5Oclose(group);
    }
    free(entry);
    free(data);
    AIRY_FAIL_ON_IF(!airy_hdf5_exists(s->file, s->group), AIRY_ERR_FORMAT, AIRY_SUBJECT_FILE,
                    "'%s' has no sparse frames: %s is not there", s->path, s->group);
    return AIRY_OK;
}

static airy_status read_frame_ptr(airy_sparse *s)
{
    struct opened o;
    AIRY_TRY(open_dataset(&o, s, "frame_ptr", true));
    airy_status status = AIRY_OK;
    if (o.ndim != 1 || o.shape[0] < 2 || o.shape[0] > MOST_FRAMES)
        status = airy_fail_on(AIRY_ERR_SHAPE, AIRY_SUBJECT_DATASET,
                              "%s: %llu elements in %d dimensions, expected 2 to 2^28", o.what,
                              (unsigned long long)(o.ndim > 0 ? o.shape[0] : 0), o.ndim);
    if (status == AIRY_OK)
        status = airy_memory_calloc((void **)&s->frame_ptr, (size_t)o.shape[0],
                                    sizeof(*s->frame_ptr), "where frames begin");
    if (status == AIRY_OK)
        status = read_rows(o.dataset, AIRY_DTYPE_I64, 0, o.shape[0], 0, s->frame_ptr, o.what);
    s->info.frames = (size_t)(o.ndim > 0 ? o.shape[0] - 1 : 0);
    for (size_t i = 0; status == AIRY_OK && i <= s->info.frames; i++)
        if (s->frame_ptr[i] < (i ? s->frame_ptr[i - 1] : 0) || s->frame_ptr[0] != 0)
            status = airy_fail_on(AIRY_ERR_CORRUPT, AIRY_SUBJECT_DATASET,
                                  "%s[%zu] = %lld, expected ascending from 0", o.what, i,
                                  (long long)s->frame_ptr[i]);
    close_opened(&o);
    return status;
}

/* Lists of pixels: both as long as frame_ptr says. */
static airy_status open_list(hid_t *dataset, airy_dtype *dtype, const airy_sparse *s,
                             const char *name)
{
    struct opened o;
    AIRY_TRY(open_dataset(&o, s, name, true));
    const uint64_t wanted = (uint64_t)s->frame_ptr[s->info.frames];
    *dataset = o.dataset;
    *dtype = o.dtype;
    AIRY_FAIL_ON_IF(o.ndim != 1 || o.shape[0] < wanted, AIRY_ERR_SHAPE, AIRY_SUBJECT_DATASET,
                    "%s: %llu elements in %d dimensions, frame_ptr gives %llu", o.what,
                    (unsigned long long)(o.ndim > 0 ? o.shape[0] : 0), o.ndim,
                    (unsigned long long)wanted);
    return AIRY_OK;
}

static airy_status open_lists(airy_sparse *s)
{
    airy_dtype index_dtype = AIRY_DTYPE_U32;
    AIRY_TRY(open_list(&s->index, &index_dtype, s, "index"));
    AIRY_TRY(open_list(&s->intensity, &s->info.dtype, s, "intensity"));
    AIRY_FAIL_ON_IF(airy_dtype_is_float(index_dtype), AIRY_ERR_FORMAT, AIRY_SUBJECT_FILE,
                    "%s::%s/index is %s, expected integers", s->path, s->group,
                    airy_dtype_name(index_dtype));
    AIRY_FAIL_ON_IF(s->info.dtype == AIRY_DTYPE_U64 || s->info.dtype == AIRY_DTYPE_I64,
                    AIRY_ERR_UNSUPPORTED, AIRY_SUBJECT_FILE,
                    "%s::%s/intensity is %s, expected at most 32 bits or a float", s->path,
                    s->group, airy_dtype_name(s->info.dtype));
    s->info.pixels = (uint64_t)s->frame_ptr[s->info.frames];
    return AIRY_OK;
}

/* An image of the frames' shape; the first one says what it is. */
static airy_status read_image(float **image, airy_sparse *s, const char *name, bool needed)
{
    struct opened o;
    AIRY_TRY(open_dataset(&o, s, name, needed));
    if (o.dataset < 0)
        return AIRY_OK;
    airy_status status = AIRY_OK;
    if (o.ndim != 2 || o.shape[0] == 0 || o.shape[1] == 0 || o.shape[0] > MOST_PIXELS ||
        o.shape[1] > MOST_PIXELS || o.shape[0] * o.shape[1] > MOST_PIXELS)
        status = airy_fail_on(AIRY_ERR_SHAPE, AIRY_SUBJECT_DATASET,
                              "%s has %d dimension%s, expected an image of at most 2^26 pixels",
                              o.what, o.ndim, o.ndim == 1 ? "" : "s");
    else if (s->info.height && (s->info.height != o.shape[0] || s->info.width != o.shape[1]))
        status = airy_fail_on(AIRY_ERR_SHAPE, AIRY_SUBJECT_DATASET,
                              "%s is %llu x %llu, mask is %zu x %zu", o.what,
                              (unsigned long long)o.shape[0], (unsigned long long)o.shape[1],
                              s->info.height, s->info.width);
    if (status == AIRY_OK) {
        s->info.height = (size_t)o.shape[0];
        s->info.width = (size_t)o.shape[1];
        status = airy_memory_calloc((void **)image, s->info.height * s->info.width, sizeof(float),
                                    "an image of a sparse file");
    }
    if (status == AIRY_OK)
        status = read_rows(o.dataset, AIRY_DTYPE_F32, 0, o.shape[0], o.shape[1], *image, o.what);
    close_opened(&o);
    return status;
}

static airy_status read_radial(airy_sparse *s)
{
    struct opened o;
    AIRY_TRY(open_dataset(&o, s, "radius", true));
    airy_status status = AIRY_OK;
    if (o.ndim != 1 || o.shape[0] < 1 || o.shape[0] > MOST_BINS)
        status = airy_fail_on(AIRY_ERR_SHAPE, AIRY_SUBJECT_DATASET,
                              "%s: expected 1 to 1000000 bins in one dimension", o.what);
    if (status == AIRY_OK)
        status =
            airy_memory_calloc((void **)&s->radial, (size_t)o.shape[0], sizeof(double), "bins");
    if (status == AIRY_OK)
        status = read_rows(o.dataset, AIRY_DTYPE_F64, 0, o.shape[0], 0, s->radial, o.what);
    s->info.bins = status == AIRY_OK ? (size_t)o.shape[0] : 0;
    for (size_t b = 0; status == AIRY_OK && b < s->info.bins; b++)
        if (!isfinite(s->radial[b]) || (b && !(s->radial[b] > s->radial[b - 1])))
            status = airy_fail_on(AIRY_ERR_CORRUPT, AIRY_SUBJECT_DATASET,
                                  "%s[%zu] = %g, expected ascending numbers", o.what, b,
                                  s->radial[b]);
    close_opened(&o);
    return status;
}

static airy_status open_curves(hid_t *dataset, const airy_sparse *s, const char *name)
{
    struct opened o;
    AIRY_TRY(open_dataset(&o, s, name, true));
    *dataset = o.dataset;
    AIRY_FAIL_ON_IF(o.ndim != 2 || o.shape[0] < s->info.frames || o.shape[1] != s->info.bins,
                    AIRY_ERR_SHAPE, AIRY_SUBJECT_DATASET,
                    "%s: expected [%zu, %zu] from frame_ptr and radius", o.what, s->info.frames,
                    s->info.bins);
    return AIRY_OK;
}

/* Each pixel's place between bins, from its radius; mask is used up. */
static airy_status place_pixels(airy_sparse *s, const float *mask)
{
    const size_t pixels = s->info.height * s->info.width, bins = s->info.bins;
    AIRY_TRY(airy_memory_calloc((void **)&s->bin, pixels, sizeof(*s->bin), "places of pixels"));
    AIRY_TRY(airy_memory_calloc((void **)&s->fraction, pixels, sizeof(*s->fraction),
                                "places of pixels"));
    for (size_t i = 0; i < pixels; i++) {
        const double r = (double)mask[i];
        if (!isfinite(r)) {
            s->bin[i] = UINT32_MAX;
            s->info.masked++;
            continue;
        }
        size_t low = 0, high = bins - 1;
        while (low + 1 < high) {
            const size_t middle = low + (high - low) / 2;
            if (s->radial[middle] <= r)
                low = middle;
            else
                high = middle;
        }
        s->bin[i] = (uint32_t)low;
        if (high > low)
            s->fraction[i] =
                (float)fmin(fmax((r - s->radial[low]) / (s->radial[high] - s->radial[low]), 0), 1);
    }
    return AIRY_OK;
}

static airy_status read_dummy(airy_sparse *s)
{
    struct opened o;
    s->info.dummy = airy_dtype_is_float(s->info.dtype) ? (double)NAN : 0;
    AIRY_TRY(open_dataset(&o, s, "dummy", false));
    if (o.dataset < 0)
        return AIRY_OK;
    airy_status status = AIRY_OK;
    if (o.ndim != 0 && !(o.ndim == 1 && o.shape[0] == 1))
        status =
            airy_fail_on(AIRY_ERR_SHAPE, AIRY_SUBJECT_DATASET, "%s: expected one number", o.what);
    else
        status = check_stored(o.dataset, NULL, NULL, o.what);
    if (status == AIRY_OK &&
        airy_hdf5_read(o.dataset, AIRY_DTYPE_F64, H5S_ALL, H5S_ALL, &s->info.dummy) < 0)
        status =
            airy_hdf5_fail(AIRY_ERR_CORRUPT, AIRY_SUBJECT_DATASET, "%s cannot be read", o.what);
    close_opened(&o);
    return status;
}

static airy_status read_file(airy_sparse *s)
{
    float *mask = NULL;
    AIRY_TRY(airy_hdf5_open(&s->file, s->path));
    AIRY_TRY(find_group(s));
    AIRY_TRY(read_frame_ptr(s));
    AIRY_TRY(open_lists(s));
    AIRY_TRY(read_radial(s));
    AIRY_TRY(open_curves(&s->average, s, "background_avg"));
    AIRY_TRY(open_curves(&s->deviation, s, "background_std"));
    AIRY_TRY(read_dummy(s));
    airy_status status = read_image(&mask, s, "mask", true);
    if (status == AIRY_OK)
        status = place_pixels(s, mask);
    free(mask);
    AIRY_TRY(status);
    AIRY_TRY(read_image(&s->normalization, s, "normalization", false));
    AIRY_TRY(read_image(&s->dark, s, "dark", false));
    s->info.has_normalization = s->normalization != NULL;
    s->info.has_dark = s->dark != NULL;
    /* Files of version 0.1.0 have it as a text alone. */
    if (airy_hdf5_text_open(&s->configuration, s->file, "/entry/sparsify/configuration/data") !=
            AIRY_OK &&
        airy_hdf5_text_open(&s->configuration, s->file, "/entry/sparsify/configuration") != AIRY_OK)
        s->configuration = calloc(1, 1);
    AIRY_FAIL_IF(!s->configuration, AIRY_ERR_MEMORY, "out of memory for a configuration");
    s->info.configuration = s->configuration;
    return AIRY_OK;
}

airy_status airy_sparse_create(airy_sparse **sparse, const char *path)
{
    AIRY_FAIL_IF(!sparse || !path || !*path, AIRY_ERR_PARAM, "airy_sparse_create: %s is missing",
                 sparse ? "path" : "sparse");
    airy_sparse *s;
    AIRY_TRY(airy_memory_calloc((void **)&s, 1, sizeof(*s), "a sparse file"));
    s->file = s->average = s->deviation = s->index = s->intensity = -1;
    s->path = strdup(path);
    airy_status status = s->path ? airy_hdf5_lock()
                                 : airy_fail(AIRY_ERR_MEMORY, "out of memory for a path");
    if (status == AIRY_OK) {
        status = read_file(s);
        airy_hdf5_unlock();
    }
    if (status != AIRY_OK) {
        airy_sparse_destroy(&s);
        return status;
    }
    *sparse = s;
    return AIRY_OK;
}

void airy_sparse_destroy(airy_sparse **sparse)
{
    if (!sparse || !*sparse)
        return;
    airy_sparse *s = *sparse;
    const hid_t datasets[] = {s->average, s->deviation, s->index, s->intensity};
    if (s->file >= 0 && airy_hdf5_lock() == AIRY_OK) {
        for (size_t i = 0; i < sizeof(datasets) / sizeof(datasets[0]); i++)
            if (datasets[i] >= 0)
                H5Dclose(datasets[i]);
        H5Fclose(s->file);
        airy_hdf5_unlock();
    }
    free(s->path);
    free(s->configuration);
    free(s->frame_ptr);
    free(s->radial);
    free(s->bin);
    free(s->fraction);
    free(s->normalization);
    free(s->dark);
    free(s);
    *sparse = NULL;
}

airy_status airy_sparse_get_info(const airy_sparse *sparse, airy_sparse_info *info)
{
    AIRY_FAIL_IF(!sparse || !info, AIRY_ERR_PARAM, "airy_sparse_get_info: %s is NULL",
                 sparse ? "info" : "sparse");
    *info = sparse->info;
    return AIRY_OK;
}

airy_status airy_sparse_mask(const airy_sparse *sparse, uint8_t *mask)
{
    AIRY_FAIL_IF(!sparse || !mask, AIRY_ERR_PARAM, "airy_sparse_mask: %s is NULL",
                 sparse ? "mask" : "sparse");
    for (size_t i = 0; i < sparse->info.height * sparse->info.width; i++)
        mask[i] = sparse->bin[i] == UINT32_MAX;
    return AIRY_OK;
}

/* What is read of a frame. */
struct part {
    size_t count;
    int64_t *index; /* [count] */
    void *intensity;
    float *mean, *std; /* [bins] */
};

static airy_status read_part(struct part *p, const airy_sparse *s, size_t frame)
{
    const uint64_t first = (uint64_t)s->frame_ptr[frame];
    const size_t bins = s->info.bins, pixels = s->info.height * s->info.width;
    const uint64_t count = (uint64_t)s->frame_ptr[frame + 1] - first;
    AIRY_FAIL_ON_IF(count > pixels, AIRY_ERR_CORRUPT, AIRY_SUBJECT_FILE,
                    "%s: frame %zu has %llu kept pixels of %zu", s->path, frame,
                    (unsigned long long)count, pixels);
    p->count = (size_t)count;
    AIRY_TRY(airy_memory_calloc((void **)&p->index, p->count + 1, sizeof(*p->index),
                                "pixels of a frame"));
    AIRY_TRY(airy_memory_calloc(&p->intensity, p->count + 1, airy_dtype_size(s->info.dtype),
                                "pixels of a frame"));
    AIRY_TRY(airy_memory_calloc((void **)&p->mean, 2 * bins, sizeof(*p->mean), "a background"));
    p->std = p->mean + bins;
    AIRY_TRY(airy_hdf5_lock());
    airy_status status = read_rows(s->average, AIRY_DTYPE_F32, frame, 1, bins, p->mean, s->path);
    if (status == AIRY_OK)
        status = read_rows(s->deviation, AIRY_DTYPE_F32, frame, 1, bins, p->std, s->path);
    if (status == AIRY_OK)
        status = read_rows(s->index, AIRY_DTYPE_I64, first, count, 0, p->index, s->path);
    if (status == AIRY_OK)
        status = read_rows(s->intensity, s->info.dtype, first, count, 0, p->intensity, s->path);
    airy_hdf5_unlock();
    AIRY_TRY(status);
    bool any = false;
    for (size_t b = 0; b < bins; b++)
        any |= isfinite(p->mean[b]);
    AIRY_FAIL_ON_IF(!any, AIRY_ERR_CORRUPT, AIRY_SUBJECT_FILE,
                    "%s: frame %zu has no background: it was bad when the file was made", s->path,
                    frame);
    for (size_t k = 0; k < p->count; k++)
        AIRY_FAIL_ON_IF(p->index[k] < 0 || p->index[k] >= (int64_t)pixels, AIRY_ERR_CORRUPT,
                        AIRY_SUBJECT_FILE, "%s: frame %zu: index %lld, expected below %zu", s->path,
                        frame, (long long)p->index[k], pixels);
    return AIRY_OK;
}

static void free_part(struct part *p)
{
    free(p->index);
    free(p->intensity);
    free(p->mean);
}

/* Box and Muller, Ann. Math. Statist. 29 (1958) 610. */
static double draw_normal(uint64_t seed, uint64_t frame, uint64_t pixel)
{
    uint32_t words[4];
    airy_random_block(words, seed, frame, pixel);
    return sqrt(-2 * log(airy_random_unit(words[0]))) *
           cos(6.283185307179586 * airy_random_unit(words[1]));
}

/* Raw value of a pixel of the background, not rounded. */
static double background_of(const airy_sparse *s, const struct part *p, size_t frame, size_t i,
                            const airy_densify_params *params)
{
    const size_t b = s->bin[i], next = b + 1 < s->info.bins ? b + 1 : b;
    const double f = (double)s->fraction[i], n = s->normalization ? (double)s->normalization[i] : 1,
                 dark = s->dark ? (double)s->dark[i] : 0;
    double mean = (double)p->mean[b] + f * ((double)p->mean[next] - (double)p->mean[b]);
    if (params->noise == AIRY_DENSIFY_GAUSSIAN) {
        const double std = (double)p->std[b] + f * ((double)p->std[next] - (double)p->std[b]);
        mean += std * draw_normal(params->seed, frame, i);
    }
    const double value = mean * n + dark;
    return params->noise == AIRY_DENSIFY_POISSON
               ? (double)airy_random_poisson(value, params->seed, frame, i)
               : value;
}

/* Round half away from 0, hold to the range; NaN gives 0. */
static double whole(double v, double lo, double hi)
{
    const double r = round(v);
    return r >= lo ? (r <= hi ? r : hi) : r < lo ? lo : 0;
}

static void put(void *pixels, airy_dtype dtype, size_t i, double v)
{
    switch (dtype) {
#define CASE(DTYPE, type, lo, hi)                                                                  \
    case AIRY_DTYPE_##DTYPE:                                                                       \
        ((type *)pixels)[i] = (type)whole(v, lo, hi);                                              \
        break;
        CASE(U8, uint8_t, 0, UINT8_MAX)
        CASE(I8, int8_t, INT8_MIN, INT8_MAX)
        CASE(U16, uint16_t, 0, UINT16_MAX)
        CASE(I16, int16_t, INT16_MIN, INT16_MAX)
        CASE(U32, uint32_t, 0, UINT32_MAX)
        CASE(I32, int32_t, INT32_MIN, INT32_MAX)
#undef CASE
    case AIRY_DTYPE_F32:
        ((float *)pixels)[i] = (float)v;
        break;
    default:
        ((double *)pixels)[i] = v;
        break;
    }
}

airy_status airy_sparse_densify(const airy_sparse *sparse, size_t frame, void *pixels, size_t size,
                                const airy_densify_params *params)
{
    AIRY_FAIL_IF(!sparse || !pixels, AIRY_ERR_PARAM, "airy_sparse_densify: %s is NULL",
                 sparse ? "pixels" : "sparse");
    const airy_densify_params p = params ? *params
                                         : (airy_densify_params){.noise = AIRY_DENSIFY_SMOOTH};
    const airy_sparse_info *info = &sparse->info;
    const size_t count = info->height * info->width, elem = airy_dtype_size(info->dtype);
    AIRY_FAIL_ON_IF(frame >= info->frames, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s = %zu, %s has %zu", "frame", frame, sparse->path, info->frames);
    AIRY_FAIL_ON_IF(size != count * elem, AIRY_ERR_SHAPE, AIRY_SUBJECT_PARAMETER,
                    "%s = %zu, expected %zu bytes of %zu x "
                    "%zu %s",
                    "size", size, count * elem, info->height, info->width,
                    airy_dtype_name(info->dtype));
    AIRY_FAIL_ON_IF(p.noise > AIRY_DENSIFY_GAUSSIAN, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s = %d is not known", "noise", (int)p.noise);
    struct part part = {.count = 0};
    const airy_status status = read_part(&part, sparse, frame);
    for (size_t i = 0; status == AIRY_OK && i < count; i++)
        put(pixels, info->dtype, i,
            sparse->bin[i] == UINT32_MAX ? info->dummy
                                         : background_of(sparse, &part, frame, i, &p));
    for (size_t k = 0; status == AIRY_OK && k < part.count; k++)
        memcpy((char *)pixels + (size_t)part.index[k] * elem, (char *)part.intensity + k * elem,
               elem);
    free_part(&part);
    return airy_hint_leaving_out(status);
}
