/* The pixel table as the sums of several frames together read it: fused_geom.h. */
#include "shared/fused_geom.h"

struct walk {
    __global const uint *table;
    uint first, bits;
};

AIRY_INLINE uint bin_at(const struct walk *walk, uint i)
{
    return walk->table[airy_fused_place(walk->first + i)] >> walk->bits;
}

/* Which way the bins go from pixel i on. */
AIRY_INLINE uint goes_up(const struct walk *walk, uint i)
{
    const uint bin = bin_at(walk, i);
    for (uint k = i + 1u; k < AIRY_FUSED_PART; k++) {
        const uint next = bin_at(walk, k);
        if (next != bin)
            return next > bin ? 1u : 0u;
    }
    return 1u;
}

/*
 * Mapping: an item a part; any work-group. No local memory, no barrier.
 */
__kernel void integrate_table(__global const uint *table, __global uint *parts,
                              const airy_parts_geom g)
{
    const uint part = get_global_id(0);
    if (part >= g.parts)
        return;
    const struct walk walk = {table, part * AIRY_FUSED_PART, g.fraction_bits};
    __global uint *head = parts + (ulong)part * AIRY_PART_WORDS;
    const uint one = 1u << g.fraction_bits;
    uint bin = bin_at(&walk, 0u), up = goes_up(&walk, 0u);
    for (uint w = 0u; w < AIRY_FUSED_PART / 32u; w++) {
        uint changes = 0u, jumps = 0u, ups = 0u;
        for (uint k = 0u; k < 32u; k++) {
            const uint i = w * 32u + k, next = bin_at(&walk, i);
            if (next != bin) {
                changes |= 1u << k;
                if (next != (up ? bin + 1u : bin - 1u)) {
                    up = goes_up(&walk, i);
                    jumps |= 1u << k;
                    ups |= up << k;
                }
                bin = next;
            }
            if (k == 0u)
                head[AIRY_PART_NEAR + w] = (bin + 1u - up) | up << AIRY_PART_UP;
            const uint fraction = table[airy_fused_place(walk.first + i)] & (one - 1u);
            head[AIRY_PART_HEAD + i] = up ? fraction : one - fraction;
        }
        head[AIRY_PART_CHANGES + w] = changes;
        head[AIRY_PART_JUMPS + w] = jumps;
        head[AIRY_PART_UPS + w] = ups;
    }
}
