/* Looks at results: refusals of the API; the rest is in the cases of the command. */
#include "check.h"

#include "airy/watch.h"

void check_watch(struct check *c)
{
    airy_watch *watch = NULL;
    airy_watch_info info;
    float value;
    double number;
    /* No device takes part: once is enough. */
    if (!c->is_cpu || !check_case(c, "watch_refusals"))
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
