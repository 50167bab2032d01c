/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/report/report.h"

#include "analysis/report/cell_grid.h"
#include "analysis/report/figure_table.h"
#include "analysis/report/matrix.h"
#include "analysis/report/report_header.h"
#include "analysis/report/report_sections.h"
#include "analysis/report/takeaways.h"

#define SENTENCES_SHOWN 12

/* Gaps between chunks equal gaps between tokens, unless some chunks have several tokens. */
static bool has_wide_chunks(const struct report_input *input)
{
    for (size_t i = 0; i < input->cell_count; i++)
        if (measurement_has_wide_chunks(&input->cells[i].measurement))
            return true;
    return false;
}

/* Without a limit, goodput equals requests/s. */
static bool is_wanted(const struct report_input *input, enum quantity_id quantity)
{
    if (quantity == QUANTITY_ICL_P50 || quantity == QUANTITY_ICL_P99)
        return has_wide_chunks(input);
    return quantity != QUANTITY_GOODPUT || report_header_plan_number(input, "goodput_ttft_ms") > 0
           || report_header_plan_number(input, "goodput_tpot_ms") > 0;
}

static bool is_short(const struct cell_grid *grid, size_t output, enum quantity_id quantity)
{
    return quantities[quantity].of_decoding && grid->outputs.values[output] < DECODE_TOKENS;
}

static void write_figures(const struct report_input *input, const struct cell_grid *grid,
                          size_t output, struct text *out)
{
    bool wanted[QUANTITIES];

    for (enum quantity_id i = 0; i < QUANTITIES; i++)
        wanted[i] = is_wanted(input, i) && !is_short(grid, output, i);
    if (figure_table_suits(grid)) {
        figure_table_write(grid, output, wanted, out);
        return;
    }
    for (enum quantity_id i = 0; i < QUANTITIES; i++)
        if (wanted[i])
            matrix_write(grid, output, i, out);
}

static void write_output(const struct report_input *input, const struct cell_grid *grid,
                         size_t output, struct text *out)
{
    text_addf(out, "## %lld output tokens\n\n", (long long)grid->outputs.values[output]);
    write_figures(input, grid, output, out);
    if (is_short(grid, output, QUANTITY_ITL_P50))
        text_addf(
            out,
            "ITL and TPOT are not shown: answers of fewer than %d tokens are too short to judge "
            "decoding.\n\n",
            DECODE_TOKENS);
    report_peak_write(grid, output, out);
    report_saturation_write(grid, output, out);
    report_limit_write(input, grid, output, out);
}

static void write_sentences(const json_t *sentences, struct text *out)
{
    size_t count = json_array_size(sentences);

    for (size_t i = 0; i < count && i < SENTENCES_SHOWN; i++)
        text_addf(out, "- %s\n", json_string_value(json_array_get(sentences, i)));
    if (count > SENTENCES_SHOWN)
        text_addf(out, "- and %zu more: see the sections below\n", count - SENTENCES_SHOWN);
    text_add_char(out, '\n');
}

static void write_conclusions(const struct report_input *input, const struct cell_grid *grid,
                              struct text *out)
{
    json_auto_t *verdict = report_verdict(input), *takeaways = takeaways_find(grid);

    if (json_array_size(verdict) > 0) {
        text_add(out, "## Verdict\n\n");
        write_sentences(verdict, out);
    }
    text_add(out, "## Key takeaways\n\n");
    write_sentences(takeaways, out);
}

void report_markdown(const struct report_input *input, struct text *out)
{
    struct cell_grid grid;

    cell_grid_init(&grid, input->cells, input->cell_count);
    report_header_write(input, out);
    write_conclusions(input, &grid, out);
    for (size_t output = 0; output < grid.outputs.count; output++)
        write_output(input, &grid, output, out);
    report_failures_write(&grid, out);
    report_warnings_write(input, &grid, out);
    report_cold_write(input, out);
    report_interrupted_write(input, out);
    report_header_write_origin(input, out);
    cell_grid_finish(&grid);
}

static json_t *axis_to_json(const struct cell_grid_axis *axis, bool is_rate)
{
    json_t *values = json_array();

    for (size_t i = 0; i < axis->count; i++)
        json_array_append_new(values, cell_grid_load_json(axis->values[i], is_rate));
    return values;
}

static json_t *output_to_json(const struct report_input *input, const struct cell_grid *grid,
                              size_t output)
{
    json_t *matrices = json_array();

    for (enum quantity_id i = 0; i < QUANTITIES; i++)
        if (is_wanted(input, i) && !is_short(grid, output, i))
            json_array_append_new(matrices, matrix_to_json(grid, output, i));
    return json_pack(
        "{s:I, s:o, s:o, s:o, s:o, s:o}", "output_tokens", (json_int_t)grid->outputs.values[output],
        "states", matrix_states(grid, output), "matrices", matrices, "peak",
        report_peak_to_json(grid, output), "saturation", report_saturation_to_json(grid, output),
        "limits", report_limit_to_json(input, grid, output));
}

json_t *report_json(const struct report_input *input)
{
    json_t *out = json_object(), *outputs = json_array();
    struct cell_grid grid;

    cell_grid_init(&grid, input->cells, input->cell_count);
    report_header_to_json(input, out);
    json_object_set_new(out, "context_tokens", axis_to_json(&grid.contexts, false));
    json_object_set_new(out, grid.is_rate ? "request_rates" : "users",
                        axis_to_json(&grid.loads, grid.is_rate));
    json_object_set_new(out, "repetitions", json_integer((json_int_t)grid.repetitions.count));
    for (size_t output = 0; output < grid.outputs.count; output++)
        json_array_append_new(outputs, output_to_json(input, &grid, output));
    json_object_set_new(out, "outputs", outputs);
    json_object_set_new(out, "failures", report_failures_to_json(&grid));
    json_object_set_new(out, "warnings", report_warnings_to_json(&grid));
    json_object_set_new(out, "cold_start", report_cold_to_json(input));
    json_object_set_new(out, "interrupted", report_interrupted_to_json(input));
    json_object_set_new(out, "takeaways", takeaways_find(&grid));
    cell_grid_finish(&grid);
    return out;
}
