/* Calibrants: spacings from cell and reflection conditions. */
#include "integrate/calibrant.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/word.h"

#define PI 3.14159265358979323846

enum { MAX_REFLECTIONS = 200000 };

/*
 * Which reflections there are: conditions of the space group, International Tables for
 * Crystallography vol. A (2006), and those of the sites where all atoms share them.
 */
enum rule {
    RULE_ALL,      /* Pm-3m */
    RULE_F,        /* h, k, l all even or all odd */
    RULE_I,        /* h + k + l even */
    RULE_DIAMOND,  /* Fd-3m, site 8a */
    RULE_CUPRITE,  /* Pn-3m, sites 2a and 4b */
    RULE_RM,       /* R-3m, hexagonal axes */
    RULE_RC,       /* R-3c, hexagonal axes */
    RULE_PACKED,   /* P6_3mc and P6_3/mmc, site 2b: l even or h - k no multiple of 3 */
    RULE_GRAPHITE, /* P6_3mc, sites 2a and 2b: l even where h = k */
    RULE_SCREW_6,  /* P6_3/m: 00l, l even */
    RULE_SCREW_3,  /* P3_221: 00l, l a multiple of 3 */
    RULE_SCREW_4,  /* P4_12_12, P4_32_12: 00l, l a multiple of 4; h00, h even */
    RULE_RUTILE,   /* P4_2/mnm: 0kl, k + l even */
    RULE_P21A,     /* h0l, h even; 0k0, k even */
    RULE_LAYERS    /* 00l alone */
};

struct entry {
    airy_calibrant_info info;
    enum rule rule;
    const char *aliases; /* between bars */
};

#define CUBIC(a)                                                                                   \
    {                                                                                              \
        a, a, a, 90, 90, 90                                                                        \
    }
#define TETRAGONAL(a, c)                                                                           \
    {                                                                                              \
        a, a, c, 90, 90, 90                                                                        \
    }
#define HEXAGONAL(a, c)                                                                            \
    {                                                                                              \
        a, a, c, 90, 90, 120                                                                       \
    }
#define LAYERS(c)                                                                                  \
    {                                                                                              \
        0, 0, c, 90, 90, 90                                                                        \
    }

static const struct entry entries[] = {
    {{"AgBh", "silver behenate", "", LAYERS(58.380),
      "Blanton et al., J. Appl. Cryst. 33 (2000) 172, doi:10.1107/S0021889899012388"},
     RULE_LAYERS,
     "|silver behenate|"},
    {{"Al", "aluminium", "Fm-3m", CUBIC(4.0495), "Witt, Z. Naturforsch. A 22 (1967) 92"},
     RULE_F,
     "|aluminium|"},
    {{"Al2O3", "corundum", "R-3c", HEXAGONAL(4.759355, 12.99231), "NIST SRM 676a (2015)"},
     RULE_RC,
     "|corundum|alumina|alpha Al2O3|SRM676a|alpha Al2O3 SRM676a|alpha Al2O3 SRM676a 2015|"},
    {{"Al2O3_SRM676", "corundum", "R-3c", HEXAGONAL(4.75919, 12.99183), "NIST SRM 676"},
     RULE_RC,
     "|alpha Al2O3 SRM676|SRM676|"},
    {{"Au", "gold", "Fm-3m", CUBIC(4.0782), "Maeland and Flanagan, Can. J. Phys. 42 (1964) 2364"},
     RULE_F,
     "|gold|"},
    {{"C14H30O", "1-tetradecanol", "", LAYERS(39.681), "Brindley, Clays Clay Min. 29 (1981) 67"},
     RULE_LAYERS,
     "|tetradecanol|"},
    {{"C60", "fullerene", "Fm-3", CUBIC(14.26), "Acta Cryst. A 50 (1994) 344"},
     RULE_F,
     "|fullerene|"},
    {{"CeO2", "ceria", "Fm-3m", CUBIC(5.411651), "NIST SRM 674b"}, RULE_F, "|ceria|SRM674b CeO2|"},
    {{"Cr2O3", "eskolaite", "R-3c", HEXAGONAL(4.958979, 13.59592), "NIST SRM 674b"},
     RULE_RC,
     "|eskolaite|"},
    {{"cristobalite", "alpha cristobalite", "P4_12_12", TETRAGONAL(4.9717, 6.9223),
      "Downs and Palmer, Am. Mineral. 79 (1994) 9"},
     RULE_SCREW_4,
     "|cristobaltite|"},
    {{"Cu2O", "cuprite", "Pn-3m", CUBIC(4.2685),
      "Restori and Schwarzenbach, Acta Cryst. B 42 (1986) 201"},
     RULE_CUPRITE,
     "|cuprite|"},
    {{"diamond", "diamond", "Fd-3m", CUBIC(3.5668), "Wyckoff, Crystal Structures 1 (1963) 7"},
     RULE_DIAMOND,
     "|"},
    {{"graphite", "graphite", "P6_3mc", HEXAGONAL(2.456, 6.696),
      "Wyckoff, Crystal Structures 1 (1963) 7"},
     RULE_GRAPHITE,
     "|"},
    {{"hydrocerussite", "basic lead carbonate", "R-3m", HEXAGONAL(5.24656, 23.7023),
      "Martinetto et al., Acta Cryst. C 58 (2002) i82, doi:10.1107/S0108270102006844"},
     RULE_RM,
     "|"},
    {{"LaB6", "lanthanum hexaboride", "Pm-3m", CUBIC(4.156826), "NIST SRM 660c"},
     RULE_ALL,
     "|LaB6 SRM660c|SRM660c|lanthanum hexaboride|"},
    {{"LaB6_SRM660a", "lanthanum hexaboride", "Pm-3m", CUBIC(4.1569162), "NIST SRM 660a"},
     RULE_ALL,
     "|SRM660a|"},
    {{"LaB6_SRM660b", "lanthanum hexaboride", "Pm-3m", CUBIC(4.15689), "NIST SRM 660b"},
     RULE_ALL,
     "|SRM660b|"},
    {{"lysozyme", "hen egg-white lysozyme", "P4_32_12", TETRAGONAL(79.2688, 37.9573),
      "Z. Kristallogr. Suppl. 26 (2007), doi:10.1524/zkri.2007.2007.suppl_26.1"},
     RULE_SCREW_4,
     "|"},
    {{"NaCl", "halite", "Fm-3m", CUBIC(5.6401), "Walker et al., Am. Mineral. 89 (2004) 204"},
     RULE_F,
     "|halite|"},
    {{"Ni", "nickel", "Fm-3m", CUBIC(3.52387), "Taylor, J. Inst. Metals 77 (1950) 585"},
     RULE_F,
     "|nickel|"},
    {{"PBBA",
      "para-bromobenzoic acid",
      "P2_1/a",
      {29.59, 6.15, 3.98, 90, 95.5, 90},
      "Ohkura, Kashino and Haisa, Bull. Chem. Soc. Jpn. 45 (1972) 2651"},
     RULE_P21A,
     "|"},
    {{"Pt", "platinum", "Fm-3m", CUBIC(3.9231), "Wyckoff, Crystal Structures 1 (1963) 7"},
     RULE_F,
     "|platinum|"},
    {{"quartz", "alpha quartz", "P3_221", HEXAGONAL(4.916, 5.4054),
      "Levien, Prewitt and Weidner, Am. Mineral. 65 (1980) 920"},
     RULE_SCREW_3,
     "|"},
    {{"Si", "silicon", "Fd-3m", CUBIC(5.431179), "NIST SRM 640e"},
     RULE_DIAMOND,
     "|silicon|Si SRM640e|SRM640e|"},
    {{"Si_SRM640", "silicon", "Fd-3m", CUBIC(5.43088), "NIST SRM 640"}, RULE_DIAMOND, "|SRM640|"},
    {{"Si_SRM640a", "silicon", "Fd-3m", CUBIC(5.430825), "NIST SRM 640a"},
     RULE_DIAMOND,
     "|SRM640a|"},
    {{"Si_SRM640b", "silicon", "Fd-3m", CUBIC(5.43094), "NIST SRM 640b"},
     RULE_DIAMOND,
     "|SRM640b|"},
    {{"Si_SRM640c", "silicon", "Fd-3m", CUBIC(5.4311946), "NIST SRM 640c"},
     RULE_DIAMOND,
     "|SRM640c|"},
    {{"Si_SRM640d", "silicon", "Fd-3m", CUBIC(5.43123), "NIST SRM 640d"},
     RULE_DIAMOND,
     "|SRM640d|"},
    {{"TiO2", "rutile", "P4_2/mnm", TETRAGONAL(4.593927, 2.958875), "NIST SRM 674b"},
     RULE_RUTILE,
     "|rutile|"},
    {{"vanadinite", "vanadinite", "P6_3/m", HEXAGONAL(10.3231, 7.3399),
      "Okudera, Am. Mineral. 98 (2013) 1573"},
     RULE_SCREW_6,
     "|"},
    {{"verneite", "Na2Ca3Al2F14", "I2_13", CUBIC(10.257),
      "Courbion and Ferey, J. Solid State Chem. 76 (1988) 426, doi:10.1016/0022-4596(88)90239-3"},
     RULE_I,
     "|"},
    {{"ZnO", "zincite", "P6_3mc", HEXAGONAL(3.249897, 5.20653), "NIST SRM 674b"},
     RULE_PACKED,
     "|zincite|"},
};
enum { ENTRIES = sizeof(entries) / sizeof(entries[0]) };

size_t airy_calibrant_count(void)
{
    return ENTRIES;
}

airy_status airy_calibrant_get(airy_calibrant_info *info, size_t index)
{
    AIRY_FAIL_IF(!info, AIRY_ERR_PARAM, "airy_calibrant_get: info is NULL");
    AIRY_FAIL_IF(index >= ENTRIES, AIRY_ERR_PARAM, "calibrant number = %zu, expected < %d", index,
                 ENTRIES);
    *info = entries[index].info;
    return AIRY_OK;
}

static bool is_present(enum rule rule, int h, int k, int l)
{
    const bool sum = (h + k + l) % 2 == 0;
    const bool f = (h + k) % 2 == 0 && (k + l) % 2 == 0;
    switch (rule) {
    case RULE_F:
        return f;
    case RULE_I:
        return sum;
    case RULE_DIAMOND:
        return f && (h % 2 != 0 || (h + k + l) % 4 == 0);
    case RULE_CUPRITE:
        return f || sum;
    case RULE_RM:
        return (-h + k + l) % 3 == 0;
    case RULE_RC: /* h -h l, and what the axis makes of it: 0 k l, h 0 l */
        return (-h + k + l) % 3 == 0 && (l % 2 == 0 || (h != -k && h != 0 && k != 0));
    case RULE_PACKED:
        return l % 2 == 0 || (h - k) % 3 != 0;
    case RULE_GRAPHITE: /* h h -2h l in all three of its forms */
        return l % 2 == 0 || (h != k && k != -2 * h && h != -2 * k);
    case RULE_SCREW_6:
        return h != 0 || k != 0 || l % 2 == 0;
    case RULE_SCREW_3:
        return h != 0 || k != 0 || l % 3 == 0;
    case RULE_SCREW_4:
        return h == 0 && k == 0   ? l % 4 == 0
               : k == 0 && l == 0 ? h % 2 == 0
               : h == 0 && l == 0 ? k % 2 == 0
                                  : true;
    case RULE_RUTILE:
        return (h != 0 || (k + l) % 2 == 0) && (k != 0 || (h + l) % 2 == 0);
    case RULE_P21A:
        return (k != 0 || h % 2 == 0) && (h != 0 || l != 0 || k % 2 == 0);
    case RULE_LAYERS:
        return h == 0 && k == 0;
    default:
        return true;
    }
}

/* Reciprocal metric: 1/d^2 = sum g[i][j] h_i h_j, in 1/angstrom^2. Returns the cell's volume. */
static double reciprocal(double g[3][3], const double cell[6])
{
    const double a = cell[0], b = cell[1], c = cell[2], degree = PI / 180;
    /* Right angles exactly, so that reflections that agree by symmetry agree to rounding. */
    const double ca = cell[3] == 90 ? 0 : cos(cell[3] * degree),
                 cb = cell[4] == 90 ? 0 : cos(cell[4] * degree),
                 cc = cell[5] == 90    ? 0
                      : cell[5] == 120 ? -0.5
                                       : cos(cell[5] * degree);
    const double m[3][3] = {{a * a, a * b * cc, a * c * cb},
                            {a * b * cc, b * b, b * c * ca},
                            {a * c * cb, b * c * ca, c * c}};
    const double square = m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) -
                          m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
                          m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            const int p = (j + 1) % 3, q = (j + 2) % 3, r = (i + 1) % 3, s = (i + 2) % 3;
            g[i][j] = (m[p][r] * m[q][s] - m[p][s] * m[q][r]) / square;
        }
    return sqrt(square);
}

static int by_spacing(const void *a, const void *b)
{
    const airy_calibrant_ring *x = a, *y = b;
    return (x->spacing < y->spacing) - (x->spacing > y->spacing);
}

/* The reflection with the largest first indices names the ring. */
static bool names_before(const int a[3], const int b[3])
{
    for (int i = 0; i < 3; i++)
        if (a[i] != b[i])
            return a[i] > b[i];
    return false;
}

size_t airy_rings_merge(airy_calibrant_ring *rings, size_t count)
{
    qsort(rings, count, sizeof(*rings), by_spacing);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        airy_calibrant_ring *last = kept ? &rings[kept - 1] : NULL;
        /* Rounding of sums of squares is below 1e-14; no two true spacings are that near. */
        if (last && last->spacing - rings[i].spacing < 1e-10 * last->spacing) {
            last->multiplicity += rings[i].multiplicity;
            if (names_before(rings[i].hkl, last->hkl))
                memcpy(last->hkl, rings[i].hkl, sizeof(last->hkl));
        } else {
            rings[kept++] = rings[i];
        }
    }
    return kept < AIRY_CALIBRANT_RINGS ? kept : AIRY_CALIBRANT_RINGS;
}

bool airy_rings_add(struct airy_growing_rings *g, const airy_calibrant_ring *ring)
{
    if (g->count == g->room) {
        const size_t room = g->room ? 2 * g->room : 256;
        airy_calibrant_ring *more = realloc(g->rings, room * sizeof(*more));
        if (!more)
            return false;
        g->rings = more;
        g->room = room;
    }
    g->rings[g->count++] = *ring;
    return true;
}

/* All reflections down to `smallest`, angstrom; false when memory is short. */
static bool enumerate(struct airy_growing_rings *found, const struct entry *entry, double smallest)
{
    const double *cell = entry->info.cell;
    if (entry->rule == RULE_LAYERS) {
        for (int l = 1; l <= AIRY_CALIBRANT_RINGS && cell[2] / l >= smallest; l++)
            if (!airy_rings_add(found, &(airy_calibrant_ring){.spacing = cell[2] / l * 1e-10,
                                                              .hkl = {0, 0, l},
                                                              .multiplicity = 2}))
                return false;
        return true;
    }
    double g[3][3];
    const double volume = reciprocal(g, cell);
    /* There are 4/3 pi volume / d^3 reflections down to d. */
    const double limit = fmax(smallest, cbrt(4.19 * volume / MAX_REFLECTIONS));
    const int top[3] = {(int)(cell[0] / limit), (int)(cell[1] / limit), (int)(cell[2] / limit)};
    for (int h = -top[0]; h <= top[0]; h++)
        for (int k = -top[1]; k <= top[1]; k++)
            for (int l = -top[2]; l <= top[2]; l++) {
                const double v[3] = {h, k, l};
                double square = 0;
                for (int i = 0; i < 3; i++)
                    for (int j = 0; j < 3; j++)
                        square += g[i][j] * v[i] * v[j];
                if ((h || k || l) && square * limit * limit <= 1 &&
                    is_present(entry->rule, h, k, l) &&
                    !airy_rings_add(found, &(airy_calibrant_ring){.spacing = 1e-10 / sqrt(square),
                                                                  .hkl = {h, k, l},
                                                                  .multiplicity = 1}))
                    return false;
            }
    return true;
}

/* Letters and digits in lower case. */
static void plain(char *out, size_t size, const char *text, size_t n)
{
    size_t used = 0;
    for (size_t i = 0; i < n && used + 1 < size; i++)
        if (isalnum((unsigned char)text[i]))
            out[used++] = (char)tolower((unsigned char)text[i]);
    out[used] = '\0';
}

static bool is_named(const struct entry *entry, const char *want)
{
    char name[64];
    plain(name, sizeof(name), entry->info.name, strlen(entry->info.name));
    if (strcmp(name, want) == 0)
        return true;
    for (const char *alias = entry->aliases + 1; *alias;) {
        const size_t n = strcspn(alias, "|");
        plain(name, sizeof(name), alias, n);
        if (strcmp(name, want) == 0)
            return true;
        alias += n + 1;
    }
    return false;
}

static airy_status unknown_calibrant(const char *name)
{
    const char *names[ENTRIES];
    char list[1024];
    for (size_t i = 0; i < ENTRIES; i++)
        names[i] = entries[i].info.name;
    const char *near = airy_suggest_word(name, names, ENTRIES);
    if (near)
        return airy_hinted(AIRY_HINT_STATED,
                           airy_fail_on(AIRY_ERR_NOT_FOUND, AIRY_SUBJECT_PARAMETER,
                                        "%s '%.64s' is unknown, did you mean '%s'?", "calibrant",
                                        name, near));
    airy_join_words(list, sizeof(list), names, ENTRIES);
    return airy_hinted(AIRY_HINT_STATED,
                       airy_fail_on(AIRY_ERR_NOT_FOUND, AIRY_SUBJECT_PARAMETER,
                                    "%s '%.64s' is unknown; there are %s, or a file of spacings",
                                    "calibrant", name, list));
}

airy_status airy_calibrant_find(airy_calibrant *calibrant, const char *name, double smallest)
{
    AIRY_FAIL_IF(!calibrant, AIRY_ERR_PARAM, "airy_calibrant_find: calibrant is NULL");
    AIRY_FAIL_IF(!name, AIRY_ERR_PARAM, "airy_calibrant_find: name is NULL");
    AIRY_FAIL_IF(!(smallest > 0) || !isfinite(smallest), AIRY_ERR_PARAM,
                 "smallest spacing = %g m, expected > 0", smallest);
    char want[64];
    plain(want, sizeof(want), name, strlen(name));
    const struct entry *entry = NULL;
    for (size_t i = 0; i < ENTRIES && !entry; i++)
        if (is_named(&entries[i], want))
            entry = &entries[i];
    if (!entry)
        return unknown_calibrant(name);
    struct airy_growing_rings found = {0};
    if (!enumerate(&found, entry, smallest * 1e10)) {
        free(found.rings);
        return airy_fail(AIRY_ERR_MEMORY, "out of memory for the rings of %s", entry->info.name);
    }
    AIRY_FAIL_IF(found.count == 0, AIRY_ERR_PARAM, "%s has no spacing of %g m or more",
                 entry->info.name, smallest);
    *calibrant =
        (airy_calibrant){.count = airy_rings_merge(found.rings, found.count), .rings = found.rings};
    snprintf(calibrant->name, sizeof(calibrant->name), "%s", entry->info.name);
    return AIRY_OK;
}

void airy_calibrant_free(airy_calibrant *calibrant)
{
    if (!calibrant)
        return;
    free(calibrant->rings);
    *calibrant = (airy_calibrant){0};
}
