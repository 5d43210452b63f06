/* The parameters that decide an integrator's values, by the names of the command's options. */
#include "base/fingerprint.h"
#include "integrate/integrator.h"

static void put_number(struct airy_fingerprint *f, const char *name, double number)
{
    airy_fingerprint_number(f, AIRY_FINGERPRINT_VALUE, name, number);
}

static void put_word(struct airy_fingerprint *f, const char *name, const char *word)
{
    airy_fingerprint_word(f, AIRY_FINGERPRINT_VALUE, name, word);
}

static void put_flag(struct airy_fingerprint *f, const char *name, bool flag)
{
    put_word(f, name, flag ? "yes" : "no");
}

/* A number that counts where it is given. */
static void put_given(struct airy_fingerprint *f, const char *name, bool given, double number)
{
    if (given)
        put_number(f, name, number);
    else
        put_word(f, name, "none");
}

static void put_image(struct airy_fingerprint *f, const char *name, const float *image,
                      size_t pixels)
{
    airy_fingerprint_array(f, AIRY_FINGERPRINT_VALUE, name, image, pixels * sizeof(*image));
}

static void put_sensor(struct airy_fingerprint *f, const airy_integrator *it)
{
    const airy_sensor *sensor = &it->geometry.detector.sensor;
    const bool used = it->geometry.parallax || it->params.sensor_efficiency;
    put_flag(f, "parallax", it->geometry.parallax);
    put_flag(f, "sensor-efficiency", it->params.sensor_efficiency);
    put_given(f, "sensor-thickness", used, sensor->thickness);
    put_given(f, "sensor-attenuation", used, sensor->attenuation);
}

static void put_geometry(struct airy_fingerprint *f, const airy_integrator *it)
{
    const airy_geometry *g = &it->geometry;
    const airy_detector *d = &g->detector;
    const struct {
        const char *name;
        double value;
    } numbers[] = {
        {"dist", g->dist},
        {"poni1", g->poni1},
        {"poni2", g->poni2},
        {"rot1", g->rot1},
        {"rot2", g->rot2},
        {"rot3", g->rot3},
        {"wavelength", g->wavelength},
        {"incidence", g->incidence},
        {"tilt", g->tilt},
        {"sample-orientation", g->sample_orientation},
        {"pixel1", d->pixel1},
        {"pixel2", d->pixel2},
        {"orientation", d->orientation ? d->orientation : 3},
    };
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        put_number(f, numbers[i].name, numbers[i].value);
    airy_fingerprint_array(f, AIRY_FINGERPRINT_VALUE, "pixel-corners", d->corners,
                           12 * it->pixels * sizeof(float));
    put_flag(f, "detector-dummies", d->dectris_dummy);
    put_sensor(f, it);
}

static void put_rings(struct airy_fingerprint *f, const airy_integrator_params *p)
{
    put_given(f, "clip", p->has_clip, p->clip_threshold);
    put_given(f, "clip-cycles", p->has_clip, p->clip_cycles);
    put_given(f, "quantile-lower", p->has_quantile, p->quantile[0]);
    put_given(f, "quantile-upper", p->has_quantile, p->quantile[1]);
}

/* Of two dimensions the axis is compared by itself. */
static void put_range(struct airy_fingerprint *f, const airy_integrator_params *p)
{
    const bool cut = p->has_azimuth_range && !p->azimuth_bins;
    put_given(f, "azimuth-range-lower", cut, p->azimuth_range[0]);
    put_given(f, "azimuth-range-upper", cut, p->azimuth_range[1]);
    put_flag(f, "chi-zero", p->chi_zero && (cut || p->azimuth_bins));
}

void airy_integrator_put_fingerprint(struct airy_fingerprint *f, const airy_integrator *it)
{
    const airy_integrator_params *p = &it->params;
    const bool compat = p->compat == AIRY_COMPAT_PYFAI;
    put_geometry(f, it);
    put_word(f, "unit", airy_unit_name(p->unit));
    put_word(f, "split", airy_split_name(p->split));
    put_word(f, "compat", compat ? "pyfai" : "none");
    put_word(f, "method", compat ? airy_method_name(p->method) : "any");
    put_word(f, "error-model", airy_error_model_name(p->error_model));
    put_range(f, p);
    airy_fingerprint_mask(f, AIRY_FINGERPRINT_VALUE, "mask", p->mask, it->pixels);
    put_image(f, "dark", p->dark, it->pixels);
    put_image(f, "flat", p->flat, it->pixels);
    put_image(f, "absorption", p->absorption, it->pixels);
    put_image(f, "variance", p->variance, it->pixels);
    put_given(f, "polarization", p->has_polarization, p->polarization);
    put_given(f, "polarization-offset", p->has_polarization, p->polarization_offset_deg);
    put_flag(f, "no-solid-angle", p->no_solid_angle);
    put_flag(f, "unweighted", p->unweighted);
    put_number(f, "normalization", p->normalization);
    put_given(f, "dummy", p->has_dummy, p->dummy);
    put_given(f, "delta-dummy", p->has_dummy, p->delta_dummy);
    put_flag(f, "no-default-dummy", p->no_default_dummy);
    put_given(f, "saturation", p->has_saturation, p->saturation);
    put_flag(f, "mask-saturated", p->mask_saturated);
    put_number(f, "empty", p->empty);
    put_rings(f, p);
}
