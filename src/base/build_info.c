#include <hdf5.h>
#include <jansson.h>
#include <lz4.h>
#include <png.h>
#include <pthread.h>
#include <stdio.h>
#include <zlib.h>
#if AIRY_HAVE_FITS
#include <fitsio.h>
#endif
#if AIRY_HAVE_WCS
#include <wcsconfig.h>
#endif
#if AIRY_HAVE_TIFF
#include <tiffio.h>
#endif
#if AIRY_HAVE_ZSTD
#include <zstd.h>
#endif
#if AIRY_HAVE_ZMQ
#include <cbor.h>
#include <zmq.h>
#endif

#include "airy/status.h"
#include "base/cpu.h"
#include "base/thread.h"

static char text[1024];
static pthread_once_t once = PTHREAD_ONCE_INIT;

#ifdef H5_HAVE_FILTER_DEFLATE
#define DEFLATE "gzip, "
#else
#define DEFLATE ""
#endif
#ifdef H5_HAVE_FILTER_SZIP
#define SZIP ", szip"
#else
#define SZIP ""
#endif
#ifdef H5_HAVE_THREADSAFE
#define THREADSAFE "thread-safe"
#else
#define THREADSAFE "one thread at a time"
#endif
#if defined(__clang__)
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif

#define QUOTE_(x) #x
#define QUOTE(x)  QUOTE_(x)
/* The versions that the headers name: the libraries' own words are not alike. */
#if AIRY_HAVE_FITS
#define FITS_TEXT                                                                                  \
    "fits: cfitsio " QUOTE(CFITSIO_MAJOR) "." QUOTE(CFITSIO_MINOR) "." QUOTE(CFITSIO_MICRO)
#else
#define FITS_TEXT "fits: written only"
#endif
#if AIRY_HAVE_WCS
#define WCS_TEXT "wcs: wcslib " QUOTE(WCSLIB_VERSION)
#else
#define WCS_TEXT "wcs: no"
#endif
#if AIRY_HAVE_TIFF
#define TIFF_TEXT "tiff: libtiff " QUOTE(TIFFLIB_VERSION)
#else
#define TIFF_TEXT "tiff: no"
#endif
#if AIRY_HAVE_ZSTD
#define ZSTD_FILTER "bitshuffle-zstd (32008), "
#define ZSTD_TEXT   "zstd: libzstd " ZSTD_VERSION_STRING
#else
#define ZSTD_FILTER ""
#define ZSTD_TEXT   "zstd: no"
#endif
#if AIRY_HAVE_ZMQ
#define STREAM_TEXT                                                                                \
    "streams: zmq " QUOTE(ZMQ_VERSION_MAJOR) "." QUOTE(ZMQ_VERSION_MINOR) "." QUOTE(               \
        ZMQ_VERSION_PATCH) ", libcbor " CBOR_VERSION
#else
#define STREAM_TEXT "streams: no"
#endif

static void make(void)
{
    unsigned major = 0, minor = 0, release = 0;
    (void)H5get_libversion(&major, &minor, &release);
    snprintf(text, sizeof(text),
             "airy %s, %s\n"
             "back ends: cpu (%u threads, %s), opencl (opened at run time)\n"
             "filters: bitshuffle-lz4 (32008), " ZSTD_FILTER
             "lz4 (32004) built in; %sshuffle, fletcher32%s "
             "from libhdf5\n"
             "hdf5 %u.%u.%u (%s), lz4 %s, png %s, jansson %s, zlib %s\n" FITS_TEXT ", " WCS_TEXT
             ", " TIFF_TEXT ", " ZSTD_TEXT "\n" STREAM_TEXT "\n",
             AIRY_VERSION, COMPILER, airy_thread_limit(), airy_cpu_name(), DEFLATE, SZIP, major,
             minor, release, THREADSAFE, LZ4_versionString(), png_get_libpng_ver(NULL),
             jansson_version_str(), zlibVersion());
}

const char *airy_build_info(void)
{
    pthread_once(&once, make);
    return text;
}
