/* SPDX-License-Identifier: Apache-2.0 */
/* The cells of a sweep or a run as a grid of points. A point is one output length, context (input
 * length) and load, with all its repetitions. Private to analysis/. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/ledger/sweeps.h"

/* A cell's figures can be compared only if at least this share of its requests succeeded. */
#define CELL_GRID_SOUND_SUCCESS 0.99

struct cell_grid_axis {
    double *values; /* ascending, without duplicates */
    size_t count;
};

struct cell_grid {
    struct cell_grid_axis outputs, contexts, loads, repetitions;
    bool is_rate; /* loads are requests arriving per second; otherwise users */
    /* One for each combination of the axes' values; each borrowed, or NULL if there is no such
     * cell. */
    const struct cell_row **cells;
};

/* One point of the grid, with all repetitions. */
struct grid_point {
    const struct cell_row *const *cells; /* each borrowed, or NULL if there is no such cell */
    size_t count; /* number of repetitions in the grid, and of items in `cells` */
    int64_t output_tokens, context_tokens;
    double load; /* users, or requests per second */
    bool is_rate;
};

/* Writes "64 users", "1 user" or "2.5 requests/s"; returns `out`. */
#define LOAD_SIZE 48
const char *cell_grid_load_name(double load, bool is_rate, char out[LOAD_SIZE]);
/* Returns a rate as a real, a number of users as an integer. New reference. */
json_t *cell_grid_load_json(double load, bool is_rate);
/* Adds the load as the member "users" or "request_rate", with `prefix` before the name. */
void cell_grid_load_set(json_t *json, const char *prefix, double load, bool is_rate);

/* Arranges the cells in a grid, which borrows them. */
void cell_grid_init(struct cell_grid *grid, const struct cell_row *cells, size_t count);
void cell_grid_finish(struct cell_grid *grid);
/* The point at these indices into the axes. */
struct grid_point cell_grid_point(const struct cell_grid *grid, size_t output, size_t context,
                                  size_t load);

/* Calls `each` for every point of the grid, in order of output length, context and load. */
void cell_grid_each(const struct cell_grid *grid,
                    void (*each)(void *context, const struct grid_point *point), void *context);

/* The first of these states that any repetition of the point has: measured, failed, infeasible,
 * inferred, skipped. CELL_PENDING if none has any of them. */
enum cell_state grid_point_state(const struct grid_point *point);
/* The number of the point's repetitions in this state. */
size_t grid_point_count(const struct grid_point *point, enum cell_state state);
/* Whether the point can be compared with others: it was measured, and in every measured repetition
 * at least 99 % of the requests succeeded and nothing showed that the server also worked for other
 * clients. */
bool grid_point_is_sound(const struct grid_point *point);
/* The word that is shown instead of a figure: "failed", "too long", "skipped", "inferred", "-". */
const char *grid_point_word(const struct grid_point *point);

/* The server's own counters for the cell; NULL: none are stored. New reference. */
json_t *cell_grid_server_counters(const struct cell_row *cell);
/* The cell's most frequent class of failure; FAILURE_NONE if no request failed. */
enum failure cell_grid_failure(const struct cell_row *cell);
