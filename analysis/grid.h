/* The cells of a sweep as a grid: output length, context, users, and the repetitions of each point.
 * Private to analysis/. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/sweeps.h"

struct axis {
    int64_t *values; /* ascending, each once */
    size_t count;
};

struct grid {
    struct axis outputs, contexts, users, repetitions;
    const struct cell_row **cells; /* borrowed; NULL where there is none */
};

/* One point of the grid over all repetitions. */
struct point {
    const struct cell_row *const *cells; /* NULL where there is none */
    size_t count;
    int64_t output_tokens, context_tokens, users;
};

void grid_init(struct grid *grid, const struct cell_row *cells, size_t count);
void grid_finish(struct grid *grid);
/* By indices into the axes. */
struct point grid_point(const struct grid *grid, size_t output, size_t context, size_t user);

/* Calls `each` for every point of the grid, output by output, context by context. */
void grid_each(const struct grid *grid, void (*each)(void *context, const struct point *point),
               void *context);

/* MEASURED if one repetition is, else the worst that happened; PENDING if nothing did. */
enum cell_state point_state(const struct point *point);
size_t point_count(const struct point *point, enum cell_state state);
/* Measured, and at least 99 % of the requests of every measured repetition succeeded: fit to be
 * compared. */
bool point_is_sound(const struct point *point);
/* What stands in a table where there is no figure: "failed", "too long", "skipped", "-". */
const char *point_word(const struct point *point);

/* The class most requests failed with; FAILURE_NONE if none failed. */
enum failure cell_failure(const struct cell_row *cell);
