/* SPDX-License-Identifier: Apache-2.0 */
/* The rule on prompts served from the prefix cache. It reports them in three cases: the
 * server's count of cached tokens exceeds CACHED_SHARE of the input tokens, only a cache explains
 * the times, or the file shows that all requests had the same prompt. */

#include <string.h>

#include "analysis/audit/audit_places.h"
#include "analysis/import/import_columns.h"
#include "base/core/memory.h"

/* A cell counts as cached if more than this share of its input tokens came from the cache. */
#define CACHED_SHARE 0.1
/* The cell with the fewest users is compared with the one with the next higher number of users. The
 * first must take more than CACHED_TIMES times as long as the second, and more than CACHED_MS (ms)
 * longer: otherwise, the times do not show that the second found its prompt in the cache.
 * GROWING_TIMES replaces CACHED_TIMES if the times of such first cells grow with the length of the
 * prompt. */
#define CACHED_TIMES 2
#define GROWING_TIMES 1.5
#define CACHED_MS 100
/* tokens/s: if the first prompt was read more slowly than this, something else, such as a
 * compilation, took the time */
#define PREFILL_SPEED 500
/* with at least this many requests, a single delayed request hardly moves the median */
#define REQUESTS_OF_MEDIAN 4
#define PROMPT_SHOWN 60

/* ---- From the server's own count ---- */

/* The share of the input tokens that came from the cache; NaN: not known. */
static double cached_share(const struct evidence_cell *cell)
{
    if (!isnan(cell->cached_share))
        return cell->cached_share;
    if (!isnan(cell->input_tokens))
        return cell->cached_tokens / cell->input_tokens;
    return cell->cached_tokens / (cell->input_tokens_mean * cell->succeeded);
}

static bool is_cached(const struct evidence_cell *cell)
{
    return audit_cell_is_measured(cell) && cached_share(cell) > CACHED_SHARE;
}

static void check_reported(struct audit *audit)
{
    struct finding *finding = audit_find_cells(audit, FINDING_CAUTION, is_cached);
    double most = 0;

    if (finding == NULL)
        return;
    for (size_t i = 0; i < finding->cell_count; i++)
        most = fmax(most, cached_share(&audit->evidence->cells[finding->cells[i]]));
    text_addf(&finding->arithmetic, "up to %.0f %% of the input tokens came from the prefix cache",
              100 * most);
    text_add(
        &finding->consequence,
        "That part of the prefill was skipped: TTFT and input rates are better than for prompts "
        "that are not in the cache.");
}

/* ---- From the times ---- */

/* Returns the time of `place` to compare with that of `other`: the median TTFT if both cells report
 * one, else the mean TTFT if both report one, else the mean time of the whole request. */
static double compared_ms(const struct audit_place *place, const struct audit_place *other)
{
    const struct evidence_latency *ttft = &place->cell->latency[METRIC_TTFT];
    const struct evidence_latency *others = &other->cell->latency[METRIC_TTFT];

    if (!isnan(ttft->p50_ms + others->p50_ms))
        return ttft->p50_ms;
    if (!isnan(ttft->mean_ms + others->mean_ms))
        return ttft->mean_ms;
    return place->mean_ms;
}

static bool is_slower(const struct audit_place *first, const struct audit_place *later,
                      double factor)
{
    double first_ms = compared_ms(first, later), later_ms = compared_ms(later, first);

    return first_ms > factor * later_ms && first_ms > later_ms + CACHED_MS;
}

/* Whether medians, too, show the difference that is_slower() found, and `first` has enough requests
 * that a single one, delayed by a compilation, hardly moves a median. If both cells report a median
 * TTFT, is_slower() has already compared these; otherwise compares the median E2E latencies. */
static bool is_slower_by_median(const struct audit_place *first, const struct audit_place *later)
{
    const struct evidence_latency *ttft = &first->cell->latency[METRIC_TTFT];

    return audit_cell_requests(first->cell) >= REQUESTS_OF_MEDIAN
           && (!isnan(ttft->p50_ms + later->cell->latency[METRIC_TTFT].p50_ms)
               || first->cell->latency[METRIC_E2E].p50_ms
                      > CACHED_TIMES * later->cell->latency[METRIC_E2E].p50_ms);
}

/* Whether the time was spent on reading the prompt, not on a compilation, which takes the same time
 * for every length. Compares `first` with the cells of its run that have the fewest users for their
 * length, and whose prompt is at least twice or at most half as long (but not shorter than
 * AUDIT_CACHE_LENGTH). True if, from `first` to at least one of these cells, the time changes
 * roughly in proportion to the length, and no cell with a prompt at least twice as long took less
 * time. */
static bool grows_with_length(const struct audit_places *places, const struct audit_place *first)
{
    bool grows = false;

    for (size_t i = first->run; i < first->run_end; i++) {
        const struct audit_place *other = &places->at[i];
        double length_ratio = other->length / first->length;
        double time_ratio = other->mean_ms / first->mean_ms;

        if (!other->is_measured || !(other->length >= AUDIT_CACHE_LENGTH)
            || !(length_ratio >= 2 || length_ratio <= 0.5) || !audit_place_is_lowest(places, other))
            continue;
        if (length_ratio >= 2 && time_ratio < 1)
            return false;
        grows |=
            log(time_ratio) / log(length_ratio) > 0.6 && log(time_ratio) / log(length_ratio) < 1.6;
    }
    return grows;
}

const struct audit_place *audit_cache_first_hit(const struct audit_places *places,
                                                const struct audit_place *first)
{
    const struct audit_place *later;

    if (places->cache_is_off || !first->is_measured || !(first->length >= AUDIT_CACHE_LENGTH)
        || !audit_place_is_lowest(places, first) || cached_share(first->cell) > CACHED_SHARE)
        return NULL;
    later = audit_place_next_level(places, first);
    if (later == NULL || cached_share(later->cell) <= CACHED_SHARE
        || !is_slower(first, later, GROWING_TIMES)
        || first->length < PREFILL_SPEED * compared_ms(first, later) / 1000)
        return NULL;
    return grows_with_length(places, first)
                   || (is_slower(first, later, CACHED_TIMES) && is_slower_by_median(first, later))
               ? later
               : NULL;
}

/* Marks the cells of the same run and input length as `first` whose prompts were read faster
 * although there were more users. */
static void mark_from_cache(const struct audit_places *places, const struct audit_place *first,
                            bool *from_cache, const struct evidence *evidence)
{
    for (size_t i = first->shape; i < first->shape_end; i++) {
        const struct audit_place *place = &places->at[i];

        if (place->is_measured && place->users > first->users
            && compared_ms(place, first) < compared_ms(first, place))
            from_cache[place->cell - evidence->cells] = true;
    }
}

static void check_times(struct audit *audit)
{
    const struct evidence *evidence = audit->evidence;
    AUDIT_PLACES_AUTO places = audit_places_of(evidence);
    FREE_AUTO bool *from_cache = memory_zeroed(evidence->cell_count + 1, sizeof *from_cache);
    const struct audit_place *longest = NULL, *later;
    struct finding *finding;

    for (size_t i = 0; i < places.count; i++) {
        const struct audit_place *first = &places.at[i];

        if (audit_cache_first_hit(&places, first) == NULL)
            continue;
        mark_from_cache(&places, first, from_cache, evidence);
        if (longest == NULL || first->length > longest->length)
            longest = first;
    }
    if (longest == NULL)
        return;
    finding = audit_add_finding(audit, FINDING_WRONG);
    for (size_t i = 0; i < evidence->cell_count; i++)
        if (from_cache[i])
            audit_finding_add_cell(finding, i);
    later = audit_cache_first_hit(&places, longest);
    text_addf(&finding->arithmetic,
              "%.15g %s took %.4g s at %.15g user%s (row %lld), but %.4g s at %.15g (row "
              "%lld)",
              longest->length, finding_length_unit(evidence), compared_ms(longest, later) / 1000,
              longest->users, audit_plural(longest->users), (long long)longest->cell->row,
              compared_ms(later, longest) / 1000, later->users, (long long)later->cell->row);
    text_add(&finding->consequence,
             "More users do not make a prompt shorter: it was read once, and came from the prefix "
             "cache from then on. These cells do not measure prefill.");
}

/* ---- From the prompts and descriptions in the file ---- */

static bool is_prompt_column(const char *heading)
{
    static const char *const names[] = { "prompt", "prompt_text", "user_prompt", "input_text",
                                         "query",  "question",    "message" };
    char normalized[HEADING_SIZE];

    import_column_normalize(heading, normalized);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(normalized, names[i]) == 0)
            return true;
    return false;
}

/* Returns the row's prompt if a column holds it as text with at least one space; else NULL. */
static const char *prompt_of(const struct evidence_cell *cell)
{
    const char *key;
    json_t *value;

    json_object_foreach(cell->original, key, value) {
        const char *text = json_string_value(value);

        if (text != NULL && strchr(text, ' ') != NULL && is_prompt_column(key))
            return text;
    }
    return NULL;
}

static bool names_one_prompt(const char *text)
{
    static const char *const words[] = { "fixed prompt",    "same prompt",    "single prompt",
                                         "constant prompt", "one prompt",     "identical prompt",
                                         "static prompt",   "repeated prompt" };

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const char *at = strcasestr(text, words[i]);

        if (at != NULL && (at - text < 5 || strncasecmp(at - 5, "than ", 5) != 0))
            return true; /* "more than one prompt" does not count */
    }
    return false;
}

/* Returns the prompt if at least two measured rows have one and it is the same in all of them; else
 * NULL. */
static const char *one_prompt(const struct evidence *evidence)
{
    const char *only = NULL;
    size_t count = 0;

    for (size_t i = 0; i < evidence->cell_count; i++) {
        const char *prompt = prompt_of(&evidence->cells[i]);

        if (prompt == NULL || !audit_cell_is_measured(&evidence->cells[i]))
            continue;
        if (only != NULL && strcmp(prompt, only) != 0)
            return NULL;
        only = prompt;
        count++;
    }
    return count > 1 ? only : NULL;
}

bool audit_cache_describes_prompts(const struct evidence *evidence)
{
    for (size_t i = 0; i < evidence->cell_count; i++)
        if (prompt_of(&evidence->cells[i]) != NULL)
            return true;
    return evidence->facts.workload[0] != '\0' || names_one_prompt(evidence->facts.dataset);
}

static void check_described(struct audit *audit)
{
    const struct evidence *evidence = audit->evidence;
    const char *prompt = one_prompt(evidence);
    struct finding *finding;

    if (audit_cache_is_off(&evidence->facts)
        || (prompt == NULL && !names_one_prompt(evidence->facts.dataset)
            && !names_one_prompt(evidence->facts.workload)))
        return;
    finding = audit_add_finding(audit, FINDING_CAUTION);
    for (size_t i = 0; i < evidence->cell_count; i++)
        if (audit_cell_is_measured(&evidence->cells[i])
            && (prompt == NULL || prompt_of(&evidence->cells[i]) != NULL))
            audit_finding_add_cell(finding, i);
    text_add(&finding->arithmetic, "every request has the same prompt");
    if (prompt != NULL) {
        text_add(&finding->arithmetic, ": \"");
        text_add_printable(&finding->arithmetic, prompt, strlen(prompt), PROMPT_SHOWN);
        text_add_char(&finding->arithmetic, '"');
    }
    text_add(&finding->consequence,
             "If the server caches prefixes, as most do by default, it read the prompt only "
             "once: TTFT and input rates are those of a cached prompt.");
}

void audit_check_cache(struct audit *audit)
{
    check_reported(audit);
    check_times(audit);
    check_described(audit);
}
