#include "io/stack/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/hdf5/put.h"
#include "io/file/plain_file.h"
#include "io/hdf5/fields.h"

static herr_t set_filter(hid_t creation, const airy_codec_params *codec)
{
    const unsigned block = codec->block_bytes / codec->elem_size; /* 0: the default */
    const unsigned lz4[1] = {codec->block_bytes};
    const unsigned bitshuffle[2] = {block,
                                    codec->codec == AIRY_CODEC_BSLZ4 ? AIRY_BITSHUFFLE_LZ4 : 0};
    switch (codec->codec) {
    case AIRY_CODEC_BSLZ4:
    case AIRY_CODEC_BSHUF: /* set_local of the filter puts version and element size before these */
        return H5Pset_filter(creation, AIRY_FILTER_BITSHUFFLE, H5Z_FLAG_MANDATORY, 2, bitshuffle);
    case AIRY_CODEC_LZ4:
        return H5Pset_filter(creation, AIRY_FILTER_LZ4, H5Z_FLAG_MANDATORY, 1, lz4);
    default:
        return 0;
    }
}

/*
 * The filter completes its parameters itself; one of the program's own might do so in another way
 * than readers expect.
 */
static airy_status check_filter(const struct airy_stack_file *f, const airy_codec_params *codec)
{
    airy_codec_params found;
    bool exact = false;
    const hid_t creation = H5Dget_create_plist(f->dataset);
    if (creation >= 0) {
        airy_filter_codec(&found, &exact, creation);
        H5Pclose(creation);
    }
    const bool shuffled = codec->codec == AIRY_CODEC_BSLZ4 || codec->codec == AIRY_CODEC_BSHUF;
    AIRY_FAIL_ON_IF(!exact || found.codec != codec->codec ||
                        (shuffled && (found.elem_size != codec->elem_size ||
                                      found.block_bytes != codec->block_bytes)),
                    AIRY_ERR_UNSUPPORTED, AIRY_SUBJECT_FILE,
                    "'%s': the filter registered with libhdf5 for codec %s sets other parameters",
                    f->path, airy_codec_name(codec->codec));
    return AIRY_OK;
}

static herr_t put_frames(struct airy_stack_file *f, const airy_stack_writer_params *p)
{
    const hsize_t shape[3] = {f->frames, p->height, p->width}, chunk[3] = {1, p->height, p->width};
    const hid_t creation = airy_put_creation(), links = H5Pcreate(H5P_LINK_CREATE);
    const hid_t space = H5Screate_simple(3, shape, NULL);
    if (creation >= 0 && links >= 0 && space >= 0 && H5Pset_chunk(creation, 3, chunk) >= 0 &&
        set_filter(creation, &p->codec) >= 0 && H5Pset_create_intermediate_group(links, 1) >= 0)
        f->dataset = H5Dcreate2(f->file, p->dataset, airy_hdf5_native(p->dtype), space, links,
                                creation, H5P_DEFAULT);
    if (creation >= 0)
        H5Pclose(creation);
    if (links >= 0)
        H5Pclose(links);
    if (space >= 0)
        H5Sclose(space);
    return f->dataset < 0 ? -1 : airy_put_text(f->dataset, "interpretation", "image");
}

/* The numbers of its first and last image, from 1. */
static herr_t put_numbers(const struct airy_stack_file *f)
{
    return airy_put_int(f->dataset, "image_nr_low", (int)(f->first + 1)) < 0
               ? -1
               : airy_put_int(f->dataset, "image_nr_high", (int)(f->first + f->frames));
}

static herr_t lay_out(struct airy_stack_file *f, const airy_stack_writer_params *p, bool part)
{
    const bool usual_place = strcmp(p->dataset, "/entry/data/data") == 0;
    if (put_frames(f, p) < 0 || (part ? put_numbers(f) : airy_stack_put_instrument(f->file, p)) < 0)
        return -1;
    return usual_place ? airy_put_data_classes(f->file, "data")
                       : airy_put_text(f->file, "NX_class", "NXroot");
}

static airy_status close_hdf5(struct airy_stack_file *f)
{
    airy_status status = AIRY_OK;
    if (f->dataset >= 0 && H5Dclose(f->dataset) < 0)
        status = airy_hdf5_fail(AIRY_ERR_IO, AIRY_SUBJECT_FILE, "cannot close '%s'", f->partial);
    if (f->file >= 0 && airy_hdf5_close(f->file) < 0 && status == AIRY_OK)
        status = airy_hdf5_fail(AIRY_ERR_IO, AIRY_SUBJECT_FILE, "cannot close '%s'", f->partial);
    f->dataset = f->file = -1;
    if (f->sink.error)
        status = airy_sink_result(&f->sink, f->partial);
    return status;
}

airy_status airy_stack_file_begin(struct airy_stack_file *f, const airy_stack_writer_params *p,
                                  bool part)
{
    f->file = f->dataset = f->bytes = -1;
    AIRY_TRY(airy_file_begin(&f->partial, f->path));
    airy_status status = airy_sink_create(&f->file, &f->sink, f->partial, AIRY_STACK_METADATA);
    if (status == AIRY_OK && lay_out(f, p, part) < 0)
        status = airy_hdf5_fail(AIRY_ERR_IO, AIRY_SUBJECT_FILE, "cannot lay out '%s'", f->partial);
    if (status == AIRY_OK)
        status = check_filter(f, &p->codec);
    if (f->sink.error)
        status = airy_sink_result(&f->sink, f->partial);
    if (status == AIRY_OK && (f->bytes = open(f->partial, O_WRONLY | O_NOFOLLOW | O_CLOEXEC)) < 0)
        status = airy_fail_system(AIRY_SUBJECT_FILE, errno, "cannot open '%s': %s", f->partial,
                                  strerror(errno));
    if (status != AIRY_OK) {
        (void)close_hdf5(f);
        airy_file_remove(f->partial);
        free(f->partial);
        f->partial = NULL;
        return status;
    }
    f->writeback = airy_writeback_start(f->bytes);
    f->open = f->made = true;
    return AIRY_OK;
}

static airy_status close_file(struct airy_stack_file *f)
{
    airy_writeback_stop(&f->writeback);
    airy_status status = airy_hdf5_lock();
    if (status == AIRY_OK) {
        status = close_hdf5(f);
        airy_hdf5_unlock();
    }
    if (close(f->bytes) != 0 && status == AIRY_OK)
        status =
            airy_fail_system(AIRY_SUBJECT_FILE, errno, "'%s': %s", f->partial, strerror(errno));
    f->bytes = -1;
    f->open = false;
    return status;
}

airy_status airy_stack_sync(const char *path)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const int failed = fd < 0 || fsync(fd) != 0 ? errno : 0;
    if (fd >= 0)
        close(fd);
    AIRY_FAIL_HINT_IF(failed, AIRY_ERR_IO, airy_hint_of_errno(failed), AIRY_SUBJECT_FILE,
                      "'%s': fsync: %s", path, strerror(failed));
    return AIRY_OK;
}

airy_status airy_stack_file_complete(struct airy_stack_file *f)
{
    AIRY_TRY(close_file(f));
    AIRY_TRY(airy_stack_sync(f->partial));
    f->complete = true;
    return AIRY_OK;
}

void airy_stack_file_discard(struct airy_stack_file *f)
{
    if (f->open)
        (void)close_file(f);
    if (f->made)
        airy_file_remove(f->partial);
    f->made = false;
}
