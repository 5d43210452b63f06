/* What pattern is made of a frame, on the command line: rows that several commands take. */
#ifndef AIRY_TOOLS_CLI_PATTERN_OPT_H
#define AIRY_TOOLS_CLI_PATTERN_OPT_H

#include "airy/integrate.h"
#include "cli/geometry_opt.h"

struct pattern_params {
    struct pattern_bins {
        size_t radius, azimuth; /* azimuth 0: one dimension */
    } bins;
    size_t batch;              /* 0: chosen */
    airy_unit unit, azimuthal; /* azimuthal 0: chi_deg */
    airy_split split;
    airy_method method;
    airy_error_model error_model;
    struct pattern_clip {
        bool given;
        double threshold;
        unsigned cycles; /* 0: as the library has it */
    } clip;
    struct pattern_quantile {
        bool given;
        double percent[2];
    } quantile;
    double incidence_deg, tilt_deg; /* of the sample, for units at grazing incidence */
    size_t sample_orientation;
    bool has_unit;
};

/* How the params struct of a command begins that takes pattern_options. */
struct pattern_head {
    struct geometry_params geometry;
    struct pattern_params pattern;
};
#define PATTERN_HEAD_FITS(type)                                                                    \
    _Static_assert(offsetof(type, geometry) == offsetof(struct pattern_head, geometry) &&          \
                       offsetof(type, pattern) == offsetof(struct pattern_head, pattern),          \
                   #type " does not begin as pattern_options expects")

extern const struct opt pattern_options[];

/* opt_parse_fns of these rows, for commands with rows of their own: into the fields named alike. */
const char *pattern_parse_bins(void *field, const char *text);
const char *pattern_parse_unit(void *field, const char *text);
const char *pattern_parse_azimuthal(void *field, const char *text);
const char *pattern_parse_split(void *field, const char *text);
const char *pattern_parse_error_model(void *field, const char *text);
const char *pattern_parse_clip(void *field, const char *text);

/* Options that contradict each other: AIRY_EXIT_USAGE after a line on stderr. */
int pattern_check(const struct common *common, const struct pattern_params *params);
/* --clip and --quantile. */
void pattern_set_rings(airy_integrator_params *integrator, const struct pattern_params *params);
/* The same, said: a line of its own on stdout, or "clip": [T, cycles], "quantile": [A, B]. */
void pattern_print_rings(const struct pattern_params *params);
void pattern_rings_json(json_t *json, const struct pattern_params *params);
/* What the options say of the sample, for units at grazing incidence. */
void pattern_set_sample(airy_geometry *geometry, const struct pattern_params *params);

#endif
