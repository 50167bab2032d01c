/* The cells of a sweep as a grid: output length, context, load, and the repetitions of each point.
 * Private to analysis/. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/ledger/sweeps.h"

struct axis {
    double *values; /* ascending, each once */
    size_t count;
};

struct grid {
    struct axis outputs, contexts, loads, repetitions;
    bool is_rate;                  /* loads are requests per second that arrive, else users */
    const struct cell_row **cells; /* borrowed; NULL where there is none */
};

/* One point of the grid over all repetitions. */
struct point {
    const struct cell_row *const *cells; /* NULL where there is none */
    size_t count;
    int64_t output_tokens, context_tokens;
    double load; /* users, or requests per second */
    bool is_rate;
};

/* "64 users", "1 user", "2.5 requests/s"; returns `out`. */
#define LOAD_SIZE 48
const char *load_name(double load, bool is_rate, char out[LOAD_SIZE]);
json_t *json_load(double load, bool is_rate); /* users are whole numbers */
/* The load as the member "users" or "request_rate", with `prefix` before the name. */
void load_set(json_t *json, const char *prefix, double load, bool is_rate);

void grid_init(struct grid *grid, const struct cell_row *cells, size_t count);
void grid_finish(struct grid *grid);
/* By indices into the axes. */
struct point grid_point(const struct grid *grid, size_t output, size_t context, size_t load);

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

/* What the cell's witness said; NULL: nothing. New reference. */
json_t *cell_witness(const struct cell_row *cell);
/* The class most requests failed with; FAILURE_NONE if none failed. */
enum failure cell_failure(const struct cell_row *cell);
