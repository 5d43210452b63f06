#include "io/sparse/partial.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "airy/result.h"
#include "base/error.h"
#include "base/fingerprint.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/size.h"
#include "io/file/plain_file.h"
#include "io/hdf5/put.h"
#include "io/hdf5/sink.h"

#define STATUS_PATH  "/entry/sparsify/frame/status"
#define RECORDS_PATH "/entry/sparsify/records_at"

enum { METADATA_BYTES = 8 << 10, SOME_ROWS = 4096, CURVES = 2 };

/* In front of a frame's curves, peaks, index and intensities, filled up to a multiple of 8 bytes. */
struct record {
    uint64_t row;
    uint32_t pixels, peaks;
    uint64_t hash[2]; /* of the record with 0 here */
};

struct block {
    uint8_t *bytes;
    size_t room, used;
};

struct airy_sparse_partial {
    char *path; /* PATH.partial */
    int fd;
    size_t rows, pixels, bins, elem;
    uint64_t first, step;
    uint64_t status_at;        /* of row 0 */
    uint64_t begin, kept, end; /* of the records; kept: the end of those that were there */
    uint8_t *has;              /* [rows] */
    size_t kept_rows;          /* airy_sparse_partial_end */
    uint64_t at;               /* the record behind the one that was read last */
    bool loaded;               /* `reading` has the next */
    struct block reading, adding;
};

static size_t record_size(const airy_sparse_partial *p, const struct record *record)
{
    const size_t size = sizeof(*record) + CURVES * p->bins * sizeof(float) +
                        record->peaks * sizeof(airy_peak) +
                        record->pixels * (sizeof(uint32_t) + p->elem);
    return (size + 7) / 8 * 8;
}

static airy_status make_room(struct block *block, size_t size)
{
    block->used = size;
    if (size <= block->room)
        return AIRY_OK;
    free(block->bytes);
    block->room = 0;
    AIRY_TRY(airy_memory_calloc((void **)&block->bytes, size, 1, "a row of a partial result"));
    block->room = size;
    return AIRY_OK;
}

static void hash_block(uint64_t hash[2], const struct block *block)
{
    struct airy_hash_lanes lanes = AIRY_HASH_LANES_START;
    airy_hash_lanes_add(&lanes, block->bytes, block->used);
    airy_hash_lanes_end(hash, &lanes, block->used);
}

/* Where the parts of a record lie. */
static airy_sparse_frame frame_of(const airy_sparse_partial *p, const struct record *record)
{
    const uint8_t *curves = p->reading.bytes + sizeof(*record),
                  *peaks = curves + CURVES * p->bins * sizeof(float),
                  *index = peaks + record->peaks * sizeof(airy_peak);
    return (airy_sparse_frame){.number = p->first + record->row * p->step,
                               .index = (const uint32_t *)(const void *)index,
                               .intensity = index + record->pixels * sizeof(uint32_t),
                               .pixels = record->pixels,
                               .peaks = (const airy_peak *)(const void *)peaks,
                               .peak_count = record->peaks,
                               .mean = (const float *)(const void *)curves,
                               .std = (const float *)(const void *)curves + p->bins};
}

/* Kept pixels are in raster order, and in the frame. */
static bool is_listed_well(const airy_sparse_partial *p, const airy_sparse_frame *frame)
{
    for (size_t k = 0; k < frame->pixels; k++)
        if (frame->index[k] >= p->pixels || (k && frame->index[k] <= frame->index[k - 1]))
            return false;
    return true;
}

/*
 * Read the record at p->at, which ends at `end` at the latest and is of row `from` or a later one.
 * *valid false: there is none, or it is damaged.
 */
static airy_status load(airy_sparse_partial *p, uint64_t end, size_t from, bool *valid)
{
    struct record record;
    uint64_t hash[2];
    *valid = false;
    if (end < p->at || end - p->at < sizeof(record))
        return AIRY_OK;
    AIRY_TRY(airy_file_pread(p->fd, &record, sizeof(record), p->at));
    if (record.row < from || record.row >= p->rows || record.pixels > p->pixels ||
        record.peaks > p->pixels || record_size(p, &record) > end - p->at)
        return AIRY_OK;
    AIRY_TRY(make_room(&p->reading, record_size(p, &record)));
    AIRY_TRY(airy_file_pread(p->fd, p->reading.bytes, p->reading.used, p->at));
    memset(p->reading.bytes + offsetof(struct record, hash), 0, sizeof(record.hash));
    hash_block(hash, &p->reading);
    const airy_sparse_frame frame = frame_of(p, &record);
    *valid = hash[0] == record.hash[0] && hash[1] == record.hash[1] && is_listed_well(p, &frame);
    return AIRY_OK;
}

/* A row of the record that was read last. */
static const struct record *loaded_record(const airy_sparse_partial *p)
{
    return (const struct record *)(const void *)p->reading.bytes;
}

/* ---- the small HDF5 file ---- */

/* Without values: nobody has written them. */
static herr_t put_background(hid_t group, const airy_sparse_partial *p)
{
    const float none = NAN;
    const hsize_t shape[2] = {p->rows, p->bins}, chunk[2] = {1, p->bins};
    const hid_t creation = airy_put_creation(), space = H5Screate_simple(2, shape, NULL);
    hid_t dataset = -1;
    if (creation >= 0 && space >= 0 && H5Pset_chunk(creation, 2, chunk) >= 0 &&
        H5Pset_fill_value(creation, H5T_NATIVE_FLOAT, &none) >= 0)
        dataset = H5Dcreate2(group, "background_avg", H5T_NATIVE_FLOAT, space, H5P_DEFAULT,
                             creation, H5P_DEFAULT);
    if (creation >= 0)
        H5Pclose(creation);
    if (space >= 0)
        H5Sclose(space);
    if (dataset >= 0)
        H5Dclose(dataset);
    return dataset < 0 ? -1 : 0;
}

/* A dataset whose bytes are written without libhdf5, at *at. */
static herr_t put_place(uint64_t *at, hid_t group, const char *name, hid_t type, int ndim,
                        hsize_t count)
{
    const hid_t dataset = airy_put_contiguous(group, name, type, ndim, &count);
    const haddr_t place = dataset < 0 ? HADDR_UNDEF : H5Dget_offset(dataset);
    if (dataset >= 0)
        H5Dclose(dataset);
    *at = place;
    return place == HADDR_UNDEF ? -1 : 0;
}

struct places {
    uint64_t status, index, records;
};

static herr_t lay_out(struct places *at, hid_t file, const airy_sparse_partial *p,
                      const struct airy_sparse_partial_spec *spec)
{
    const hid_t entry = airy_put_group(file, "entry", "NXentry");
    const hid_t data = entry < 0 ? -1 : airy_put_group(entry, "sparse_frames", "NXdata"),
                process = entry < 0 ? -1 : airy_put_group(entry, "sparsify", "NXprocess"),
                frame = process < 0 ? -1 : airy_put_group(process, "frame", "NXcollection");
    const bool done = data >= 0 && frame >= 0 && airy_sparse_put_radius(data, spec->file) >= 0 &&
                      put_background(data, p) >= 0 &&
                      airy_sparse_put_process(process, spec->file->configuration) >= 0 &&
                      airy_put_string(process, "fingerprint", spec->fingerprint) >= 0 &&
                      put_place(&at->records, process, "records_at", H5T_NATIVE_UINT64, 0, 1) >=
                          0 &&
                      put_place(&at->index, frame, "index", H5T_NATIVE_UINT64, 1, p->rows) >= 0 &&
                      put_place(&at->status, frame, "status", H5T_NATIVE_INT32, 1, p->rows) >= 0;
    const hid_t groups[] = {frame, process, data, entry};
    for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++)
        if (groups[i] >= 0)
            H5Gclose(groups[i]);
    return done ? 0 : -1;
}

static airy_status create_hdf5(struct places *at, const airy_sparse_partial *p, const char *name,
                               const struct airy_sparse_partial_spec *spec)
{
    struct airy_sink sink;
    hid_t file;
    AIRY_TRY(airy_hdf5_lock());
    airy_status status = airy_sink_create(&file, &sink, name, METADATA_BYTES);
    if (status == AIRY_OK) {
        const herr_t done = lay_out(at, file, p, spec);
        if (airy_hdf5_close(file) < 0 || done < 0)
            status = airy_hdf5_fail(AIRY_ERR_IO, AIRY_SUBJECT_FILE, "cannot lay out '%s'", name);
        if (sink.error)
            status = airy_sink_result(&sink, name);
    }
    airy_hdf5_unlock();
    return status;
}

/* Frame numbers, and which rows have records. */
static airy_status write_rows(const airy_sparse_partial *p, uint64_t index_at)
{
    uint64_t numbers[SOME_ROWS];
    int32_t status[SOME_ROWS];
    for (size_t row = 0; row < p->rows; row += SOME_ROWS) {
        const size_t count = airy_min_size(p->rows - row, SOME_ROWS);
        for (size_t i = 0; i < count; i++) {
            numbers[i] = p->first + (row + i) * p->step;
            status[i] = p->has[row + i] ? AIRY_ROW_GOOD : AIRY_ROW_PENDING;
        }
        if (index_at)
            AIRY_TRY(airy_file_pwrite(p->fd, numbers, count * sizeof(numbers[0]),
                                      index_at + row * sizeof(numbers[0])));
        AIRY_TRY(airy_file_pwrite(p->fd, status, count * sizeof(status[0]),
                                  p->status_at + row * sizeof(status[0])));
    }
    return AIRY_OK;
}

static airy_status file_size(uint64_t *size, int fd)
{
    struct stat about;
    if (fstat(fd, &about) != 0)
        return airy_fail_system(AIRY_SUBJECT_NONE, errno, "fstat: %s", strerror(errno));
    *size = (uint64_t)about.st_size;
    return AIRY_OK;
}

static airy_status begin_records(airy_sparse_partial *p, const struct places *at)
{
    uint64_t size = 0;
    AIRY_TRY(file_size(&size, p->fd));
    p->status_at = at->status;
    p->begin = p->kept = p->end = p->at = (size + 7) / 8 * 8;
    AIRY_TRY(write_rows(p, at->index));
    return airy_file_pwrite(p->fd, &p->begin, sizeof(p->begin), at->records);
}

/* It gets its name when it is complete and locked: nobody finds it before. */
static airy_status create(airy_sparse_partial *p, const char *path,
                          const struct airy_sparse_partial_spec *spec)
{
    struct places at;
    char *name = NULL;
    AIRY_TRY(airy_file_begin(&name, path));
    airy_status status = create_hdf5(&at, p, name, spec);
    if (status == AIRY_OK)
        status = airy_file_open_locked(&p->fd, name, false);
    if (status == AIRY_OK)
        status = begin_records(p, &at);
    if (status == AIRY_OK)
        status = airy_file_rename(name, p->path, false);
    if (status != AIRY_OK)
        airy_file_remove(name);
    free(name);
    return status;
}

/* ---- going on ---- */

static airy_status check_fingerprint(hid_t file, const char *now)
{
    char *before = NULL;
    airy_status status = airy_hdf5_text_open(&before, file, "/entry/sparsify/fingerprint");
    if (status == AIRY_OK)
        status = airy_fingerprint_compare((struct airy_fingerprint_of){before, "that run"},
                                          (struct airy_fingerprint_of){now, "this run"}, true);
    free(before);
    return status;
}

static airy_status find_status(airy_sparse_partial *p, hid_t file)
{
    hsize_t shape[H5S_MAX_RANK] = {0};
    const hid_t dataset =
        airy_hdf5_exists(file, STATUS_PATH) ? airy_hdf5_dataset_own(file, STATUS_PATH) : -1;
    const hid_t space = dataset < 0 ? -1 : H5Dget_space(dataset),
                type = dataset < 0 ? -1 : H5Dget_type(dataset);
    const int ndim = space < 0 ? -1 : H5Sget_simple_extent_dims(space, shape, NULL);
    const haddr_t at = ndim == 1 ? H5Dget_offset(dataset) : HADDR_UNDEF;
    const bool fits = at != HADDR_UNDEF && H5Tequal(type, H5T_NATIVE_INT32) > 0;
    if (type >= 0)
        H5Tclose(type);
    if (space >= 0)
        H5Sclose(space);
    if (dataset >= 0)
        H5Dclose(dataset);
    AIRY_FAIL_IF(!fits, AIRY_ERR_FORMAT, "it was not made by this program");
    AIRY_FAIL_IF(shape[0] != p->rows, AIRY_ERR_FORMAT, "it is of %llu frames, this run of %zu",
                 (unsigned long long)shape[0], p->rows);
    p->status_at = at;
    return AIRY_OK;
}

static airy_status find_records(airy_sparse_partial *p, hid_t file)
{
    const hid_t dataset =
        airy_hdf5_exists(file, RECORDS_PATH) ? airy_hdf5_dataset_own(file, RECORDS_PATH) : -1;
    const hid_t space = dataset < 0 ? -1 : H5Dget_space(dataset);
    const bool read = space >= 0 && H5Sget_simple_extent_npoints(space) == 1 &&
                      airy_hdf5_read(dataset, AIRY_DTYPE_U64, H5S_ALL, H5S_ALL, &p->begin) >= 0;
    if (space >= 0)
        H5Sclose(space);
    if (dataset >= 0)
        H5Dclose(dataset);
    AIRY_FAIL_IF(!read, AIRY_ERR_FORMAT, "it was not made by this program");
    return AIRY_OK;
}

static airy_status read_hdf5(airy_sparse_partial *p, const struct airy_sparse_partial_spec *spec)
{
    hid_t file = -1;
    AIRY_TRY(airy_hdf5_lock());
    airy_status status = airy_hdf5_open(&file, p->path);
    if (status == AIRY_OK)
        status = check_fingerprint(file, spec->fingerprint);
    if (status == AIRY_OK)
        status = find_status(p, file);
    if (status == AIRY_OK)
        status = find_records(p, file);
    if (file >= 0)
        H5Fclose(file);
    airy_hdf5_unlock();
    return status;
}

/* The records up to the first that is damaged; what comes behind is cut off. */
static airy_status scan(airy_sparse_partial *p)
{
    uint64_t size = 0;
    AIRY_TRY(file_size(&size, p->fd));
    AIRY_FAIL_IF(p->begin > (size + 7) / 8 * 8 || p->status_at > p->begin ||
                     p->begin - p->status_at < p->rows * sizeof(int32_t),
                 AIRY_ERR_FORMAT, "it is damaged, or was cut");
    p->at = p->begin;
    for (bool valid = true; valid;) {
        AIRY_TRY(load(p, size, p->kept_rows, &valid));
        if (!valid)
            break;
        const struct record *record = loaded_record(p);
        p->has[record->row] = 1;
        p->kept_rows = (size_t)record->row + 1;
        p->at += p->reading.used;
    }
    p->kept = p->end = p->at;
    p->at = p->begin;
    if (p->end < size && ftruncate(p->fd, (off_t)p->end) != 0)
        return airy_fail_system(AIRY_SUBJECT_NONE, errno, "cannot cut it: %s", strerror(errno));
    return write_rows(p, 0);
}

static airy_status take_over(airy_sparse_partial *p, const struct airy_sparse_partial_spec *spec)
{
    const airy_status opened = airy_file_open_locked(&p->fd, p->path, false);
    if (opened != AIRY_OK)
        return airy_fail_context(opened, "cannot resume");
    airy_status status = read_hdf5(p, spec);
    if (status == AIRY_OK)
        status = scan(p);
    return status == AIRY_OK ? AIRY_OK
                             : airy_about(AIRY_SUBJECT_FILE, p->path,
                                          airy_fail_context(status, "cannot resume '%s'", p->path));
}

airy_status airy_sparse_partial_create(airy_sparse_partial **partial, const char *path,
                                       const struct airy_sparse_partial_spec *spec, bool resume)
{
    const airy_sparse_writer_params *file = spec->file;
    AIRY_FAIL_ON_IF(!file->force && access(path, F_OK) == 0, AIRY_ERR_EXISTS, AIRY_SUBJECT_FILE,
                    "'%s' is there already", path);
    airy_sparse_partial *p;
    AIRY_TRY(airy_memory_calloc((void **)&p, 1, sizeof(*p), "a partial result"));
    p->fd = -1;
    p->rows = spec->rows;
    p->pixels = file->height * file->width;
    p->bins = file->bins;
    p->elem = airy_dtype_size(file->dtype);
    p->first = spec->first;
    p->step = spec->step;
    airy_status status = airy_memory_calloc((void **)&p->has, p->rows, 1, "rows");
    if (status == AIRY_OK && asprintf(&p->path, "%s.partial", path) < 0) {
        p->path = NULL;
        status = airy_fail(AIRY_ERR_MEMORY, "out of memory for a path");
    }
    if (status == AIRY_OK)
        status = resume ? take_over(p, spec) : create(p, path, spec);
    if (status != AIRY_OK)
        airy_sparse_partial_destroy(&p, true);
    else
        *partial = p;
    return status;
}

bool airy_sparse_partial_has(const airy_sparse_partial *partial, size_t row)
{
    return row < partial->kept_rows && partial->has[row];
}

size_t airy_sparse_partial_end(const airy_sparse_partial *partial)
{
    return partial->kept_rows;
}

airy_status airy_sparse_partial_next(airy_sparse_partial *partial, size_t before, size_t *row,
                                     airy_sparse_frame *frame)
{
    airy_sparse_partial *p = partial;
    *row = SIZE_MAX;
    if (!p->loaded && p->at < p->kept) {
        AIRY_TRY(load(p, p->kept, 0, &p->loaded));
        AIRY_FAIL_ON_IF(!p->loaded, AIRY_ERR_CORRUPT, AIRY_SUBJECT_FILE,
                        "'%s' was changed while it was read", p->path);
    }
    if (!p->loaded || loaded_record(p)->row >= before)
        return AIRY_OK;
    *row = (size_t)loaded_record(p)->row;
    *frame = frame_of(p, loaded_record(p));
    p->at += p->reading.used;
    p->loaded = false;
    return AIRY_OK;
}

static uint8_t *put(uint8_t *at, const void *bytes, size_t size)
{
    if (size > 0)
        memcpy(at, bytes, size);
    return at + size;
}

static airy_status append(airy_sparse_partial *p, size_t row, const airy_sparse_frame *frame)
{
    struct record record = {
        .row = row, .pixels = (uint32_t)frame->pixels, .peaks = (uint32_t)frame->peak_count};
    struct block *block = &p->adding;
    AIRY_TRY(make_room(block, record_size(p, &record)));
    uint8_t *at = put(block->bytes, &record, sizeof(record));
    at = put(at, frame->mean, p->bins * sizeof(float));
    at = put(at, frame->std, p->bins * sizeof(float));
    at = put(at, frame->peaks, frame->peak_count * sizeof(airy_peak));
    at = put(at, frame->index, frame->pixels * sizeof(uint32_t));
    at = put(at, frame->intensity, frame->pixels * p->elem);
    memset(at, 0, (size_t)(block->bytes + block->used - at));
    hash_block(record.hash, block);
    memcpy(block->bytes, &record, sizeof(record));
    AIRY_TRY(airy_file_pwrite(p->fd, block->bytes, block->used, p->end));
    p->end += block->used;
    return AIRY_OK;
}

/* Rows that follow one another, from the i-th on, and are good. */
static size_t run_length(const size_t *rows, const airy_sparse_frame *frames, size_t i,
                         size_t count)
{
    size_t n = 1;
    while (i + n < count && !frames[i + n].message && rows[i + n] == rows[i] + n)
        n++;
    return n;
}

static airy_status append_all(airy_sparse_partial *p, const size_t *rows,
                              const airy_sparse_frame *frames, size_t count)
{
    static const int32_t good[SOME_ROWS]; /* AIRY_ROW_GOOD */
    for (size_t i = 0; i < count; i++)
        if (!frames[i].message)
            AIRY_TRY(append(p, rows[i], &frames[i]));
    for (size_t i = 0, n; i < count; i += n) {
        n = airy_min_size(run_length(rows, frames, i, count), SOME_ROWS);
        if (!frames[i].message)
            AIRY_TRY(airy_file_pwrite(p->fd, good, n * sizeof(good[0]),
                                      p->status_at + rows[i] * sizeof(good[0])));
    }
    return AIRY_OK;
}

airy_status airy_sparse_partial_add(airy_sparse_partial *partial, const size_t *rows,
                                    const airy_sparse_frame *frames, size_t count)
{
    const airy_status status = append_all(partial, rows, frames, count);
    return status == AIRY_OK ? AIRY_OK : airy_fail_path(status, partial->path);
}

void airy_sparse_partial_destroy(airy_sparse_partial **partial, bool keep)
{
    if (!partial || !*partial)
        return;
    airy_sparse_partial *p = *partial;
    *partial = NULL;
    if (p->fd >= 0) {
        if (!keep && airy_file_is(p->fd, p->path))
            unlink(p->path);
        close(p->fd);
    }
    free(p->reading.bytes);
    free(p->adding.bytes);
    free(p->has);
    free(p->path);
    free(p);
}
