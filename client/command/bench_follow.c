/* SPDX-License-Identifier: Apache-2.0 */
/* Shows a sweep until it has ended: a row for each cell that has ended, except inferred cells, and
 * below the rows a bar with the sweep's progress. */

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/json/json.h"
#include "client/command/client_bench.h"
#include "client/command/wording.h"
#include "client/terminal/display_width.h"
#include "client/terminal/interrupt.h"
#include "client/terminal/progress_bar.h"
#include "client/terminal/readable.h"

#define POLL_MS 400
#define FAILED_POLLS_MAX 75 /* in a row: gives a server half a minute to restart */
#define CELLS_PER_PAGE 200

#define ROW_FORMAT "%6s %8s %7s %11s %11s %10s %9s %8s"
#define NOTE_BELOW "\n        "

struct follow {
    struct bench *bench;
    struct interrupt interrupt;
    json_t *shown;         /* positions of the cells that show_cell has handled */
    double done;           /* the job's progress in the latest answer; -1: no answer yet */
    bool bar_shown;        /* the bar is shown on standard error */
    bool headed;           /* the headings have been written */
    unsigned failed_polls; /* polls that failed in a row: the server did not answer or was busy */
    size_t unmeasured;     /* how many failed and skipped cells have been handled */
};

/* ---- The bar ---- */

static void hide_bar(struct follow *follow)
{
    if (follow->bar_shown)
        fputs("\r\033[K", stderr);
    follow->bar_shown = false;
}

/* Omits the start of the message, such as "cell 3 of 6: ", because the bar shows the numbers. */
static const char *without_position(const char *message)
{
    const char *colon = strncmp(message, "cell ", 5) == 0 ? strstr(message, ": ") : NULL;

    return colon != NULL ? colon + 2 : message;
}

static void show_bar(struct follow *follow, const json_t *job, const char *message)
{
    struct terminal terminal = terminal_of(fileno(stderr));
    TEXT_AUTO line = { 0 };

    if (!terminal.is_drawable)
        return;
    progress_bar_add(&terminal, json_get_number(job, "progress", 0),
                     json_get_number(job, "progress_total", 0), without_position(message), &line);
    fprintf(stderr, "\r\033[K%s", text_string(&line));
    fflush(stderr);
    follow->bar_shown = true;
}

/* ---- Rows ---- */

static const char *figure(const json_t *cell, const char *name, char out[16])
{
    double value = json_get_number(cell, name, NAN);

    if (!isfinite(value))
        return "-";
    snprintf(out, 16, value >= 100 ? "%.0f" : "%.3g", value);
    return out;
}

/* Adds the deployment if the sweep has several, and the repetition if it has several. */
static void add_run(const json_t *cell, struct text *out)
{
    int64_t repetition = json_get_integer(cell, "repetition", 0);
    const char *deployment = json_get_text(cell, "deployment", "");

    if (deployment[0] != '\0')
        text_addf(out, "%s ", deployment);
    if (repetition > 0)
        text_addf(out, "repetition %" PRId64 " ", repetition);
}

/* Adds the reasons why there are no figures, or why they are doubtful. */
static void add_note(const json_t *cell, struct text *out)
{
    static const char *const marks[] = { "contaminated",    "uneven",   "overloaded",
                                         "unsettled",       "censored", "client_limited",
                                         "tokens_estimated" };
    const char *state = json_get_text(cell, "state", ""),
               *reason = json_get_text(cell, "reason", "");
    double success = json_get_number(cell, "success_rate", 1);

    if (strcmp(state, "measured") != 0)
        text_addf(out, "%s ", state);
    if (success < 1)
        text_addf(out, "%.3g %% succeeded ",
                  floor(1000 * success) / 10); /* rounded down, so that it is never 100 */
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (json_get_boolean(cell, marks[i], false))
            text_addf(out, "%s ", marks[i]);
    text_add_printable(out, reason, strlen(reason), 160);
    while (out->length > 0 && out->data[out->length - 1] == ' ')
        out->data[--out->length] = '\0';
}

static void write_load(const json_t *cell, char out[24])
{
    double rate = json_get_number(cell, "request_rate", 0);

    if (rate > 0)
        snprintf(out, 24, "%g/s", rate);
    else
        snprintf(out, 24, "%" PRId64, json_get_integer(cell, "concurrency", 0));
}

static bool fits_beside(const struct terminal *terminal, const struct text *line,
                        const struct text *note)
{
    return !terminal->is_terminal
           || display_width(text_string(line), line->length)
                      + display_width(text_string(note), note->length) + 2
                  <= terminal->columns;
}

static void show_row(struct follow *follow, const json_t *cell)
{
    char load[24], input[24], output[24], figures[5][16];
    const struct terminal *terminal = &follow->bench->client.out;
    TEXT_AUTO note = { 0 }, line = { 0 }, clean = { 0 };

    if (!follow->headed)
        printf(ROW_FORMAT "\n", "users", "context", "answer", "TTFT p50 ms", "TTFT p99 ms",
               "ITL p50 ms", "tokens/s", "req/s");
    follow->headed = true;
    write_load(cell, load);
    snprintf(input, sizeof input, "%" PRId64, json_get_integer(cell, "input_tokens", 0));
    snprintf(output, sizeof output, "%" PRId64, json_get_integer(cell, "output_tokens", 0));
    add_run(cell, &note);
    add_note(cell, &note);
    text_addf(&line, ROW_FORMAT, load, input, output, figure(cell, "ttft_p50_ms", figures[0]),
              figure(cell, "ttft_p99_ms", figures[1]), figure(cell, "itl_p50_ms", figures[2]),
              figure(cell, "output_tokens_per_s", figures[3]),
              figure(cell, "requests_per_s", figures[4]));
    if (note.length > 0)
        text_addf(&line, "%s%s", fits_beside(terminal, &line, &note) ? "  " : NOTE_BELOW,
                  text_string(&note));
    readable_add_text(terminal, text_string(&line), &clean);
    fputs(text_string(&clean), stdout);
}

/* Whether a cell that has ended in this state should have figures, but has none. Inferred and
 * infeasible cells are not expected to have any. */
static bool lacks_figures(const char *state)
{
    return strcmp(state, "failed") == 0 || strcmp(state, "skipped") == 0;
}

/* Handles each cell once, after it has ended: counts it if it lacks figures, and shows it unless
 * --json is given. Skips inferred cells. */
static void show_cell(struct follow *follow, const json_t *cell)
{
    const char *state = json_get_text(cell, "state", "");
    char position[24];

    snprintf(position, sizeof position, "%" PRId64, json_get_integer(cell, "position", -1));
    if (strcmp(state, "pending") == 0 || strcmp(state, "inferred") == 0
        || json_object_get(follow->shown, position) != NULL)
        return;
    json_object_set_new(follow->shown, position, json_true());
    follow->unmeasured += lacks_figures(state);
    hide_bar(follow);
    if (!follow->bench->client.json)
        show_row(follow, cell);
}

static CHECKED bool read_cells(struct follow *follow, struct error *error)
{
    json_auto_t *arguments =
        json_pack("{s:s, s:i}", "sweep", follow->bench->sweep, "limit", CELLS_PER_PAGE);
    const char *cursor = "";

    while (cursor != NULL) {
        json_auto_t *page = NULL;
        const json_t *cell;
        size_t i;

        if (!client_call_quietly(&follow->bench->client, "sweep_show", arguments, &page, error))
            return false;
        json_array_foreach(json_object_get(page, "cells"), i, cell)
            show_cell(follow, cell);
        cursor = json_get_text(page, "next_cursor", NULL);
        json_object_set_new(arguments, "cursor", json_string(cursor == NULL ? "" : cursor));
    }
    fflush(stdout);
    return true;
}

/* ---- The end ---- */

static int status_of(const struct follow *follow, const json_t *job)
{
    const char *state = json_get_text(job, "state", "");
    const char *outcome = json_get_text(json_object_get(job, "outcome"), "state", "completed");

    return strcmp(state, "completed") == 0 && strcmp(outcome, "completed") == 0
                   && follow->unmeasured == 0
               ? STATUS_DONE
               : STATUS_INCOMPLETE;
}

/* Adds the verdict, unless a report follows, because the report contains it. */
static void add_verdict(const struct follow *follow, const json_t *answer, struct text *out)
{
    const json_t *sentence;
    size_t i;

    if (follow->bench->by_url)
        return;
    json_array_foreach(json_object_get(answer, "verdict"), i, sentence)
        if (json_is_string(sentence))
            text_addf(out, "- %s\n", json_string_value(sentence));
}

static void show_end(const struct follow *follow, const json_t *answer, int status)
{
    const json_t *job = json_object_get(answer, "job");
    const char *reason = json_get_text(json_object_get(job, "outcome"), "error", "");
    const char *state = status == STATUS_DONE ? "completed" : json_get_text(job, "state", "over");
    TEXT_AUTO out = { 0 }, worded = { 0 }, clean = { 0 };

    reason = json_get_text(json_object_get(job, "outcome"), "reason", reason);
    text_addf(&out, "\n%s %s %s", follow->bench->sweep, strcmp(state, "failed") == 0 ? "has" : "is",
              state);
    if (follow->unmeasured > 0)
        text_addf(&out, "%s %zu cell%s no figures", strcmp(state, "completed") == 0 ? ", but" : ";",
                  follow->unmeasured, follow->unmeasured == 1 ? " has" : "s have");
    text_addf(&out, "%s%s\n", reason[0] != '\0' ? ": " : ".", reason);
    add_verdict(follow, answer, &out);
    wording_add_refusal(text_string(&out), NULL, &worded);
    text_add_printable(&clean, text_string(&worded), worded.length, SIZE_MAX / 2);
    error_ignore(client_write(&clean)); /* if this fails, the sweep has ended all the same */
}

/* A server that runs in this process ends with the process. The sweep then continues as soon as a
 * server is started for the same folder. */
static void show_interrupted(const struct bench *bench)
{
    if (bench->server == NULL)
        fprintf(stderr,
                "The sweep continues. To see it again: opsbrain bench %s; "
                "to stop it: opsbrain cancel %s\n",
                bench->sweep, bench->sweep);
    else
        fprintf(stderr,
                "Stopped; finished cells are kept. To continue: opsbrain bench %s --data %s\n",
                bench->sweep, bench->folder);
}

/* The error itself is printed after this, by client_bench. */
static void show_lost(const struct bench *bench)
{
    if (bench->server == NULL)
        fprintf(stderr, "What was measured is kept. To see it again: opsbrain bench %s\n",
                bench->sweep);
    else
        fprintf(stderr, "What was measured is kept. To continue: opsbrain bench %s --data %s\n",
                bench->sweep, bench->folder);
}

/* ---- The loop ---- */

/* Reads the job (*answer: a new reference), and shows the cells that have ended but were not shown
 * yet. */
static CHECKED bool read_progress(struct follow *follow, json_t **answer, struct error *error)
{
    json_auto_t *arguments = json_pack("{s:s}", "job", follow->bench->sweep), *shown = NULL;
    double done;

    if (!client_call_quietly(&follow->bench->client, "job_show", arguments, &shown, error))
        return false;
    done = json_get_number(json_object_get(shown, "job"), "progress", 0);
    if ((done > follow->done || json_get_boolean(shown, "over", false))
        && !read_cells(follow, error))
        return false;
    follow->done = done;
    *answer = json_incref(shown);
    return true;
}

/* Returns true after Ctrl-C, and after a temporary error (the server does not answer or is busy)
 * unless there were too many in a row. */
static CHECKED bool may_try_again(struct follow *follow, const struct error *error)
{
    if (error->kind == ERROR_CANCELLED)
        return true; /* Ctrl-C cancelled the call; it also ends the loop */
    if (error->kind != ERROR_UPSTREAM && error->kind != ERROR_BUSY)
        return false;
    show_bar(follow, NULL, "the server does not answer, or is busy; still trying");
    return ++follow->failed_polls <= FAILED_POLLS_MAX;
}

/* Reads and shows the progress once. *over: the sweep has ended, and *status is the exit status. */
static CHECKED bool poll_sweep(struct follow *follow, bool *over, int *status, struct error *error)
{
    json_auto_t *answer = NULL;
    const json_t *job;

    if (!read_progress(follow, &answer, error))
        return may_try_again(follow, error);
    follow->failed_polls = 0;
    job = json_object_get(answer, "job");
    *over = json_get_boolean(answer, "over", false);
    hide_bar(follow);
    if (!*over) {
        show_bar(follow, job, json_get_text(job, "message", json_get_text(job, "state", "")));
        return true;
    }
    *status = status_of(follow, job);
    if (!follow->bench->client.json)
        show_end(follow, answer, *status);
    return true;
}

bool bench_follow(struct bench *bench, int *status, struct error *error)
{
    struct follow follow = { .bench = bench, .shown = json_object(), .done = -1 };
    struct remote *remote = &bench->client.remote;
    bool done = true, over = false;

    interrupt_begin(&follow.interrupt);
    remote->cancelled = interrupt_arrived;
    remote->context = &follow.interrupt;
    while (done && !over) {
        done = poll_sweep(&follow, &over, status, error);
        if (done && !over && !interrupt_sleep(&follow.interrupt, POLL_MS)) {
            hide_bar(&follow);
            show_interrupted(bench);
            *status = STATUS_INTERRUPTED;
            over = true;
        }
    }
    hide_bar(&follow);
    if (!done && follow.failed_polls > 0)
        show_lost(bench);
    remote->cancelled = NULL;
    interrupt_end(&follow.interrupt);
    json_decref(follow.shown);
    return done;
}
