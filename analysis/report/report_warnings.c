/* SPDX-License-Identifier: Apache-2.0 */
/* Writes warnings, cold starts and interrupted attempts. */
#include <string.h>

#include "analysis/report/point_warnings.h"
#include "analysis/report/report_sections.h"
#include "base/core/clock.h"
#include "base/json/json.h"

#define POINTS_SHOWN 6
#define ATTEMPTS_SHOWN 10

/* ---- Warnings ---- */

/* The points that have a warning, listed as text or as JSON. */
struct listing {
    const struct cell_grid *grid;
    const struct point_warning *warning;
    size_t found;      /* number of points with the warning */
    size_t measured;   /* number of measured points, with the warning or without */
    struct text *text; /* NULL: listed as JSON */
    json_t *points;    /* NULL: listed as text */
};

static void point_text(const struct cell_grid *grid, const struct grid_point *point,
                       struct text *out)
{
    text_addf(out, "%.6g x %lld", point->load, (long long)point->context_tokens);
    if (grid->outputs.count > 1)
        text_addf(out, " x %lld", (long long)point->output_tokens);
}

static void list_point(void *context, const struct grid_point *point)
{
    struct listing *listing = context;

    listing->measured += grid_point_state(point) == CELL_MEASURED;
    if (!point_warning_applies(listing->warning, point))
        return;
    listing->found++;
    if (listing->points != NULL)
        json_array_append_new(
            listing->points,
            json_pack("[o, I, I]", cell_grid_load_json(point->load, point->is_rate),
                      (json_int_t)point->context_tokens, (json_int_t)point->output_tokens));
    if (listing->text == NULL || listing->found > POINTS_SHOWN)
        return;
    text_add(listing->text, listing->found > 1 ? ", " : "");
    point_text(listing->grid, point, listing->text);
}

static bool warning_write(const struct cell_grid *grid, const struct point_warning *warning,
                          struct text *out)
{
    TEXT_AUTO points = { 0 };
    struct listing listing = { .grid = grid, .warning = warning, .text = &points };

    cell_grid_each(grid, list_point, &listing);
    if (listing.found == 0)
        return false;
    text_addf(out, "- %s%s: %s (", warning->marks ? "! " : "", warning->name, warning->text);
    if (listing.found == listing.measured)
        text_add(out, "every measured point");
    else if (listing.found > POINTS_SHOWN)
        text_addf(out, "%s and %zu more", text_string(&points), listing.found - POINTS_SHOWN);
    else
        text_add(out, text_string(&points));
    text_add(out, ")\n");
    return true;
}

void report_warnings_write(const struct report_input *input, const struct cell_grid *grid,
                           struct text *out)
{
    bool any = false;

    text_addf(out,
              "## Warnings\n\nPoints are given as %s x context%s. A \"!\" after a figure means "
              "that one of the warnings with \"!\" applies to its point.\n\n",
              grid->is_rate ? "requests/s" : "users",
              grid->outputs.count > 1 ? " x output tokens" : "");
    for (size_t i = 0; i < point_warning_count; i++)
        any |= warning_write(grid, &point_warnings[i], out);
    if (grid->repetitions.count > 1)
        text_add(
            out,
            "- figures are means of the repetitions, and \"\xc2\xb1\" gives the half-width of the "
            "95 % confidence interval of the mean (Student's t)\n");
    else
        text_add(out, "- only one repetition, so the spread is unknown: small differences mean "
                      "nothing\n");
    if (input->sweep->reason[0] != '\0')
        text_addf(out, "- the sweep is %s: %s\n", input->sweep->state, input->sweep->reason);
    text_add(out, any ? "\n" : "- no point has a warning\n\n");
}

json_t *report_warnings_to_json(const struct cell_grid *grid)
{
    json_t *rows = json_array();

    for (size_t i = 0; i < point_warning_count; i++) {
        struct listing listing = { .grid = grid,
                                   .warning = &point_warnings[i],
                                   .points = json_array() };

        cell_grid_each(grid, list_point, &listing);
        if (listing.found == 0) {
            json_decref(listing.points);
            continue;
        }
        json_array_append_new(
            rows, json_pack("{s:s, s:s, s:b, s:o}", "name", point_warnings[i].name, "text",
                            point_warnings[i].text, "marks", point_warnings[i].marks,
                            "users_context_output", listing.points));
    }
    return rows;
}

/* ---- Cold starts ---- */

/* Whether the first request's TTFT was more than twice the warm median, and more than 100 ms above
 * it. */
static bool was_cold(const struct cell_row *cell)
{
    double cold_ms = cell->measurement.cold_ttft_ms;
    double warm_ms = cell->measurement.latency[METRIC_TTFT].p50_ms;

    return cell->state == CELL_MEASURED && cold_ms > 2 * warm_ms && cold_ms > warm_ms + 100;
}

static const struct cell_row *coldest(const struct report_input *input, size_t *count)
{
    const struct cell_row *worst = NULL;

    *count = 0;
    for (size_t i = 0; i < input->cell_count; i++) {
        const struct cell_row *cell = &input->cells[i];

        if (!was_cold(cell))
            continue;
        ++*count;
        if (worst == NULL || cell->measurement.cold_ttft_ms > worst->measurement.cold_ttft_ms)
            worst = cell;
    }
    return worst;
}

void report_cold_write(const struct report_input *input, struct text *out)
{
    size_t count;
    const struct cell_row *cell = coldest(input, &count);

    if (cell == NULL)
        return;
    text_addf(
        out,
        "## Cold start\n\nIn %zu cell%s, the sweep's first request with the cell's context and "
        "output length, before any warm-up, was much slower than later ones; at worst %.0f ms "
        "to the first token at context %lld (%.0f ms when warm). No figure above includes such "
        "a request.\n\n",
        count, count == 1 ? "" : "s", cell->measurement.cold_ttft_ms, (long long)cell->input_tokens,
        cell->measurement.latency[METRIC_TTFT].p50_ms);
}

json_t *report_cold_to_json(const struct report_input *input)
{
    size_t count;
    const struct cell_row *cell = coldest(input, &count);

    if (cell == NULL)
        return json_null();
    return json_pack("{s:I, s:f, s:o, s:I, s:I, s:f}", "cells", (json_int_t)count, "worst_ttft_ms",
                     cell->measurement.cold_ttft_ms, "warm_ttft_ms",
                     json_number_or_null(cell->measurement.latency[METRIC_TTFT].p50_ms),
                     "context_tokens", (json_int_t)cell->input_tokens, "users",
                     (json_int_t)cell->concurrency, "request_rate", cell->request_rate);
}

/* ---- Interrupted attempts ---- */

void report_interrupted_write(const struct report_input *input, struct text *out)
{
    char when[CLOCK_TEXT_SIZE], load[LOAD_SIZE];

    if (input->interrupted_count == 0)
        return;
    text_add(out, "## Interrupted attempts\n\nStored, but not included in any figure.\n\n");
    for (size_t i = 0; i < input->interrupted_count && i < ATTEMPTS_SHOWN; i++) {
        const struct attempt_row *row = &input->interrupted[i];

        text_addf(out, "- %s: %s x %lld x %lld output tokens, repetition %lld, attempt %lld",
                  clock_format_utc(row->started_ms, when),
                  cell_load_text(row->concurrency, row->request_rate, load),
                  (long long)row->input_tokens, (long long)row->output_tokens,
                  (long long)row->repetition + 1, (long long)row->number);
        text_addf(out, "%s%s\n", row->reason[0] != '\0' ? ": " : "", row->reason);
    }
    if (input->interrupted_count > ATTEMPTS_SHOWN)
        text_addf(out, "- and %zu more\n", input->interrupted_count - ATTEMPTS_SHOWN);
    text_add_char(out, '\n');
}

json_t *report_interrupted_to_json(const struct report_input *input)
{
    json_t *rows = json_array();

    for (size_t i = 0; i < input->interrupted_count; i++) {
        const struct attempt_row *row = &input->interrupted[i];
        TEXT_AUTO reason = { 0 };

        text_add_printable(&reason, row->reason, strlen(row->reason), sizeof row->reason);
        json_array_append_new(
            rows,
            json_pack("{s:I, s:f, s:I, s:I, s:I, s:I, s:s, s:I}", "users",
                      (json_int_t)row->concurrency, "request_rate", row->request_rate,
                      "context_tokens", (json_int_t)row->input_tokens, "output_tokens",
                      (json_int_t)row->output_tokens, "repetition", (json_int_t)row->repetition,
                      "attempt", (json_int_t)row->number, "reason", text_string(&reason),
                      "started_ms", (json_int_t)row->started_ms));
    }
    return rows;
}
