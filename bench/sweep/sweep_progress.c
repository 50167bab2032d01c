/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/sweep/sweep_private.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/core/clock.h"
#include "base/core/text.h"

#define MESSAGE_EVERY_NS 1000000000 /* the same text is reported at most this often */
#define LEFT_LEAST_S 0.5            /* a shorter remaining time is not reported */
/* The share of the cells that an adaptive search measures; assumed until it has inferred a cell. */
#define SEARCH_FIRST_SHARE 0.25
/* How long a cell's probe and drain take; assumed until this run of the job has measured a cell. */
#define CELL_OVERHEAD_S 5.0

static double expected_cell_s(const struct sweep_work *work)
{
    if (work->cells_run == 0)
        return work->plan.window_s + work->plan.warmup_limit_s / 2 + CELL_OVERHEAD_S;
    return work->cells_s / (double)work->cells_run;
}

static size_t count_inferred(const struct sweep_work *work)
{
    size_t count = 0;

    for (size_t i = 0; i < work->count; i++)
        count += work->cells[i].state == CELL_INFERRED;
    return count;
}

/* How many of the cells after the current one will probably be measured. An adaptive search is
 * assumed to infer the same share of them as of the cells done so far; before it has inferred any
 * cell, a share of 1 - SEARCH_FIRST_SHARE. */
static double expected_cells(const struct sweep_work *work)
{
    double left = (double)(work->count - work->done) - 1, inferred = (double)count_inferred(work);

    if (work->plan.search == SEARCH_FULL)
        return left;
    if (inferred == 0)
        return left * SEARCH_FIRST_SHARE;
    return left * (1 - inferred / (double)work->done);
}

/* If a cell takes longer than expected, for example because its server hangs, the time expected for
 * the later cells is not reduced. */
void sweep_progress_time_left(const struct sweep_work *work, double elapsed_s, struct text *out)
{
    double cell_s = expected_cell_s(work);
    double left_s = fmax(cell_s - elapsed_s, 0) + cell_s * expected_cells(work);

    if (work->cells_run == 0 || left_s < LEFT_LEAST_S)
        return;
    if (left_s < 90)
        text_addf(out, "; %.0f s left", left_s);
    else
        text_addf(out, "; %.0f min left", left_s / 60);
}

static void write_position(const struct sweep_work *work, struct text *out)
{
    size_t inferred = count_inferred(work);

    if (work->plan.search == SEARCH_FULL)
        text_addf(out, "cell %" PRId64 " of %zu: ", work->current->position + 1, work->count);
    else
        text_addf(out, "cell %zu, %zu of %zu inferred: ", work->done - inferred + 1, inferred,
                  work->count);
}

/* Reports, for example, "cell 12 of 156: 64 users x 1024 tokens, measuring; 3 min left". */
void sweep_progress_report(struct sweep_work *work, const char *doing, double elapsed_s)
{
    const struct cell_row *cell = work->current;
    double share = fmin(elapsed_s / expected_cell_s(work), 0.95);
    int64_t now_ns = clock_monotonic_ns();
    char load[CELL_LOAD_SIZE];
    TEXT_AUTO message = { 0 };

    write_position(work, &message);
    text_addf(&message, "%s x %" PRId64 " tokens",
              cell_load_text(cell->concurrency, cell->request_rate, load), cell->input_tokens);
    if (work->subject_count > 1)
        text_addf(&message, " on %s", cell->deployment);
    text_addf(&message, ", %s", doing);
    if (now_ns - work->message_ns < MESSAGE_EVERY_NS
        && strncmp(message.data, work->message, message.length) == 0)
        return;
    text_copy(work->message, sizeof work->message, message.data);
    work->message_ns = now_ns;
    sweep_progress_time_left(work, elapsed_s, &message);
    job_run_progress(work->run, (double)work->done + share, (double)work->count, message.data);
}
