/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the largest load that meets the plan's limits at each context. */

#include "analysis/report/largest_load.h"
#include "analysis/report/repetition_stats.h"
#include "analysis/report/report_header.h"
#include "analysis/report/report_sections.h"
#include "base/formats/table.h"
#include "base/json/json.h"

/* Returns false if the plan has no limits. */
static bool read_limits(const struct report_input *input, struct slo *out)
{
    json_auto_t *plan = report_header_plan(input);

    slo_from_plan(plan, out);
    return slo_are_stated(out);
}

static void add_limits(const struct slo *limits, struct text *out)
{
    const struct {
        const char *name;
        double limit_ms;
    } each[] = { { "TTFT", limits->ttft_ms },
                 { "ITL", limits->itl_ms },
                 { "TPOT", limits->tpot_ms },
                 { "E2E", limits->e2e_ms } };

    for (size_t i = 0; i < sizeof each / sizeof *each; i++)
        if (each[i].limit_ms > 0)
            text_addf(out, "%s p%lld <= %g ms, ", each[i].name, (long long)limits->percentile,
                      each[i].limit_ms);
    text_addf(out, "at most %g %% of the requests failed",
              100 * (limits->error_rate > 0 ? limits->error_rate : SLO_ERROR_RATE));
}

/* Writes the limit that the level comes nearest to or, if it exceeds any, exceeds most: "E2E 812 of
 * 900 ms" or "4 % failed"; "-" if there is no level. */
static void add_nearest(const struct largest_load_level *level, struct text *out)
{
    const struct slo_nearest *worst = &level->worst;
    char value[NUMBER_SIZE], limit[NUMBER_SIZE];

    if (!level->judged)
        text_add(out, "-");
    else if (worst->unit[0] == '\0')
        text_addf(out, "%.3g %% failed", 100 * worst->value);
    else
        text_addf(out, "%s %s of %s%s", worst->name, repetition_stats_number(worst->value, value),
                  repetition_stats_number(worst->limit, limit), worst->unit);
}

static void nearest_cell(struct table *table, const struct largest_load_level *level)
{
    TEXT_AUTO text = { 0 };

    add_nearest(level, &text);
    table_cell(table, "%s", text.data);
}

static void limit_row(struct table *table, int64_t context, const struct largest_load *found)
{
    table_cell(table, "%lld", (long long)context);
    if (found->met.judged)
        table_cell(table, "%s%.6g",
                   found->exact && found->miss.judged ? "" : ">=", found->met.point.load);
    else
        table_cell(table, "%s", found->miss.judged ? "none" : "-");
    nearest_cell(table, &found->met);
    if (found->miss.judged)
        table_cell(table, "%.6g", found->miss.point.load);
    else
        table_cell(table, "-");
    nearest_cell(table, &found->miss);
}

static void add_uneven(const struct cell_grid *grid, const struct slo *limits, size_t output,
                       struct text *out)
{
    for (size_t context = 0; context < grid->contexts.count; context++) {
        const struct largest_load found = largest_load_find(grid, limits, output, context);

        if (found.smaller_misses > 0)
            text_addf(out,
                      "At context %lld, %zu load%s below the largest that meets the limits missed "
                      "a limit.\n",
                      (long long)grid->contexts.values[context], found.smaller_misses,
                      found.smaller_misses == 1 ? "" : "s");
    }
}

void report_limit_write(const struct report_input *input, const struct cell_grid *grid,
                        size_t output, struct text *out)
{
    static const char *const headings[] = { "context", "meets up to", "nearest limit there",
                                            "misses at", "missed limit" };
    struct slo limits;
    struct table *table;

    if (!read_limits(input, &limits))
        return;
    text_add(out, "### Largest load that meets the limits\n\nLimits: ");
    add_limits(&limits, out);
    text_add(
        out,
        ".\n\">=\": no larger load that was measured misses the limits, or loads between \"meets "
        "up to\" and \"misses at\" were not measured.\n\n");
    table = table_create();
    for (size_t i = 0; i < sizeof headings / sizeof *headings; i++)
        table_column(table, headings[i], true);
    for (size_t context = 0; context < grid->contexts.count; context++) {
        const struct largest_load found = largest_load_find(grid, &limits, output, context);

        limit_row(table, (int64_t)grid->contexts.values[context], &found);
    }
    table_render(table, out);
    table_destroy(table);
    text_add_char(out, '\n');
    add_uneven(grid, &limits, output, out);
}

bool report_limit_sentence(const struct report_input *input, const struct cell_grid *grid,
                           size_t output, size_t context, struct text *out)
{
    struct slo limits;
    struct largest_load found;
    char load[LOAD_SIZE];

    if (!read_limits(input, &limits))
        return false;
    found = largest_load_find(grid, &limits, output, context);
    if (found.met.judged)
        text_addf(out, "limits met up to %s%s", found.exact && found.miss.judged ? "" : "at least ",
                  cell_grid_load_name(found.met.point.load, found.met.point.is_rate, load));
    else
        text_add(out, "no measured load meets the limits");
    if (found.miss.judged) {
        text_addf(out, " (%.6g: ", found.miss.point.load);
        add_nearest(&found.miss, out);
        text_add(out, ")");
    }
    return true;
}

static json_t *level_to_json(const struct largest_load_level *level)
{
    json_t *json;

    if (!level->judged)
        return json_null();
    json = json_pack("{s:s, s:o, s:o, s:o}", "metric", level->worst.name, "value",
                     json_number_or_null(level->worst.value), "limit",
                     json_number_or_null(level->worst.limit), "ratio",
                     json_number_or_null(level->ratio));
    cell_grid_load_set(json, "", level->point.load, level->point.is_rate);
    return json;
}

json_t *report_limit_to_json(const struct report_input *input, const struct cell_grid *grid,
                             size_t output)
{
    json_t *rows = json_array();
    struct slo limits;

    if (!read_limits(input, &limits))
        return rows;
    for (size_t context = 0; context < grid->contexts.count; context++) {
        const struct largest_load found = largest_load_find(grid, &limits, output, context);

        json_array_append_new(rows, json_pack("{s:I, s:o, s:o, s:b, s:I}", "context_tokens",
                                              (json_int_t)grid->contexts.values[context], "met",
                                              level_to_json(&found.met), "missed",
                                              level_to_json(&found.miss), "exact", found.exact,
                                              "smaller_loads_that_miss",
                                              (json_int_t)found.smaller_misses));
    }
    return rows;
}
