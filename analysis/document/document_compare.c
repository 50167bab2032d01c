/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a comparison of two sides: which is faster, in which facts they differ, and the ratio of
 * each cell. */
#include <math.h>
#include <string.h>

#include "analysis/charts/scale.h"
#include "analysis/document/document_parts.h"
#include "analysis/report/repetition_stats.h"
#include "base/json/json.h"

#define VALUE_BYTES 300
#define NAME_BYTES 48

/* ---- The verdict ---- */

static void add_ratio(const struct estimate *estimate, struct text *out)
{
    char ratio[NUMBER_SIZE], low[NUMBER_SIZE], high[NUMBER_SIZE];

    text_addf(out, "%s times", repetition_stats_number(estimate->ratio, ratio));
    if (isfinite(estimate->low))
        text_addf(out, " (95 %% interval %s to %s)", repetition_stats_number(estimate->low, low),
                  repetition_stats_number(estimate->high, high));
}

/* The side's name, or its role if the name is too long for the sentence. */
static const char *name_of(const struct chart_comparison *input, enum side side)
{
    static const char *const roles[SIDES] = { "the baseline", "The candidate" };

    return strlen(input->names[side]) <= NAME_BYTES ? input->names[side] : roles[side];
}

static void add_runs(size_t candidate, size_t baseline, struct text *out)
{
    if (candidate == baseline)
        text_addf(out, "%zu run%s each.", candidate, candidate == 1 ? "" : "s");
    else
        text_addf(out, "%zu and %zu runs.", candidate, baseline);
}

static void add_verdict(const struct chart_comparison *input, struct text *out)
{
    static const char *const phrases[VERDICTS] = {
        [VERDICT_NOT_COMPARABLE] = "cannot be compared with",
        [VERDICT_NO_EVIDENCE] = "is not shown to be faster or slower than",
        [VERDICT_FASTER] = "is faster than",
        [VERDICT_SLOWER] = "is slower than",
    };
    const struct comparison *comparison = input->comparison;

    text_addf(out, "%s %s %s", name_of(input, SIDE_CANDIDATE), phrases[comparison->primary.verdict],
              name_of(input, SIDE_BASELINE));
    if (comparison->reason != NULL)
        text_addf(out, ", because %s", comparison->reason);
    text_add(out, ".");
    if (isnan(comparison->primary.ratio))
        return;
    text_addf(out, " Its %s: ", compare_metrics[input->metric].words);
    add_ratio(&comparison->primary, out);
    text_addf(out, " over %zu cell%s, with ", comparison->primary_cells,
              comparison->primary_cells == 1 ? "" : "s");
    add_runs(input->runs[SIDE_CANDIDATE], input->runs[SIDE_BASELINE], out);
}

/* ---- Differences ---- */

static void write_value(const struct text *value, const char *if_empty, struct html *html)
{
    TEXT_AUTO shown = { 0 };

    text_add_printable(&shown, text_string(value), value->length, VALUE_BYTES);
    text_add(&shown, value->length > VALUE_BYTES ? "..." : "");
    html_open(html, "td");
    html_name(html, value->length > 0 ? text_string(&shown) : if_empty);
    html_close(html, "td");
}

static json_t *parse(const struct text *value)
{
    struct error ignored; /* most facts are not JSON */
    json_t *json = NULL;

    return json_parse(text_string(value), value->length, &json, &ignored) ? json : NULL;
}

/* Writes the members whose values differ from those in the other object: "blocks=16". */
static void add_differing(const json_t *object, const json_t *other, struct text *out)
{
    json_auto_t *differing = json_object();
    const char *name;
    json_t *member;

    json_object_foreach(json_iterable(object), name, member)
        if (!json_equal(member, json_object_get(other, name)))
            json_object_set(differing, name, member);
    document_add_value(differing, out);
}

/* Writes both values. If both are objects, such as flags, writes only the members that differ. */
static void write_values(const struct text values[2], struct html *html)
{
    json_auto_t *first = parse(&values[0]), *second = parse(&values[1]);
    TEXT_AUTO only_first = { 0 }, only_second = { 0 };

    if (json_is_object(first) && json_is_object(second)) {
        add_differing(first, second, &only_first);
        add_differing(second, first, &only_second);
    }
    if (only_first.length + only_second.length > 0) {
        write_value(&only_first, "none", html);
        write_value(&only_second, "none", html);
    } else {
        write_value(&values[0], "not known", html);
        write_value(&values[1], "not known", html);
    }
}

/* The outcome is below the fact's name, because only three columns fit on a phone. */
static void write_difference(const struct difference *difference, struct html *html)
{
    const char *outcome = difference->allowed ? "allowed"
                          : difference->within_a_side
                              ? "differs within one side: its runs are not repetitions"
                              : "rules the comparison out";

    html_open(html, "tr", { "class", difference->allowed ? NULL : "bad" });
    html_open(html, "th", { "scope", "row" });
    html_text(html, difference->fact);
    html_element(html, "div", outcome, { "class", "hint" });
    html_close(html, "th");
    write_values(difference->values, html);
    html_close(html, "tr");
}

static void write_headings(const char *const *headings, bool are_numbers, struct html *html)
{
    html_open(html, "thead");
    html_open(html, "tr");
    for (; *headings != NULL; headings++)
        html_element(html, "th", *headings, { "scope", "col" },
                     { "class", are_numbers ? "number" : NULL });
    html_close(html, "tr");
    html_close(html, "thead");
}

static size_t count_shown(const struct comparison *comparison)
{
    size_t count = 0;

    for (size_t i = 0; i < comparison->difference_count; i++)
        count += !compare_knows_neither(&comparison->differences[i]);
    return count;
}

static void write_unknown(const struct comparison *comparison, bool allowed, struct html *html)
{
    TEXT_AUTO names = { 0 };

    for (size_t i = 0; i < comparison->difference_count; i++)
        if (compare_knows_neither(&comparison->differences[i])
            && comparison->differences[i].allowed == allowed)
            text_addf(&names, "%s%s", names.length > 0 ? ", " : "",
                      comparison->differences[i].fact);
    if (names.length == 0)
        return;
    html_open(html, "p", { "class", allowed ? "soft" : "warning" });
    html_textf(html, "Unknown on both sides, %s: %s.",
               allowed ? "and treated as equal" : "so the comparison is refused",
               text_string(&names));
    html_close(html, "p");
}

static void write_shown(const struct comparison *comparison, struct html *html)
{
    static const char *const headings[] = { "Fact", "Baseline", "Candidate", NULL };

    html_open(html, "div", { "class", "scroll" }, { "tabindex", "0" }, { "role", "region" },
              { "aria-label", "Differences" });
    html_open(html, "table", { "class", "fixed" });
    write_headings(headings, false, html);
    html_open(html, "tbody");
    for (size_t i = 0; i < comparison->difference_count; i++)
        if (!compare_knows_neither(&comparison->differences[i]))
            write_difference(&comparison->differences[i], html);
    html_close(html, "tbody");
    html_close(html, "table");
    html_close(html, "div");
}

static void write_sides(const struct chart_comparison *input, struct html *html)
{
    static const char *const roles[SIDES] = { "Baseline", "Candidate" };

    html_open(html, "dl", { "class", "facts" });
    for (enum side side = SIDE_BASELINE; side < SIDES; side++) {
        html_element(html, "dt", roles[side]);
        html_open(html, "dd");
        html_name(html, input->names[side]);
        html_close(html, "dd");
    }
    html_close(html, "dl");
}

static void write_differences(const struct chart_comparison *input, struct html *html)
{
    const struct comparison *comparison = input->comparison;

    html_element(html, "h2", "Differences");
    write_sides(input, html);
    if (count_shown(comparison) > 0)
        write_shown(comparison, html);
    else if (comparison->difference_count == 0)
        html_element(html, "p", "The two sides do not differ in any recorded fact.");
    write_unknown(comparison, false, html);
    write_unknown(comparison, true, html);
}

/* ---- Cells ---- */

static void write_figure(double value, struct html *html)
{
    char number[NUMBER_SIZE];

    html_element(html, "td", isfinite(value) ? repetition_stats_number(value, number) : "",
                 { "class", "number" });
}

static void write_exact(double value, struct html *html)
{
    char number[SCALE_NUMBER_SIZE];

    html_element(html, "td", isfinite(value) ? scale_exact(value, number) : "",
                 { "class", "number" });
}

static void write_cell(const struct compared_cell *cell, struct html *html)
{
    const struct estimate *estimate = &cell->estimate;
    bool is_compared = cell->why == CELL_COMPARED;

    html_open(html, "tr", { "class", is_compared ? NULL : "none" });
    write_exact(isfinite(cell->users) ? cell->users : cell->request_rate, html);
    write_exact(cell->input_length, html);
    write_exact(cell->output_tokens, html);
    write_figure(is_compared ? estimate->values[SIDE_BASELINE] : NAN, html);
    write_figure(is_compared ? estimate->values[SIDE_CANDIDATE] : NAN, html);
    write_figure(is_compared ? estimate->ratio : NAN, html);
    write_figure(is_compared ? estimate->low : NAN, html);
    write_figure(is_compared ? estimate->high : NAN, html);
    html_element(html, "td",
                 !is_compared                               ? left_out_help(cell->why)
                 : estimate->verdict == VERDICT_NO_EVIDENCE ? "no evidence"
                                                            : verdict_name(estimate->verdict));
    html_close(html, "tr");
}

static void write_compared_cells(const struct chart_comparison *input, size_t limit,
                                 struct html *html)
{
    static const char *const headings[] = { "Users or rate", "Context", "Output", "Baseline",
                                            "Candidate",     "Ratio",   "Low",    "High",
                                            "Verdict",       NULL };
    const struct comparison *comparison = input->comparison;
    size_t written = 0;

    if (comparison->cell_count == 0)
        return;
    html_element(html, "h2", "Cell by cell");
    html_open(html, "div", { "class", "scroll" }, { "tabindex", "0" }, { "role", "region" },
              { "aria-label", "Cell by cell" });
    html_open(html, "table", { "class", "cells" });
    html_element(html, "caption", compare_metrics[input->metric].words);
    write_headings(headings, true, html);
    html_open(html, "tbody");
    for (; written < comparison->cell_count && html->out->length < limit; written++)
        write_cell(&comparison->cells[written], html);
    html_close(html, "tbody");
    html_close(html, "table");
    html_close(html, "div");
    document_write_missing(comparison->cell_count - written, "run_compare shows the ratios", html);
}

static void write_verdict(const struct chart_comparison *input, struct html *html)
{
    TEXT_AUTO verdict = { 0 };

    add_verdict(input, &verdict);
    html_element(html, "p", text_string(&verdict), { "class", "verdict" });
}

void document_write_comparison(const struct chart_comparison *input, size_t limit,
                               struct html *html)
{
    CHART_AUTO chart = { 0 };

    write_verdict(input, html);
    write_differences(input, html);
    if (input->comparison->refused > 0)
        return;
    chart_forest(input, &chart);
    if (!document_write_drawing("Which is faster, cell by cell?", &chart, limit, html))
        html_element(html, "p", "The chart is too large for this file.", { "class", "soft" });
    write_compared_cells(input, limit, html);
}
