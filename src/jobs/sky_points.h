/* Points of the job sky. */
#ifndef AIRY_JOBS_SKY_POINTS_H
#define AIRY_JOBS_SKY_POINTS_H

#include "airy/sky.h"
#include "jobs/job.h"

struct airy_sky_points {
    double *a, *b; /* x and y, or longitude and latitude */
    size_t count, room;
};

/*
 * Look at the text of a parameter, A,B or the name of a file, without opening the file. AIRY_ERR_PARAM.
 * of_sky: the points are places on the sky, not pixels.
 */
airy_status airy_sky_points_check(const char *name, const char *text, bool of_sky);
/* Find its file, where it is no A,B, before anything else is read. */
airy_status airy_sky_points_find(const char *name, const char *text);
/* Read its points. kind: of places on the sky; NULL: they are pixels. */
airy_status airy_sky_points_read(struct airy_sky_points *points, const char *name, const char *text,
                                 const airy_sky_info *kind);
/* Take those of an array [points, 2]. */
airy_status airy_sky_points_take(struct airy_sky_points *points, const char *name,
                                 const airy_host_view *view);
void airy_sky_points_free(struct airy_sky_points *points);

#endif
