/* Looks at results: a file that grows, and refusals; the rest is in the cases of the command. */
#include "check.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "airy/codec.h"
#include "airy/watch.h"
#include "io/result/grow.h"
#include "io/file/plain_file.h"

enum { BINS = 3 };

static const double radial[BINS] = {0.5, 1.5, 2.5};

/* Row `row` has intensities row + 0.25, row + 0.5 and so on. */
static airy_status write_row(airy_pattern_growing *file, size_t row, bool bad)
{
    float intensity[BINS];
    double sums[3 * BINS] = {0};
    for (size_t i = 0; i < BINS; i++)
        intensity[i] = (float)row + 0.25f * (float)(i + 1);
    const struct airy_pattern_row data = {
        .intensity = intensity,
        .signal = sums,
        .norms = sums,
        .stats = {.total = 100 + (double)row, .max = 7, .status = bad ? 8 : AIRY_FRAME_GOOD},
        .frames = 1,
        .message = bad ? "block 1: too short" : NULL};
    return airy_pattern_growing_write(file, row, &data, 1);
}

/* Looks until so many rows are done: they come five times a second. */
static airy_watch *look_for(struct check *c, const char *path, size_t done, airy_watch_info *info)
{
    airy_watch *watch = NULL;
    for (int tries = 0; tries < 3000; tries++) {
        airy_watch_close(&watch);
        if (airy_watch_open(&watch, path) == AIRY_OK &&
            airy_watch_get_info(watch, info) == AIRY_OK && info->good + info->bad == done)
            return watch;
        usleep(20000);
    }
    CHECK(c, info->good + info->bad == done); /* they never came */
    return watch;
}

static void check_rows(struct check *c, airy_watch *watch)
{
    float values[BINS];
    double number = 0;
    CHECK_OK(c, airy_watch_read(watch, 1, values));
    CHECK(c, values[0] == 1.25f && values[1] == 1.5f && values[2] == 1.75f);
    CHECK_OK(c, airy_watch_number(watch, "index", 1, &number));
    CHECK(c, number == 12);
    CHECK_OK(c, airy_watch_number(watch, "total", 1, &number));
    CHECK(c, number == 101);
    CHECK_FAILS(c, airy_watch_read(watch, 2, values), AIRY_ERR_PARAM, "row 2 of");
    CHECK_FAILS(c, airy_watch_read(watch, 3, values), AIRY_ERR_PARAM, "is not done");
    CHECK_FAILS(c, airy_watch_read(watch, SIZE_MAX, values), AIRY_ERR_PARAM, "is not done");
    CHECK_FAILS(c, airy_watch_number(watch, "total", 1000, &number), AIRY_ERR_PARAM, "no row 1000");
    CHECK_FAILS(c, airy_watch_number(watch, "status", 1, &number), AIRY_ERR_PARAM,
                "no number 'status'");
}

static void check_growing(struct check *c)
{
    airy_pattern_growing *file = NULL;
    airy_watch *watch = NULL;
    airy_watch_info info = {0};
    char path[600], partial[620];
    if (!check_case(c, "watch_growing"))
        return;
    snprintf(path, sizeof(path), "%s/grow.h5", check_tmp(c));
    snprintf(partial, sizeof(partial), "%s.partial", path);
    const struct airy_pattern_spec spec = {.bins = BINS,
                                           .radial = radial,
                                           .grows = true,
                                           .configuration = "{}",
                                           .fingerprint = "value dist 0.1\n"};
    const struct airy_pattern_numbers numbers = {10, 2};
    if (!CHECK_OK(c, airy_pattern_growing_create(&file, path, &spec, numbers, false, false)))
        return;
    watch = look_for(c, partial, 0, &info);
    CHECK(c, watch && info.grows && info.written && info.rows == 0 && info.newest == SIZE_MAX);
    CHECK_OK(c, write_row(file, 0, false));
    CHECK_OK(c, write_row(file, 1, false));
    CHECK_OK(c, write_row(file, 3, true));
    airy_watch_close(&watch);
    watch = look_for(c, partial, 3, &info);
    CHECK(c, watch && info.good == 2 && info.bad == 1 && info.rows == 4 && info.newest == 1 &&
                 info.bins == BINS && info.azimuth_bins == 0 && info.radial[2] == 2.5);
    if (watch)
        check_rows(c, watch);
    airy_watch_close(&watch);
    CHECK_OK(c, airy_pattern_growing_finish(file));
    airy_pattern_growing_destroy(&file, false);
    if (CHECK_OK(c, airy_watch_open(&watch, path)))
        CHECK_OK(c, airy_watch_get_info(watch, &info));
    CHECK(c, watch && !info.written && info.good == 2 && info.bad == 1);
    airy_watch_close(&watch);
    int fd = -1; /* as one of several writers */
    CHECK_OK(c, airy_file_open_locked(&fd, path, true));
    if (CHECK_OK(c, airy_watch_open(&watch, path)))
        CHECK_OK(c, airy_watch_get_info(watch, &info));
    CHECK(c, watch && info.written);
    airy_watch_close(&watch);
    if (fd >= 0)
        close(fd);
}

static void check_watch_refusals(struct check *c)
{
    airy_watch *watch = NULL;
    airy_watch_info info;
    float value;
    double number;
    if (!check_case(c, "watch_refusals"))
        return;
    CHECK_FAILS(c, airy_watch_open(NULL, "a"), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_watch_open(&watch, NULL), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_watch_open(&watch, "/nowhere/a.h5"), AIRY_ERR_NOT_FOUND, "/nowhere/a.h5");
    CHECK(c, watch == NULL);
    CHECK_FAILS(c, airy_watch_get_info(NULL, &info), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_watch_read(NULL, 0, &value), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_watch_number(NULL, "total", 0, &number), AIRY_ERR_PARAM, "NULL");
    CHECK(c, !airy_watch_is_good(NULL, 0));
    airy_watch_close(&watch);
    airy_watch_close(NULL);
}

void check_watch(struct check *c)
{
    /* No device takes part: once is enough. */
    if (!c->is_cpu)
        return;
    check_growing(c);
    check_watch_refusals(c);
}
