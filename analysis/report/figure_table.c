/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/report/figure_table.h"

#include "analysis/report/matrix.h"
#include "base/formats/table.h"

/* Throughput, then latencies: each median, followed by its p99 if there is one. */
static const enum quantity_id order[] = {
    QUANTITY_OUTPUT_TOKENS, QUANTITY_REQUESTS, QUANTITY_GOODPUT, QUANTITY_TTFT_P50,
    QUANTITY_TTFT_P99,      QUANTITY_ITL_P50,  QUANTITY_ITL_P99, QUANTITY_ICL_P50,
    QUANTITY_ICL_P99,       QUANTITY_TPOT_P50, QUANTITY_E2E_P50, QUANTITY_E2E_P99,
};
#define ORDERED (sizeof order / sizeof *order)

bool figure_table_suits(const struct cell_grid *grid)
{
    return grid->contexts.count == 1 || grid->loads.count == 1;
}

static void write_row(const struct grid_point *point, bool by_load, const bool wanted[QUANTITIES],
                      struct table *table)
{
    if (by_load)
        table_cell(table, "%.6g", point->load);
    else
        table_cell(table, "%lld", (long long)point->context_tokens);
    for (size_t i = 0; i < ORDERED; i++) {
        TEXT_AUTO figure = { 0 };

        if (!wanted[order[i]])
            continue;
        matrix_add_figure(point, order[i], &figure);
        table_cell(table, "%s", text_string(&figure));
    }
}

void figure_table_write(const struct cell_grid *grid, size_t output, const bool wanted[QUANTITIES],
                        struct text *out)
{
    bool by_load = grid->contexts.count == 1;
    size_t rows = by_load ? grid->loads.count : grid->contexts.count;
    struct table *table = table_create();
    char load[LOAD_SIZE];

    table_column(table, !by_load ? "context" : grid->is_rate ? "requests/s" : "users", true);
    for (size_t i = 0; i < ORDERED; i++)
        if (wanted[order[i]])
            table_column(table, quantities[order[i]].heading, true);
    for (size_t row = 0; row < rows; row++) {
        const struct grid_point point =
            cell_grid_point(grid, output, by_load ? 0 : row, by_load ? row : 0);

        write_row(&point, by_load, wanted, table);
    }
    if (by_load)
        text_addf(out, "At context %lld", (long long)grid->contexts.values[0]);
    else
        text_addf(out, "At %s", cell_grid_load_name(grid->loads.values[0], grid->is_rate, load));
    text_add(out, "; latencies in ms:\n\n");
    table_render(table, out);
    table_destroy(table);
    text_add_char(out, '\n');
}
