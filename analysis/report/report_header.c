/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/report/report_header.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/clock.h"
#include "base/json/json.h"

#define SHOWN_BYTES 200
#define RUNS_SHOWN 8

/* Parses a stored JSON object; returns an empty one if it cannot be parsed. New reference. */
static json_t *parse(const char *document)
{
    json_t *json = NULL;
    struct error error;

    if (document == NULL || !json_parse(document, strlen(document), &json, &error)
        || !json_is_object(json)) {
        json_decref(json);
        return json_object();
    }
    return json;
}

/* ---- Values of documents ---- */

static void add_cropped(struct text *out, const char *value)
{
    size_t length = strlen(value);

    text_add_printable(out, value, length, SHOWN_BYTES);
    text_add(out, length > SHOWN_BYTES ? "..." : "");
}

static void add_value(struct text *out, const json_t *value)
{
    char *written;

    if (json_is_string(value)) {
        add_cropped(out, json_string_value(value));
        return;
    }
    written = json_write(value);
    add_cropped(out, written);
    free(written);
}

static void add_members(struct text *out, json_t *object)
{
    const char *name, *separator = "";
    json_t *value;

    json_object_foreach(object, name, value) {
        text_addf(out, "%s%s=", separator, name);
        add_value(out, value);
        separator = ", ";
    }
}

static bool says_nothing(const json_t *value)
{
    return json_is_null(value) || (json_is_string(value) && json_string_length(value) == 0)
           || (json_is_object(value) && json_object_size(value) == 0);
}

static void add_document(struct text *out, const char *document)
{
    json_auto_t *json = parse(document);
    const char *name;
    json_t *value;

    json_object_foreach(json, name, value) {
        if (says_nothing(value))
            continue;
        text_add(out, "- ");
        for (const char *c = name; *c != '\0'; c++)
            text_add_bytes(out, *c == '_' ? " " : c, 1);
        text_add(out, ": ");
        if (json_is_object(value))
            add_members(out, value);
        else
            add_value(out, value);
        text_add_char(out, '\n');
    }
}

/* ---- The sweep and its runs ---- */

/* The deployment that the report is about. */
static const struct sweep_subject *subject_of(const struct report_input *input)
{
    const struct sweep_row *sweep = input->sweep;

    for (size_t i = 1; i < sweep->subject_count && input->run_count > 0; i++)
        if (sweep->subjects[i].deployment_id == input->runs[0].deployment_id)
            return &sweep->subjects[i];
    return &sweep->subjects[0];
}

/* The other deployment of an A/B sweep; NULL: the sweep has only one. */
static const struct sweep_subject *other_subject(const struct report_input *input)
{
    const struct sweep_row *sweep = input->sweep;

    if (sweep->subject_count < 2)
        return NULL;
    return &sweep->subjects[subject_of(input) == &sweep->subjects[0] ? 1 : 0];
}

static size_t count_cells(const struct report_input *input, enum cell_state state)
{
    size_t count = 0;

    for (size_t i = 0; i < input->cell_count; i++)
        count += input->cells[i].state == state;
    return count;
}

static void add_states(const struct report_input *input, struct text *out)
{
    text_addf(out, "- cells: %zu of %zu measured", count_cells(input, CELL_MEASURED),
              input->cell_count);
    for (enum cell_state state = CELL_PENDING; state < CELL_STATES; state++)
        if (state != CELL_MEASURED && count_cells(input, state) > 0)
            text_addf(out, ", %zu %s", count_cells(input, state), cell_state_name(state));
    text_add_char(out, '\n');
}

static void add_times(const struct sweep_row *sweep, struct text *out)
{
    char from[CLOCK_TEXT_SIZE], to[CLOCK_TEXT_SIZE];

    if (sweep->started_ms == 0)
        text_addf(out, "- not begun; the plan was made at %s",
                  clock_format_utc(sweep->created_ms, from));
    else
        text_addf(out, "- measured from %s to %s", clock_format_utc(sweep->started_ms, from),
                  sweep->finished_ms > 0 ? clock_format_utc(sweep->finished_ms, to) : "now");
    text_addf(out, ", requested by %s\n", sweep->principal);
}

static void add_runs(const struct report_input *input, struct text *out)
{
    if (input->run_count == 0)
        return;
    text_addf(out, "- run%s:", input->run_count == 1 ? "" : "s, one per repetition");
    for (size_t i = 0; i < input->run_count && i < RUNS_SHOWN; i++)
        text_addf(out, "%s %s", i > 0 ? "," : "", input->runs[i].id);
    if (input->run_count > RUNS_SHOWN)
        text_addf(out, " and %zu more", input->run_count - RUNS_SHOWN);
    text_add_char(out, '\n');
    for (size_t i = 0; i < input->run_count; i++) {
        const struct run_row *run = &input->runs[i];

        if (run->corrects[0] != '\0')
            text_addf(out, "- %s corrects %s\n", run->id, run->corrects);
        if (run->corrected_by[0] != '\0')
            text_addf(out, "- **%s was corrected by %s: quote the latter**\n", run->id,
                      run->corrected_by);
    }
}

/* The measurement of the cell that used the largest share of the client's reading capacity; NULL:
 * that share is not known for any cell. */
static const struct measurement *busiest(const struct report_input *input)
{
    const struct measurement *most = NULL;

    for (size_t i = 0; i < input->cell_count; i++) {
        const struct measurement *one = &input->cells[i].measurement;

        if (one->ceiling_chunks_s > 0 && (most == NULL || one->ceiling_share > most->ceiling_share))
            most = one;
    }
    return most;
}

static void add_client(const struct report_input *input, struct text *out)
{
    const struct measurement *most = busiest(input);

    if (most != NULL)
        text_addf(out,
                  "- load generator: can read %.0f stream chunks/s (calibrated); the busiest cell "
                  "used %.0f %% of that capacity\n",
                  most->ceiling_chunks_s, most->ceiling_share * 100);
}

static json_t *client_to_json(const struct report_input *input)
{
    const struct measurement *most = busiest(input);

    if (most == NULL)
        return json_null();
    return json_pack("{s:f, s:f}", "ceiling_chunks_s", most->ceiling_chunks_s, "busiest_share",
                     most->ceiling_share);
}

/* The first run whose fingerprint is known and differs from the first known one; NULL: there is
 * none. */
static const struct run_row *find_differing_run(const struct report_input *input)
{
    const char *first = NULL;

    for (size_t i = 0; i < input->run_count; i++) {
        const char *digest = input->runs[i].fingerprint;

        if (digest[0] == '\0')
            continue;
        if (first == NULL)
            first = digest;
        else if (strcmp(first, digest) != 0)
            return &input->runs[i];
    }
    return NULL;
}

/* The first run whose fingerprint is known; NULL: there is none. */
static const struct run_row *find_fingerprinted_run(const struct report_input *input)
{
    for (size_t i = 0; i < input->run_count; i++)
        if (input->runs[i].fingerprint[0] != '\0')
            return &input->runs[i];
    return NULL;
}

/* The names of the members that differ between the first known fingerprint and that of the run that
 * find_differing_run returns; an empty list if it returns none. New reference. */
static json_t *find_differences(const struct report_input *input)
{
    const struct run_row *other = find_differing_run(input);
    json_t *names = json_array();
    json_auto_t *left = NULL, *right = NULL;
    const char *name;
    json_t *value;

    if (other == NULL)
        return names;
    left = parse(find_fingerprinted_run(input)->fingerprint_document);
    right = parse(other->fingerprint_document);
    json_object_foreach(left, name, value)
        if (!json_equal(value, json_object_get(right, name)))
            json_array_append_new(names, json_string(name));
    json_object_foreach(right, name, value)
        if (json_object_get(left, name) == NULL)
            json_array_append_new(names, json_string(name));
    return names;
}

static void add_fingerprint(const struct report_input *input, struct text *out)
{
    const struct run_row *run = find_fingerprinted_run(input);
    json_auto_t *differences = find_differences(input);
    char *names;

    if (run == NULL) {
        text_add(out, "\nNo cell has been measured.\n");
        return;
    }
    text_addf(out, "- fingerprint: %.16s\n", run->fingerprint);
    add_document(out, run->fingerprint_document);
    if (json_array_size(differences) == 0)
        return;
    names = json_write(differences);
    text_addf(out,
              "\n**The runs differ in %s: they are shown as repetitions, but did not measure the "
              "same thing.**\n",
              names);
    free(names);
}

static void add_list(const json_t *plan, const char *name, const char *what, struct text *out)
{
    const json_t *value;
    size_t i;

    text_addf(out, "- %s:", what);
    json_array_foreach(json_object_get(plan, name), i, value)
        text_addf(out, "%s %.10g", i > 0 ? "," : "", json_number_value(value));
    text_add_char(out, '\n');
}

static void add_limits(const json_t *plan, struct text *out)
{
    double ttft_ms = json_get_number(plan, "goodput_ttft_ms", 0);
    double tpot_ms = json_get_number(plan, "goodput_tpot_ms", 0);

    if (ttft_ms > 0)
        text_addf(out, "- goodput limit: TTFT <= %g ms\n", ttft_ms);
    if (tpot_ms > 0)
        text_addf(out, "- goodput limit: TPOT <= %g ms\n", tpot_ms);
}

static void add_turns(const struct report_input *input, struct text *out)
{
    const struct sweep_subject *other = other_subject(input);

    if (other != NULL)
        text_addf(out,
                  "- each cell is also measured on %s, and the two deployments take turns going "
                  "first: run_compare with this sweep says which is faster\n",
                  other->deployment);
}

static bool is_open(const json_t *plan)
{
    return json_array_size(json_object_get(plan, "request_rate")) > 0;
}

static void add_loop(const json_t *plan, struct text *out)
{
    const char *path =
        strcmp(json_get_text(plan, "api", ""), "chat") == 0 ? "chat/completions" : "completions";
    const char *arrival = json_get_text(plan, "arrival", "closed");
    double think_s = json_get_number(plan, "think_time_s", 0);

    if (is_open(plan)) {
        text_addf(out, "- open loop over /v1/%s, streamed: requests arrive on a schedule (%s", path,
                  arrival);
        if (strcmp(arrival, "gamma") == 0)
            text_addf(out, ", burstiness %g", json_get_number(plan, "burstiness", 1));
        text_add(out, "), whatever the server does\n");
        return;
    }
    text_addf(out,
              "- closed loop over /v1/%s, streamed: each user sends the next request when the "
              "previous one has ended\n",
              path);
    if (think_s > 0)
        text_addf(out, "- users think for %g s (%s) between requests\n", think_s,
                  json_get_text(plan, "think_time", "fixed"));
}

/* Writes "per cell: warm-up of at most 30 s, then a window of 30 s, then drain". */
static void add_window(const json_t *plan, struct text *out)
{
    double ramp_s = json_get_number(plan, "ramp_s", 0);
    double width = json_get_number(plan, "ci_width", 0);
    long long requests = json_get_integer(plan, "requests", 0);

    text_add(out, "- per cell: ");
    if (ramp_s > 0)
        text_addf(out, "ramp of %g s, ", ramp_s);
    text_addf(out, "warm-up of at most %g s, then a window of ",
              json_get_number(plan, "warmup_limit_s", 0));
    if (requests > 0)
        text_addf(out, "%lld request%s", requests, requests == 1 ? "" : "s");
    else
        text_addf(out, "%g s", json_get_number(plan, "window_s", 0));
    if (width > 0)
        text_addf(
            out,
            ", extended (up to window_limit_s) until output tokens/s are known to \xc2\xb1%g %%",
            100 * width);
    text_add(out, ", then drain");
}

static void add_plan(const struct report_input *input, struct text *out)
{
    json_auto_t *plan = parse(input->sweep->plan);

    text_add(out, "\n## How it was measured\n\n");
    add_loop(plan, out);
    add_window(plan, out);
    text_addf(out, "; %lld repetition%s; seed %lld\n", (long long)input->sweep->repetitions,
              input->sweep->repetitions == 1 ? "" : "s",
              (long long)json_get_integer(plan, "seed", 0));
    add_turns(input, out);
    if (strcmp(json_get_text(plan, "search", "full"), "full") != 0)
        text_add(out, "- adaptive search: only the loads that determine saturation and limits were "
                      "measured; the other\n  loads show \"inferred\" in place of figures, and "
                      "sweep_show gives the reason for each\n");
    if (is_open(plan))
        add_list(plan, "request_rate", "requests per second", out);
    add_list(plan, "concurrency", is_open(plan) ? "limit on requests in flight" : "users", out);
    add_list(plan, "input_tokens", "context, input tokens", out);
    add_list(plan, "output_tokens", "output tokens", out);
    add_limits(plan, out);
    text_addf(out,
              "- TTFT: from %s to the first output of any channel (content, reasoning, tool call); "
              "ITL: gap between chunks divided by the chunk's tokens; TPOT: (last chunk - first "
              "chunk) / (output tokens - tokens of the first chunk); E2E: from %s to the last "
              "byte\n",
              is_open(plan) ? "the scheduled time" : "sending the request",
              is_open(plan) ? "the scheduled time" : "sending the request");
}

json_t *report_header_plan(const struct report_input *input)
{
    return parse(input->sweep->plan);
}

double report_header_plan_number(const struct report_input *input, const char *name)
{
    json_auto_t *plan = report_header_plan(input);

    return json_get_number(plan, name, NAN);
}

void report_header_write(const struct report_input *input, struct text *out)
{
    const struct sweep_row *sweep = input->sweep;

    text_addf(out, "# Sweep %s of %s\n\n- state: %s%s%s\n\n", sweep->id,
              subject_of(input)->deployment, sweep->state, sweep->reason[0] != '\0' ? ": " : "",
              sweep->reason);
}

void report_header_write_origin(const struct report_input *input, struct text *out)
{
    text_add(out, "## What was measured\n\n");
    add_states(input, out);
    add_times(input->sweep, out);
    add_runs(input, out);
    add_client(input, out);
    add_fingerprint(input, out);
    add_plan(input, out);
}

/* ---- JSON ---- */

/* Makes the text valid UTF-8: it may have been truncated within a character. */
static json_t *sentence(const char *text)
{
    TEXT_AUTO shown = { 0 };

    text_add_printable(&shown, text, strlen(text), strlen(text));
    return json_string(text_string(&shown));
}

static json_t *sweep_to_json(const struct report_input *input)
{
    const struct sweep_row *sweep = input->sweep;
    const struct sweep_subject *subject = subject_of(input);
    json_t *cells = json_object();

    for (enum cell_state state = CELL_PENDING; state < CELL_STATES; state++)
        json_object_set_new(cells, cell_state_name(state),
                            json_integer((json_int_t)count_cells(input, state)));
    return json_pack("{s:s, s:s, s:I, s:s, s:o, s:s, s:I, s:I, s:I, s:I, s:o}", "id", sweep->id,
                     "deployment", subject->deployment, "revision", (json_int_t)subject->revision,
                     "state", sweep->state, "reason", sentence(sweep->reason), "principal",
                     sweep->principal, "created_ms", (json_int_t)sweep->created_ms, "started_ms",
                     (json_int_t)sweep->started_ms, "finished_ms", (json_int_t)sweep->finished_ms,
                     "repetitions", (json_int_t)sweep->repetitions, "cells", cells);
}

static json_t *runs_to_json(const struct report_input *input)
{
    json_t *runs = json_array();

    for (size_t i = 0; i < input->run_count; i++)
        json_array_append_new(runs, json_pack("{s:s, s:I, s:s, s:s, s:s}", "id", input->runs[i].id,
                                              "repetition", (json_int_t)input->runs[i].repetition,
                                              "fingerprint", input->runs[i].fingerprint, "corrects",
                                              input->runs[i].corrects, "corrected_by",
                                              input->runs[i].corrected_by));
    return runs;
}

void report_header_to_json(const struct report_input *input, json_t *out)
{
    const struct run_row *run = find_fingerprinted_run(input);

    json_object_set_new(out, "sweep", sweep_to_json(input));
    json_object_set_new(out, "runs", runs_to_json(input));
    json_object_set_new(out, "client", client_to_json(input));
    json_object_set_new(out, "fingerprint", parse(run != NULL ? run->fingerprint_document : NULL));
    json_object_set_new(out, "fingerprints_differ", find_differences(input));
    json_object_set_new(out, "plan", parse(input->sweep->plan));
}
