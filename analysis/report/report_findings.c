/* SPDX-License-Identifier: Apache-2.0 */
/* The main results of a sweep in a few lines: saturation, the largest load that meets the limits,
 * and the takeaways. */
#include "analysis/report/report.h"
#include "analysis/report/report_sections.h"
#include "analysis/report/saturation.h"
#include "analysis/report/takeaways.h"

static bool is_any_measured(const struct cell_grid *grid, size_t output, size_t context)
{
    for (size_t load = 0; load < grid->loads.count; load++) {
        const struct grid_point point = cell_grid_point(grid, output, context, load);

        if (grid_point_state(&point) == CELL_MEASURED)
            return true;
    }
    return false;
}

static void add_saturation(const struct cell_grid *grid, size_t output, size_t context,
                           struct text *out)
{
    const struct saturation s = saturation_find(grid, output, context);

    if (s.found)
        saturation_sentence(&s, out);
    else
        text_add(out, "too little was measured to find the saturation point");
}

static void add_limit(const struct report_input *input, const struct cell_grid *grid, size_t output,
                      size_t context, struct text *out)
{
    TEXT_AUTO sentence = { 0 };

    if (!report_limit_sentence(input, grid, output, context, &sentence))
        return;
    text_addf(out, "; %s", sentence.data);
}

/* The sentence for one output length and context; new reference. */
static json_t *verdict_of(const struct report_input *input, const struct cell_grid *grid,
                          size_t output, size_t context)
{
    TEXT_AUTO sentence = { 0 };

    text_addf(&sentence, "%lld tokens in, %lld out: ", (long long)grid->contexts.values[context],
              (long long)grid->outputs.values[output]);
    add_saturation(grid, output, context, &sentence);
    add_limit(input, grid, output, context, &sentence);
    return json_string(sentence.data);
}

json_t *report_verdict(const struct report_input *input)
{
    json_t *list = json_array();
    struct cell_grid grid;

    cell_grid_init(&grid, input->cells, input->cell_count);
    for (size_t output = 0; output < grid.outputs.count; output++)
        for (size_t context = 0; context < grid.contexts.count; context++)
            if (is_any_measured(&grid, output, context))
                json_array_append_new(list, verdict_of(input, &grid, output, context));
    cell_grid_finish(&grid);
    return list;
}

void report_findings(const struct report_input *input, struct text *out)
{
    json_auto_t *list = report_verdict(input);
    const json_t *sentence;
    size_t i;

    json_array_foreach(list, i, sentence)
        text_addf(out, "- %s\n", json_string_value(sentence));
}

json_t *report_findings_json(const struct report_input *input)
{
    json_t *list = json_array();
    struct cell_grid grid;

    cell_grid_init(&grid, input->cells, input->cell_count);
    for (size_t output = 0; output < grid.outputs.count; output++)
        json_array_append_new(list, json_pack("{s:I, s:o, s:o}", "output_tokens",
                                              (json_int_t)grid.outputs.values[output], "saturation",
                                              report_saturation_to_json(&grid, output), "limits",
                                              report_limit_to_json(input, &grid, output)));
    cell_grid_finish(&grid);
    return list;
}

json_t *report_takeaways(const struct report_input *input)
{
    struct cell_grid grid;
    json_t *list;

    cell_grid_init(&grid, input->cells, input->cell_count);
    list = takeaways_find(&grid);
    cell_grid_finish(&grid);
    return list;
}
