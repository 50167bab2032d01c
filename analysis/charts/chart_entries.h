/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the cells of a grid. chart_grid.c then assigns them to the points of the grid. Private to
 * analysis/charts/. */
#pragma once

#include "analysis/charts/chart_grid.h"

struct chart_entry {
    const struct evidence_cell *cell;
    size_t run;     /* the index of the cell's run in the runs */
    size_t index;   /* the index of the cell in its run */
    double load;    /* users, or requests per second */
    double row;     /* a context, or an output length; NaN: not known */
    uint64_t marks; /* bit i: the cell has the mark at index i of the grid's marks */
};

/* Fills the grid's entries, sorted by row, load and place in the runs. Also sets the members that
 * follow from the choice of cells: is_rate, by_output, output_tokens, variant, the marks,
 * other_cells and unplaced_cells. */
void chart_entries_find(struct chart_grid *grid);
