#include <math.h>
#include <stdio.h>
#include <string.h>

#include "airy/geometry.h"
#include "base/error.h"

/* Photon energy in keV, mass attenuation coefficient in cm^2/g; an edge is two rows of one energy. */
struct energy_row {
    double energy, mass;
};

/*
 * Source: J. H. Hubbell, S. M. Seltzer, Tables of X-Ray Mass Attenuation Coefficients, NISTIR 5632
 * (1995), doi:10.18434/T4D01F; with coherent scattering.
 */
/* clang-format off */
static const struct energy_row silicon_rows[] = {
    {1, 1570}, {1.5, 535.5}, {1.8389, 309.2}, {1.8389, 3192}, {2, 2777}, {3, 978.4}, {4, 452.9},
    {5, 245}, {6, 147}, {8, 64.68}, {10, 33.89}, {15, 10.34}, {20, 4.464}, {30, 1.436},
    {40, 0.7012}, {50, 0.4385}, {60, 0.3207}, {80, 0.2228}, {100, 0.1835}, {150, 0.1448},
    {200, 0.1275}, {300, 0.1082}, {400, 0.09614}, {500, 0.08748}, {600, 0.08077}, {800, 0.07082},
    {1000, 0.06361},
};
static const struct energy_row germanium_rows[] = {
    {1, 1893}, {1.10304, 1502}, {1.2167, 1190}, {1.2167, 4389}, {1.23215, 4734}, {1.2478, 4974},
    {1.2478, 6698}, {1.32844, 6348}, {1.4143, 5554}, {1.4143, 6287}, {1.5, 5475}, {2, 2711},
    {3, 961.3}, {4, 449.7}, {5, 247.2}, {6, 150.9}, {8, 68.9}, {10, 37.42}, {11.1031, 28.11},
    {11.1031, 198.1}, {15, 91.52}, {20, 42.22}, {30, 13.85}, {40, 6.207}, {50, 3.335}, {60, 2.023},
    {80, 0.9501}, {100, 0.555}, {150, 0.2491}, {200, 0.1661}, {300, 0.1131}, {400, 0.09327},
    {500, 0.08212}, {600, 0.07452}, {800, 0.06426}, {1000, 0.05727},
};
static const struct energy_row gaas_rows[] = {
    {1, 1917}, {1.05613, 1685}, {1.1154, 1481}, {1.1154, 2772}, {1.12877, 3180}, {1.1423, 3532},
    {1.1423, 4372}, {1.21752, 4130}, {1.2977, 3657}, {1.2977, 4066}, {1.31034, 3971},
    {1.3231, 3879}, {1.3231, 5652}, {1.34073, 5525}, {1.3586, 5415}, {1.3586, 6266}, {1.5, 5159},
    {1.5265, 4939}, {1.5265, 5278}, {2, 2731}, {3, 970.2}, {4, 453.9}, {5, 249.5}, {6, 152.4},
    {8, 69.6}, {10, 37.8}, {10.3671, 34.25}, {10.3671, 126}, {11.0916, 105.9}, {11.8667, 88.99},
    {11.8667, 168.5}, {15, 92.2}, {20, 42.58}, {30, 13.97}, {40, 6.262}, {50, 3.365}, {60, 2.042},
    {80, 0.9587}, {100, 0.5598}, {150, 0.2509}, {200, 0.1671}, {300, 0.1137}, {400, 0.09371},
    {500, 0.08248}, {600, 0.07484}, {800, 0.06452}, {1000, 0.05751},
};
static const struct energy_row cdte_rows[] = {
    {1, 7927}, {1.003, 7875}, {1.006, 7824}, {1.006, 8014}, {1.5, 3291}, {2, 1664}, {3, 614.6},
    {3.5375, 406.4}, {3.5375, 778.7}, {3.63101, 730}, {3.727, 684}, {3.727, 860.1}, {4, 723},
    {4.018, 715.1}, {4.018, 793.4}, {4.17657, 722.1}, {4.3414, 656.2}, {4.3414, 932.8},
    {4.47465, 873.9}, {4.612, 813.5}, {4.612, 943.8}, {4.7728, 870.2}, {4.9392, 799.9},
    {4.9392, 865.3}, {5, 839.2}, {6, 528.6}, {8, 249.2}, {10, 138.1}, {15, 46.57}, {20, 21.44},
    {26.7112, 9.834}, {26.7112, 29.43}, {30, 21.82}, {31.8138, 18.73}, {31.8138, 34.92}, {40, 19.3},
    {50, 10.67}, {60, 6.542}, {80, 3.019}, {100, 1.671}, {150, 0.6071}, {200, 0.3246},
    {300, 0.1628}, {400, 0.1147}, {500, 0.09291}, {600, 0.08042}, {800, 0.066}, {1000, 0.05742},
};
/* clang-format on */

#define ROWS(rows) rows, sizeof(rows) / sizeof((rows)[0])

static const struct {
    const char *name;
    double density; /* g/cm^3 */
    const struct energy_row *rows;
    size_t count;
} materials[] = {
    {"Si", 2.329, ROWS(silicon_rows)},
    {"Ge", 5.327, ROWS(germanium_rows)},
    {"GaAs", 5.3176, ROWS(gaas_rows)},
    {"CdTe", 5.85, ROWS(cdte_rows)},
};

airy_status airy_sensor_attenuation(double *attenuation, const char *material, double wavelength)
{
    AIRY_FAIL_IF(!attenuation, AIRY_ERR_PARAM, "airy_sensor_attenuation: attenuation is NULL");
    AIRY_FAIL_IF(!material, AIRY_ERR_PARAM, "airy_sensor_attenuation: material is NULL");
    AIRY_FAIL_ON_IF(!(wavelength > 0 && isfinite(wavelength)), AIRY_ERR_PARAM,
                    AIRY_SUBJECT_PARAMETER, "%s = %g m, expected > 0", "wavelength", wavelength);
    char list[64] = "";
    const size_t count = sizeof materials / sizeof *materials;
    size_t m = 0;
    while (m < count && strcmp(materials[m].name, material) != 0) {
        strcat(strcat(list, m ? ", " : ""), materials[m].name);
        m++;
    }
    AIRY_FAIL_HINT_IF(m == count, AIRY_ERR_NOT_FOUND, AIRY_HINT_ATTENUATION, AIRY_SUBJECT_NONE,
                      "the attenuation of sensor material '%.16s' is not in the table of %s",
                      material, list);
    const struct energy_row *rows = materials[m].rows;
    const size_t last = materials[m].count - 1;
    const double energy = AIRY_HC_EV_M / 1e3 / wavelength;
    AIRY_FAIL_ON_IF(!(energy >= rows[0].energy && energy <= rows[last].energy), AIRY_ERR_PARAM,
                    AIRY_SUBJECT_PARAMETER,
                    "%s = %g keV, expected %g to %g keV, where the attenuation of %s is known",
                    "energy", energy, rows[0].energy, rows[last].energy, material);
    size_t k = last - 1;
    while (k > 0 && rows[k].energy > energy)
        k--;
    /* From the lower to the upper row of an interval, in logarithms of both. */
    const double at = log(energy / rows[k].energy) / log(rows[k + 1].energy / rows[k].energy);
    const double mass = exp(log(rows[k].mass) + at * log(rows[k + 1].mass / rows[k].mass));
    *attenuation = 100 * materials[m].density * mass;
    return AIRY_OK;
}
