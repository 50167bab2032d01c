/* SPDX-License-Identifier: Apache-2.0 */
/* Writes and reads a plan's journal, and finds what exists at the URL of a step's resource. */
#include <string.h>

#include "base/json/json.h"
#include "fleet/managed/apply_private.h"

#define STORE_PAUSE_MS 1000

bool apply_note(struct apply *apply, size_t step, const char *action, const char *outcome,
                const char *poll_url, const char *detail, struct error *error)
{
    char poll[1024], words[512];
    struct fleet_journal_row row = { .poll_url = poll,
                                     .detail = words,
                                     .at_ms = apply->frame->now_ms() };

    text_copy(poll, sizeof poll, poll_url);
    text_copy(words, sizeof words, detail);
    text_copy(row.step, sizeof row.step, apply->plan.steps[step].name);
    text_copy(row.action, sizeof row.action, action);
    text_copy(row.outcome, sizeof row.outcome, outcome);
    while (!fleet_journal_add(apply->frame->store, &apply->run->claim, apply->plan.row.id, &row,
                              error)) {
        if (error->kind != ERROR_BUSY)
            return false;
        job_run_waits_for_store(apply->run, error); /* no request may be sent without a row */
        if (job_run_wait(apply->run, STORE_PAUSE_MS) != JOB_STOP_NO)
            return false;
    }
    return true;
}

/* The stage of a step after a row with this action and outcome. Other rows leave it unchanged. */
static const struct {
    const char *action, *outcome;
    enum apply_stage stage;
} stages[] = {
    { "do", "", STAGE_MAYBE },          { "do", "done", STAGE_DONE },
    { "do", "wait", STAGE_WAITS },      { "do", "retry", STAGE_NEW },
    { "do", "lost", STAGE_MAYBE },      { "do", "failed", STAGE_FAILED },
    { "poll", "done", STAGE_DONE },     { "poll", "wait", STAGE_WAITS },
    { "poll", "failed", STAGE_BROKEN }, { "undo", "done", STAGE_UNDONE },
};

/* Returns step_count if the plan has no step of this name. */
static size_t find_step(const struct managed_plan *plan, const char *name)
{
    size_t step = 0;

    while (step < plan->step_count && strcmp(plan->steps[step].name, name) != 0)
        step++;
    return step;
}

static void recall_row(struct apply *apply, const struct fleet_journal_row *row)
{
    const struct managed_plan *plan = &apply->plan;
    size_t step = find_step(plan, row->step);

    apply->undoing = apply->undoing || strcmp(row->action, "undo") == 0;
    for (size_t i = 0; step < plan->step_count && i < sizeof stages / sizeof *stages; i++)
        if (strcmp(stages[i].action, row->action) == 0
            && strcmp(stages[i].outcome, row->outcome) == 0) {
            struct apply_step *progress = &apply->steps[step];

            progress->stage = stages[i].stage;
            progress->since_ms = row->at_ms;
            text_copy(progress->poll_url, sizeof progress->poll_url, row->poll_url);
            text_copy(progress->refusal, sizeof progress->refusal,
                      progress->stage == STAGE_WAITS ? row->detail : "");
        }
    if (strcmp(row->action, "undo") == 0 && row->detail[0] != '\0' && apply->problem[0] == '\0')
        text_copy(apply->problem, sizeof apply->problem, row->detail);
}

bool apply_recall(struct apply *apply, struct error *error)
{
    struct fleet_journal_row *rows;
    size_t count;

    if (!fleet_journal_list(apply->frame->store, apply->plan.row.id, &rows, &count, error))
        return false;
    for (size_t i = 0; i < count; i++)
        recall_row(apply, &rows[i]);
    fleet_journal_rows_free(rows, count);
    return true;
}

static bool is_read_step(const struct managed_plan *plan, const char *name)
{
    size_t step = find_step(plan, name);

    return step < plan->step_count && strcmp(plan->steps[step].method, "GET") == 0;
}

bool apply_changed_nothing(const struct apply *apply)
{
    struct fleet_journal_row *rows;
    struct error ignored;
    size_t count, unanswered = 0, not_refused = 0;

    if (!fleet_journal_list(apply->frame->store, apply->plan.row.id, &rows, &count, &ignored))
        return false;
    for (size_t i = 0; i < count; i++) {
        bool is_refusal =
            strcmp(rows[i].outcome, "failed") == 0 || strcmp(rows[i].outcome, "retry") == 0;

        if (is_read_step(&apply->plan, rows[i].step))
            continue;
        if (rows[i].outcome[0] == '\0')
            unanswered++;
        else if (is_refusal && unanswered > 0)
            unanswered--;
        else
            not_refused++;
    }
    fleet_journal_rows_free(rows, count);
    return unanswered + not_refused == 0;
}

/* ---- Resources ---- */

/* The two strings that mark a resource as ours, and whether the resource has each of them as a
 * label or annotation, or in its description. The description marks resources that can have neither
 * labels nor annotations. */
struct marks {
    const char *instance;   /* this opsbrain's id */
    const char *deployment; /* the deployment's name */
    bool has_instance, has_deployment;
};

static void read_mark(struct marks *marks, const json_t *value, bool is_exact)
{
    const char *text = json_string_value(value);

    if (text == NULL)
        return;
    marks->has_instance =
        marks->has_instance
        || (is_exact ? strcmp(text, marks->instance) == 0 : strstr(text, marks->instance) != NULL);
    marks->has_deployment = marks->has_deployment
                            || (is_exact ? strcmp(text, marks->deployment) == 0
                                         : strstr(text, marks->deployment) != NULL);
}

static void read_marks(struct marks *marks, const json_t *object)
{
    const char *name;
    json_t *value, *inner;

    json_object_foreach(json_iterable(object), name, value) {
        const char *ignored;

        if (strcmp(name, "labels") == 0 || strcmp(name, "annotations") == 0)
            json_object_foreach(value, ignored, inner)
                read_mark(marks, inner, true);
        if (strcmp(name, "description") == 0)
            read_mark(marks, value, false);
    }
}

/* Returns true if both marks are found in the labels, annotations or descriptions of the resource
 * and of its metadata. If the provider selects a part of the document (provider.labelled), only
 * that part is read. Deeper labels, such as those of a pod template, do not count, because they do
 * not say who made the resource. */
static bool is_marked(const struct apply *apply, const json_t *body)
{
    const struct provider *provider = apply->plan.target.provider;
    struct marks marks = { .instance = apply->plan.desired.instance,
                           .deployment = apply->plan.desired.deployment };

    if (provider->labelled != NULL)
        body = provider->labelled(body);
    read_marks(&marks, body);
    read_marks(&marks, json_object_get(body, "metadata"));
    return marks.has_instance && marks.has_deployment;
}

enum apply_found apply_find(const struct apply *apply, size_t step, struct error *error)
{
    CLOUD_REPLY_AUTO reply = { 0 };

    if (apply->frame->call(apply->cloud, "GET", apply->plan.steps[step].resource, NULL, NULL,
                           &reply, error))
        return is_marked(apply, reply.body) ? FOUND_OURS : FOUND_FOREIGN;
    return reply.status == 404 ? FOUND_NOTHING : FOUND_UNKNOWN;
}

bool apply_pause(const struct apply *apply, unsigned round, int64_t least_s)
{
    int64_t pause_ms = apply->frame->pause_ms << (round < 3 ? round : 3);

    if (pause_ms < least_s * 1000)
        pause_ms = least_s * 1000;
    return job_run_wait(apply->run, pause_ms) == JOB_STOP_NO;
}
