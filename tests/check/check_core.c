#include "check.h"

void check_core(struct check *c)
{
    if (!check_case(c, "device_info"))
        return;
    airy_device_info info;
    CHECK_OK(c, airy_device_get_info(c->device, &info));
    CHECK(c, info.usable && info.memory > 0 && info.units > 0);
}
