/* SPDX-License-Identifier: Apache-2.0 */
#include "handlers/runs/compare_answer.h"

#include <math.h>

#include "base/json/json.h"
#include "handlers/answer.h"

#define LEFT_OUT_MAX 50       /* maximum number of entries in `left_out`, and in `disturbed` */
#define LEFT_OUT_LINES_MAX 10 /* maximum number of lines for either of these lists in the text */
#define CELLS_MAX 500         /* maximum number of entries in `cell_list` */
#define VALUE_BYTES_MAX 100   /* longer values of facts are shortened when they are shown */

static const struct field difference_fields[] = {
    { "fact", VALUE_TEXT, .help = "The fact's name, as in `factors`." },
    { "values", VALUE_LIST,
      .help = "The two values (the part that differs, if they are long); null: not known." },
    { "runs", VALUE_TEXTS, .help = "The two runs with these values." },
    { "within_a_side", VALUE_BOOLEAN, .sparse = true,
      .help = "True: runs of one side differ in this fact, so they are not repetitions." },
    { "allowed", VALUE_BOOLEAN, .sparse = true,
      .help = "True: this difference does not rule out the comparison; for example, it is a "
              "factor, or an unknown value that was accepted." },
    { 0 },
};

static const struct field left_out_fields[] = {
    { "users", VALUE_NUMBER, .optional = true, .help = "Users, or requests in flight." },
    { "request_rate", VALUE_NUMBER, .optional = true,
      .help = "Requests per second, as requested." },
    { "input_length", VALUE_NUMBER, .optional = true, .help = "Context in tokens." },
    { "output_tokens", VALUE_NUMBER, .optional = true,
      .help = "Requested answer length in tokens." },
    { "why", VALUE_TEXT, .help = "missing, twice, not_measured, low_success, found_wrong, ..." },
    { "run", VALUE_TEXT, .optional = true, .help = "The first run to which `why` applies." },
    { "rule", VALUE_TEXT, .optional = true,
      .help = "The rule of run_audit that found the cell wrong." },
    { 0 },
};

const struct field compare_answer_fields[] = {
    { "metric", VALUE_TEXT, .help = "What was compared." },
    { "higher_is_better", VALUE_BOOLEAN,
      .help = "Whether a higher value of the metric is better." },
    { "verdict", VALUE_TEXT,
      .help = "About the candidate: faster, slower, no_evidence or not_comparable." },
    { "reason", VALUE_TEXT, .optional = true,
      .help = "Why the verdict is neither faster nor slower." },
    { "ratio", VALUE_NUMBER, .optional = true,
      .help = "candidate / baseline, as the geometric mean over the cells in which every pair "
              "counts; if there are no such cells, over all compared cells." },
    { "ratio_cells", VALUE_INTEGER, .sparse = true, .help = "Number of cells in the ratio." },
    { "ratio_pairs_left_out", VALUE_INTEGER, .sparse = true,
      .help = "Pairs that do not count in the ratio." },
    { "low", VALUE_NUMBER, .optional = true,
      .help = "Lower end of the 95 % confidence interval of the ratio." },
    { "high", VALUE_NUMBER, .optional = true, .help = "Upper end of the same interval." },
    { "p", VALUE_NUMBER, .optional = true,
      .help = "Two-sided p-value over runs: for pairs, from Student's t-test; otherwise, from "
              "Welch's." },
    { "paired", VALUE_BOOLEAN,
      .help = "True: runs were measured alternately, and are compared in pairs." },
    { "pairing", VALUE_TEXT,
      .help = "How many runs were measured alternately: all, some or none." },
    { "pairs_left_out", VALUE_INTEGER, .optional = true,
      .help = "Repetitions of an A/B sweep that are not finished on both deployments." },
    { "baseline", VALUE_TEXTS, .help = "The baseline's runs." },
    { "candidate", VALUE_TEXTS, .help = "The candidate's runs." },
    { "cells", VALUE_INTEGER, .help = "Cells that were compared." },
    { "cells_faster", VALUE_INTEGER,
      .help = "Compared cells in which the candidate is faster, after correction for the number "
              "of cells." },
    { "cells_slower", VALUE_INTEGER,
      .help = "Compared cells in which the candidate is slower, after the same correction." },
    { "cells_left_out", VALUE_INTEGER, .help = "Cells that cannot be compared." },
    { "left_out", VALUE_LIST, .help = "The first 50 cells that cannot be compared.",
      .fields = left_out_fields },
    { "disturbed", VALUE_LIST,
      .help = "The first 50 compared cells in which some pairs do not count, each with the "
              "members of left_out, and pairs_left_out." },
    { "differences", VALUE_LIST, .help = "Facts that differ between the runs, or are unknown.",
      .fields = difference_fields },
    { "corrected", VALUE_LIST, .help = "Runs that a later run corrects: {run, by}." },
    { "cell_list", VALUE_LIST, .optional = true,
      .help =
          "With `detail`: at most 500 compared cells, with baseline, candidate, ratio, low, high, "
          "p_corrected (Holm), verdict, tokens_estimated (stream chunks were counted "
          "instead)." },
    { 0 },
};

static json_t *ids_json(const struct evidence *runs, size_t count)
{
    json_t *list = json_array();

    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, json_string(runs[i].id));
    return list;
}

/* Returns the offset in bytes from which to show the two values: 0 or, if one of them is too long,
 * the start of the first comma-separated part in which they differ. */
static size_t excerpt_start(const struct difference *difference)
{
    const char *left = text_string(&difference->values[0]);
    const char *right = text_string(&difference->values[1]);
    size_t from = 0;

    if (difference->values[0].length <= VALUE_BYTES_MAX
        && difference->values[1].length <= VALUE_BYTES_MAX)
        return 0;
    for (size_t i = 0; left[i] != '\0' && left[i] == right[i]; i++)
        if (left[i] == ',')
            from = i + 1;
    return from;
}

/* Adds one of the two values, shortened, and in printable form because the text is untrusted. Adds
 * nothing if the value is not known. */
static void add_excerpt(const struct difference *difference, int which, struct text *out)
{
    const struct text *value = &difference->values[which];
    size_t from = excerpt_start(difference);

    if (value->length == 0)
        return;
    text_add(out, from > 0 ? "..." : "");
    text_add_printable(out, text_string(value) + from, value->length - from, VALUE_BYTES_MAX);
}

static json_t *value_json(const struct difference *difference, int which)
{
    TEXT_AUTO shown = { 0 };

    add_excerpt(difference, which, &shown);
    return answer_json_text(text_string(&shown));
}

static json_t *differences_json(const struct comparison *comparison)
{
    json_t *list = json_array();

    for (size_t i = 0; i < comparison->difference_count; i++) {
        const struct difference *difference = &comparison->differences[i];

        json_array_append_new(
            list, json_pack("{s:s, s:[o, o], s:[s, s], s:b, s:b}", "fact", difference->fact,
                            "values", value_json(difference, 0), value_json(difference, 1), "runs",
                            difference->runs[0], difference->runs[1], "within_a_side",
                            difference->within_a_side, "allowed", difference->allowed));
    }
    return list;
}

static json_t *cell_json(const struct compared_cell *cell)
{
    return json_pack("{s:o, s:o, s:o, s:o}", "users", json_number_or_null(cell->users),
                     "request_rate", json_number_or_null(cell->request_rate), "input_length",
                     json_number_or_null(cell->input_length), "output_tokens",
                     json_number_or_null(cell->output_tokens));
}

static json_t *left_out_json(const struct comparison *comparison)
{
    json_t *list = json_array();

    for (size_t i = 0; i < comparison->cell_count && json_array_size(list) < LEFT_OUT_MAX; i++) {
        const struct compared_cell *cell = &comparison->cells[i];
        json_t *json;

        if (cell->why == CELL_COMPARED)
            continue;
        json = cell_json(cell);
        json_object_set_new(json, "why", json_string(left_out_name(cell->why)));
        if (cell->run != NULL)
            json_object_set_new(json, "run", json_string(cell->run));
        if (cell->rule != NULL)
            json_object_set_new(json, "rule", json_string(cell->rule));
        json_array_append_new(list, json);
    }
    return list;
}

static json_t *disturbed_json(const struct comparison *comparison)
{
    json_t *list = json_array();

    for (size_t i = 0; i < comparison->cell_count && json_array_size(list) < LEFT_OUT_MAX; i++) {
        const struct compared_cell *cell = &comparison->cells[i];
        json_t *json;

        if (cell->why != CELL_COMPARED || cell->pairs_left_out == 0)
            continue;
        json = cell_json(cell);
        json_object_set_new(json, "why", json_string(left_out_name(cell->disturbed)));
        json_object_set_new(json, "run", json_string(cell->run));
        json_object_set_new(json, "pairs_left_out", json_integer((json_int_t)cell->pairs_left_out));
        json_array_append_new(list, json);
    }
    return list;
}

static json_t *corrected_json(const struct compare_input *input)
{
    json_t *list = json_array();

    for (size_t i = 0; i < input->counts[SIDE_BASELINE] + input->counts[SIDE_CANDIDATE]; i++)
        if (input->runs[i].corrected_by[0] != '\0')
            json_array_append_new(list, json_pack("{s:s, s:s}", "run", input->runs[i].id, "by",
                                                  input->runs[i].corrected_by));
    return list;
}

static void describe_corrected(const struct compare_input *input, struct text *out)
{
    for (size_t i = 0; i < input->counts[SIDE_BASELINE] + input->counts[SIDE_CANDIDATE]; i++)
        if (input->runs[i].corrected_by[0] != '\0')
            text_addf(out, "%s was corrected by %s: compare that run instead.\n", input->runs[i].id,
                      input->runs[i].corrected_by);
}

static json_t *cells_json(const struct comparison *comparison)
{
    json_t *list = json_array();

    for (size_t i = 0; i < comparison->cell_count && json_array_size(list) < CELLS_MAX; i++) {
        const struct estimate *estimate = &comparison->cells[i].estimate;
        json_t *json;

        if (comparison->cells[i].why != CELL_COMPARED)
            continue;
        json = cell_json(&comparison->cells[i]);
        json_object_set_new(json, "baseline", json_number_or_null(estimate->values[SIDE_BASELINE]));
        json_object_set_new(json, "candidate",
                            json_number_or_null(estimate->values[SIDE_CANDIDATE]));
        json_object_set_new(json, "ratio", json_number_or_null(estimate->ratio));
        json_object_set_new(json, "low", json_number_or_null(estimate->low));
        json_object_set_new(json, "high", json_number_or_null(estimate->high));
        json_object_set_new(json, "p_corrected", json_number_or_null(estimate->p_corrected));
        json_object_set_new(json, "verdict", json_string(verdict_name(estimate->verdict)));
        json_object_set_new(json, "tokens_estimated", json_boolean(comparison->cells[i].estimated));
        json_array_append_new(list, json);
    }
    return list;
}

json_t *compare_answer_json(const struct compare_input *input, const struct comparison *comparison,
                            bool detail)
{
    const struct estimate *primary = &comparison->primary;
    const size_t *counts = input->counts;
    json_t *json = json_pack(
        "{s:s, s:b, s:s, s:s?, s:o, s:o, s:o, s:o, s:o, s:o, s:i, s:i, s:i, s:i, s:o, s:o, s:b, "
        "s:o}",
        "metric", compare_metric_names[input->metric], "higher_is_better",
        compare_metrics[input->metric].higher_is_better, "verdict", verdict_name(primary->verdict),
        "reason", comparison->reason, "ratio", json_number_or_null(primary->ratio), "low",
        json_number_or_null(primary->low), "high", json_number_or_null(primary->high), "p",
        json_number_or_null(primary->p), "baseline", ids_json(input->runs, counts[SIDE_BASELINE]),
        "candidate", ids_json(input->runs + counts[SIDE_BASELINE], counts[SIDE_CANDIDATE]), "cells",
        (int)comparison->compared, "cells_faster", (int)comparison->verdicts[VERDICT_FASTER],
        "cells_slower", (int)comparison->verdicts[VERDICT_SLOWER], "cells_left_out",
        (int)(comparison->cell_count - comparison->compared), "left_out", left_out_json(comparison),
        "differences", differences_json(comparison), "paired", input->paired, "corrected",
        corrected_json(input));

    json_object_set_new(json, "ratio_cells", json_integer((json_int_t)comparison->primary_cells));
    json_object_set_new(json, "ratio_pairs_left_out",
                        json_integer((json_int_t)comparison->primary_pairs_left_out));
    json_object_set_new(json, "disturbed", disturbed_json(comparison));
    if (detail)
        json_object_set_new(json, "cell_list", cells_json(comparison));
    return json;
}

static void describe_side(const char *name, const struct evidence *runs, size_t count,
                          struct text *out)
{
    text_addf(out, "%s: ", name);
    for (size_t i = 0; i < count; i++)
        text_addf(out, "%s%s", i == 0 ? "" : ", ", runs[i].id);
    text_add(out, ".\n");
}

static void describe_verdict(const struct compare_input *input, const struct comparison *comparison,
                             struct text *out)
{
    const struct estimate *primary = &comparison->primary;
    size_t baseline = input->counts[SIDE_BASELINE], candidate = input->counts[SIDE_CANDIDATE];

    text_addf(out, "%s (%s is better), ", compare_metric_names[input->metric],
              compare_metrics[input->metric].higher_is_better ? "more" : "less");
    if (input->paired)
        text_addf(out, "candidate %s alternating with baseline %s, %zu pair%s of runs",
                  input->runs[baseline].facts.deployment, input->runs[0].facts.deployment, baseline,
                  baseline == 1 ? "" : "s");
    else
        text_addf(out, "%zu baseline run%s, %zu candidate run%s", baseline,
                  baseline == 1 ? "" : "s", candidate, candidate == 1 ? "" : "s");
    text_addf(out, ": %s", verdict_name(primary->verdict));
    text_addf(out, comparison->reason == NULL ? ".\n" : ", because %s.\n", comparison->reason);
    describe_side("Baseline", input->runs, baseline, out);
    describe_side("Candidate", input->runs + baseline, candidate, out);
    if (isnan(primary->ratio))
        return;
    text_addf(out, "Candidate / baseline: %.4g over %zu cell%s", primary->ratio,
              comparison->primary_cells, comparison->primary_cells == 1 ? "" : "s");
    if (comparison->primary_pairs_left_out > 0)
        text_addf(out, ", using the %zu pairs that count in each of them",
                  baseline - comparison->primary_pairs_left_out);
    else if (comparison->primary_cells < comparison->compared)
        text_add(out, ", those in which every pair counts");
    if (!isnan(primary->p))
        text_addf(out, ", 95 %% interval %.4g to %.4g, p %.2g", primary->low, primary->high,
                  primary->p);
    text_add(out, ".\n");
}

static void add_value(const struct difference *difference, int which, struct text *out)
{
    TEXT_AUTO shown = { 0 };

    add_excerpt(difference, which, &shown);
    if (shown.length == 0)
        text_add(out, "unknown");
    else
        json_add_string(out, text_string(&shown), shown.length);
    text_addf(out, " (%s)", difference->runs[which]);
}

static void describe_difference(const struct difference *difference, struct text *out)
{
    text_addf(out, "- %s%s: ", difference->fact,
              difference->within_a_side ? " (within one side)" : "");
    add_value(difference, 0, out);
    text_add(out, "; ");
    add_value(difference, 1, out);
    text_add_char(out, '\n');
}

/* Lists the differences that are allowed or, if `allowed` is false, the others. Facts for which
 * neither value is known share one line. */
static void describe_differences(const struct comparison *comparison, bool allowed,
                                 struct text *out)
{
    TEXT_AUTO shown = { 0 };
    TEXT_AUTO unknown = { 0 };

    for (size_t i = 0; i < comparison->difference_count; i++) {
        const struct difference *difference = &comparison->differences[i];

        if (difference->allowed != allowed)
            continue;
        if (compare_knows_neither(difference))
            text_addf(&unknown, "%s%s", unknown.length > 0 ? ", " : "", difference->fact);
        else
            describe_difference(difference, &shown);
    }
    if (unknown.length > 0)
        text_addf(&shown, "- not known for either run: %s\n", text_string(&unknown));
    if (shown.length > 0)
        text_addf(out, "\n%s:\n%s",
                  allowed ? "Differences and unknowns that were allowed"
                          : "Differences that rule out the comparison",
                  text_string(&shown));
}

/* Adds an argument that would allow some of the refused differences, if there is one. `unknown`
 * true: accept_unknown, with the facts for which a value is not known. `unknown` false: factors,
 * with the other facts, except those that differ within a side, which no argument allows. */
static void describe_remedy(const struct comparison *comparison, bool unknown, struct text *out)
{
    size_t count = 0;

    for (size_t i = 0; i < comparison->difference_count; i++) {
        const struct difference *difference = &comparison->differences[i];

        if (difference->allowed || (difference->known_count < 2) != unknown
            || (!unknown && difference->within_a_side))
            continue;
        text_addf(out, "%s\"%s\"",
                  count++ > 0 ? ", "
                  : unknown   ? "If you know that these facts are equal: accept_unknown ["
                              : "If this is what you want to compare: factors [",
                  difference->fact);
    }
    text_add(out, count > 0 ? "]\n" : "");
}

/* Adds the start of a line: "- 4 users, context 128: not every run has it, run_...". */
static void describe_cell(const struct compared_cell *cell, enum left_out why, struct text *out)
{
    char load[COMPARE_NUMBER_SIZE], context[COMPARE_NUMBER_SIZE];

    if (isnan(cell->request_rate))
        text_addf(out, "- %s user%s", compare_write_number(cell->users, load),
                  cell->users == 1 ? "" : "s");
    else
        text_addf(out, "- %.6g requests/s", cell->request_rate);
    text_addf(out, ", context %s: %s%s%s", compare_write_number(cell->input_length, context),
              left_out_help(why), cell->run == NULL ? "" : ", ",
              cell->run == NULL ? "" : cell->run);
    if (cell->rule != NULL)
        text_addf(out, ", %s", cell->rule);
}

static void describe_left_out(const struct comparison *comparison, struct text *out)
{
    size_t left_out = comparison->cell_count - comparison->compared, shown = 0;

    for (size_t i = 0; i < comparison->cell_count && shown < LEFT_OUT_LINES_MAX; i++) {
        if (comparison->cells[i].why == CELL_COMPARED)
            continue;
        if (shown++ == 0)
            text_addf(out, "\nSkipped cells (x in the table), %zu of %zu:\n", left_out,
                      comparison->cell_count);
        describe_cell(&comparison->cells[i], comparison->cells[i].why, out);
        text_add_char(out, '\n');
    }
    if (left_out > shown && shown > 0)
        text_addf(out, "- and %zu more\n", left_out - shown);
}

static void describe_disturbed(const struct compare_input *input,
                               const struct comparison *comparison, struct text *out)
{
    size_t pairs = input->counts[SIDE_BASELINE], shown = 0;

    for (size_t i = 0; i < comparison->cell_count && shown < LEFT_OUT_LINES_MAX; i++) {
        const struct compared_cell *cell = &comparison->cells[i];

        if (cell->why != CELL_COMPARED || cell->pairs_left_out == 0)
            continue;
        if (shown++ == 0)
            text_add(out, "\nCells compared without their disturbed pairs:\n");
        describe_cell(cell, cell->disturbed, out);
        text_addf(out, ": %zu of %zu pairs count\n", pairs - cell->pairs_left_out, pairs);
    }
}

void compare_answer_describe(const struct compare_input *input, const struct comparison *comparison,
                             struct text *out)
{
    describe_verdict(input, comparison, out);
    describe_corrected(input, out);
    if (comparison->refused > 0) {
        describe_differences(comparison, false, out);
        describe_remedy(comparison, false, out);
        describe_remedy(comparison, true, out);
        describe_differences(comparison, true, out);
        return;
    }
    compare_write_table(comparison, out);
    if (comparison->compared > 0)
        text_addf(out,
                  "+ faster (%zu), - slower (%zu), after correction for the number of cells "
                  "(%zu); no sign: no evidence.\n",
                  comparison->verdicts[VERDICT_FASTER], comparison->verdicts[VERDICT_SLOWER],
                  comparison->compared);
    if (comparison->estimated > 0)
        text_addf(
            out,
            "The tokens of %zu of the compared cells are estimated: the servers reported no usage, "
            "so stream chunks were counted instead.\n",
            comparison->estimated);
    describe_left_out(comparison, out);
    describe_disturbed(input, comparison, out);
    describe_differences(comparison, true, out);
    if (input->as_deployments && comparison->difference_count > 0)
        text_add(out, "This shows which of the two deployments is faster, not why.\n");
}
