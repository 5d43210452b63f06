/* The master of a stack in several files, as an Eiger's filewriter makes it, and their names. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "io/hdf5/put.h"
#include "io/hdf5/fields.h"
#include "io/stack/file.h"

enum { NAME_BYTES = 32 }; /* of data_000001 and its like */

static const char master_end[] = "_master";

/* A path is its first `base` bytes, _master or not, and a suffix. */
struct parts {
    size_t base;
    bool ends; /* in _master */
    const char *suffix;
};

static struct parts split_path(const char *master)
{
    const char *slash = strrchr(master, '/'), *name = slash ? slash + 1 : master,
               *dot = strrchr(name, '.');
    struct parts parts = {.suffix = dot && dot > name ? dot : name + strlen(name)};
    const size_t room = (size_t)(parts.suffix - name), end = strlen(master_end);
    parts.ends = room > end && memcmp(parts.suffix - end, master_end, end) == 0;
    parts.base = (size_t)(parts.suffix - master) - (parts.ends ? end : 0);
    return parts;
}

/* Lock held. */
static bool has_links(const char *path)
{
    hid_t file;
    H5L_info_t info;
    if (airy_hdf5_open(&file, path) != AIRY_OK)
        return false;
    const bool has = airy_hdf5_exists(file, "/entry/data/data_000001") &&
                     H5Lget_info(file, "/entry/data/data_000001", &info, H5P_DEFAULT) >= 0 &&
                     info.type == H5L_TYPE_EXTERNAL;
    H5Fclose(file);
    return has;
}

airy_status airy_stack_master_check(const char *master)
{
    const struct parts parts = split_path(master);
    const size_t size = strlen(master) + sizeof(master_end);
    char *other;
    AIRY_TRY(airy_memory_calloc((void **)&other, size, 1, "a path"));
    snprintf(other, size, "%.*s%s%s", (int)parts.base, master, parts.ends ? "" : master_end,
             parts.suffix);
    airy_status status = AIRY_OK;
    bool taken = access(other, F_OK) == 0;
    if (taken && (status = airy_hdf5_lock()) == AIRY_OK) {
        taken = has_links(other);
        airy_hdf5_unlock();
    }
    if (status == AIRY_OK && taken)
        status = airy_hinted(
            AIRY_HINT_STATED,
            airy_fail_on(AIRY_ERR_EXISTS, AIRY_SUBJECT_FILE,
                         "'%s' has data files of the same names as '%s'; remove it or choose "
                         "another name",
                         other, master));
    free(other);
    return status;
}

airy_status airy_stack_data_path(char **path, const char *master, size_t number)
{
    AIRY_FAIL_IF(!path || !master || !*master, AIRY_ERR_PARAM,
                 "airy_stack_data_path: an argument is NULL");
    AIRY_FAIL_IF(number < 1 || number > AIRY_STACK_MAX_FILES, AIRY_ERR_PARAM,
                 "airy_stack_data_path: number = %zu, expected 1 to %d", number,
                 AIRY_STACK_MAX_FILES);
    const struct parts parts = split_path(master);
    const size_t size = parts.base + NAME_BYTES + strlen(parts.suffix);
    AIRY_TRY(airy_memory_calloc((void **)path, size, 1, "a path"));
    snprintf(*path, size, "%.*s_data_%06zu%s", (int)parts.base, master, number, parts.suffix);
    return AIRY_OK;
}

/* Of a path; data files lie beside the master. */
static const char *name_in(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static const char *name_of(const struct airy_stack_file *f)
{
    return name_in(f->path);
}

/* data_NNNNNN of an open master leads to a file of this name beside it. Lock held. */
static bool links_to(hid_t file, size_t number, const char *name)
{
    enum { LONGEST = 4096 };
    char link[NAME_BYTES + 16], value[LONGEST];
    const char *other = NULL;
    H5L_info_t info;
    snprintf(link, sizeof(link), "/entry/data/data_%06zu", number);
    return airy_hdf5_exists(file, link) && H5Lget_info(file, link, &info, H5P_DEFAULT) >= 0 &&
           info.type == H5L_TYPE_EXTERNAL && info.u.val_size <= LONGEST &&
           H5Lget_val(file, link, value, LONGEST, H5P_DEFAULT) >= 0 &&
           H5Lunpack_elink_val(value, info.u.val_size, NULL, &other, NULL) >= 0 &&
           strcmp(other, name) == 0;
}

/* Lock held. */
static airy_status count_links(size_t *count, hid_t file, const char *master)
{
    bool linked = true;
    for (*count = 0; linked && *count < AIRY_STACK_MAX_FILES; *count += linked) {
        char *path = NULL;
        AIRY_TRY(airy_stack_data_path(&path, master, *count + 1));
        linked = links_to(file, *count + 1, name_in(path));
        free(path);
    }
    return AIRY_OK;
}

airy_status airy_stack_data_count(size_t *count, const char *master)
{
    AIRY_FAIL_IF(!count || !master || !*master, AIRY_ERR_PARAM,
                 "airy_stack_data_count: an argument is NULL");
    hid_t file;
    struct stat is;
    size_t counted = 0;
    if (lstat(master, &is) == 0 && S_ISREG(is.st_mode)) {
        AIRY_TRY(airy_hdf5_lock());
        airy_status status = AIRY_OK;
        if (airy_hdf5_open(&file, master) == AIRY_OK) {
            status = count_links(&counted, file, master);
            H5Fclose(file);
        }
        airy_hdf5_unlock();
        AIRY_TRY(status);
    }
    *count = counted;
    return AIRY_OK;
}

static herr_t put_links(hid_t data, const struct airy_stack_file *files, size_t count,
                        const char *dataset)
{
    herr_t done = 0;
    for (size_t i = 0; i < count && done >= 0; i++) {
        char name[NAME_BYTES];
        snprintf(name, sizeof(name), "data_%06zu", i + 1);
        done =
            H5Lcreate_external(name_of(&files[i]), dataset, data, name, H5P_DEFAULT, H5P_DEFAULT);
    }
    return done;
}

static herr_t map_file(hid_t creation, hid_t whole, const struct airy_stack_file *f,
                       const airy_stack_writer_params *p)
{
    const hsize_t start[3] = {f->first, 0, 0}, part[3] = {f->frames, p->height, p->width};
    const hid_t from = H5Screate_simple(3, part, NULL);
    const bool ready = from >= 0 &&
                       H5Sselect_hyperslab(whole, H5S_SELECT_SET, start, NULL, part, NULL) >= 0;
    const herr_t done = ready ? airy_put_virtual(creation, whole, name_of(f), p->dataset, from)
                              : -1;
    if (from >= 0)
        H5Sclose(from);
    return done;
}

/*
 * All frames as one dataset. It is no sibling of data_000001, as other programs count the frames of
 * every name there that begins with "data". Frames of a file that is not there have all bits set:
 * NaN, or what detectors give bad pixels.
 */
static herr_t put_whole(hid_t detector, const struct airy_stack_file *files, size_t count,
                        const airy_stack_writer_params *p)
{
    const hsize_t shape[3] = {p->frames, p->height, p->width};
    const hid_t type = airy_hdf5_native(p->dtype), creation = airy_put_creation(),
                whole = H5Screate_simple(3, shape, NULL);
    uint8_t bad[8];
    memset(bad, 0xff, sizeof(bad));
    herr_t done = creation < 0 || whole < 0 ? -1 : H5Pset_fill_value(creation, type, bad);
    for (size_t i = 0; i < count && done >= 0; i++)
        done = map_file(creation, whole, &files[i], p);
    hid_t dataset = -1;
    if (done >= 0 && H5Sselect_all(whole) >= 0)
        dataset = H5Dcreate2(detector, "data", type, whole, H5P_DEFAULT, creation, H5P_DEFAULT);
    done = dataset < 0 ? -1 : airy_put_text(dataset, "interpretation", "image");
    if (dataset >= 0)
        H5Dclose(dataset);
    if (whole >= 0)
        H5Sclose(whole);
    if (creation >= 0)
        H5Pclose(creation);
    return done;
}

static herr_t lay_out(hid_t file, const struct airy_stack_file *files, size_t count,
                      const airy_stack_writer_params *p)
{
    const hid_t entry = H5Gcreate2(file, "/entry", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                data = entry < 0 ? -1
                                 : H5Gcreate2(entry, "data", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    herr_t done = data < 0 ? -1 : put_links(data, files, count, p->dataset);
    if (data >= 0)
        H5Gclose(data);
    if (entry >= 0)
        H5Gclose(entry);
    if (done < 0 || airy_stack_put_instrument(file, p) < 0)
        return -1;
    const hid_t detector = H5Gopen2(file, "/entry/instrument/detector", H5P_DEFAULT);
    done = detector < 0 ? -1 : put_whole(detector, files, count, p);
    if (detector >= 0)
        H5Gclose(detector);
    return done < 0 ? -1 : airy_put_data_classes(file, "data_000001");
}

airy_status airy_stack_master_write(const char *partial, const struct airy_stack_file *files,
                                    size_t count, const airy_stack_writer_params *p)
{
    struct airy_sink sink;
    hid_t file = -1;
    AIRY_TRY(airy_hdf5_lock());
    airy_status status = airy_sink_create(&file, &sink, partial, AIRY_STACK_METADATA);
    const bool made = status == AIRY_OK;
    if (made && lay_out(file, files, count, p) < 0)
        status = airy_hdf5_fail(AIRY_ERR_IO, AIRY_SUBJECT_FILE, "cannot lay out '%s'", partial);
    if (made && airy_hdf5_close(file) < 0 && status == AIRY_OK)
        status = airy_hdf5_fail(AIRY_ERR_IO, AIRY_SUBJECT_FILE, "cannot close '%s'", partial);
    if (made && sink.error)
        status = airy_sink_result(&sink, partial);
    airy_hdf5_unlock();
    if (status == AIRY_OK)
        status = airy_stack_sync(partial);
    return status;
}
