/*
 * Networks of comparisons for rank filters.
 *
 * The elements under a window are sorted lists of lines, put together by Batcher's odd-even merge
 * (Knuth, The Art of Computer Programming, volume 3, section 5.3.4). A line holds its value for
 * every place along x, so what a window has in common with one further along x is the same line with
 * a shift. Rows of results are made together: what all their windows have in common is sorted first,
 * then halves of the rows get the rows that only they look at, down to single ones. Elements that
 * too many others are below or above of to be the wanted one are left out on the way; steps that
 * nothing asks for are taken out at the end.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/size.h"
#include "cpu/cpu_rank.h"

enum {
    MAX_OPS = 1 << 14,
    MAX_VALUES = 1 << 18, /* in lists */
    MAX_KNOWN = 1 << 9,   /* lists that are kept */
    MAX_SORTED_ROWS = 8,  /* of results, made together */
    MAX_ROWS = 1025,      /* the same of minimum and maximum */
    MAX_INPUTS = 1 << 15
};

/* A line, and the element of it that stands for the first result. */
struct value {
    uint32_t line, shift;
};

/* Sorted; of `total` elements, of which `below` smaller ones and some larger ones are left out. */
struct list {
    const struct value *v;
    size_t n, total, below;
};

/* Rows y to y + rows - 1, `columns` of each. */
struct known {
    size_t y, rows, columns;
    struct list list;
};

struct maker {
    const struct airy_rank_window *window;
    size_t planes; /* that are sorted together; 1 for footprints, whose lines are all rows */
    size_t input_rows, rows; /* of a plane; of results */
    bool failed;             /* it is too large */
    struct airy_rank_op *ops;
    size_t op_count, line_count;
    struct value *values;
    size_t value_count;
    struct known *known;
    size_t known_count;
    struct value output[MAX_ROWS];
};

static struct value *take_values(struct maker *m, size_t n)
{
    m->failed = m->failed || n > MAX_VALUES - m->value_count;
    if (m->failed)
        return NULL;
    m->value_count += n;
    return m->values + m->value_count - n;
}

static void compare(struct maker *m, struct value a, struct value b, struct value *low,
                    struct value *high)
{
    m->failed = m->failed || m->op_count == MAX_OPS;
    if (m->failed)
        return;
    const uint32_t next = (uint32_t)m->line_count;
    m->ops[m->op_count++] = (struct airy_rank_op){.a = a.line,
                                                  .b = b.line,
                                                  .low = next,
                                                  .high = next + 1,
                                                  .shift_a = a.shift,
                                                  .shift_b = b.shift};
    m->line_count += 2;
    *low = (struct value){next, 0};
    *high = (struct value){next + 1, 0};
}

static struct value lower(struct maker *m, struct value a, struct value b)
{
    struct value low = a, high = b;
    compare(m, a, b, &low, &high);
    return low;
}

static struct value upper(struct maker *m, struct value a, struct value b)
{
    struct value low = a, high = b;
    compare(m, a, b, &low, &high);
    return high;
}

/* out[0 .. n + k - 1] from every step_a-th of n values a and every step_b-th of k values b. */
static void merge(struct maker *m, struct value *out, const struct value *a, size_t n, size_t step,
                  const struct value *b, size_t k)
{
    if (n == 0 || k == 0) {
        for (size_t i = 0; i < n + k; i++)
            out[i] = n ? a[i * step] : b[i * step];
        return;
    }
    if (n == 1 && k == 1) {
        compare(m, *a, *b, &out[0], &out[1]);
        return;
    }
    const size_t evens = (n + 1) / 2 + (k + 1) / 2, odds = n / 2 + k / 2;
    struct value *even = take_values(m, evens), *odd = take_values(m, odds);
    if (!even || !odd)
        return;
    merge(m, even, a, (n + 1) / 2, 2 * step, b, (k + 1) / 2);
    merge(m, odd, a + step, n / 2, 2 * step, b + step, k / 2);
    out[0] = even[0];
    for (size_t i = 0; i < odds && i + 1 < evens; i++)
        compare(m, odd[i], even[i + 1], &out[2 * i + 1], &out[2 * i + 2]);
    if (evens == odds)
        out[n + k - 1] = odd[odds - 1];
    if (evens == odds + 2)
        out[n + k - 1] = even[evens - 1];
}

/* Element `rank` of two lists: the least, over how many of a are among those up to it, of the larger
 * last ones. */
static struct value select_one(struct maker *m, const struct list *a, const struct list *b,
                               size_t rank)
{
    struct value least = {0, 0};
    bool any = false;
    for (size_t i = 0; i <= a->n && i <= rank + 1; i++) {
        const size_t k = rank + 1 - i;
        if (k > b->n)
            continue;
        const struct value one = i == 0   ? b->v[k - 1]
                                 : k == 0 ? a->v[i - 1]
                                          : upper(m, a->v[i - 1], b->v[k - 1]);
        least = any ? lower(m, least, one) : one;
        any = true;
    }
    return least;
}

/* Both lists in one, without what cannot be wanted any more. */
static struct list join(struct maker *m, struct list a, struct list b)
{
    struct list both = {.total = a.total + b.total, .below = a.below + b.below};
    const size_t rank = m->window->rank - both.below, n = a.n + b.n;
    const size_t rest = m->window->count - both.total;
    const size_t first = rank > rest ? rank - rest : 0;
    const size_t end = airy_min_size(n, rank + 1);
    struct value *v = take_values(m, n);
    if (!v)
        return both;
    both.v = v;
    if (rest == 0) {
        v[0] = select_one(m, &a, &b, rank);
        both.n = 1;
        return both;
    }
    merge(m, v, a.v, a.n, 1, b.v, b.n);
    both.v = v + first;
    both.n = end - first;
    both.below += first;
    return both;
}

static struct list shifted(struct maker *m, struct list list, size_t shift)
{
    struct value *v = take_values(m, list.n);
    for (size_t i = 0; v && i < list.n; i++)
        v[i] = (struct value){list.v[i].line, list.v[i].shift + (uint32_t)shift};
    list.v = v;
    return list;
}

/* The largest power of two below n, n > 1. */
static size_t half_of(size_t n)
{
    size_t p = 1;
    while (2 * p < n)
        p *= 2;
    return p;
}

static struct list input(struct maker *m, size_t line)
{
    struct value *v = take_values(m, 1);
    if (v)
        *v = (struct value){(uint32_t)line, 0};
    return (struct list){.v = v, .n = 1, .total = 1};
}

/* The planes of a row, at one place. */
static struct list sort_planes(struct maker *m, size_t y, size_t first, size_t planes)
{
    if (planes == 1)
        return input(m, first * m->input_rows + y);
    const size_t half = half_of(planes);
    const struct list a = sort_planes(m, y, first, half),
                      b = sort_planes(m, y, first + half, planes - half);
    return m->failed ? a : join(m, a, b);
}

static const struct known *find_known(const struct maker *m, size_t y, size_t rows, size_t columns)
{
    for (size_t i = m->known_count; i-- > 0;)
        if (m->known[i].y == y && m->known[i].rows == rows && m->known[i].columns == columns)
            return &m->known[i];
    return NULL;
}

static struct list keep(struct maker *m, size_t y, size_t rows, size_t columns, struct list list)
{
    m->failed = m->failed || m->known_count == MAX_KNOWN;
    if (!m->failed)
        m->known[m->known_count++] = (struct known){y, rows, columns, list};
    return list;
}

static struct list sort_block(struct maker *m, size_t y, size_t rows, size_t columns)
{
    const struct known *known = find_known(m, y, rows, columns);
    struct list a, b;
    if (known || m->failed)
        return known ? known->list : (struct list){.v = NULL};
    if (columns == 1 && rows == 1)
        return keep(m, y, 1, 1, sort_planes(m, y, 0, m->planes));
    if (columns == 1) {
        const size_t half = half_of(rows);
        a = sort_block(m, y, half, 1);
        b = sort_block(m, y + half, rows - half, 1);
    } else {
        const size_t half = half_of(columns);
        a = sort_block(m, y, rows, half);
        b = sort_block(m, y, rows, columns - half);
        if (!m->failed)
            b = shifted(m, b, half);
    }
    return m->failed ? a : keep(m, y, rows, columns, join(m, a, b));
}

/* Results y to y + rows - 1, whose common part is `common`; a block of what else each half sees. */
static void split_rows(struct maker *m, size_t y, size_t rows, struct list common)
{
    const size_t half = rows / 2, height = m->window->height, width = m->window->width;
    if (m->failed)
        return;
    if (rows == 1) {
        m->output[y] = common.v[0];
        return;
    }
    const struct list above = sort_block(m, y + half - 1, half, width);
    if (m->failed)
        return;
    split_rows(m, y, half, join(m, common, above));
    const struct list below = sort_block(m, y + height, half, width);
    if (m->failed)
        return;
    split_rows(m, y + half, half, join(m, common, below));
}

/* Of a box: `rows` rows of results, a power of two up to the height. */
static void make_box(struct maker *m)
{
    const struct airy_rank_window *w = m->window;
    const struct list common = sort_block(m, m->rows - 1, w->height - m->rows + 1, w->width);
    split_rows(m, 0, m->rows, common);
}

static struct value choose(struct maker *m, struct value a, struct value b)
{
    return m->window->rank ? upper(m, a, b) : lower(m, a, b);
}

/* Of the planes of a row, at one place. */
static struct value choose_planes(struct maker *m, size_t y)
{
    struct value v = {(uint32_t)y, 0};
    for (size_t k = 1; k < m->window->planes; k++)
        v = choose(m, v, (struct value){(uint32_t)(k * m->input_rows + y), 0});
    return v;
}

/*
 * Minimum or maximum: along y by van Herk and Gil-Werman, whose blocks are as high as the window
 * (to[y]: from the block's first row to y, from[y]: from y to its last); along x by doubling, with parts that overlap.
 */
static void make_extremes(struct maker *m)
{
    const size_t height = m->window->height, width = m->window->width, n = m->input_rows;
    struct value *row = take_values(m, n), *to = take_values(m, n), *from = take_values(m, n);
    if (!row || !to || !from)
        return;
    for (size_t y = 0; y < n; y++) {
        row[y] = choose_planes(m, y);
        to[y] = y % height ? choose(m, to[y - 1], row[y]) : row[y];
    }
    for (size_t y = n; y-- > 0;)
        from[y] = (y + 1) % height && y + 1 < n ? choose(m, row[y], from[y + 1]) : row[y];
    for (size_t y = 0; y < m->rows; y++) {
        struct value v = y % height ? choose(m, from[y], to[y + height - 1]) : from[y];
        for (size_t part = 1; part < width;) {
            const size_t step = airy_min_size(part, width - part);
            v = choose(m, v, (struct value){v.line, v.shift + (uint32_t)step});
            part += step;
        }
        m->output[y] = v;
    }
}

/* One row of results: runs of the footprint's rows, the two shortest lists first. */
static void make_footprint(struct maker *m)
{
    const struct airy_rank_window *w = m->window;
    const size_t lines = w->planes * w->height;
    struct list *lists = calloc(w->count, sizeof(*lists));
    size_t n = 0;
    m->failed = m->failed || !lists;
    for (size_t line = 0; line < lines && !m->failed; line++)
        for (size_t x = 0; x < w->width && !m->failed;) {
            const uint8_t *row = w->footprint + line * w->width;
            size_t end = x;
            while (end < w->width && row[end])
                end++;
            if (end > x)
                lists[n++] = shifted(m, sort_block(m, line, 1, end - x), x);
            x = end + 1;
        }
    while (n > 1 && !m->failed) {
        for (size_t pass = 0; pass < 2; pass++) /* to the end of the list */
            for (size_t i = 0; i + 1 + pass < n; i++)
                if (lists[i].n < lists[i + 1].n) {
                    const struct list t = lists[i];
                    lists[i] = lists[i + 1];
                    lists[i + 1] = t;
                }
        lists[n - 2] = join(m, lists[n - 2], lists[n - 1]);
        n--;
    }
    if (!m->failed)
        m->output[0] = lists[0].v[0];
    free(lists);
}

/* Where lines are asked for: elements behind the results, or UNUSED. */
#define UNUSED UINT32_MAX

static void ask(uint32_t *reach, uint32_t line, uint32_t elements)
{
    if (reach[line] == UNUSED || reach[line] < elements)
        reach[line] = elements;
}

/* What each line must hold, and how far; steps that are not needed are taken out. */
static void find_needed(struct maker *m, uint32_t *reach)
{
    const size_t each = AIRY_RANK_CHUNK / m->window->elem;
    for (size_t i = 0; i < m->line_count; i++)
        reach[i] = UNUSED;
    for (size_t y = 0; y < m->rows; y++)
        ask(reach, m->output[y].line, m->output[y].shift);
    size_t kept = m->op_count;
    for (size_t i = m->op_count; i-- > 0;) {
        struct airy_rank_op op = m->ops[i];
        const bool low = reach[op.low] != UNUSED, high = reach[op.high] != UNUSED;
        if (!low && !high)
            continue;
        const uint32_t behind = low && high ? (uint32_t)airy_max_size(reach[op.low], reach[op.high])
                                            : reach[low ? op.low : op.high];
        op.step = low && high ? AIRY_RANK_BOTH : low ? AIRY_RANK_LOWER : AIRY_RANK_UPPER;
        op.chunks = (uint32_t)((m->window->length + behind + each - 1) / each);
        ask(reach, op.a, behind + op.shift_a);
        ask(reach, op.b, behind + op.shift_b);
        m->ops[--kept] = op;
    }
    m->op_count -= kept;
    memmove(m->ops, m->ops + kept, m->op_count * sizeof(*m->ops));
}

/* Lines are used again once nothing reads them any more. last[line]: the step that reads it last. */
static size_t reuse_lines(struct maker *m, uint32_t *last, uint32_t *place, uint32_t *unused,
                          size_t inputs)
{
    size_t lines = inputs, free_count = 0;
    memset(last, 0, m->line_count * sizeof(*last));
    for (size_t i = 0; i < m->op_count; i++)
        last[m->ops[i].a] = last[m->ops[i].b] = (uint32_t)i;
    for (size_t y = 0; y < m->rows; y++)
        last[m->output[y].line] = UINT32_MAX;
    for (size_t i = 0; i < inputs; i++)
        place[i] = (uint32_t)i;
    for (size_t i = 0; i < m->op_count; i++) {
        struct airy_rank_op *op = &m->ops[i];
        const uint32_t a = op->a, b = op->b, made[2] = {op->low, op->high};
        for (int k = 0; k < 2; k++)
            if (op->step == AIRY_RANK_BOTH || (op->step == AIRY_RANK_UPPER) == (k == 1))
                place[made[k]] = free_count ? unused[--free_count] : (uint32_t)lines++;
        op->a = place[a];
        op->b = place[b];
        op->low = place[made[0]];
        op->high = place[made[1]];
        if (a >= inputs && last[a] == i)
            unused[free_count++] = place[a];
        if (b >= inputs && b != a && last[b] == i)
            unused[free_count++] = place[b];
    }
    return lines;
}

static double find_cost(const struct maker *m)
{
    double bytes = 0;
    for (size_t i = 0; i < m->op_count; i++)
        bytes += (m->ops[i].step == AIRY_RANK_BOTH ? 4.0 : 3.0) * m->ops[i].chunks *
                 AIRY_RANK_CHUNK;
    return bytes / ((double)m->window->length * (double)m->window->elem * (double)m->rows);
}

static bool is_extreme(const struct airy_rank_window *w)
{
    return !w->footprint && (w->rank == 0 || w->rank + 1 == w->count);
}

static size_t start(struct maker *m, const struct airy_rank_window *window, size_t rows)
{
    m->window = window;
    m->rows = rows;
    m->planes = window->footprint ? 1 : window->planes;
    m->input_rows = rows + window->height - 1;
    m->op_count = m->value_count = m->known_count = 0;
    m->line_count = window->planes * m->input_rows;
    m->failed = m->line_count > MAX_INPUTS;
    return m->line_count;
}

/* The network for so many rows into *network, unless it is too large. */
static airy_status make_rows(struct maker *m, struct airy_rank_network *network,
                             const struct airy_rank_window *window, size_t rows)
{
    const size_t inputs = start(m, window, rows);
    void *block;
    *network = (struct airy_rank_network){.inputs = inputs, .rows = rows};
    if (window->footprint)
        make_footprint(m);
    else if (m->failed)
        return AIRY_OK;
    else if (is_extreme(window))
        make_extremes(m);
    else
        make_box(m);
    if (m->failed)
        return AIRY_OK;
    AIRY_TRY(airy_memory_calloc(&block, 4 * m->line_count, sizeof(uint32_t), "a network"));
    uint32_t *table = block;
    find_needed(m, table);
    for (size_t i = 0; i < inputs; i++)
        if (table[i] != UNUSED)
            network->reach = airy_max_size(network->reach, table[i]);
    network->lines =
        reuse_lines(m, table, table + m->line_count, table + 2 * m->line_count, inputs);
    airy_status status = airy_memory_calloc(
        &block, 1, m->op_count * sizeof(*m->ops) + 2 * rows * sizeof(uint32_t) + 1, "a network");
    if (status == AIRY_OK) {
        network->count = m->op_count;
        network->cost = find_cost(m);
        network->ops = block;
        memcpy(network->ops, m->ops, m->op_count * sizeof(*m->ops));
        network->output = (uint32_t *)(network->ops + m->op_count);
        network->output_shift = network->output + rows;
        for (size_t y = 0; y < rows; y++) {
            network->output[y] = table[m->line_count + m->output[y].line];
            network->output_shift[y] = m->output[y].shift;
        }
    }
    free(table);
    return status;
}

void airy_rank_network_free(struct airy_rank_network *network)
{
    free(network->ops);
    network->ops = NULL;
}

airy_status airy_rank_network_make(struct airy_rank_network *network,
                                   const struct airy_rank_window *window)
{
    struct maker *m;
    void *block;
    const size_t most = airy_min_size(
        window->rows, window->footprint ? 1 : airy_min_size(window->height, MAX_SORTED_ROWS));
    /* Each block of an extreme is as high as the window; a few rows at least. */
    const size_t blocks = window->height < 16 ? 16 / window->height : 1;
    const size_t first = is_extreme(window) ? airy_min_size(window->rows, blocks * window->height)
                                            : 1;
    *network = (struct airy_rank_network){.ops = NULL};
    AIRY_TRY(airy_memory_calloc(&block, 1,
                                sizeof(*m) + MAX_OPS * sizeof(*m->ops) +
                                    MAX_VALUES * sizeof(*m->values) + MAX_KNOWN * sizeof(*m->known),
                                "a network"));
    m = block;
    m->known = (struct known *)(m + 1);
    m->ops = (struct airy_rank_op *)(m->known + MAX_KNOWN);
    m->values = (struct value *)(m->ops + MAX_OPS);
    airy_status status = AIRY_OK;
    for (size_t rows = first; status == AIRY_OK && (rows <= most || rows == first); rows *= 2) {
        struct airy_rank_network one;
        status = make_rows(m, &one, window, rows);
        if (status != AIRY_OK || !one.ops)
            continue;
        if (network->ops && one.cost >= network->cost) {
            airy_rank_network_free(&one);
            continue;
        }
        airy_rank_network_free(network);
        *network = one;
    }
    free(m);
    return status;
}
