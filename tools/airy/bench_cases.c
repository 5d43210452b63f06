/* The stacks that `airy bench` makes by itself, and the folder they lie in. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "airy/random.h"
#include "bench.h"
#include "stack_out.h"

int bench_folder(struct bench *bench)
{
    if (*bench->folder)
        return AIRY_EXIT_OK;
    const char *parent = getenv("TMPDIR");
    parent = parent && *parent ? parent : "/tmp";
    const bool fits = (size_t)snprintf(bench->folder, sizeof(bench->folder), "%s/airy-bench-XXXXXX",
                                       parent) < sizeof(bench->folder);
    if (fits && mkdtemp(bench->folder))
        return AIRY_EXIT_OK;
    *bench->folder = 0;
    return tool_fail(bench->common, "no folder can be made in %s (%s); set TMPDIR", parent,
                     fits ? strerror(errno) : "name too long");
}

void bench_name(char path[4096], const struct bench *bench, const char *name)
{
    snprintf(path, 4096, "%s/%s", bench->folder, name);
}

void bench_remove_folder(struct bench *bench)
{
    if (!*bench->folder)
        return;
    DIR *folder = opendir(bench->folder);
    for (const struct dirent *entry; folder && (entry = readdir(folder));)
        unlinkat(dirfd(folder), entry->d_name, 0); /* fails for "." and "..", as it should */
    if (folder)
        closedir(folder);
    if (rmdir(bench->folder) != 0)
        tool_say(bench->common, "%s: cannot be removed (%s)", bench->folder, strerror(errno));
    *bench->folder = 0;
}

/* The case "4M": one Poisson frame plus (index mod 500). */
struct made_case {
    double *base;
    size_t pixels;
};

static airy_status make_frame(void *user, size_t index, void *frame)
{
    const struct made_case *made = user;
    uint32_t *pixels = frame;
    for (size_t i = 0; i < made->pixels; i++)
        pixels[i] = (uint32_t)made->base[i] + (uint32_t)(index % 500);
    return AIRY_OK;
}

int bench_make_case(struct bench *bench, char path[4096], airy_geometry *geometry)
{
    const struct common *common = bench->common;
    double q[15], curve[15];
    int code = bench_folder(bench);
    if (code != AIRY_EXIT_OK)
        return code;
    bench_name(path, bench, "4M.h5");
    memset(geometry, 0, sizeof(*geometry));
    airy_status status = airy_detector_find(&geometry->detector, "eiger_4M");
    if (status != AIRY_OK)
        return tool_failed(common, status);
    geometry->dist = 1.1; /* as 'airy simulate diffraction' does */
    geometry->wavelength = 1e-10;
    const size_t pixels = geometry->detector.height * geometry->detector.width;
    struct made_case made = {.base = malloc(pixels * sizeof(double)), .pixels = pixels};
    if (!made.base)
        return tool_fail(common, "out of memory for %zu pixels", pixels);
    for (size_t i = 0; i < 15; i++) {
        q[i] = (double)i;
        curve[i] = 100 / (1 + q[i] * q[i]);
    }
    const airy_integrator_params params = {.unit = AIRY_UNIT_Q_NM};
    status = airy_image_from_pattern(made.base, geometry, &params, q, curve, 15);
    if (status == AIRY_OK)
        status = airy_random_poisson_fill(made.base, pixels, 0, 0, 0);
    struct stack_out out = {
        .common = common,
        .path = path,
        .writer = {.dtype = AIRY_DTYPE_U32,
                   .frames = bench->params->has_frames ? bench->params->frames : 64,
                   .height = geometry->detector.height,
                   .width = geometry->detector.width,
                   .codec = {.codec = AIRY_CODEC_BSLZ4, .elem_size = 4},
                   .geometry = geometry},
        .make = make_frame,
        .user = &made};
    code = status == AIRY_OK ? stack_out_run(&out) : tool_failed(common, status);
    free(made.base);
    return code;
}
