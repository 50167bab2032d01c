/* Rules that hold the cells of a run against one another: a first request that waited, less work
 * that took longer. */

#include <stdlib.h>
#include <string.h>

#include "analysis/audit_parts.h"
#include "base/memory.h"

#define FIRST_SHAPE_TIMES 3 /* a first request so much slower than the next level's */
#define FIRST_SHAPE_MS 1000 /* and by so much */
#define DISORDER_TIMES 1.5  /* less work that took so much longer */
#define DISORDER_MS 50      /* and by so much */

/* What these rules need of a cell, close together. */
struct place {
    bool is_measured;
    double users, length, output, mean_ms;
    const struct evidence_cell *cell;
    size_t run, run_end;     /* its run's places */
    size_t shape, shape_end; /* those of them with the same length */
};

/* In two orders, so that no cell is held against all of twenty thousand. */
struct places {
    size_t count;
    struct place *at;             /* by run, length and users */
    const struct place **by_mean; /* by run and mean latency */
    const struct place **by_row;  /* as in the file */
};

static void places_finish(struct places *places)
{
    free(places->at);
    free(places->by_mean);
    free(places->by_row);
}
#define PLACES_AUTO __attribute__((cleanup(places_finish))) struct places

static int compare_runs(const struct place *a, const struct place *b)
{
    return strcmp(a->cell->variant, b->cell->variant);
}

static int compare_shapes(const struct place *a, const struct place *b)
{
    int order = compare_runs(a, b);

    return order != 0 ? order : audit_compare(round(a->length), round(b->length));
}

static int compare_rows(const struct place *a, const struct place *b)
{
    return (a->cell > b->cell) - (a->cell < b->cell);
}

static int compare_places(const void *left, const void *right)
{
    const struct place *a = left, *b = right;
    int order = compare_shapes(a, b);

    if (order == 0)
        order = audit_compare(a->users, b->users);
    return order != 0 ? order : compare_rows(a, b);
}

static int compare_means(const void *left, const void *right)
{
    const struct place *a = *(const struct place *const *)left;
    const struct place *b = *(const struct place *const *)right;
    int order = compare_runs(a, b);

    if (order == 0)
        order = audit_compare(a->mean_ms, b->mean_ms);
    return order != 0 ? order : compare_rows(a, b);
}

/* How far what starts at `first` goes. */
static size_t end_of(const struct places *places, size_t first,
                     int (*compare)(const struct place *a, const struct place *b))
{
    size_t end = first + 1;

    while (end < places->count && compare(&places->at[first], &places->at[end]) == 0)
        end++;
    return end;
}

static void find_bounds(struct places *places)
{
    size_t run = 0, run_end = 0, shape = 0, shape_end = 0;

    for (size_t i = 0; i < places->count; i++) {
        if (i >= run_end)
            run_end = end_of(places, run = i, compare_runs);
        if (i >= shape_end)
            shape_end = end_of(places, shape = i, compare_shapes);
        places->at[i].run = run;
        places->at[i].run_end = run_end;
        places->at[i].shape = shape;
        places->at[i].shape_end = shape_end;
    }
}

static struct places places_of(const struct evidence *evidence)
{
    size_t count = evidence->cell_count;
    struct places places = { count, memory_zeroed(count + 1, sizeof *places.at),
                             memory_zeroed(count + 1, sizeof *places.by_mean),
                             memory_zeroed(count + 1, sizeof *places.by_row) };

    for (size_t i = 0; i < count; i++) {
        const struct evidence_cell *cell = &evidence->cells[i];

        places.at[i] = (struct place){ .is_measured = cell_is_measured(cell),
                                       .users = cell_users(cell),
                                       .length = cell->input_length,
                                       .output = cell->output_tokens_asked,
                                       .mean_ms = cell_mean_ms(cell),
                                       .cell = cell };
    }
    qsort(places.at, count, sizeof *places.at, compare_places);
    find_bounds(&places);
    for (size_t i = 0; i < count; i++) {
        places.by_mean[i] = &places.at[i];
        places.by_row[places.at[i].cell - evidence->cells] = &places.at[i];
    }
    qsort(places.by_mean, count, sizeof *places.by_mean, compare_means);
    return places;
}

static bool same_length(const struct place *a, const struct place *b)
{
    if (!isnan(a->length) || !isnan(b->length))
        return fabs(a->length - b->length) < 0.5;
    return cells_same_length(a->cell, b->cell);
}

static bool same_output(const struct place *a, const struct place *b)
{
    return isnan(a->output) || isnan(b->output) || fabs(a->output - b->output) < 0.5;
}

/* Cells of a run that differ in nothing but their users. */
static bool same_shape(const struct place *a, const struct place *b)
{
    return same_length(a, b) && same_output(a, b);
}

/* The measured cell of the same context at the next level, or NULL. */
static const struct place *next_level(const struct places *places, const struct place *cell)
{
    for (size_t i = (size_t)(cell - places->at) + 1; i < cell->shape_end; i++) {
        const struct place *other = &places->at[i];

        if (other->is_measured && other->users > cell->users && same_shape(other, cell))
            return other;
    }
    return NULL;
}

static bool is_lowest_level(const struct places *places, const struct place *cell)
{
    for (size_t i = cell->shape; places->at[i].users < cell->users; i++)
        if (same_shape(&places->at[i], cell))
            return false;
    return true;
}

static bool is_first_shape(const struct places *places, const struct place *cell)
{
    const struct place *next;

    if (!cell->is_measured || !(cell->mean_ms > FIRST_SHAPE_MS) || !is_lowest_level(places, cell))
        return false;
    next = next_level(places, cell);
    return next != NULL && cell->mean_ms > FIRST_SHAPE_TIMES * next->mean_ms
           && cell->mean_ms > next->mean_ms + FIRST_SHAPE_MS;
}

void check_first_shape(struct audit *audit)
{
    PLACES_AUTO places = places_of(audit->evidence);
    const struct place *worst = NULL;
    struct finding *finding = NULL;

    for (size_t i = 0; i < places.count; i++) {
        const struct place *cell = places.by_row[i];

        if (!is_first_shape(&places, cell))
            continue;
        if (finding == NULL)
            finding = audit_find(audit, FINDING_WRONG);
        finding_add_cell(finding, i);
        if (worst == NULL || cell->mean_ms > worst->mean_ms)
            worst = cell;
    }
    if (worst == NULL)
        return;
    text_addf(&finding->arithmetic,
              "%.4g s at %.15g users (row %lld), where %.15g users took %.4g s",
              worst->mean_ms / 1000, worst->users, (long long)worst->cell->row,
              next_level(&places, worst)->users, next_level(&places, worst)->mean_ms / 1000);
    text_add(
        &finding->consequence,
        "The first requests of a shape waited for its compilation, or filled the prefix cache that "
        "later ones read: these cells are cold starts, not latencies.");
}

/* ---- Less work that took longer ---- */

/* Is `less` less work than `more`, and was it slower beyond what may be chance? */
static bool contradicts(const struct place *less, const struct place *more)
{
    bool same, smaller;

    if (!(less->mean_ms > DISORDER_TIMES * more->mean_ms
          && less->mean_ms > more->mean_ms + DISORDER_MS))
        return false;
    same = same_length(less, more);
    smaller = (same || less->length < more->length) && less->users <= more->users
              && (!same || less->users < more->users);
    return smaller && same_output(less, more);
}

static bool is_neighbour(const struct place *a, const struct place *b)
{
    return same_length(a, b) || fabs(a->users - b->users) < 0.5;
}

/* The fastest of those that do; or NULL. */
static const struct place *contradicted_by(const struct places *places, const struct place *cell)
{
    for (size_t i = cell->run; i < cell->run_end; i++) {
        const struct place *other = places->by_mean[i];

        if (!(cell->mean_ms > DISORDER_TIMES * other->mean_ms))
            break;
        if (other->is_measured && contradicts(cell, other) && is_neighbour(cell, other))
            return other;
    }
    return NULL;
}

static void add_place(const struct place *cell, struct text *out)
{
    text_addf(out, "%.15g users", cell->users);
    if (!isnan(cell->length))
        text_addf(out, " and %.15g of context", cell->length);
    text_addf(out, " (row %lld)", (long long)cell->cell->row);
}

void check_monotone(struct audit *audit)
{
    PLACES_AUTO places = places_of(audit->evidence);
    const struct place *worst = NULL, *against = NULL;
    struct finding *finding = NULL;

    for (size_t i = 0; i < places.count; i++) {
        const struct place *cell = places.by_row[i], *other;

        if (!cell->is_measured || is_first_shape(&places, cell))
            continue;
        other = contradicted_by(&places, cell);
        if (other == NULL)
            continue;
        if (finding == NULL)
            finding = audit_find(audit, FINDING_CAUTION);
        finding_add_cell(finding, i);
        if (worst == NULL || cell->mean_ms / other->mean_ms > worst->mean_ms / against->mean_ms) {
            worst = cell;
            against = other;
        }
    }
    if (worst == NULL)
        return;
    text_addf(&finding->arithmetic, "widest: %.4g s at ", worst->mean_ms / 1000);
    add_place(worst, &finding->arithmetic);
    text_addf(&finding->arithmetic, ", but %.4g s at ", against->mean_ms / 1000);
    add_place(against, &finding->arithmetic);
    text_addf(
        &finding->consequence,
        "Single measurements differ by a factor of %.1f here for no reason: differences below "
        "it say nothing.",
        worst->mean_ms / against->mean_ms);
}
