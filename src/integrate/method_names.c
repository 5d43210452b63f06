/* The words of splittings, methods and error models. */
#include "airy/integrate.h"
#include "base/error.h"
#include "base/word.h"

static const char *const split_names[AIRY_SPLIT_COUNT] = {"full", "bbox", "no", "pseudo"};
static const char *const method_names[AIRY_METHOD_COUNT] = {"csr", "csc", "lut", "histogram"};
static const char *const error_model_names[AIRY_ERROR_MODEL_COUNT] = {
    "none", "poisson", "azimuthal", "variance", "hybrid"};

const char *airy_split_name(airy_split v)
{
    return (unsigned)v < AIRY_SPLIT_COUNT ? split_names[v] : "?";
}

const char *airy_method_name(airy_method v)
{
    return (unsigned)v < AIRY_METHOD_COUNT ? method_names[v] : "?";
}

const char *airy_error_model_name(airy_error_model v)
{
    return (unsigned)v < AIRY_ERROR_MODEL_COUNT ? error_model_names[v] : "?";
}

airy_status airy_split_parse(airy_split *v, const char *name)
{
    AIRY_FAIL_IF(!v, AIRY_ERR_PARAM, "airy_split_parse: v is NULL");
    int k = 0;
    AIRY_TRY(airy_find_word(&k, "splitting", name, split_names, AIRY_SPLIT_COUNT));
    *v = (airy_split)k;
    return AIRY_OK;
}

airy_status airy_method_parse(airy_method *v, const char *name)
{
    AIRY_FAIL_IF(!v, AIRY_ERR_PARAM, "airy_method_parse: v is NULL");
    int k = 0;
    AIRY_TRY(airy_find_word(&k, "method", name, method_names, AIRY_METHOD_COUNT));
    *v = (airy_method)k;
    return AIRY_OK;
}

airy_status airy_error_model_parse(airy_error_model *v, const char *name)
{
    AIRY_FAIL_IF(!v, AIRY_ERR_PARAM, "airy_error_model_parse: v is NULL");
    int k = 0;
    AIRY_TRY(airy_find_word(&k, "error model", name, error_model_names, AIRY_ERROR_MODEL_COUNT));
    *v = (airy_error_model)k;
    return AIRY_OK;
}
