/* SPDX-License-Identifier: Apache-2.0 */
/* Turns verbs (create, start, stop, ...) into requests and commands, and judges the replies. */
#include <stdio.h>
#include <string.h>

#include "base/json/json.h"
#include "fleet/providers/compute.h"
#include "fleet/recipes/recipe.h"

static void name_parts(struct google_list *list)
{
    char name[COMPUTE_NAME_SIZE];

    compute_name(list->desired, name);
    snprintf(list->url, sizeof list->url, GOOGLE_COMPUTE "%s", name);
    google_machine_name(list->desired, name, &list->machine);
}

/* ---- Steps ---- */

static void add_wait(const struct google_list *list, const char *name, const char *summary)
{
    struct step *step = google_add(list, name, "GET", list->url, summary);

    step->absent_is_done = strcmp(name, "gone") == 0;
    if (strcmp(name, "running") == 0 && strcmp(list->desired->kind, "flex_start") == 0)
        step->wait_s = STEP_WAITS_TO_END; /* capacity may come only near the end */
}

/* Sets the URL of an action on the machine. If the platform's own id for the machine is known, the
 * URL contains it, so that the request never reaches a different machine of the same name. */
static void set_action(const struct google_list *list, struct step *step, const char *action)
{
    const char *uid = list->now != NULL ? list->now->uid : "";

    if (uid[0] != '\0')
        snprintf(step->url, sizeof step->url,
                 GOOGLE_COMPUTE "projects/%.63s/zones/%.63s/instances/%.64s",
                 list->desired->target->project, list->desired->place, uid);
    snprintf(step->url + strlen(step->url), sizeof step->url - strlen(step->url), "%s", action);
    google_machine_set_id(list->desired, step);
}

/* Takes over the reference `body`. */
static void add_action(const struct google_list *list, const char *name, const char *action,
                       json_t *body, const char *summary)
{
    struct step *step = google_add(list, name, "POST", list->url, summary);

    set_action(list, step, action);
    step->body = body;
}

static void add_image(const struct google_list *list)
{
    const struct recipe *recipe = list->desired->recipe;
    struct step *step;
    char url[512];

    snprintf(url, sizeof url, GOOGLE_COMPUTE "projects/%.63s/global/images/family/%.63s",
             recipe_text(recipe, "compute_engine.image_project", ""),
             recipe_text(recipe, "compute_engine.image_family", ""));
    step = google_add(list, "image", "GET", url, "Checks that there is a disk image for");
    text_copy(step->dry_run_url, sizeof step->dry_run_url, url);
}

static void add_create(const struct google_list *list)
{
    struct step *step;
    char summary[100];

    google_add_secrets(list);
    add_image(list);
    google_machine_add(list);
    snprintf(summary, sizeof summary, "Creates the machine (%.32s, %.16s)",
             recipe_text(list->desired->recipe, "host.machine", ""),
             list->desired->kind[0] != '\0' ? list->desired->kind : "on_demand");
    step = google_add(list, "instance", "POST", list->url, summary);
    google_set_creation(step);
    google_machine_set_id(list->desired, step);
    step->body = compute_instance(list->desired, &list->machine);
    add_wait(list, "running", "Waits until the machine is running:");
}

static void add_scheduling(const struct google_list *list)
{
    add_action(list, "scheduling", "/setScheduling", compute_scheduling(list->desired, list->now),
               "Sets the end of");
}

/* The request is refused if somebody has changed the labels since they were observed. */
static void add_labels(const struct google_list *list)
{
    add_action(list, "label", "/setLabels",
               json_pack("{s:o, s:s}", "labels", google_all_labels(list->desired, list->now),
                         "labelFingerprint", list->now->etag),
               "Writes the new end to the labels of");
}

static void add_stop_and_wait(const struct google_list *list, const char *summary)
{
    add_action(list, "stop", "/stop", NULL, summary);
    add_wait(list, "stopped", "Waits until the machine is stopped:");
}

static void add_stop(const struct google_list *list)
{
    add_stop_and_wait(list, "Stops the machine");
}

static void add_start_and_wait(const struct google_list *list)
{
    add_action(list, "start", "/start", NULL, "Starts the machine");
    add_wait(list, "running", "Waits until the machine is running:");
}

/* The platform changes a machine's end only while the machine is stopped. */
static void add_extend(const struct google_list *list)
{
    bool is_stopped = strcmp(list->now->state, "stopped") == 0;

    if (!is_stopped)
        add_stop_and_wait(list,
                          "Stops the machine, whose end cannot be moved while it is running:");
    add_scheduling(list);
    add_labels(list);
    if (!is_stopped)
        add_start_and_wait(list);
}

/* If the end is a maximum running time (flex-start), sets it to the time that is left, because the
 * platform counts it from this start. */
static void add_start(const struct google_list *list)
{
    bool moves = observed_end_moves(list->now, list->desired);

    if (moves || compute_is_flexible(list->desired, list->now))
        add_scheduling(list);
    if (moves)
        add_labels(list);
    add_start_and_wait(list);
}

static void add_destroy(const struct google_list *list)
{
    if (list->now == NULL || list->now->exists) {
        struct step *step = google_add_removal(list, "remove-instance", list->url,
                                               "Deletes the machine and its disk:");

        set_action(list, step, "");
    }
    add_wait(list, "gone", "Waits until the machine is gone:");
    google_machine_add_removals(list);
}

static CHECKED bool check_state(enum provider_verb verb, const struct desired *desired,
                                const struct observed *now, struct error *error)
{
    static const unsigned verbs_with_end =
        VERB_BIT(VERB_CREATE) | VERB_BIT(VERB_EXTEND) | VERB_BIT(VERB_START);

    return google_check_state(verb, desired, now, "machine", error)
           && ((VERB_BIT(verb) & verbs_with_end) == 0 || compute_check_end(desired, now, error))
           && (verb != VERB_CREATE || compute_check(desired, error));
}

bool compute_steps(enum provider_verb verb, const struct desired *desired,
                   const struct observed *now, struct step **out, size_t *count,
                   struct error *error)
{
    static const struct google_verbs verbs = {
        .check = check_state,
        .name = name_parts,
        .add = { [VERB_CREATE] = add_create,
                 [VERB_START] = add_start,
                 [VERB_STOP] = add_stop,
                 [VERB_EXTEND] = add_extend,
                 [VERB_DESTROY] = add_destroy },
    };

    return google_steps(&verbs, verb, desired, now, out, count, error);
}

/* ---- Outcomes ---- */

static CHECKED enum step_state judge_instance(const struct step *step, const json_t *instance,
                                              char poll_url[1024], struct error *error)
{
    struct observed now = { 0 };
    bool waits_to_run = strcmp(step->name, "running") == 0;
    enum step_state state = STEP_WAIT;

    compute_read(instance, false, &now);
    if (waits_to_run && strcmp(json_get_text(instance, "status", ""), "RUNNING") == 0)
        state = STEP_DONE;
    else if (waits_to_run && strcmp(now.state, "stopped") == 0)
        state = google_fail(
            error, now.message[0] != '\0' ? now.message : "the machine was stopped before it ran");
    else
        state = google_judge_wait(step, &now, poll_url, error);
    observed_finish(&now);
    return state;
}

enum step_state compute_outcome(const struct step *step, const struct cloud_reply *reply,
                                char poll_url[1024], struct error *error)
{
    static const char *const waiting[] = { "running", "stopped", "gone", NULL };
    bool is_read = strcmp(step->method, "GET") == 0;

    poll_url[0] = '\0';
    if (reply->status == 404 && strcmp(step->name, "image") == 0)
        return google_fail(error, "the recipe's disk image does not exist: check \"image_project\" "
                                  "and \"image_family\" in \"compute_engine\"");
    if (reply->status == 404 && strcmp(step->name, "running") == 0)
        return google_fail(error, "the machine is gone: there was no capacity in time, or somebody "
                                  "deleted it");
    if (reply->verdict != CLOUD_DONE)
        return google_machine_judge_failure(step, reply, error);
    if (google_is_one_of(step->name, waiting))
        return judge_instance(step, reply->body, poll_url, error);
    if (is_read || strncmp(step->resource, GOOGLE_COMPUTE, strlen(GOOGLE_COMPUTE)) != 0)
        return STEP_DONE;
    return google_machine_judge(step, reply->body, poll_url, error);
}

/* ---- gcloud ---- */

void compute_command(const struct desired *desired, const struct step *step, struct text *out)
{
    static const char *const commands[][2] = {
        { "remove-instance", "compute instances delete" },
        { "stop", "compute instances stop" },
        { "start", "compute instances start" },
        { "running", "compute instances describe" },
        { "stopped", "compute instances describe" },
        { "gone", "compute instances describe" },
        { NULL },
    };

    google_command(desired, step, commands, "--zone", out);
}
