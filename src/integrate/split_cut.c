#include "integrate/split_cut.h"

#include <math.h>
#include <stdlib.h>

bool airy_split_holds_beam(const struct airy_split_rule *rule, const struct airy_split_scratch *s,
                           size_t i, size_t j)
{
    if (rule->pose.corners)
        return s->beam[j] != 0;
    const double near = 0.5 + 1e-6;
    return fabs(rule->pose.beam1 - ((double)i + 0.5)) <= near &&
           fabs(rule->pose.beam2 - ((double)j + 0.5)) <= near;
}

void airy_split_at_beam(bool at_beam[4], const struct airy_pose *pose, size_t i, size_t j)
{
    for (int k = 0; k < 4; k++) {
        if (pose->corners) {
            struct airy_pose corner = *pose;
            double r;
            corner.corner = k;
            airy_pose_radial(&corner, AIRY_UNIT_R_M, (double)i, (double)j, 1, &r);
            at_beam[k] = r < 1e-6 * min2(pose->pixel1, pose->pixel2);
            continue;
        }
        const double d1 = (double)(i + (k == 1 || k == 2)) - pose->beam1;
        const double d2 = (double)(j + (k >= 2)) - pose->beam2;
        at_beam[k] = max2(fabs(d1), fabs(d2)) < 1e-6;
    }
}

bool airy_entries_grow(struct airy_entries *entries)
{
    size_t capacity = entries->capacity ? entries->capacity + entries->capacity / 2 : 65536;
    entries->failed = entries->failed || entries->count + 1 > entries->most;
    if (entries->failed)
        return false;
    uint32_t *bin = realloc(entries->bin, capacity * sizeof *bin);
    if (bin)
        entries->bin = bin;
    float *coef = realloc(entries->coef, capacity * sizeof *coef);
    if (coef)
        entries->coef = coef;
    entries->failed = !bin || !coef;
    if (!entries->failed)
        entries->capacity = capacity;
    return !entries->failed;
}

static size_t shares_inside(double *share, size_t *first, const struct airy_split_axis *axis,
                            double x0, double x1)
{
    const double n = (double)axis->bins, a = x0 > 0 ? x0 : 0, b = x1 < n ? x1 : n;
    if (!(a < b))
        return 0;
    const double inverse = 1 / (x1 - x0);
    const size_t i0 = (size_t)a, i1 = (size_t)(ceil(b) - 1);
    *first = i0;
    for (size_t i = i0; i <= i1; i++)
        share[i - i0] = (min2(b, (double)i + 1) - max2(a, (double)i)) * inverse;
    return i1 - i0 + 1;
}

static size_t shares_compat(double *share, size_t *first, const struct airy_split_rule *rule,
                            const struct airy_split_axis *axis, double x0, double x1)
{
    const double last = (double)(axis->bins - 1);
    double b0 = rule->truncate ? trunc(x0) : floor(x0), b1 = rule->truncate ? trunc(x1) : floor(x1);
    if (b1 < 0 || b0 > last)
        return 0;
    b0 = b0 < 0 ? 0 : b0;
    b1 = b1 > last ? last : b1;
    *first = (size_t)b0;
    const size_t count = (size_t)(b1 - b0) + 1;
    if (count == 1) {
        share[0] = 1;
        return 1;
    }
    const double inverse = 1 / (x1 - x0);
    share[0] = (b0 + 1 - x0) * inverse;
    for (size_t i = 1; i + 1 < count; i++)
        share[i] = inverse;
    share[count - 1] = (x1 - b1) * inverse;
    return count;
}

size_t airy_split_shares(double *share, size_t *first, const struct airy_split_rule *rule,
                         const struct airy_split_axis *axis, double v0, double v1)
{
    const double x0 = to_bins(axis, v0), x1 = to_bins(axis, v1);
    if (rule->compat)
        return shares_compat(share, first, rule, axis, x0, x1);
    if (x1 > x0)
        return shares_inside(share, first, axis, x0, x1);
    const ptrdiff_t bin = bin_of(rule, axis, v0);
    *first = (size_t)bin;
    share[0] = 1;
    return bin >= 0;
}

/*
 * pyFAI's rule: a quadrilateral that turns the wrong way round lies on chi's discontinuity, and
 * its negative corners are moved by a turn. Where chi starts at 0 no corner is negative, so
 * nothing moves, and in two dimensions, where the turn is 360 rad, nothing is moved back. Its
 * histogram in two dimensions knows the turn and where chi starts. The area's formula (half of the
 * first product only) is pyFAI's too.
 */
void airy_split_join(const struct airy_split_rule *rule, const double x[4], double y[4])
{
    const double area = 0.5 * (x[2] - x[0]) * (y[3] - y[1]) - (y[2] - y[0]) * (x[3] - x[1]),
                 middle = rule->chi_zero && rule->joins_at_zero ? PI : 0;
    if (!(rule->pose.flip1 != rule->pose.flip2 ? area < 0 : area > 0) ||
        (rule->chi_zero && rule->chi.bins > 0 && !rule->joins_at_zero))
        return;
    for (int k = 0; k < 4; k++)
        y[k] = y[k] < middle ? y[k] + 2 * PI : y[k];
    if (0.25 * (y[0] + y[1] + y[2] + y[3]) > middle + PI)
        for (int k = 0; k < 4; k++)
            y[k] -= 2 * PI;
}

double airy_split_compat_chi(const struct airy_split_rule *rule, double chi)
{
    /* A corner is counted from 0 already, and may have been rounded to a whole turn. */
    return rule->chi_zero && rule->turn > 0 && chi < 0 ? chi_from_zero(chi) : chi;
}
