/* SPDX-License-Identifier: Apache-2.0 */
/* Rules that compare the cells of one run: cold starts, and less work that took longer. */

#include "analysis/audit/audit_places.h"

/* A cell that may have been measured first is compared with the next level, the cell with the next
 * higher number of users. The first cell includes a cold start if its mean latency is more than
 * COLD_TIMES times as high, and more than COLD_MS higher. It also includes one if the latency is
 * more than DISORDER_TIMES times as high, and more than COLD_WRONG_MS higher. */
#define COLD_TIMES 2
#define COLD_MS 100
/* If a cell's mean latency exceeds that of the next level by both of these, the cell shows nothing
 * but a cold start. */
#define COLD_WRONG_TIMES 3
#define COLD_WRONG_MS 1000
/* A cell contradicts a cell with more work if its mean latency is higher by both of these. */
#define DISORDER_TIMES 1.5
#define DISORDER_MS 50

/* ---- Cold starts ----------------------------------------------------------------------------- */

/* Whether the cell may have been measured first: it is the first row of its run, or no cell
 * of its run and lengths has fewer users. */
static bool is_first(const struct audit_places *places, const struct audit_place *place)
{
    return place->cell == place->run_first || audit_place_is_lowest(places, place);
}

static bool is_slower(const struct audit_place *place, const struct audit_place *other,
                      double times, double ms)
{
    return place->mean_ms > times * other->mean_ms && place->mean_ms > other->mean_ms + ms;
}

static bool is_cold(const struct audit_places *places, const struct audit_place *place)
{
    const struct audit_place *next;

    if (!place->is_measured || !is_first(places, place))
        return false;
    next = audit_place_next_level(places, place);
    return next != NULL
           && (is_slower(place, next, COLD_TIMES, COLD_MS)
               || is_slower(place, next, DISORDER_TIMES, COLD_WRONG_MS));
}

static enum finding_weight weight_of(const struct audit_places *places,
                                     const struct audit_place *place)
{
    return is_slower(place, audit_place_next_level(places, place), COLD_WRONG_TIMES, COLD_WRONG_MS)
               ? FINDING_WRONG
               : FINDING_CAUTION;
}

/* Sets *out to a finding with all cold starts that the prefix cache does not explain, and returns
 * the slowest of them; if there are none, both are NULL. */
static const struct audit_place *find_cold(struct audit *audit, const struct audit_places *places,
                                           struct finding **out)
{
    const struct audit_place *worst = NULL;
    struct finding *finding = NULL;

    for (size_t i = 0; i < places->count; i++) {
        const struct audit_place *place = places->by_row[i];

        if (!is_cold(places, place) || audit_cache_first_hit(places, place) != NULL)
            continue;
        audit_report_cell(audit, FINDING_CAUTION, i, &finding);
        if (weight_of(places, place) == FINDING_WRONG)
            finding->weight = FINDING_WRONG;
        if (worst == NULL || place->mean_ms > worst->mean_ms)
            worst = place;
    }
    *out = finding;
    return worst;
}

void audit_check_first_shape(struct audit *audit)
{
    AUDIT_PLACES_AUTO places = audit_places_of(audit->evidence);
    const struct audit_place *worst, *next;
    struct finding *finding;

    worst = find_cold(audit, &places, &finding);
    if (worst == NULL)
        return;
    next = audit_place_next_level(&places, worst);
    text_addf(&finding->arithmetic,
              "%.4g s at %.15g user%s (row %lld), while %.15g users took %.4g s",
              worst->mean_ms / 1000, worst->users, audit_plural(worst->users),
              (long long)worst->cell->row, next->users, next->mean_ms / 1000);
    text_add(
        &finding->consequence,
        "The first requests of a shape waited for its compilation, or filled the prefix cache that "
        "later ones read: these cells measure cold starts, not latencies.");
}

/* ---- Less work that took longer -------------------------------------------------------------- */

/* Whether `less` is less work than `more` and yet slower by both DISORDER_TIMES and DISORDER_MS. */
static bool contradicts(const struct audit_place *less, const struct audit_place *more)
{
    bool same, smaller;

    if (!is_slower(less, more, DISORDER_TIMES, DISORDER_MS))
        return false;
    same = audit_place_same_length(less, more);
    smaller = (same || less->length < more->length) && less->users <= more->users
              && (!same || less->users < more->users);
    return smaller && audit_place_same_output(less, more);
}

/* Whether the cells have the same input length or the same number of users. */
static bool is_neighbour(const struct audit_place *a, const struct audit_place *b)
{
    return audit_place_same_length(a, b) || fabs(a->users - b->users) < 0.5;
}

/* The fastest neighbour in the same run that did more work in less time; NULL: there is none. */
static const struct audit_place *contradicted_by(const struct audit_places *places,
                                                 const struct audit_place *place)
{
    for (size_t i = place->run; i < place->run_end; i++) {
        const struct audit_place *other = places->by_mean[i];

        if (!(place->mean_ms > DISORDER_TIMES * other->mean_ms))
            break;
        if (other->is_measured && contradicts(place, other) && is_neighbour(place, other))
            return other;
    }
    return NULL;
}

static void add_place(const struct evidence *evidence, const struct audit_place *place,
                      struct text *out)
{
    text_addf(out, "%.15g user%s", place->users, audit_plural(place->users));
    if (!isnan(place->length))
        text_addf(out, " and %.15g %s", place->length, finding_length_unit(evidence));
    text_addf(out, " (row %lld)", (long long)place->cell->row);
}

void audit_check_monotone(struct audit *audit)
{
    AUDIT_PLACES_AUTO places = audit_places_of(audit->evidence);
    const struct audit_place *worst = NULL, *against = NULL;
    struct finding *finding = NULL;

    for (size_t i = 0; i < places.count; i++) {
        const struct audit_place *place = places.by_row[i], *other;

        if (!place->is_measured || is_cold(&places, place)
            || audit_cache_first_hit(&places, place) != NULL)
            continue;
        other = contradicted_by(&places, place);
        if (other == NULL)
            continue;
        audit_report_cell(audit, FINDING_CAUTION, i, &finding);
        if (worst == NULL || place->mean_ms / other->mean_ms > worst->mean_ms / against->mean_ms) {
            worst = place;
            against = other;
        }
    }
    if (worst == NULL)
        return;
    text_addf(&finding->arithmetic, "widest difference: %.4g s at ", worst->mean_ms / 1000);
    add_place(audit->evidence, worst, &finding->arithmetic);
    text_addf(&finding->arithmetic, ", but %.4g s at ", against->mean_ms / 1000);
    add_place(audit->evidence, against, &finding->arithmetic);
    text_addf(&finding->consequence,
              "Single measurements differ by a factor of %.1f here without a known cause: smaller "
              "differences mean nothing.",
              worst->mean_ms / against->mean_ms);
}
