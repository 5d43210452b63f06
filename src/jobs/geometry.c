#include "jobs/geometry.h"

#include <math.h>

#include <string.h>

#include "base/number.h"

static const char *parse_sensor(void *field, const char *text)
{
    return airy_sensor_parse(field, text) == AIRY_OK ? NULL : airy_last_error();
}

static void print_sensor(char *text, size_t size, const void *field)
{
    const airy_sensor *sensor = field;
    char number[AIRY_NUMBER_TEXT];
    snprintf(text, size, "%s%s%s", sensor->material, sensor->thickness > 0 ? "," : "",
             sensor->thickness > 0 ? airy_number_text(number, sensor->thickness, false) : "");
}

static const struct airy_job_record sensor_record = {sizeof(airy_sensor), parse_sensor,
                                                     print_sensor};

#define ROW(member, ...) AIRY_JOB_ROW(struct airy_geometry_values, member, __VA_ARGS__)
const struct airy_job_row airy_geometry_rows[] = {
    ROW(poni, .name = "poni", .type = AIRY_PARAMETER_PATH, .role = AIRY_ROLE_READ,
        .help = "reads the geometry from this PONI file, version 1, 2, 2.1 or 3",
        .section = "Geometry"),
    ROW(detector, .name = "detector", .type = AIRY_PARAMETER_TEXT, .argument = "NAME|FILE",
        .help = "names the detector by the registry, such as eiger_4M, or by a NeXus detector file "
                "(.h5, .nxs)"),
    ROW(pixel, .name = "pixel", .type = AIRY_PARAMETER_TUPLE, .least = 2, .most = 2,
        .hi = (double)INFINITY, .open = true, .unit = "m", .argument = "P1,P2",
        .help = "sets height and width of a pixel, for a detector that is not in the registry"),
    ROW(binning, .name = "binning", .type = AIRY_PARAMETER_SHAPE, .lo = 1, .hi = 64,
        .argument = "NxM", .fallback = "1x1", .computed = true,
        .help =
            "sets how many pixels of the detector (rows x columns) form one pixel of the frames"),
    ROW(orientation, .name = "orientation", .type = AIRY_PARAMETER_WHOLE, .lo = 1, .hi = 4,
        .fallback = "3", .computed = true,
        .help = "sets in which corner the first pixel lies, as PONI files count the corners"),
    ROW(dist, .name = "dist", .type = AIRY_PARAMETER_REAL, .lo = 1e-9, .hi = 1e6, .unit = "m",
        .argument = "D", .help = "sets the distance of sample and detector plane"),
    ROW(poni1, .name = "poni1", .type = AIRY_PARAMETER_REAL, .lo = -1e6, .hi = 1e6, .unit = "m",
        .argument = "Y", .help = "sets the point of normal incidence along the slow axis"),
    ROW(poni2, .name = "poni2", .type = AIRY_PARAMETER_REAL, .lo = -1e6, .hi = 1e6, .unit = "m",
        .argument = "X", .help = "sets the point of normal incidence along the fast axis"),
    ROW(rot1, .name = "rot1", .type = AIRY_PARAMETER_REAL, .lo = -7, .hi = 7, .unit = "rad",
        .argument = "A", .fallback = "0", .computed = true, .help = "sets the first rotation"),
    ROW(rot2, .name = "rot2", .type = AIRY_PARAMETER_REAL, .lo = -7, .hi = 7, .unit = "rad",
        .argument = "A", .fallback = "0", .computed = true, .help = "sets the second rotation"),
    ROW(rot3, .name = "rot3", .type = AIRY_PARAMETER_REAL, .lo = -7, .hi = 7, .unit = "rad",
        .argument = "A", .fallback = "0", .computed = true, .help = "sets the third rotation"),
    ROW(wavelength, .name = "wavelength", .type = AIRY_PARAMETER_REAL, .lo = 1e-15, .hi = 1e-3,
        .unit = "m", .argument = "L", .help = "sets the wavelength"),
    ROW(energy, .name = "energy", .type = AIRY_PARAMETER_REAL, .lo = 1e-6, .hi = 1000,
        .unit = "keV", .argument = "E",
        .help = "sets the photon energy, instead of the wavelength"),
    {{.name = "sensor",
      .type = AIRY_PARAMETER_RECORD,
      .argument = "M[,T]",
      .help = "sets what photons are absorbed in: Si, Ge, GaAs or CdTe, and its thickness in m"},
     offsetof(struct airy_geometry_values, sensor),
     &sensor_record},
    ROW(attenuation, .name = "attenuation", .type = AIRY_PARAMETER_REAL, .lo = 1e-3, .hi = 1e12,
        .unit = "1/m", .argument = "MU",
        .help = "sets the sensor's linear attenuation, instead of that of its material"),
    ROW(parallax, .name = "parallax", .type = AIRY_PARAMETER_FLAG,
        .help = "corrects positions for the depth of absorption in the sensor"),
    {{0}, 0, NULL}};
#undef ROW

airy_status airy_job_check_geometry(const airy_job *job)
{
    AIRY_FAIL_ON_IF(airy_job_is_set(job, "wavelength") && airy_job_is_set(job, "energy"),
                    AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER, "%s and energy: give one of them",
                    "wavelength");
    return AIRY_OK;
}

/* An absorber that nothing uses; status: of a value alone, or of one that does not suit the files. */
static airy_status refuse_absorber(airy_status status, const struct airy_geometry_values *v,
                                   const char *other)
{
    return airy_fail_on(status, AIRY_SUBJECT_PARAMETER, "%s goes with parallax%s%s",
                        v->sensor.material[0] ? "sensor" : "attenuation", other ? " or " : "",
                        other ? other : "");
}

static bool absorbs(const struct airy_geometry_values *v)
{
    return v->sensor.material[0] || v->attenuation != 0;
}

airy_status airy_job_check_absorber(const struct airy_geometry_values *v, const char *other,
                                    bool uses_other)
{
    return absorbs(v) && !v->parallax && !v->poni && !uses_other
               ? refuse_absorber(AIRY_ERR_PARAM, v, other)
               : AIRY_OK;
}

airy_geometry_params airy_job_geometry_params(const airy_job *job,
                                              const struct airy_geometry_values *v,
                                              const char *input)
{
    return (airy_geometry_params){.poni = v->poni,
                                  .detector = v->detector,
                                  .has_pixel = v->pixel.count > 0,
                                  .pixel = {v->pixel.values[0], v->pixel.values[1]},
                                  .binning = {(int)v->binning[0], (int)v->binning[1]},
                                  .orientation = (int)v->orientation,
                                  .dist = v->dist,
                                  .has_poni1 = airy_job_is_set(job, "poni1"),
                                  .has_poni2 = airy_job_is_set(job, "poni2"),
                                  .has_rot1 = airy_job_is_set(job, "rot1"),
                                  .has_rot2 = airy_job_is_set(job, "rot2"),
                                  .has_rot3 = airy_job_is_set(job, "rot3"),
                                  .poni1 = v->poni1,
                                  .poni2 = v->poni2,
                                  .rot1 = v->rot1,
                                  .rot2 = v->rot2,
                                  .rot3 = v->rot3,
                                  .wavelength = v->wavelength,
                                  .energy = v->energy,
                                  .sensor = v->sensor,
                                  .attenuation = v->attenuation,
                                  .parallax = v->parallax,
                                  .input = input,
                                  .message = airy_job_pass_message,
                                  .user = (void *)job};
}

/* That of a result counts more than the files', and less than each given value. */
static void take_replayed(airy_stack_meta *meta, const airy_geometry *replayed)
{
    const bool marks = meta->geometry.detector.dectris_dummy;
    meta->has_geometry = true;
    meta->geometry = *replayed;
    meta->geometry.detector.dectris_dummy |= marks &&
                                             strcmp(replayed->detector.name, "Detector") == 0;
}

airy_status airy_job_resolve_geometry(const airy_job *job, airy_geometry *geometry,
                                      const struct airy_geometry_values *values,
                                      const struct airy_geometry_source *from)
{
    const airy_geometry_params given = airy_job_geometry_params(job, values, from->input);
    if (from->replayed && !airy_geometry_is_given(&given)) /* nothing is taken from the files */
        take_replayed(from->meta, from->replayed);
    else if (from->stack)
        AIRY_TRY(airy_geometry_hold(from->stack, NULL, &given));
    AIRY_TRY(
        airy_geometry_resolve(geometry, &given, from->meta, from->info->height, from->info->width));
    return absorbs(values) && !geometry->parallax && !from->uses_absorber
               ? refuse_absorber(AIRY_ERR_UNSUPPORTED, values, from->absorber)
               : AIRY_OK;
}
