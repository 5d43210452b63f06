#include "airy/geometry.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/size.h"
#include "base/word.h"
#include "integrate/detector_table.h"
#include "integrate/pose.h"

#define PI 3.14159265358979323846

static const struct {
    const char *name, *label;
    bool needs_wavelength, positive;
} units[AIRY_UNIT_COUNT] = {
    [AIRY_UNIT_Q_NM] = {"q_nm^-1", "q (1/nm)", true, true},
    [AIRY_UNIT_Q_A] = {"q_A^-1", "q (1/\xc3\x85)", true, true},
    [AIRY_UNIT_TTH_DEG] = {"2th_deg", "2\xce\xb8 (deg)", false, true},
    [AIRY_UNIT_TTH_RAD] = {"2th_rad", "2\xce\xb8 (rad)", false, true},
    [AIRY_UNIT_R_MM] = {"r_mm", "r (mm)", false, true},
    [AIRY_UNIT_R_M] = {"r_m", "r (m)", false, true},
    [AIRY_UNIT_D2_NM] = {"d*2_nm^-2", "d*\xc2\xb2 (1/nm\xc2\xb2)", true, true},
    [AIRY_UNIT_LOG1Q_NM] = {"log(1+q.nm)_None", "ln(1 + q nm)", true, true},
    [AIRY_UNIT_QX_NM] = {"qx_nm^-1", "qx (1/nm)", true, false},
    [AIRY_UNIT_CHI_DEG] = {"chi_deg", "\xcf\x87 (deg)", false, false},
    [AIRY_UNIT_D_M] = {"d_m", "d (m)", true, true},
    [AIRY_UNIT_D_NM] = {"d_nm", "d (nm)", true, true},
    [AIRY_UNIT_D_A] = {"d_A", "d (\xc3\x85)", true, true},
    [AIRY_UNIT_D2_A] = {"d*2_A^-2", "d*\xc2\xb2 (1/\xc3\x85\xc2\xb2)", true, true},
    [AIRY_UNIT_LOG10Q_M] = {"log10(q.m)_None", "log10(q m)", true, false},
    [AIRY_UNIT_LOGQ_NM] = {"log(q.nm)_None", "ln(q nm)", true, false},
    [AIRY_UNIT_LOG1Q_A] = {"log(1+q.A)_None", "ln(1 + q \xc3\x85)", true, true},
    [AIRY_UNIT_ASINHQ_NM] = {"arcsinh(q.nm)_None", "arsinh(q nm)", true, true},
    [AIRY_UNIT_ASINHQ_A] = {"arcsinh(q.A)_None", "arsinh(q \xc3\x85)", true, true},
    [AIRY_UNIT_QY_NM] = {"qy_nm^-1", "qy (1/nm)", true, false},
    [AIRY_UNIT_SCATTERING_VERT_RAD] = {"scattering_angle_vert_rad",
                                       "vertical scattering angle (rad)", false, false},
    [AIRY_UNIT_SCATTERING_HORZ_RAD] = {"scattering_angle_horz_rad",
                                       "horizontal scattering angle (rad)", false, false},
    [AIRY_UNIT_EXIT_VERT_RAD] = {"exit_angle_vert_rad", "vertical exit angle (rad)", false, false},
    [AIRY_UNIT_EXIT_HORZ_RAD] = {"exit_angle_horz_rad", "horizontal exit angle (rad)", false,
                                 false},
    [AIRY_UNIT_EXIT_VERT_DEG] = {"exit_angle_vert_deg", "vertical exit angle (deg)", false, false},
    [AIRY_UNIT_EXIT_HORZ_DEG] = {"exit_angle_horz_deg", "horizontal exit angle (deg)", false,
                                 false},
    [AIRY_UNIT_QXGI_NM] = {"qxgi_nm^-1", "qx (1/nm)", true, false},
    [AIRY_UNIT_QYGI_NM] = {"qygi_nm^-1", "qy (1/nm)", true, false},
    [AIRY_UNIT_QZGI_NM] = {"qzgi_nm^-1", "qz (1/nm)", true, false},
    [AIRY_UNIT_QIP_NM] = {"qip_nm^-1", "qip (1/nm)", true, false},
    [AIRY_UNIT_QOOP_NM] = {"qoop_nm^-1", "qoop (1/nm)", true, false},
    [AIRY_UNIT_QTOT_NM] = {"qtot_nm^-1", "q (1/nm)", true, true},
    [AIRY_UNIT_QXGI_A] = {"qxgi_A^-1", "qx (1/\xc3\x85)", true, false},
    [AIRY_UNIT_QYGI_A] = {"qygi_A^-1", "qy (1/\xc3\x85)", true, false},
    [AIRY_UNIT_QZGI_A] = {"qzgi_A^-1", "qz (1/\xc3\x85)", true, false},
    [AIRY_UNIT_QIP_A] = {"qip_A^-1", "qip (1/\xc3\x85)", true, false},
    [AIRY_UNIT_QOOP_A] = {"qoop_A^-1", "qoop (1/\xc3\x85)", true, false},
    [AIRY_UNIT_QTOT_A] = {"qtot_A^-1", "q (1/\xc3\x85)", true, true},
    [AIRY_UNIT_CHI_RAD] = {"chi_rad", "\xcf\x87 (rad)", false, false},
    [AIRY_UNIT_CHIGI_RAD] = {"chigi_rad", "polar angle (rad)", false, false},
    [AIRY_UNIT_CHIGI_DEG] = {"chigi_deg", "polar angle (deg)", false, false},
};

static bool is_unit(airy_unit unit)
{
    return (unsigned)unit < AIRY_UNIT_COUNT;
}

const char *airy_unit_name(airy_unit unit)
{
    return is_unit(unit) ? units[unit].name : "?";
}

const char *airy_unit_label(airy_unit unit)
{
    return is_unit(unit) ? units[unit].label : "?";
}

bool airy_unit_needs_wavelength(airy_unit unit)
{
    return is_unit(unit) && units[unit].needs_wavelength;
}

unsigned airy_unit_sample(airy_unit unit)
{
    switch (unit) {
    case AIRY_UNIT_SCATTERING_VERT_RAD:
    case AIRY_UNIT_SCATTERING_HORZ_RAD:
        return AIRY_SAMPLE_ORIENTATION;
    case AIRY_UNIT_QZGI_NM:
    case AIRY_UNIT_QZGI_A:
        return AIRY_SAMPLE_INCIDENCE | AIRY_SAMPLE_ORIENTATION;
    case AIRY_UNIT_EXIT_VERT_RAD:
    case AIRY_UNIT_EXIT_HORZ_RAD:
    case AIRY_UNIT_EXIT_VERT_DEG:
    case AIRY_UNIT_EXIT_HORZ_DEG:
    case AIRY_UNIT_QXGI_NM:
    case AIRY_UNIT_QYGI_NM:
    case AIRY_UNIT_QIP_NM:
    case AIRY_UNIT_QOOP_NM:
    case AIRY_UNIT_QXGI_A:
    case AIRY_UNIT_QYGI_A:
    case AIRY_UNIT_QIP_A:
    case AIRY_UNIT_QOOP_A:
    case AIRY_UNIT_CHIGI_RAD:
    case AIRY_UNIT_CHIGI_DEG:
        return AIRY_SAMPLE_INCIDENCE | AIRY_SAMPLE_TILT | AIRY_SAMPLE_ORIENTATION;
    default:
        return 0;
    }
}

bool airy_unit_is_positive(airy_unit unit)
{
    return is_unit(unit) && units[unit].positive;
}

bool airy_unit_is_singular(airy_unit unit)
{
    return unit == AIRY_UNIT_D_M || unit == AIRY_UNIT_D_NM || unit == AIRY_UNIT_D_A ||
           unit == AIRY_UNIT_LOG10Q_M || unit == AIRY_UNIT_LOGQ_NM;
}

bool airy_unit_is_folded(airy_unit unit)
{
    return unit == AIRY_UNIT_QIP_NM || unit == AIRY_UNIT_QIP_A || unit == AIRY_UNIT_CHIGI_RAD ||
           unit == AIRY_UNIT_CHIGI_DEG;
}

double airy_unit_turn(airy_unit unit)
{
    return unit == AIRY_UNIT_CHI_DEG || unit == AIRY_UNIT_CHIGI_DEG   ? 360
           : unit == AIRY_UNIT_CHI_RAD || unit == AIRY_UNIT_CHIGI_RAD ? 2 * PI
                                                                      : 0;
}

bool airy_unit_is_azimuthal(airy_unit unit)
{
    return is_unit(unit) && !units[unit].positive && !airy_unit_is_singular(unit);
}

airy_unit airy_azimuth_unit(airy_unit unit)
{
    return unit == AIRY_UNIT_Q_NM ? AIRY_UNIT_CHI_DEG : unit;
}

static airy_status find_unit(airy_unit *unit, const char *name, bool azimuthal)
{
    const char *names[AIRY_UNIT_COUNT];
    size_t count = 0;
    bool known = false;
    for (int u = 0; u < AIRY_UNIT_COUNT; u++) {
        const bool same = strcmp(units[u].name, name) == 0;
        known = known || same;
        if (azimuthal && !airy_unit_is_azimuthal((airy_unit)u))
            continue;
        if (same) {
            *unit = (airy_unit)u;
            return AIRY_OK;
        }
        names[count++] = units[u].name;
    }
    char list[1024];
    airy_join_words(list, sizeof(list), names, count);
    AIRY_FAIL_IF(strcmp(name, "?") == 0, AIRY_ERR_PARAM, "there are %s", list);
    return !known
               ? airy_unknown_word(azimuthal ? "azimuthal unit" : "unit", name, names, count)
               : airy_fail(AIRY_ERR_PARAM, "'%s' is no azimuthal unit; there are %s", name, list);
}

airy_status airy_unit_parse(airy_unit *unit, const char *name)
{
    AIRY_FAIL_IF(!unit, AIRY_ERR_PARAM, "airy_unit_parse: unit is NULL");
    AIRY_FAIL_IF(!name, AIRY_ERR_PARAM, "airy_unit_parse: name is NULL");
    return find_unit(unit, name, false);
}

airy_status airy_unit_parse_azimuthal(airy_unit *unit, const char *name)
{
    AIRY_FAIL_IF(!unit, AIRY_ERR_PARAM, "airy_unit_parse_azimuthal: unit is NULL");
    AIRY_FAIL_IF(!name, AIRY_ERR_PARAM, "airy_unit_parse_azimuthal: name is NULL");
    return find_unit(unit, name, true);
}

/*
 * Values in the wrong unit are far beyond these: degrees are no angles of more than a turn, and
 * pixels in mm none of the tubes of neutron detectors, which are 25 mm wide.
 */
#define MOST_ANGLE 7.0  /* rad */
#define MOST_PIXEL 0.03 /* m */

static airy_status check_length(const char *name, double value, double limit)
{
    AIRY_FAIL_ON_IF(!(value > 0) || !(value <= limit), AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s = %g m, expected > 0 and <= %g m", name, value, limit);
    return AIRY_OK;
}

static airy_status check_range(const char *name, double value, double limit, const char *unit)
{
    AIRY_FAIL_ON_IF(!(fabs(value) <= limit), AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s = %g %s, expected between -%g and %g %s", name, value, unit, limit, limit,
                    unit);
    return AIRY_OK;
}

static airy_status check_sensor(const airy_sensor *s)
{
    AIRY_FAIL_IF(!memchr(s->material, '\0', sizeof s->material), AIRY_ERR_PARAM,
                 "the sensor's material has more than %zu bytes", sizeof s->material - 1);
    AIRY_FAIL_IF(!(s->thickness >= 0 && s->thickness <= 1), AIRY_ERR_PARAM,
                 "sensor thickness = %g m, expected 0 to 1 m", s->thickness);
    AIRY_FAIL_IF(!(s->attenuation >= 0 && s->attenuation <= 1e12), AIRY_ERR_PARAM,
                 "sensor attenuation = %g 1/m, expected 0 to 1e12 1/m", s->attenuation);
    return AIRY_OK;
}

airy_status airy_geometry_check(const airy_geometry *geometry)
{
    AIRY_FAIL_IF(!geometry, AIRY_ERR_PARAM, "airy_geometry_check: geometry is NULL");
    const airy_detector *d = &geometry->detector;
    AIRY_FAIL_IF(!memchr(d->name, '\0', sizeof d->name), AIRY_ERR_PARAM,
                 "the detector's name has more than %zu bytes", sizeof d->name - 1);
    const struct airy_detector_entry *entry = airy_detector_entry_find(d->name);
    const char *obstacle = entry && !d->file[0] ? airy_detector_obstacle(entry) : NULL;
    AIRY_FAIL_ON_IF(obstacle, AIRY_ERR_UNSUPPORTED, AIRY_SUBJECT_PARAMETER,
                    "%s '%s' %s: a NeXus detector file with its pixel_corners can stand for it",
                    "detector", d->name, obstacle);
    AIRY_TRY(check_length("pixel1", d->pixel1, MOST_PIXEL));
    AIRY_TRY(check_length("pixel2", d->pixel2, MOST_PIXEL));
    AIRY_TRY(check_length("distance", geometry->dist, 1e4));
    AIRY_TRY(check_range("poni1", geometry->poni1, 1e4, "m"));
    AIRY_TRY(check_range("poni2", geometry->poni2, 1e4, "m"));
    AIRY_TRY(check_range("rot1", geometry->rot1, MOST_ANGLE, "rad"));
    AIRY_TRY(check_range("rot2", geometry->rot2, MOST_ANGLE, "rad"));
    AIRY_TRY(check_range("rot3", geometry->rot3, MOST_ANGLE, "rad"));
    AIRY_TRY(check_range("incidence", geometry->incidence, MOST_ANGLE, "rad"));
    AIRY_TRY(check_range("tilt", geometry->tilt, MOST_ANGLE, "rad"));
    AIRY_FAIL_ON_IF(geometry->sample_orientation < 0 || geometry->sample_orientation > 8,
                    AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER, "%s = %d, expected 0 to 8",
                    "sample_orientation", geometry->sample_orientation);
    /* 0: unknown. 1e-15 m is 1.2 GeV. */
    AIRY_FAIL_ON_IF(geometry->wavelength != 0 &&
                        !(geometry->wavelength >= 1e-15 && geometry->wavelength <= 1e-3),
                    AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s = %g m, expected between 1e-15 and 0.001 m, or 0 for unknown", "wavelength",
                    geometry->wavelength);
    AIRY_FAIL_IF(d->orientation < 0 || d->orientation > 4,
                 d->orientation > 4 && d->orientation <= 8 ? AIRY_ERR_UNSUPPORTED : AIRY_ERR_PARAM,
                 "orientation = %d, expected 1 to 4", d->orientation);
    AIRY_TRY(check_sensor(&d->sensor));
    AIRY_FAIL_ON_IF(d->binning1 < 0 || d->binning1 > 64 || d->binning2 < 0 || d->binning2 > 64,
                    AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER, "%s = %d x %d, expected 1 to 64",
                    "binning", d->binning1, d->binning2);
    AIRY_FAIL_IF(!memchr(d->file, '\0', sizeof d->file), AIRY_ERR_PARAM,
                 "the path of the detector's file has more than %zu bytes", sizeof d->file - 1);
    AIRY_FAIL_IF(d->height > 1u << 20 || d->width > 1u << 20, AIRY_ERR_PARAM,
                 "detector of %zu x %zu pixels, expected at most 1048576 in each direction",
                 d->height, d->width);
    AIRY_FAIL_IF((d->height == 0) != (d->width == 0), AIRY_ERR_PARAM,
                 "detector of %zu x %zu pixels", d->height, d->width);
    return AIRY_OK;
}

airy_status airy_geometry_prepare(airy_geometry *prepared, const airy_geometry *geometry,
                                  bool sensor)
{
    AIRY_TRY(airy_geometry_check(geometry));
    const airy_detector *d = &geometry->detector;
    AIRY_FAIL_ON_IF(d->height == 0, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s '%s' has no shape: give one that fits the images", "detector", d->name);
    AIRY_FAIL_ON_IF(airy_detector_needs_arrays(d), AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s '%s' has no positions of its pixels: airy_detector_open makes them",
                    "detector", d->name);
    *prepared = *geometry;
    airy_sensor *s = &prepared->detector.sensor;
    if ((!geometry->parallax && !sensor) || s->attenuation > 0)
        return AIRY_OK;
    AIRY_FAIL_IF(s->material[0] == '\0', AIRY_ERR_PARAM,
                 "the correction for %s needs the sensor of detector '%s': its material or "
                 "attenuation is not known",
                 geometry->parallax ? "parallax" : "the sensor's efficiency", d->name);
    AIRY_FAIL_HINT_IF(
        geometry->wavelength == 0, AIRY_ERR_PARAM, AIRY_HINT_WAVELENGTH, AIRY_SUBJECT_NONE,
        "the attenuation of %s needs a wavelength, the geometry has none", s->material);
    return airy_sensor_attenuation(&s->attenuation, s->material, geometry->wavelength);
}

/* sensor: the caller wants to know of it, not of positions. */
static airy_status check_use(struct airy_pose *pose, const airy_geometry *geometry, airy_unit unit,
                             bool sensor)
{
    airy_geometry prepared;
    AIRY_TRY(airy_geometry_prepare(&prepared, geometry, sensor));
    AIRY_FAIL_ON_IF(!is_unit(unit), AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s = %d, expected 0 to %d", "unit", (int)unit, AIRY_UNIT_COUNT - 1);
    AIRY_FAIL_HINT_IF(units[unit].needs_wavelength && geometry->wavelength == 0, AIRY_ERR_PARAM,
                      AIRY_HINT_WAVELENGTH, AIRY_SUBJECT_PARAMETER,
                      "%s '%s' needs a wavelength, the geometry has none", "unit",
                      units[unit].name);
    airy_pose_make(pose, &prepared);
    return AIRY_OK;
}

airy_status airy_geometry_centers(const airy_geometry *geometry, airy_unit unit, double *out)
{
    AIRY_FAIL_IF(!out, AIRY_ERR_PARAM, "airy_geometry_centers: out is NULL");
    struct airy_pose pose;
    AIRY_TRY(check_use(&pose, geometry, unit, false));
    const size_t h = geometry->detector.height, w = geometry->detector.width;
    for (size_t i = 0; i < h; i++)
        airy_pose_radial(&pose, unit, (double)i + 0.5, 0.5, w, out + i * w);
    return AIRY_OK;
}

airy_status airy_geometry_chi(const airy_geometry *geometry, double *out)
{
    AIRY_FAIL_IF(!out, AIRY_ERR_PARAM, "airy_geometry_chi: out is NULL");
    struct airy_pose pose;
    AIRY_TRY(check_use(&pose, geometry, AIRY_UNIT_R_M, false));
    const size_t h = geometry->detector.height, w = geometry->detector.width;
    for (size_t i = 0; i < h; i++)
        airy_pose_chi(&pose, (double)i + 0.5, 0.5, w, out + i * w);
    return AIRY_OK;
}

airy_status airy_geometry_solid_angle(const airy_geometry *geometry, double *out)
{
    AIRY_FAIL_IF(!out, AIRY_ERR_PARAM, "airy_geometry_solid_angle: out is NULL");
    struct airy_pose pose;
    AIRY_TRY(check_use(&pose, geometry, AIRY_UNIT_R_M, false));
    const size_t h = geometry->detector.height, w = geometry->detector.width;
    for (size_t i = 0; i < h; i++)
        airy_pose_solid_angle(&pose, (double)i + 0.5, 0.5, w, out + i * w);
    return AIRY_OK;
}

airy_status airy_geometry_polarization(const airy_geometry *geometry, double factor,
                                       double offset_rad, double *out)
{
    AIRY_FAIL_IF(!out, AIRY_ERR_PARAM, "airy_geometry_polarization: out is NULL");
    struct airy_pose pose;
    AIRY_TRY(check_use(&pose, geometry, AIRY_UNIT_R_M, false));
    AIRY_FAIL_IF(!(fabs(factor) <= 1), AIRY_ERR_PARAM, "polarization factor = %g, expected -1 to 1",
                 factor);
    AIRY_FAIL_IF(!isfinite(offset_rad), AIRY_ERR_PARAM, "polarization offset = %g rad", offset_rad);
    const size_t h = geometry->detector.height, w = geometry->detector.width;
    for (size_t i = 0; i < h; i++)
        airy_pose_polarization(&pose, factor, offset_rad, (double)i + 0.5, 0.5, w, out + i * w);
    return AIRY_OK;
}

airy_status airy_geometry_efficiency(const airy_geometry *geometry, double *out)
{
    AIRY_FAIL_IF(!out, AIRY_ERR_PARAM, "airy_geometry_efficiency: out is NULL");
    struct airy_pose pose;
    AIRY_TRY(check_use(&pose, geometry, AIRY_UNIT_R_M, true));
    const size_t h = geometry->detector.height, w = geometry->detector.width;
    for (size_t i = 0; i < h; i++)
        airy_pose_efficiency(&pose, (double)i + 0.5, 0.5, w, out + i * w);
    return AIRY_OK;
}
