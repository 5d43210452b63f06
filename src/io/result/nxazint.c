#include "io/result/nxazint.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "io/hdf5/put.h"
#include "io/hdf5/sources.h"

/* How the definitions name the units they know; NULL: none of them. */
static const char *unit_words(airy_unit unit, const char **units)
{
    static const struct {
        const char *name, *quantity, *units;
    } known[] = {
        {"q_nm^-1", "q", "1/nm"},
        {"q_A^-1", "q", "1/angstrom"},
        {"2th_deg", "2theta", "degrees"},
        {"2th_rad", "2theta", "radian"},
    };
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (strcmp(airy_unit_name(unit), known[i].name) == 0) {
            *units = known[i].units;
            return known[i].quantity;
        }
    return NULL;
}

airy_status airy_nxazint_check(airy_unit unit, airy_unit azimuth_unit)
{
    const char *units;
    AIRY_FAIL_IF(!unit_words(unit, &units), AIRY_ERR_UNSUPPORTED,
                 "NXazint files hold q or 2 theta (q_nm^-1, q_A^-1, 2th_deg, 2th_rad), not %s",
                 airy_unit_name(unit));
    AIRY_FAIL_IF(azimuth_unit != AIRY_UNIT_CHI_DEG && azimuth_unit != AIRY_UNIT_CHI_RAD,
                 AIRY_ERR_UNSUPPORTED,
                 "NXazint2d files have chi as second axis (chi_deg, chi_rad), not %s",
                 airy_unit_name(azimuth_unit));
    return AIRY_OK;
}

/* h5py's and NeXus' way of a truth value. */
static herr_t put_bool(hid_t parent, const char *name, bool value)
{
    int8_t number = 0;
    const hid_t type = H5Tenum_create(H5T_NATIVE_INT8);
    const bool made = type >= 0 && H5Tenum_insert(type, "FALSE", &number) >= 0 &&
                      (number = 1, H5Tenum_insert(type, "TRUE", &number) >= 0);
    const hid_t dataset = made ? airy_put_contiguous(parent, name, type, 0, NULL) : -1;
    number = value;
    const herr_t done =
        dataset < 0 ? -1 : H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, &number);
    if (dataset >= 0)
        H5Dclose(dataset);
    if (type >= 0)
        H5Tclose(type);
    return done;
}

static herr_t put_numbers(hid_t group, const char *name, const double *values, size_t count,
                          const char *long_name, const char *units)
{
    const hsize_t shape = count;
    const hid_t dataset = airy_put_contiguous(group, name, H5T_NATIVE_DOUBLE, 1, &shape);
    herr_t done = -1;
    if (dataset >= 0) {
        done = H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0 ||
                       airy_put_text(dataset, "long_name", long_name) < 0 ||
                       airy_put_text(dataset, "units", units) < 0
                   ? -1
                   : 0;
        H5Dclose(dataset);
    }
    return done;
}

/* Bin centres and, of two bins or more, which are all as wide, edges. */
static herr_t put_axis(hid_t group, const char *name, const double *centres, size_t count,
                       const char *const long_names[2], const char *units)
{
    char edges_name[48];
    double *edges = count > 1 ? malloc((count + 1) * sizeof(*edges)) : NULL;
    herr_t done = put_numbers(group, name, centres, count, long_names[0], units);
    snprintf(edges_name, sizeof(edges_name), "%s_edges", name);
    if (done >= 0 && count > 1) {
        const double width = edges ? (centres[count - 1] - centres[0]) / (double)(count - 1) : 0;
        for (size_t i = 0; edges && i <= count; i++)
            edges[i] = centres[0] + ((double)i - 0.5) * width;
        done = edges ? put_numbers(group, edges_name, edges, count + 1, long_names[1], units) : -1;
    }
    free(edges);
    return done;
}

static herr_t put_axes(hid_t group, const struct airy_pattern_spec *spec)
{
    const char *units = "", *quantity = unit_words(spec->unit, &units);
    const bool is_q = quantity[0] == 'q';
    const char *const radial[2] = {quantity, is_q ? "q bin edges" : "2theta bin edges"},
                      *const azimuth[2] = {"azimuthal bin center", "azimuthal bin edges"};
    const size_t bins = spec->azimuth_bins ? spec->bins / spec->azimuth_bins : spec->bins;
    if (put_axis(group, "radial_axis", spec->radial, bins, radial, units) < 0)
        return -1;
    return spec->azimuth_bins
               ? put_axis(group, "azimuthal_axis", spec->azimuth, spec->azimuth_bins, azimuth,
                          spec->azimuth_unit == AIRY_UNIT_CHI_RAD ? "radian" : "degrees")
               : 0;
}

static herr_t describe(hid_t root, const char *path, const char *long_name)
{
    const hid_t dataset = airy_hdf5_dataset(root, path);
    if (dataset < 0)
        return -1;
    /* In place of this program's own: both names lead to one dataset. */
    if (H5Aexists(dataset, "long_name") > 0)
        H5Adelete(dataset, "long_name");
    const herr_t done = airy_put_text(dataset, "long_name", long_name) < 0 ||
                                airy_put_text(dataset, "units", "arbitrary units") < 0
                            ? -1
                            : 0;
    H5Dclose(dataset);
    return done;
}

static herr_t link_to(hid_t root, const char *from, const char *to)
{
    return H5Lcreate_hard(root, from, root, to, H5P_DEFAULT, H5P_DEFAULT);
}

/* The group that viewers show. norm: all frames have the same. */
static herr_t put_data(hid_t root, hid_t other, bool norm, const struct airy_pattern_spec *spec)
{
    static const char *const axes[2][3] = {{".", "radial_axis"},
                                           {".", "azimuthal_axis", "radial_axis"}};
    static const char *const shared[] = {"radial_axis", "radial_axis_edges", "azimuthal_axis",
                                         "azimuthal_axis_edges"};
    const bool two = spec->azimuth_bins > 0;
    const hid_t entry = H5Gopen2(root, "entry", H5P_DEFAULT);
    const hid_t data = entry < 0 ? -1 : airy_put_group(entry, "data", "NXdata");
    herr_t done = data < 0 || airy_put_text(data, "signal", "I") < 0 ||
                          airy_put_texts(data, "axes", axes[two], two ? 3 : 2) < 0 ||
                          airy_put_text(data, "interpretation", two ? "image" : "spectrum") < 0 ||
                          (two && airy_put_int(data, "azimuthal_axis_indices", 1) < 0) ||
                          airy_put_int(data, "radial_axis_indices", two ? 2 : 1) < 0 ||
                          link_to(root, "entry/integrate/result/intensity", "entry/data/I") < 0 ||
                          (spec->errors && link_to(root, "entry/integrate/result/sem",
                                                   "entry/data/I_errors") < 0) ||
                          (norm && link_to(root, "entry/integrate/merged/sum_normalization",
                                           "entry/data/norm") < 0)
                      ? -1
                      : 0;
    if (done >= 0 && other < 0)
        done = put_axes(data, spec);
    for (size_t i = 0; other >= 0 && i < 4 && done >= 0; i++) {
        char path[64];
        snprintf(path, sizeof(path), "entry/data/%s", shared[i]);
        if (H5Lexists(other, path, H5P_DEFAULT) > 0)
            done = H5Lcreate_hard(other, path, root, path, H5P_DEFAULT, H5P_DEFAULT);
    }
    if (data >= 0)
        H5Gclose(data);
    if (entry >= 0)
        H5Gclose(entry);
    return done;
}

/* The word is in the text, between anything but letters and digits; in whatever case. */
static bool has_word(const char *text, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = text; *at; at++)
        if (strncasecmp(at, word, length) == 0 && (at == text || !isalnum((unsigned char)at[-1])) &&
            !isalnum((unsigned char)at[length]))
            return true;
    return false;
}

static bool has_any(const char *text, const char *const *words, size_t count)
{
    size_t i = 0;
    while (i < count && !has_word(text, words[i]))
        i++;
    return i < count;
}

/* The word that NXsource has for the facility of this name; NULL where it is not known. */
static const char *type_of_source(const char *name)
{
    /* Storage rings with X-ray beamlines (lightsources.org), and X-ray lasers. */
    static const char *const rings[] = {"ALBA",
                                        "ALS",
                                        "Advanced Light Source",
                                        "ANKA",
                                        "APS",
                                        "ASTRID2",
                                        "Advanced Photon Source",
                                        "BESSY",
                                        "BESSY II",
                                        "CHESS",
                                        "CLS",
                                        "Canadian Light Source",
                                        "DELTA",
                                        "Diamond",
                                        "DLS",
                                        "Elettra",
                                        "ESRF",
                                        "HEPS",
                                        "Indus-2",
                                        "KARA",
                                        "MAX IV",
                                        "Australian Synchrotron",
                                        "MAXIV",
                                        "NanoTerasu",
                                        "NSLS",
                                        "NSLS-II",
                                        "NSLS II",
                                        "NSRRC",
                                        "PETRA III",
                                        "PETRA",
                                        "PLS-II",
                                        "Photon Factory",
                                        "SESAME",
                                        "SIRIUS",
                                        "SLS",
                                        "SOLARIS",
                                        "Swiss Light Source",
                                        "SOLEIL",
                                        "SPring-8",
                                        "Synchrotron",
                                        "SSRF",
                                        "SSRL",
                                        "TPS"};
    static const char *const lasers[] = {"European XFEL", "EuXFEL",   "FERMI",    "FLASH", "LCLS",
                                         "LCLS-II",       "PAL-XFEL", "SwissFEL", "SACLA"};
    if (has_any(name, lasers, sizeof(lasers) / sizeof(lasers[0])))
        return "Free-Electron Laser";
    return has_any(name, rings, sizeof(rings) / sizeof(rings[0])) ? "Synchrotron X-ray Source"
                                                                  : NULL;
}

/* As the file says it, or by the facility's name; "unknown" is none of NXsource's own words. */
static herr_t put_source_type(hid_t source, const airy_nxazint *n)
{
    const char *type = n->source_type ? n->source_type
                       : n->source    ? type_of_source(n->source)
                                      : NULL;
    if (airy_put_string(source, "type", type ? type : "unknown") < 0)
        return -1;
    if (type)
        return 0;
    const hid_t dataset = H5Dopen2(source, "type", H5P_DEFAULT);
    const herr_t done = dataset < 0 ? -1 : airy_put_int(dataset, "custom", 1);
    if (dataset >= 0)
        H5Dclose(dataset);
    return done;
}

static herr_t put_instrument(hid_t entry, const airy_nxazint *n)
{
    const hid_t instrument = airy_put_group(entry, "instrument", "NXinstrument");
    const hid_t mono =
        instrument < 0 ? -1 : airy_put_group(instrument, "monochromator", "NXmonochromator");
    const hid_t source = mono < 0 ? -1 : airy_put_group(instrument, "source", "NXsource");
    const double angstrom = n->wavelength * 1e10;
    herr_t done = source < 0 ||
                          airy_put_string(instrument, "name",
                                          n->instrument ? n->instrument : "unknown") < 0 ||
                          airy_put_string(source, "name", n->source ? n->source : "unknown") < 0 ||
                          put_source_type(source, n) < 0 ||
                          airy_put_string(source, "probe", "x-ray") < 0
                      ? -1
                      : 0;
    if (done >= 0 && angstrom > 0)
        done = airy_put_double(mono, "wavelength", angstrom, "angstrom") < 0 ||
                       airy_put_double(mono, "energy", AIRY_HC_EV_M * 1e7 / angstrom, "keV") < 0
                   ? -1
                   : 0;
    if (source >= 0)
        H5Gclose(source);
    if (mono >= 0)
        H5Gclose(mono);
    if (instrument >= 0)
        H5Gclose(instrument);
    return done;
}

/* The same texts as of /entry/integrate. */
static herr_t put_reduction(hid_t root, hid_t entry)
{
    static const char *const texts[] = {"program", "version", "date"};
    const hid_t reduction = airy_put_group(entry, "reduction", "NXprocess");
    const hid_t input = reduction < 0 ? -1 : airy_put_group(reduction, "input", "NXparameters");
    herr_t done =
        input < 0 ||
                airy_put_string(reduction, "reference",
                                "airy; weighted mean of the pixels of a bin, pixels split as "
                                "in input/configuration") < 0 ||
                airy_put_string(reduction, "note",
                                "chi and 2 theta in the convention of PONI files") < 0 ||
                link_to(root, "entry/integrate/configuration",
                        "entry/reduction/input/configuration") < 0
            ? -1
            : 0;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]) && done >= 0; i++) {
        char from[48], to[48];
        snprintf(from, sizeof(from), "entry/integrate/%s", texts[i]);
        snprintf(to, sizeof(to), "entry/reduction/%s", texts[i]);
        done = link_to(root, from, to);
    }
    if (input >= 0)
        H5Gclose(input);
    if (reduction >= 0)
        H5Gclose(reduction);
    return done;
}

static herr_t put_monitor(hid_t root, hid_t entry)
{
    const hid_t monitor = airy_put_group(entry, "monitor", "NXmonitor");
    if (monitor < 0)
        return -1;
    H5Gclose(monitor);
    return link_to(root, "entry/integrate/frame/monitor", "entry/monitor/data");
}

static herr_t put_facts(hid_t root, hid_t entry, const struct airy_pattern_spec *spec)
{
    const airy_nxazint *n = spec->nxazint;
    return airy_put_string(entry, "definition", spec->azimuth_bins ? "NXazint2d" : "NXazint1d") <
                       0 ||
                   put_bool(entry, "solid_angle_applied", n->solid_angle) < 0 ||
                   put_bool(entry, "polarization_applied", n->polarization) < 0 ||
                   put_bool(entry, "normalization_applied", true) < 0 ||
                   put_bool(entry, "monitor_applied", spec->monitor != NULL) < 0 ||
                   put_instrument(entry, n) < 0 || put_reduction(root, entry) < 0 ||
                   (spec->monitor && put_monitor(root, entry) < 0) ||
                   describe(root, "entry/integrate/result/intensity", "intensity") < 0 ||
                   describe(root, "entry/integrate/merged/sum_normalization",
                            "effective number of pixels contributing to the corresponding bin") <
                       0 ||
                   (spec->errors &&
                    describe(root, "entry/integrate/result/sem", "estimated intensity error") < 0)
               ? -1
               : 0;
}

/* What differs between the trees is the group "data" alone. */
static herr_t share_facts(const hid_t roots[2], const struct airy_pattern_spec *spec)
{
    static const char *const names[] = {"definition",
                                        "solid_angle_applied",
                                        "polarization_applied",
                                        "normalization_applied",
                                        "monitor_applied",
                                        "instrument",
                                        "reduction",
                                        "monitor"};
    herr_t done = 0;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) - !spec->monitor && done >= 0; i++) {
        char path[48];
        snprintf(path, sizeof(path), "entry/%s", names[i]);
        done = H5Lcreate_hard(roots[0], path, roots[1], path, H5P_DEFAULT, H5P_DEFAULT);
    }
    return done;
}

/* /entry/data is what viewers show; below "integrate" is nothing of its kind. */
static herr_t set_default(hid_t root)
{
    const hid_t entry = H5Gopen2(root, "entry", H5P_DEFAULT);
    const herr_t done = entry < 0 || H5Adelete(entry, "default") < 0 ||
                                H5Adelete_by_name(entry, "integrate", "default", H5P_DEFAULT) < 0 ||
                                airy_put_text(entry, "default", "data") < 0
                            ? -1
                            : 0;
    if (entry >= 0)
        H5Gclose(entry);
    return done;
}

herr_t airy_put_nxazint(const hid_t roots[2], const struct airy_pattern_spec *spec)
{
    const hid_t entry = H5Gopen2(roots[0], "entry", H5P_DEFAULT);
    const herr_t done = entry < 0 || put_facts(roots[0], entry, spec) < 0 ||
                                put_data(roots[0], -1, true, spec) < 0 ||
                                share_facts(roots, spec) < 0 ||
                                put_data(roots[1], roots[0], false, spec) < 0 ||
                                set_default(roots[0]) < 0 || set_default(roots[1]) < 0
                            ? -1
                            : 0;
    if (entry >= 0)
        H5Gclose(entry);
    return done;
}

/* GSAS-II reads the last NXdata in the order of names, which has to be /entry/data. */
const char *airy_pattern_data_class(const struct airy_pattern_spec *spec)
{
    return spec->nxazint ? "NXcollection" : "NXdata";
}
