/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/report/takeaways.h"

#include <math.h>

#include "analysis/report/point_warnings.h"
#include "analysis/report/report_sections.h"
#include "analysis/report/saturation.h"

void takeaways_add_take(json_t *sentences, struct text *sentence)
{
    json_array_append_new(sentences, json_string(text_string(sentence)));
    text_finish(sentence);
}

/* Writes "TTFT p50 25.0 ms, then 50.0 tokens/s for each user". */
static void add_user_view(struct text *out, const struct grid_point *point)
{
    double tpot_ms = repetition_stats_mean(point, QUANTITY_TPOT_P50);
    char ttft[NUMBER_SIZE], speed[NUMBER_SIZE];

    text_addf(out, "TTFT p50 %s ms",
              repetition_stats_number(repetition_stats_mean(point, QUANTITY_TTFT_P50), ttft));
    if (tpot_ms > 0)
        text_addf(out, ", then %s tokens/s for each user",
                  repetition_stats_number(1000 / tpot_ms, speed));
}

static void add_peak(json_t *sentences, const struct peak *peak)
{
    char tokens[NUMBER_SIZE], requests[NUMBER_SIZE], load[LOAD_SIZE];
    struct text text = { 0 };

    text_addf(
        &text, "Peak: %s output tokens/s (%s requests/s) %s %s at context %lld: ",
        repetition_stats_number(peak->output_tokens_per_s, tokens),
        repetition_stats_number(repetition_stats_mean(&peak->point, QUANTITY_REQUESTS), requests),
        peak->point.is_rate ? "at" : "with",
        cell_grid_load_name(peak->point.load, peak->point.is_rate, load),
        (long long)peak->point.context_tokens);
    add_user_view(&text, &peak->point);
    text_add(&text, ".");
    takeaways_add_take(sentences, &text);
}

/* Adds the figures of the smallest load at the smallest context, if that point is sound. */
static void add_smallest(json_t *sentences, const struct cell_grid *grid, size_t output)
{
    const struct grid_point point = cell_grid_point(grid, output, 0, 0);
    char load[LOAD_SIZE];
    struct text text = { 0 };

    if (!grid_point_is_sound(&point))
        return;
    text_addf(&text, "The smallest load, %s at context %lld: ",
              cell_grid_load_name(point.load, point.is_rate, load),
              (long long)point.context_tokens);
    add_user_view(&text, &point);
    text_add(&text, ".");
    takeaways_add_take(sentences, &text);
}

static size_t index_of(const struct cell_grid_axis *axis, double value)
{
    size_t i = 0;

    while (i < axis->count && axis->values[i] != value)
        i++;
    return i;
}

/* Adds the saturation of the context that has the peak. */
static void add_saturation(json_t *sentences, const struct cell_grid *grid, size_t output,
                           const struct peak *peak)
{
    const struct saturation s = saturation_find(
        grid, output, index_of(&grid->contexts, (double)peak->point.context_tokens));
    struct text text = { 0 };
    char load[LOAD_SIZE];

    if (!s.found)
        return;
    text_addf(&text, "At context %lld: ", (long long)s.at.context_tokens);
    saturation_sentence(&s, &text);
    if (s.verdict.reached)
        text_addf(&text, "; additional %s mostly wait", s.at.is_rate ? "requests" : "users");
    if (s.doubled_load > 0)
        text_addf(&text, "; at %s, the E2E median has at least doubled",
                  cell_grid_load_name(s.doubled_load, s.at.is_rate, load));
    text_add(&text, ".");
    takeaways_add_take(sentences, &text);
}

/* Index of the longest context that has a sound point at the load with the index `load`; 0: no
 * context after the first has one. */
static size_t longest_sound(const struct cell_grid *grid, size_t output, size_t load)
{
    for (size_t context = grid->contexts.count; context-- > 1;) {
        const struct grid_point point = cell_grid_point(grid, output, context, load);

        if (grid_point_is_sound(&point))
            return context;
    }
    return 0;
}

/* Returns "falls by 12 %" or "rises by 12 %"; "stays the same" if the change rounds to 0 %. */
static const char *name_change(double loss, char out[32])
{
    if (fabs(loss) < 0.005)
        return "stays the same";
    snprintf(out, 32, "%s by %.0f %%", loss > 0 ? "falls" : "rises", fabs(loss) * 100);
    return out;
}

/* Writes "goes from 220 to 440 ms"; "stays at 220 ms" if both look the same. */
static void add_ttft_change(struct text *text, const struct grid_point *from,
                            const struct grid_point *to)
{
    char before[NUMBER_SIZE], after[NUMBER_SIZE];

    repetition_stats_number(repetition_stats_mean(from, QUANTITY_TTFT_P50), before);
    repetition_stats_number(repetition_stats_mean(to, QUANTITY_TTFT_P50), after);
    if (strcmp(before, after) == 0)
        text_addf(text, "stays at %s ms", after);
    else
        text_addf(text, "goes from %s to %s ms", before, after);
}

/* Adds what a longer context costs at the peak's load. */
static void add_context(json_t *sentences, const struct cell_grid *grid, size_t output,
                        const struct peak *peak)
{
    size_t at = index_of(&grid->loads, peak->point.load);
    size_t longest = longest_sound(grid, output, at);
    const struct grid_point from = cell_grid_point(grid, output, 0, at);
    const struct grid_point to = cell_grid_point(grid, output, longest, at);
    char load[LOAD_SIZE], change[32];
    struct text text = { 0 };
    double loss;

    if (longest == 0 || !grid_point_is_sound(&from))
        return;
    loss = 1
           - repetition_stats_mean(&to, QUANTITY_OUTPUT_TOKENS)
                 / repetition_stats_mean(&from, QUANTITY_OUTPUT_TOKENS);
    text_addf(&text, "%s %s, from context %lld to %lld: output tokens/s %s, TTFT p50 ",
              from.is_rate ? "At" : "With", cell_grid_load_name(from.load, from.is_rate, load),
              (long long)from.context_tokens, (long long)to.context_tokens,
              name_change(loss, change));
    add_ttft_change(&text, &from, &to);
    text_add(&text, ".");
    takeaways_add_take(sentences, &text);
}

/* Adds where failures begin, for the smallest context that has a failure. */
static void add_first_failure(json_t *sentences, const struct cell_grid *grid, size_t output)
{
    struct text text = { 0 };

    for (size_t context = 0; context < grid->contexts.count; context++) {
        const struct failure_onset failure = failure_onset_find(grid, output, context);

        if (!failure.found)
            continue;
        text_add(&text, "Failures begin at ");
        report_failure_sentence(grid, &failure, &text);
        text_add_char(&text, '.');
        takeaways_add_take(sentences, &text);
        return;
    }
}

/* ---- The whole grid ---- */

struct tally {
    size_t points;              /* number of points in the grid */
    size_t states[CELL_STATES]; /* number of points in each state */
    size_t marked;              /* number of points with a "!" */
    size_t spread_points;       /* number of points with a confidence interval of output tokens/s */
    double widest; /* the half-width of the widest of these intervals, divided by its mean */
};

static void count_point(void *context, const struct grid_point *point)
{
    struct tally *tally = context;
    const struct repetition_stats tokens = repetition_stats_of(point, QUANTITY_OUTPUT_TOKENS);

    tally->points++;
    tally->states[grid_point_state(point)]++;
    tally->marked += point_warning_is_marked(point);
    if (isfinite(tokens.half_width) && tokens.mean > 0) {
        tally->spread_points++;
        tally->widest = fmax(tally->widest, tokens.half_width / tokens.mean);
    }
}

static const char *is_or_are(size_t count)
{
    return count == 1 ? "is" : "are";
}

static void add_counts(json_t *sentences, const struct tally *tally)
{
    struct text text = { 0 };

    text_addf(&text, "%zu of %zu points of the grid were measured", tally->states[CELL_MEASURED],
              tally->points);
    if (tally->states[CELL_FAILED] > 0)
        text_addf(&text, ", %zu failed", tally->states[CELL_FAILED]);
    if (tally->states[CELL_INFEASIBLE] > 0)
        text_addf(&text, ", %zu %s too long for the model", tally->states[CELL_INFEASIBLE],
                  is_or_are(tally->states[CELL_INFEASIBLE]));
    if (tally->states[CELL_SKIPPED] > 0)
        text_addf(&text, ", %zu skipped", tally->states[CELL_SKIPPED]);
    if (tally->states[CELL_INFERRED] > 0)
        text_addf(&text, ", %zu inferred from neighbouring points", tally->states[CELL_INFERRED]);
    if (tally->states[CELL_PENDING] > 0)
        text_addf(&text, ", %zu %s pending", tally->states[CELL_PENDING],
                  is_or_are(tally->states[CELL_PENDING]));
    text_add(&text, ".");
    takeaways_add_take(sentences, &text);
}

static void add_trust(json_t *sentences, const struct cell_grid *grid, const struct tally *tally)
{
    struct text text = { 0 };

    if (tally->spread_points > 0)
        text_addf(&text,
                  "Across repetitions, the widest 95 %% confidence interval of output tokens/s is "
                  "\xc2\xb1%.1f %% of its mean.",
                  tally->widest * 100);
    else if (grid->repetitions.count > 1)
        text_add(&text,
                 "No point has figures from two repetitions, so the spread is unknown: small "
                 "differences between points mean nothing.");
    else
        text_add(&text,
                 "With only one repetition, the spread is unknown: small differences between "
                 "points mean nothing.");
    if (tally->marked > 0)
        text_addf(&text, " %zu point%s a \"!\": read the warnings first.", tally->marked,
                  tally->marked == 1 ? " has" : "s have");
    takeaways_add_take(sentences, &text);
}

json_t *takeaways_find(const struct cell_grid *grid)
{
    json_t *sentences = json_array();
    struct tally tally = { 0 };

    for (size_t output = 0; output < grid->outputs.count; output++) {
        const struct peak peak = peak_find(grid, output);

        if (peak.found) {
            add_peak(sentences, &peak);
            add_saturation(sentences, grid, output, &peak);
            add_context(sentences, grid, output, &peak);
            add_smallest(sentences, grid, output);
        }
        add_first_failure(sentences, grid, output);
    }
    cell_grid_each(grid, count_point, &tally);
    add_counts(sentences, &tally);
    if (tally.states[CELL_MEASURED] > 0)
        add_trust(sentences, grid, &tally);
    return sentences;
}
