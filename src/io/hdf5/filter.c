/*
 * The filters of HDF5 datasets: their names, whether they can be undone here, and ours, registered
 * with libhdf5.
 */
#include <stdio.h>
#include <string.h>

#include "base/size.h"
#include "codec/chunks.h"
#include "io/hdf5/inflate.h"
#include "io/hdf5/util.h"

/* Source: libhdf5's predefined filters and the HDF Group's list of registered filter plug-ins. */
static const struct {
    unsigned number;
    const char *name;
} filter_names[] = {
    {1, "gzip"},           {2, "shuffle"},
    {3, "fletcher32"},     {4, "szip"},
    {5, "nbit"},           {6, "scaleoffset"},
    {305, "lzo"},          {307, "bzip2"},
    {32000, "lzf"},        {32001, "blosc"},
    {32002, "mafisc"},     {32003, "snappy"},
    {32004, "lz4"},        {32005, "apax"},
    {32006, "cbf"},        {32007, "jpeg-xr"},
    {32008, "bitshuffle"}, {32009, "spdp"},
    {32010, "lpc-rice"},   {32011, "ccsds-123"},
    {32012, "jpeg-ls"},    {32013, "zfp"},
    {32014, "fpzip"},      {32015, "zstd"},
    {32016, "b3d"},        {32017, "sz"},
    {32018, "fcidecomp"},  {32019, "jpeg"},
    {32020, "vbz"},        {32021, "fapec"},
    {32022, "bitgroom"},   {32023, "granular-bitround"},
    {32024, "sz3"},        {32025, "delta-rice"},
    {32026, "blosc2"},     {32027, "flac"},
};

enum { MAX_FILTER_VALUES = 20 };

struct filter {
    H5Z_filter_t number;
    unsigned flags, values[MAX_FILTER_VALUES];
    size_t count; /* of values, at most MAX_FILTER_VALUES */
};

const char *airy_filter_name(unsigned number)
{
    for (size_t i = 0; i < sizeof(filter_names) / sizeof(filter_names[0]); i++)
        if (filter_names[i].number == number)
            return filter_names[i].name;
    return "unknown";
}

static bool get_filter(struct filter *filter, hid_t creation, int index)
{
    memset(filter, 0, sizeof(*filter));
    filter->count = MAX_FILTER_VALUES;
    unsigned config;
    filter->number = H5Pget_filter2(creation, (unsigned)index, &filter->flags, &filter->count,
                                    filter->values, 0, NULL, &config);
    filter->count = airy_min_size(filter->count, MAX_FILTER_VALUES);
    return filter->number >= 0;
}

static int count_filters(hid_t creation)
{
    const int n = H5Pget_layout(creation) == H5D_CHUNKED ? H5Pget_nfilters(creation) : 0;
    return n < 0 ? 0 : n;
}

static const char *variant_name(const struct filter *filter)
{
    if (filter->number == AIRY_FILTER_BITSHUFFLE && filter->count > 4) {
        if (filter->values[4] == AIRY_BITSHUFFLE_LZ4)
            return "bitshuffle-lz4";
        if (filter->values[4] == AIRY_BITSHUFFLE_ZSTD)
            return "bitshuffle-zstd";
    }
    return airy_filter_name((unsigned)filter->number);
}

void airy_filter_text(char *text, size_t size, hid_t creation)
{
    const int count = count_filters(creation);
    size_t used = 0;
    snprintf(text, size, "none");
    for (int i = 0; i < count && used < size; i++) {
        struct filter filter;
        if (!get_filter(&filter, creation, i))
            continue;
        const char *name = variant_name(&filter);
        const int n = strcmp(name, "unknown") == 0
                          ? snprintf(text + used, size - used, "%sfilter %d", used ? "+" : "",
                                     (int)filter.number)
                          : snprintf(text + used, size - used, "%s%s", used ? "+" : "", name);
        used += n > 0 ? (size_t)n : 0;
    }
}

/* The registered filter 32008 is ours; set once, under the lock of libhdf5. */
static bool bitshuffle_is_ours;

static airy_status check_variant(const struct filter *filter, const char *what)
{
    const unsigned compression =
        filter->number == AIRY_FILTER_BITSHUFFLE && filter->count > 4 ? filter->values[4] : 0;
    AIRY_FAIL_ON_IF(compression == AIRY_BITSHUFFLE_ZSTD && !AIRY_HAVE_ZSTD && bitshuffle_is_ours,
                    AIRY_ERR_UNSUPPORTED, AIRY_SUBJECT_DATASET,
                    "%s: filter %d (bitshuffle-zstd) is needed, this build lacks libzstd: set "
                    "HDF5_PLUGIN_PATH to the folder of a plug-in that has it",
                    what, (int)filter->number);
    AIRY_FAIL_ON_IF(
        compression != 0 && compression != AIRY_BITSHUFFLE_LZ4 &&
            compression != AIRY_BITSHUFFLE_ZSTD,
        AIRY_ERR_UNSUPPORTED, AIRY_SUBJECT_DATASET,
        "%s: filter %d (bitshuffle) with compression %u is needed, known are 0 (none), %d "
        "(lz4) and %d (zstd)",
        what, (int)filter->number, compression, AIRY_BITSHUFFLE_LZ4, AIRY_BITSHUFFLE_ZSTD);
    return AIRY_OK;
}

airy_status airy_filter_check(hid_t creation, const char *what)
{
    const int count = count_filters(creation);
    for (int i = 0; i < count; i++) {
        struct filter filter;
        if (!get_filter(&filter, creation, i))
            return airy_hdf5_fail(AIRY_ERR_FORMAT, AIRY_SUBJECT_DATASET,
                                  "%s: filter %d of %d cannot be read", what, i, count);
        AIRY_TRY(check_variant(&filter, what));
        AIRY_FAIL_ON_IF(
            H5Zfilter_avail(filter.number) <= 0, AIRY_ERR_UNSUPPORTED, AIRY_SUBJECT_DATASET,
            "%s: filter %d (%s) is needed, neither this build nor HDF5_PLUGIN_PATH has it", what,
            (int)filter.number, variant_name(&filter));
    }
    return AIRY_OK;
}

/*
 * cd_values of filter 32008: major, minor, element size, block elements (0: default), compression.
 */
static bool bitshuffle_codec(airy_codec_params *codec, size_t count, const unsigned *values)
{
    const unsigned compression = count > 4 ? values[4] : 0;
    const bool zstd = AIRY_HAVE_ZSTD && compression == AIRY_BITSHUFFLE_ZSTD;
    size_t block = 0;
    if (count < 3 || values[2] == 0 || values[2] > AIRY_MAX_ELEM_SIZE ||
        (compression != 0 && compression != AIRY_BITSHUFFLE_LZ4 && !zstd) ||
        airy_mul_size(&block, count > 3 ? values[3] : 0, values[2]) || block > UINT32_MAX)
        return false;
    *codec = (airy_codec_params){.codec = zstd          ? AIRY_CODEC_BSZSTD
                                          : compression ? AIRY_CODEC_BSLZ4
                                                        : AIRY_CODEC_BSHUF,
                                 .elem_size = values[2],
                                 .block_bytes = (uint32_t)block};
    return true;
}

void airy_filter_codec(airy_codec_params *codec, bool *exact, hid_t creation)
{
    memset(codec, 0, sizeof(*codec));
    const int count = count_filters(creation);
    struct filter filter;
    *exact = count == 0;
    if (count != 1 || !get_filter(&filter, creation, 0))
        return;
    if (filter.number == AIRY_FILTER_BITSHUFFLE) {
        *exact = bitshuffle_codec(codec, filter.count, filter.values);
    } else if (filter.number == AIRY_FILTER_LZ4) {
        *codec = (airy_codec_params){.codec = AIRY_CODEC_LZ4};
        *exact = true;
    }
}

/*
 * What a chunk must decode to in the airy_hdf5_read of this thread; 0: not known. libhdf5 tells
 * its filters nothing.
 */
static _Thread_local size_t expected_bytes;

/* Bytes of a chunk, where everything that is undone after our filter keeps the size. */
static size_t chunk_bytes(hid_t dataset)
{
    const hid_t creation = H5Dget_create_plist(dataset), type = H5Dget_type(dataset);
    hsize_t chunk[H5S_MAX_RANK];
    const int count = creation < 0 ? 0 : count_filters(creation);
    size_t bytes = type < 0 ? 0 : H5Tget_size(type);
    const int ndim = count > 0 ? H5Pget_chunk(creation, H5S_MAX_RANK, chunk) : 0;
    for (int axis = 0; axis < ndim; axis++)
        if (airy_mul_size(&bytes, bytes, chunk[axis]))
            bytes = 0;
    for (int i = 0; i < count; i++) {
        struct filter filter;
        if (!get_filter(&filter, creation, i))
            bytes = 0;
        if (filter.number == AIRY_FILTER_BITSHUFFLE || filter.number == AIRY_FILTER_LZ4)
            break;
        if (filter.number != H5Z_FILTER_SHUFFLE)
            bytes = 0;
    }
    if (type >= 0)
        H5Tclose(type);
    if (creation >= 0)
        H5Pclose(creation);
    return ndim > 0 ? bytes : 0;
}

static herr_t read_by_library(hid_t dataset, hid_t type, hid_t memory, hid_t space, void *values)
{
    expected_bytes = chunk_bytes(dataset);
    const herr_t done = H5Dread(dataset, type, memory, space, H5P_DEFAULT, values);
    expected_bytes = 0;
    return done;
}

airy_status airy_hdf5_read_keeping(struct airy_inflated *kept, hid_t dataset, hid_t type,
                                   hid_t memory, hid_t space, void *values)
{
    bool inflated;
    AIRY_TRY(airy_hdf5_inflate(&inflated, kept, dataset, type, memory, space, values));
    if (inflated)
        return AIRY_OK;
    return read_by_library(dataset, type, memory, space, values) < 0
               ? airy_hdf5_fail(airy_hdf5_failed_io() ? AIRY_ERR_IO : AIRY_ERR_CORRUPT,
                                AIRY_SUBJECT_NONE, "libhdf5 cannot read it")
               : AIRY_OK;
}

/* What failed is the first on libhdf5's stack, as where it failed itself. */
herr_t airy_hdf5_read_as(hid_t dataset, hid_t type, hid_t memory, hid_t space, void *values)
{
    bool inflated;
    const airy_status status =
        airy_hdf5_inflate(&inflated, NULL, dataset, type, memory, space, values);
    if (status != AIRY_OK) {
        H5Eclear2(H5E_DEFAULT);
        H5Epush2(H5E_DEFAULT, __FILE__, __func__, __LINE__, H5E_ERR_CLS,
                 status == AIRY_ERR_IO ? H5E_IO : H5E_PLINE, H5E_CANTFILTER, "%s",
                 airy_last_error());
        return -1;
    }
    return inflated ? 0 : read_by_library(dataset, type, memory, space, values);
}

herr_t airy_hdf5_read(hid_t dataset, airy_dtype dtype, hid_t memory, hid_t space, void *values)
{
    return airy_hdf5_read_as(dataset, airy_hdf5_native(dtype), memory, space, values);
}

uint64_t airy_filter_stored_bytes(hid_t creation, uint32_t mask, uint64_t decoded)
{
    const int count = count_filters(creation);
    for (int i = 0; i < count; i++) {
        struct filter filter;
        if (i < 32 && (mask >> i & 1))
            continue;
        if (!get_filter(&filter, creation, i))
            return 0;
        const bool transposed = filter.number == AIRY_FILTER_BITSHUFFLE &&
                                (filter.count < 5 || filter.values[4] == 0);
        if (filter.number == H5Z_FILTER_FLETCHER32)
            decoded += 4;
        else if (filter.number != H5Z_FILTER_SHUFFLE && !transposed)
            return 0;
    }
    return decoded;
}

bool airy_filter_framed(hid_t creation, uint32_t mask)
{
    bool framed = false;
    for (int i = count_filters(creation) - 1; i >= 0; i--) {
        struct filter filter;
        if (i < 32 && (mask >> i & 1))
            continue;
        if (!get_filter(&filter, creation, i))
            return false;
        const bool ours =
            filter.number == AIRY_FILTER_LZ4 ||
            (filter.number == AIRY_FILTER_BITSHUFFLE && filter.count > 4 && filter.values[4] != 0);
        if (framed ? filter.number != H5Z_FILTER_SHUFFLE
                   : !ours && filter.number != H5Z_FILTER_FLETCHER32)
            return false;
        framed = framed || ours;
    }
    return framed;
}

/* A filter reports through libhdf5's error stack, from where airy_hdf5_fail takes the sentence. */
static size_t fail_filter(const char *sentence)
{
    H5Epush2(H5E_DEFAULT, __FILE__, __func__, __LINE__, H5E_ERR_CLS, H5E_PLINE, H5E_CANTFILTER,
             "%s", sentence);
    return 0;
}

static size_t replace_buffer(void **buffer, size_t *capacity, void *result, size_t allocated,
                             size_t used)
{
    H5free_memory(*buffer);
    *buffer = result;
    *capacity = allocated;
    return used;
}

static size_t undo_codec(const airy_codec_params *codec, size_t size, size_t *capacity,
                         void **buffer)
{
    uint64_t decoded = size;
    uint32_t block;
    if (codec->codec != AIRY_CODEC_BSHUF &&
        airy_chunk_header(&decoded, &block, *buffer, size, codec->codec, codec->elem_size) !=
            AIRY_OK)
        return fail_filter(airy_last_error());
    /*
     * One byte of LZ4 stands for at most 255, four of Zstandard for a block of its 128 KiB; nothing
     * is allocated for more.
     */
    if (decoded == 0 || decoded / (codec->codec == AIRY_CODEC_BSZSTD ? 32768 : 255) > size)
        return fail_filter("chunk header: more decoded bytes than its compressed bytes can give");
    if (expected_bytes != 0 && decoded != expected_bytes) {
        char sentence[128];
        snprintf(sentence, sizeof(sentence), "chunk header: %llu bytes decoded, expected %zu",
                 (unsigned long long)decoded, expected_bytes);
        return fail_filter(sentence);
    }
    void *result = H5allocate_memory((size_t)decoded, false);
    if (!result)
        return fail_filter("out of memory for a decoded chunk");
    if (airy_decode(result, (size_t)decoded, *buffer, size, codec) != AIRY_OK) {
        H5free_memory(result);
        return fail_filter(airy_last_error());
    }
    return replace_buffer(buffer, capacity, result, (size_t)decoded, (size_t)decoded);
}

static size_t apply_codec(const airy_codec_params *codec, size_t size, size_t *capacity,
                          void **buffer)
{
    const size_t bound = airy_encode_bound(size, codec);
    void *result = bound ? H5allocate_memory(bound, false) : NULL;
    if (!result)
        return fail_filter("out of memory for an encoded chunk");
    size_t used = bound;
    if (airy_encode(result, &used, *buffer, size, codec) != AIRY_OK) {
        H5free_memory(result);
        return fail_filter(airy_last_error());
    }
    return replace_buffer(buffer, capacity, result, bound, used);
}

static size_t filter_bitshuffle(unsigned flags, size_t count, const unsigned values[], size_t size,
                                size_t *capacity, void **buffer)
{
    airy_codec_params codec;
    if (!bitshuffle_codec(&codec, count, values))
        return fail_filter("filter 32008 (bitshuffle) has parameters this build does not know");
    return flags & H5Z_FLAG_REVERSE ? undo_codec(&codec, size, capacity, buffer)
                                    : apply_codec(&codec, size, capacity, buffer);
}

static size_t filter_lz4(unsigned flags, size_t count, const unsigned values[], size_t size,
                         size_t *capacity, void **buffer)
{
    const airy_codec_params codec = {
        .codec = AIRY_CODEC_LZ4,
        .elem_size = 1,
        .block_bytes = count > 0 && !(flags & H5Z_FLAG_REVERSE) ? values[0] : 0};
    return flags & H5Z_FLAG_REVERSE ? undo_codec(&codec, size, capacity, buffer)
                                    : apply_codec(&codec, size, capacity, buffer);
}

/*
 * As the plug-in of this number does: the caller gives {block elements, compression}, the file
 * holds {0, 4, element size, block elements, compression}. A list copied from a file is complete
 * already.
 */
static herr_t complete_bitshuffle(hid_t creation, hid_t type, hid_t space)
{
    (void)space;
    unsigned flags, given[MAX_FILTER_VALUES] = {0};
    size_t count = MAX_FILTER_VALUES;
    if (H5Pget_filter_by_id2(creation, AIRY_FILTER_BITSHUFFLE, &flags, &count, given, 0, NULL,
                             NULL) < 0)
        return -1;
    const size_t size = H5Tget_size(type);
    if (size == 0 || size > AIRY_MAX_ELEM_SIZE)
        return -1;
    const size_t skip = count >= 5 ? 3 : 0;
    const unsigned values[5] = {0, 4, (unsigned)size, given[skip], given[skip + 1]};
    return H5Pmodify_filter(creation, AIRY_FILTER_BITSHUFFLE, flags, 5, values);
}

int airy_filter_register(void)
{
    static const H5Z_class2_t bitshuffle = {.version = H5Z_CLASS_T_VERS,
                                            .id = AIRY_FILTER_BITSHUFFLE,
                                            .encoder_present = 1,
                                            .decoder_present = 1,
                                            .name = "bitshuffle (airy)",
                                            .set_local = complete_bitshuffle,
                                            .filter = filter_bitshuffle};
    static const H5Z_class2_t lz4 = {.version = H5Z_CLASS_T_VERS,
                                     .id = AIRY_FILTER_LZ4,
                                     .encoder_present = 1,
                                     .decoder_present = 1,
                                     .name = "lz4 (airy)",
                                     .filter = filter_lz4};
    /*
     * A filter that the program or HDF5_PLUGIN_PATH has brought stays: the registry is the
     * program's, not ours.
     */
    const bool have_bitshuffle = H5Zfilter_avail(bitshuffle.id) > 0,
               have_lz4 = H5Zfilter_avail(lz4.id) > 0;
    bitshuffle_is_ours = bitshuffle_is_ours || !have_bitshuffle;
    return (!have_bitshuffle && H5Zregister(&bitshuffle) < 0) ||
                   (!have_lz4 && H5Zregister(&lz4) < 0)
               ? -1
               : 0;
}
