/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the cells of a grid, which the grid then assigns to its points. Private to
 * analysis/charts/. */
#pragma once

#include "analysis/charts/chart_grid.h"

struct chart_entry {
    const struct evidence_cell *cell;
    size_t run, index; /* the cell's place in the runs */
    double load, row;
    uint64_t marks; /* bits: indices into the grid's marks */
};

/* Fills the grid's entries, sorted by row, load and place in the runs. Also fills what follows from
 * them: the kinds of load and of rows, the output length, the variant, the marks, and the numbers
 * of the cells that are left out. */
void chart_entries_find(struct chart_grid *grid);
