/* Geometry on the command line, for the commands that need one. */
#ifndef AIRY_TOOLS_CLI_GEOMETRY_OPT_H
#define AIRY_TOOLS_CLI_GEOMETRY_OPT_H

#include "airy/geometry_params.h"
#include "cli/tool.h"

/* Goes first in a command's params struct. */
struct geometry_params {
    struct common common;
    airy_geometry_params given;
};

extern const struct opt geometry_options[];

/* Something of the above was given. */
bool geometry_given(const struct geometry_params *params);
/*
 * Positions and masks of pixels, for detectors that need some; released by
 * airy_detector_arrays_destroy. Exit code.
 */
int geometry_arrays(airy_detector_arrays **arrays, airy_geometry *geometry,
                    const struct common *common);
/*
 * All files of the stack must state the same of what the geometry takes from them; with `first`
 * (NULL: none) they must state what the first file of that stack does. replayed: nothing is taken
 * from them, as the geometry comes from a configuration. Exit code.
 */
int geometry_hold(airy_stack *stack, const airy_stack *first, const struct geometry_params *params,
                  bool replayed);
/*
 * The geometry for frames of a shape: --poni, inline values, or the file's own. Exit code 0, 1 or
 * 2.
 */
int geometry_resolve(airy_geometry *geometry, const struct geometry_params *params,
                     const airy_stack_meta *meta, size_t height, size_t width);
/* tool_failed of what was made with that geometry: two wavelengths of the input are named. */
int geometry_failed(const struct geometry_params *params, const airy_stack_meta *meta,
                    airy_status status);
json_t *geometry_json(const airy_geometry *geometry);
/* From geometry_json; false when keys are missing. */
bool geometry_from_json(airy_geometry *geometry, const json_t *json);

#endif
