#include "jobs/simulate/simulated_oct.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "airy/random.h"
#include "jobs/simulate/exact_math.h"

static double *numbers(size_t count)
{
    return calloc(count, sizeof(double));
}

/*
 * exp(beta (sqrt(1 - (2x/w)^2) - 1)), the kernel that spreads a grid over odd places.
 * Source: A. Barnett et al., SIAM J. Sci. Comput. 41 (2019) C479, eq. 1.8; beta = 2.3 w for a grid
 *         twice as fine as the field needs: errors of 1e-7 with w = 8.
 */
static double kernel(double x)
{
    const double half = 0.5 * AIRY_SIMULATED_TAPS, u = 1 - x * x / (half * half);
    return u > 0 ? airy_exact_exp(2.3 * AIRY_SIMULATED_TAPS * (sqrt(u) - 1)) : 0;
}

/* Its Fourier transform at a frequency in 1/grid step: the trapezoidal rule. */
static double kernel_spectrum(double frequency)
{
    enum { STEPS = 256 };
    double sum = 0.5;
    for (int i = 1; i < STEPS; i++) {
        const double x = 0.5 * AIRY_SIMULATED_TAPS * i / STEPS;
        double c, s;
        airy_exact_turn(frequency * x, &c, &s);
        sum += kernel(x) * c;
    }
    return 2 * sum * (0.5 * AIRY_SIMULATED_TAPS / STEPS);
}

/* The grid and what repeats of it at both ends; the last place is the grid's end itself. */
static size_t field_row(const struct airy_simulated_oct *m)
{
    return m->grid + AIRY_SIMULATED_TAPS + 1;
}

static void make_transform(struct airy_simulated_oct *m)
{
    const double grid = (double)m->grid;
    for (size_t i = 0; i < m->grid; i++)
        airy_exact_turn((double)i / grid, &m->table[2 * i], &m->table[2 * i + 1]);
    for (size_t d = 0; d < m->phantom.depth; d++)
        m->apodise[d] = 1 / kernel_spectrum(((double)d - (double)(m->phantom.depth / 2)) / grid);
    for (size_t i = 0; i < m->samples; i++) {
        const double at = m->place[i] * grid, first = floor(at) - AIRY_SIMULATED_TAPS / 2 + 1;
        /* The field is stored from AIRY_SIMULATED_TAPS / 2 steps in front of 0 on. */
        m->base[i] = (uint32_t)(first + AIRY_SIMULATED_TAPS / 2);
        for (int t = 0; t < AIRY_SIMULATED_TAPS; t++)
            m->taps[i * AIRY_SIMULATED_TAPS + (size_t)t] = kernel(at - first - t);
    }
}

/* Phase that the plan's dispersion takes away, in turns, at a place. */
static double dispersed(const struct airy_simulated_oct *m, double place)
{
    const double *d = m->dispersion;
    const double t = place * (double)m->samples / (double)(m->samples - 1);
    return (d[0] + t * (d[1] + t * (d[2] + t * d[3]))) * 0.15915494309189535; /* 1 / 2 pi */
}

/* Add a reflector's field: its phase falls with k as the resampled line's does. */
static void add_reflector(const struct airy_simulated_oct *m, const struct airy_oct_reflector *r,
                          double depth_um, double *h)
{
    const double amplitude = airy_exact_exp(r->db * 0.11512925464970229); /* ln(10) / 20 */
    const double bins = 2e-6 * depth_um * m->span, start = -2e-6 * depth_um / m->ends[0];
    for (size_t i = 0; i < m->samples; i++) {
        double c, s;
        airy_exact_turn(bins * m->place[i] + start - dispersed(m, m->place[i]), &c, &s);
        h[i] += amplitude * c;
        h[m->samples + i] += amplitude * s;
    }
}

static void make_places(struct airy_simulated_oct *m)
{
    const double kmax = 1 / m->ends[0], kmin = 1 / m->ends[1];
    m->span = kmax - kmin;
    for (size_t i = 0; i < m->samples; i++)
        m->place[i] = m->wavelength ? (kmax - 1 / m->wavelength[i]) / m->span
                                    : (double)i / (double)m->samples;
}

/* Electrons of the reference arm, with the pixels' own gain. */
static void make_electrons(struct airy_simulated_oct *m)
{
    double most = 0;
    for (size_t i = 0; i < m->samples; i++) {
        const double lambda = 1 / (1 / m->ends[0] - m->place[i] * m->span),
                     x = (lambda - m->center) / m->width;
        /* 4 ln 2 */
        m->electrons[i] = m->spectrum ? m->spectrum[i] : airy_exact_exp(-2.772588722239781 * x * x);
        most = m->electrons[i] > most ? m->electrons[i] : most;
    }
    for (size_t i = 0; i < m->samples; i++) {
        uint32_t words[4];
        double sum = 0;
        airy_random_words(words, 4, m->seed ^ 0xA54FF53A5F1D36F1u, 0, 4 * i);
        for (int j = 0; j < 4; j++)
            sum += (double)(words[j] & 0xffff) + (double)(words[j] >> 16);
        /* Eight 16-bit numbers: mean 262140, standard deviation 53510. */
        const double gain = 1 + m->pattern * (sum - 262140) / 53510;
        m->electrons[i] *= m->full_well * m->exposure / most * (gain > 0 ? gain : 0);
    }
}

bool airy_simulated_oct_begin(struct airy_simulated_oct *m)
{
    const size_t n = m->samples;
    for (m->grid = 2; m->grid < n; m->grid *= 2)
        continue;
    const size_t places = m->frames / m->repeats + (m->frames % m->repeats != 0);
    m->phantom = (struct airy_phantom){.seed = m->seed,
                                       .depth = n / 2,
                                       .lines = m->lines,
                                       .places = places,
                                       .beam = m->beam,
                                       .flow = m->flow * 0.15915494309189535};
    m->place = numbers(n);
    m->electrons = numbers(n);
    m->still = numbers(2 * n);
    m->turn = numbers(2 * n);
    m->taps = numbers(n * AIRY_SIMULATED_TAPS);
    m->base = calloc(n, sizeof(uint32_t));
    m->apodise = numbers(n / 2 + 1);
    m->table = numbers(2 * m->grid);
    if (!m->place || !m->electrons || !m->still || !m->turn || !m->taps || !m->base ||
        !m->apodise || !m->table)
        return false;
    make_places(m);
    make_electrons(m);
    make_transform(m);
    for (size_t i = 0; i < n; i++) {
        const double middle = (double)(m->phantom.depth / 2) * m->place[i];
        airy_exact_turn(middle - dispersed(m, m->place[i]), &m->turn[i], &m->turn[n + i]);
    }
    for (size_t r = 0; r < m->count; r++)
        if (m->reflectors[r].slope_um == 0)
            add_reflector(m, &m->reflectors[r], m->reflectors[r].depth_um, m->still);
    return true;
}

void airy_simulated_oct_end(struct airy_simulated_oct *m)
{
    free(m->place);
    free(m->electrons);
    free(m->still);
    free(m->turn);
    free(m->taps);
    free(m->base);
    free(m->apodise);
    free(m->table);
}

bool airy_simulated_oct_scratch(const struct airy_simulated_oct *m, struct airy_oct_scratch *s)
{
    const size_t n = m->samples;
    memset(s, 0, sizeof(*s));
    s->field = numbers(2 * field_row(m));
    s->work = numbers(2 * m->grid);
    s->h = numbers(2 * n);
    s->counts = numbers(2 * n);
    s->words = malloc(4 * n * sizeof(uint32_t));
    s->codes = malloc(n * sizeof(uint16_t));
    return s->field && s->work && s->h && s->counts && s->words && s->codes &&
           (m->count || airy_phantom_begin(&s->phantom, &m->phantom));
}

void airy_simulated_oct_release(struct airy_oct_scratch *s)
{
    airy_phantom_end(&s->phantom);
    free(s->field);
    free(s->work);
    free(s->h);
    free(s->counts);
    free(s->words);
    free(s->codes);
}

size_t airy_simulated_oct_line_bytes(const struct airy_simulated_oct *m)
{
    return m->packing ? m->samples * (size_t)m->bits / 8 : m->samples * airy_dtype_size(m->dtype);
}

double airy_simulated_oct_bin(const struct airy_simulated_oct *m, double depth_um)
{
    return 2e-6 * depth_um * m->span;
}

/* Where the beam is while a line is recorded. */
static struct airy_phantom_line find_line(const struct airy_simulated_oct *m, size_t frame,
                                          size_t line)
{
    const double count = (double)m->lines;
    const bool back = m->bidirectional && frame % 2 == 1;
    double x = (double)(back ? m->lines - 1 - line : line);
    if (m->sinusoidal) { /* airy_oct_params.sinusoidal, the other way round */
        double c, s;
        airy_exact_turn(0.5 * x / count, &c, &s);
        x = 0.5 * count * (1 - c);
    }
    return (struct airy_phantom_line){.x = x,
                                      .place = frame / m->repeats,
                                      .time = (uint64_t)frame * m->lines + line,
                                      .frame = frame};
}

/* The phantom's bins to the places of the samples. */
static void spread(const struct airy_simulated_oct *m, struct airy_oct_scratch *s,
                   const struct airy_phantom_line *line)
{
    enum { HALF = AIRY_SIMULATED_TAPS / 2 };
    const size_t n = m->samples, grid = m->grid, depth = m->phantom.depth, low = depth / 2,
                 row = field_row(m);
    double *re = s->field + HALF, *im = re + row;
    airy_phantom_field(&m->phantom, &s->phantom, line, s->work, s->work + depth);
    memset(s->field, 0, 2 * row * sizeof(double));
    for (size_t d = 0; d < depth; d++) {
        const size_t to = (d + grid - low) % grid;
        re[to] = s->work[d] * m->apodise[d];
        im[to] = s->work[depth + d] * m->apodise[d];
    }
    airy_exact_transform(re, im, grid, m->table, s->work);
    for (size_t i = 0; i < HALF; i++) { /* the field repeats */
        (re - HALF)[i] = re[(grid + i - HALF) % grid];
        (im - HALF)[i] = im[(grid + i - HALF) % grid];
    }
    for (size_t i = 0; i <= HALF; i++) {
        re[grid + i] = re[i % grid];
        im[grid + i] = im[i % grid];
    }
    for (size_t i = 0; i < n; i++) {
        const double *w = m->taps + i * AIRY_SIMULATED_TAPS, *a = s->field + m->base[i],
                     *b = a + row;
        const double x = ((w[0] * a[0] + w[1] * a[1]) + (w[2] * a[2] + w[3] * a[3])) +
                         ((w[4] * a[4] + w[5] * a[5]) + (w[6] * a[6] + w[7] * a[7]));
        const double y = ((w[0] * b[0] + w[1] * b[1]) + (w[2] * b[2] + w[3] * b[3])) +
                         ((w[4] * b[4] + w[5] * b[5]) + (w[6] * b[6] + w[7] * b[7]));
        s->h[i] = x * m->turn[i] - y * m->turn[n + i];
        s->h[n + i] = x * m->turn[n + i] + y * m->turn[i];
    }
}

/* The sample arm's field of a line, into s->h. */
static void make_field(const struct airy_simulated_oct *m, struct airy_oct_scratch *s, size_t frame,
                       size_t line)
{
    const struct airy_phantom_line at = find_line(m, frame, line);
    if (!m->count) {
        spread(m, s, &at);
        return;
    }
    memcpy(s->h, m->still, 2 * m->samples * sizeof(double));
    for (size_t r = 0; r < m->count; r++)
        if (m->reflectors[r].slope_um != 0)
            add_reflector(m, &m->reflectors[r],
                          m->reflectors[r].depth_um + m->reflectors[r].slope_um * at.x, s->h);
}

/* Electrons, with a balanced detector those of either half; counts: [2][samples]. */
static airy_status expose(const struct airy_simulated_oct *m, struct airy_oct_scratch *s,
                          uint64_t stream)
{
    const size_t n = m->samples;
    double *const other = s->counts + n;
    for (size_t i = 0; i < n; i++) {
        const double a = s->h[i], b = s->h[n + i], e = m->electrons[i],
                     square = 1 + (a * a + b * b);
        const double sum = square + 2 * a, difference = square - 2 * a;
        s->counts[i] = (m->balanced ? 0.5 : 1.0) * e * (sum > 0 ? sum : 0);
        other[i] = 0.5 * e * (difference > 0 ? difference : 0);
    }
    airy_status status = AIRY_OK;
    if (!m->noiseless)
        status = airy_random_poisson_fill(s->counts, n, m->seed, stream, 0);
    if (!m->noiseless && m->balanced && status == AIRY_OK)
        status = airy_random_poisson_fill(other, n, m->seed, stream, n);
    for (size_t i = 0; m->balanced && i < n; i++)
        s->counts[i] -= other[i];
    return status;
}

/* Sums of eight 16-bit numbers of each sample. */
static void add_read_noise(const struct airy_simulated_oct *m, struct airy_oct_scratch *s,
                           uint64_t stream)
{
    if (m->noiseless || m->read_noise == 0)
        return;
    const double scale = m->read_noise / 53510;
    airy_random_words(s->words, 4 * m->samples, m->seed ^ 0x510E527FADE682D1u, stream, 0);
    for (size_t i = 0; i < m->samples; i++) {
        const uint32_t *w = s->words + 4 * i;
        uint32_t sum = 0;
        for (int j = 0; j < 4; j++)
            sum += (w[j] & 0xffff) + (w[j] >> 16);
        s->counts[i] += scale * ((double)sum - 262140);
    }
}

/* Whole numbers of `bits` without gaps, the lowest bits first. */
static void pack(uint8_t *out, const uint16_t *codes, size_t samples, int bits)
{
    uint32_t left = 0;
    int have = 0;
    for (size_t i = 0; i < samples; i++) {
        left |= (uint32_t)codes[i] << have;
        for (have += bits; have >= 8; have -= 8, left >>= 8)
            *out++ = (uint8_t)left;
    }
}

/* The converter: 0 to 2^bits - 1 for an empty to a full well; balanced: half of it is 0. */
static void digitise(const struct airy_simulated_oct *m, struct airy_oct_scratch *s, void *out)
{
    const double top = (double)((1u << m->bits) - 1), middle = (double)(1u << (m->bits - 1)),
                 scale = top / m->full_well;
    const bool is_float = m->dtype == AIRY_DTYPE_F32;
    for (size_t i = 0; i < m->samples; i++) {
        double v = s->counts[i] * scale + (m->balanced ? middle : 0);
        v = v > 0 ? (v < top ? v : top) : 0;
        if (is_float)
            ((float *)out)[i] = (float)(m->balanced ? v - middle : v);
        else
            s->codes[i] = (uint16_t)floor(v + 0.5);
    }
    if (m->packing)
        pack(out, s->codes, m->samples, m->bits);
    else if (m->dtype == AIRY_DTYPE_U16)
        memcpy(out, s->codes, m->samples * sizeof(uint16_t));
    for (size_t i = 0; !m->packing && m->dtype == AIRY_DTYPE_U8 && i < m->samples; i++)
        ((uint8_t *)out)[i] = (uint8_t)s->codes[i];
    for (size_t i = 0; m->dtype == AIRY_DTYPE_I16 && i < m->samples; i++)
        ((int16_t *)out)[i] = (int16_t)(s->codes[i] - (int)middle);
}

airy_status airy_simulated_oct_lines(const struct airy_simulated_oct *m, struct airy_oct_scratch *s,
                                     size_t frame, size_t first, size_t count, void *out)
{
    const size_t bytes = airy_simulated_oct_line_bytes(m);
    for (size_t i = 0; i < count; i++) {
        const uint64_t stream = (uint64_t)frame * m->lines + first + i;
        make_field(m, s, frame, first + i);
        const airy_status status = expose(m, s, stream);
        if (status != AIRY_OK)
            return status;
        add_read_noise(m, s, stream);
        digitise(m, s, (char *)out + i * bytes);
    }
    return AIRY_OK;
}
