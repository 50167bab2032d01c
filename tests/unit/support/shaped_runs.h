/* SPDX-License-Identifier: Apache-2.0 */
/* Runs of many shapes: with only one cell, with 10,000 cells, with no measured cell, with Arabic
 * names, and others. */
#pragma once

#include <math.h>
#include <string.h>

#include "analysis/evidence/evidence.h"
#include "base/core/memory.h"

#define LONG_NAME "a-model-with-a-name-of-sixty-characters-and-a-few-more-of-them"
/* Arabic letters, control characters and markup. */
#define ARABIC_NAME "\xd9\x86\xd9\x85\xd9\x88\xd8\xb0\xd8\xac 7B\x01\t<script>alert(1)</script>\"&"

struct shape_of_run {
    const char *name, *model;      /* a NULL name ends the table */
    size_t loads, contexts;        /* how many of each; there is a cell for each pair */
    enum evidence_state states[3]; /* the cells have these states in turn */
    const char *status;
    double scale; /* multiplies throughputs and latencies; NaN: these are absent */
};

static inline void shaped_latency(struct evidence_latency *latency, double ms)
{
    latency->count = 40;
    latency->mean_ms = 1.2 * ms;
    latency->p50_ms = ms;
    latency->p90_ms = 2 * ms;
    latency->p95_ms = 3 * ms;
    latency->p99_ms = 5 * ms;
    latency->max_ms = 7 * ms;
}

static inline void shaped_figures(struct evidence_cell *cell, double scale)
{
    double users = cell->concurrency, length = cell->input_length;

    cell->request_throughput = scale * users / (1 + users / 20) / (1 + length / 5000);
    cell->output_throughput = 128 * cell->request_throughput;
    cell->concurrency_actual = 0.97 * users;
    cell->attempted = cell->succeeded = 20 + users;
    cell->success_rate = users > 50 ? 0.9 : 1;
    shaped_latency(&cell->latency[METRIC_TTFT], scale * (10 + users * length / 900));
    shaped_latency(&cell->latency[METRIC_ITL], scale * (5 + users / 7));
    shaped_latency(&cell->latency[METRIC_TPOT], scale * (5 + users / 7));
    shaped_latency(&cell->latency[METRIC_E2E], scale * (900 + users * length / 900));
}

static inline void shaped_run(const struct shape_of_run *shape, struct evidence *out)
{
    evidence_init(out);
    text_copy(out->facts.model, sizeof out->facts.model, shape->model);
    text_copy(out->facts.hardware, sizeof out->facts.hardware, shape->model);
    text_copy(out->name, sizeof out->name, "a file.csv");
    out->imported = true;
    out->input_unit = LENGTH_TOKENS;
    for (size_t i = 0; i < shape->loads * shape->contexts; i++) {
        struct evidence_cell *cell = evidence_add(out);

        cell->state = shape->states[i % 3];
        cell->concurrency =
            shape->loads > 20 ? (double)(1 + i % shape->loads) : pow(2, (double)(i % shape->loads));
        cell->input_length = 128 * (double)(1 + i / shape->loads);
        cell->output_tokens_asked = 128;
        text_copy(cell->status, sizeof cell->status, shape->status);
        if (cell->state == EVIDENCE_MEASURED)
            shaped_figures(cell, shape->scale);
        else
            cell->error = memory_copy_text("saturated at 4 users, and so what \xd7\x90\xd7\x91");
    }
}

#define ALL(state)                                                                                 \
    {                                                                                              \
        state, state, state                                                                        \
    }

static const struct shape_of_run shapes_of_runs[] = {
    { "one cell", "m", 1, 1, ALL(EVIDENCE_MEASURED), "", 1 },
    { "one measured, one failed, one inferred",
      "m",
      3,
      1,
      { EVIDENCE_MEASURED, EVIDENCE_FAILED, EVIDENCE_SKIPPED },
      "inferred",
      1 },
    { "all failed", "m", 4, 4, ALL(EVIDENCE_FAILED), "503", 1 },
    { "all inferred", "m", 4, 4, ALL(EVIDENCE_SKIPPED), "inferred", 1 },
    { "all pending", "m", 4, 4, ALL(EVIDENCE_SKIPPED), "pending", 1 },
    { "all too long", "m", 12, 2, ALL(EVIDENCE_INFEASIBLE), "", 1 },
    { "nothing", "m", 0, 0, ALL(EVIDENCE_MEASURED), "", 1 },
    { "30 contexts",
      "m",
      12,
      30,
      { EVIDENCE_MEASURED, EVIDENCE_MEASURED, EVIDENCE_FAILED },
      "",
      1 },
    { "30 loads", "m", 30, 13, ALL(EVIDENCE_MEASURED), "", 1 },
    { "13 by 12", LONG_NAME, 12, 13, ALL(EVIDENCE_MEASURED), "", 1 },
    { "long names", LONG_NAME " " LONG_NAME, 4, 6, ALL(EVIDENCE_MEASURED), "", 1 },
    { "Arabic names", ARABIC_NAME, 4, 6, ALL(EVIDENCE_MEASURED), "", 1 },
    { "no figures", "m", 4, 6, ALL(EVIDENCE_MEASURED), "", NAN },
    { "zeros", "m", 4, 6, ALL(EVIDENCE_MEASURED), "", 0 },
    { "huge figures", "m", 4, 6, ALL(EVIDENCE_MEASURED), "", 1e13 },
    { "infinite figures", "m", 4, 6, ALL(EVIDENCE_MEASURED), "", INFINITY },
    { "tiny figures", "m", 4, 6, ALL(EVIDENCE_MEASURED), "", 1e-7 },
    { "10,000 cells",
      "m",
      100,
      100,
      { EVIDENCE_MEASURED, EVIDENCE_MEASURED, EVIDENCE_FAILED },
      "",
      1 },
    { 0 },
};

/* ---- Other runs ---- */

/* A run with cells in every state except EVIDENCE_UNKNOWN, side by side. */
static inline void mixed_run(struct evidence *out)
{
    static const struct shape_of_run measured = { "", "Gemma 4 12B",          9,
                                                  8,  ALL(EVIDENCE_MEASURED), "",
                                                  1 };

    shaped_run(&measured, out);
    for (size_t i = 0; i < out->cell_count; i++) {
        struct evidence_cell *cell = &out->cells[i];
        size_t column = i % 9, row = i / 9;

        if (row == 7 || (column + row > 13))
            cell->state = row == 7 ? EVIDENCE_INFEASIBLE : EVIDENCE_SKIPPED;
        if (cell->state == EVIDENCE_SKIPPED)
            text_copy(cell->status, sizeof cell->status, column == 8 ? "inferred" : "pending");
        if (i % 13 == 9)
            cell->state = EVIDENCE_FAILED;
        if (cell->state == EVIDENCE_FAILED && row % 2 == 0)
            text_copy(cell->status, sizeof cell->status, "503");
        if (cell->state == EVIDENCE_MEASURED && column == 0)
            text_copy(cell->marks, sizeof cell->marks, "first_shape");
        if (cell->state == EVIDENCE_MEASURED && column == 7)
            text_copy(cell->marks, sizeof cell->marks, "burst, client_limited");
        cell->error =
            cell->state == EVIDENCE_MEASURED ? NULL : memory_copy_text("the server ended it");
    }
}

/* A run whose loads are request rates. */
static inline void rates_run(struct evidence *out)
{
    static const struct shape_of_run shape = { "", "m", 7, 4, ALL(EVIDENCE_MEASURED), "", 1 };

    shaped_run(&shape, out);
    for (size_t i = 0; i < out->cell_count; i++) {
        out->cells[i].request_rate_asked = 0.25 * out->cells[i].concurrency;
        out->cells[i].concurrency = NAN;
    }
}

/* A run whose cells differ in load and output length, and have no input length. */
static inline void outputs_run(struct evidence *out)
{
    static const struct shape_of_run shape = { "", "m", 7, 4, ALL(EVIDENCE_MEASURED), "", 1 };

    shaped_run(&shape, out);
    for (size_t i = 0; i < out->cell_count; i++) {
        out->cells[i].output_tokens_asked = out->cells[i].input_length;
        out->cells[i].input_length = NAN;
    }
}

/* A run whose lines in a chart coincide, because the context hardly affects the figures. */
static inline void equal_lines_run(struct evidence *out)
{
    static const struct shape_of_run shape = { "", "m", 6, 6, ALL(EVIDENCE_MEASURED), "", 1 };

    shaped_run(&shape, out);
    for (size_t i = 0; i < out->cell_count; i++) {
        double length = out->cells[i].input_length;

        out->cells[i].input_length = 128;
        shaped_figures(&out->cells[i], 1 + 1e-4 * length);
        out->cells[i].input_length = length;
    }
}

/* A run with one load and several contexts. */
static inline void one_load_run(struct evidence *out)
{
    static const struct shape_of_run shape = { "", "m", 1, 5, ALL(EVIDENCE_MEASURED), "", 1 };

    shaped_run(&shape, out);
}

static const struct {
    const char *name;
    void (*make)(struct evidence *out);
} other_runs[] = {
    { "cells in four states", mixed_run }, { "rates", rates_run },
    { "output lengths", outputs_run },     { "equal lines", equal_lines_run },
    { "one load", one_load_run },
};
