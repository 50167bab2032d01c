/* SPDX-License-Identifier: Apache-2.0 */
/* Turns a verb (create, stop, ...) into requests, and shows them as commands. */
#include <stdio.h>
#include <string.h>

#include "fleet/providers/tpu.h"
#include "fleet/recipes/recipe.h"

static void name_parts(struct google_list *list)
{
    const struct desired *desired = list->desired;
    const char *node = list->now != NULL ? tpu_node_of(list->now) : "";
    char name[TPU_NAME_SIZE];

    snprintf(list->queued_url, sizeof list->queued_url, TPU "%s",
             tpu_name(desired, "queuedResources", desired->deployment, name));
    snprintf(list->url, sizeof list->url, TPU "%s",
             tpu_name(desired, "nodes", node[0] != '\0' ? node : desired->deployment, name));
    google_machine_name(desired, tpu_name(desired, "nodes", desired->deployment, name),
                        &list->machine);
}

/* Returns false for a node without a queued resource. */
static bool has_queued(const struct observed *now)
{
    return now == NULL || strstr(now->resource, "/nodes/") == NULL;
}

static bool has_node(const struct observed *now)
{
    return now != NULL && now->replicas > 0;
}

/* ---- Steps ---- */

/* Flex-start is requested in the only API version that has it. The resource's own URL is in v2, as
 * for all other kinds. */
static void add_queued(const struct google_list *list)
{
    const struct desired *desired = list->desired;
    struct step *step;
    char summary[100], parent[400];

    snprintf(summary, sizeof summary, "Requests the TPU (%.24s, %.16s) for",
             recipe_text(desired->recipe, "cloud_tpu.accelerator_type", ""), desired->kind);
    step = google_add(list, "queued-resource", "POST", list->queued_url, summary);
    google_set_creation(step);
    snprintf(step->undo_url, sizeof step->undo_url, "%s?force=true", list->queued_url);
    text_copy(parent, sizeof parent, step->url + strlen(TPU));
    snprintf(step->url, sizeof step->url, "%s%s", tpu_is_flex_start(desired) ? TPU_ALPHA : TPU,
             parent);
    google_machine_set_id(desired, step);
    google_add_query(step, "queuedResourceId", desired->deployment);
    step->body = tpu_queued_resource(desired, &list->machine);
}

static void add_create(const struct google_list *list)
{
    google_add_secrets(list);
    google_machine_add(list);
    add_queued(list);
    google_add(list, "machine", "GET", list->queued_url, "Waits for capacity for")->wait_s =
        STEP_WAITS_TO_END;
}

static void add_label(const struct google_list *list)
{
    struct step *step =
        google_add(list, "label", "PATCH", list->url, "Writes the new end to the labels of");

    google_add_query(step, "updateMask", "labels");
    step->body = json_pack("{s:o}", "labels", google_all_labels(list->desired, list->now));
}

static void add_method(const struct google_list *list, const char *name, const char *summary,
                       const char *state)
{
    struct step *step = google_add(list, name, "POST", list->url, summary);
    char wait[64];

    snprintf(step->url, sizeof step->url, "%s:%s", list->url, name);
    step->body = json_object();
    snprintf(wait, sizeof wait, "Waits until the machine is %s:", state);
    google_add(list, state, "GET", list->url, wait);
}

static void add_gone(const struct google_list *list, const char *name, const char *url,
                     const char *summary)
{
    google_add(list, name, "GET", url, summary)->absent_is_done = true;
}

/* "force" also deletes the node. */
static void add_queued_removal(const struct google_list *list)
{
    struct step *step = google_add_removal(list, "remove-queued-resource", list->queued_url,
                                           "Deletes the queued resource and the TPU of");

    google_machine_set_id(list->desired, step);
    google_add_query(step, "force", "true");
}

/* If there is nothing to delete or a deletion is already in progress, adds only the waits. */
static void add_removal(const struct google_list *list)
{
    bool needs_deletion =
        list->now == NULL || (list->now->exists && strcmp(list->now->state, "deleting") != 0);

    if (needs_deletion && has_queued(list->now))
        add_queued_removal(list);
    else if (needs_deletion)
        google_add_removal(list, "remove-node", list->url, "Deletes the TPU of");
    if (has_queued(list->now))
        add_gone(list, "gone", list->queued_url, "Waits until the queued resource is gone:");
    add_gone(list, "node-gone", list->url, "Waits until the TPU is gone:");
}

/* If there is no machine yet, deletes the queued resource, so that it never gets one. */
static void add_stop(const struct google_list *list)
{
    if (has_node(list->now))
        add_method(list, "stop", "Stops the machine", "stopped");
    else
        add_removal(list);
}

static void add_start(const struct google_list *list)
{
    if (observed_end_moves(list->now, list->desired))
        add_label(list);
    add_method(list, "start", "Starts the machine", "running");
}

static void add_destroy(const struct google_list *list)
{
    add_removal(list);
    google_machine_add_removals(list);
}

/* ---- Refusals ---- */

static CHECKED bool check_extension(const struct desired *desired, const struct observed *now,
                                    struct error *error)
{
    return !tpu_is_flex_start(desired) || desired->ends_ms / 1000 <= now->ends_ms / 1000
           || error_set(
               error, ERROR_UNSUPPORTED,
               "the end of %s cannot be postponed: flex-start lasts for a fixed time, after which "
               "the platform deletes the machine; deploy another server beside this one",
               desired->deployment);
}

static CHECKED bool check_machine(enum provider_verb verb, const struct desired *desired,
                                  const struct observed *now, struct error *error)
{
    if (verb != VERB_EXTEND && verb != VERB_START)
        return true;
    if (!has_node(now))
        return error_set(error, ERROR_CONFLICT,
                         "%s has no machine, only a request for one (%s): %s", desired->deployment,
                         now->message[0] != '\0' ? now->message : now->state,
                         verb == VERB_START ? "destroy it, and create it again"
                                            : "extend it once it has a machine");
    return check_extension(desired, now, error);
}

static CHECKED bool check_state(enum provider_verb verb, const struct desired *desired,
                                const struct observed *now, struct error *error)
{
    return google_check_state(verb, desired, now, "TPU", error)
           && check_machine(verb, desired, now, error)
           && (verb != VERB_CREATE || tpu_check(desired, error));
}

bool tpu_steps(enum provider_verb verb, const struct desired *desired, const struct observed *now,
               struct step **out, size_t *count, struct error *error)
{
    static const struct google_verbs verbs = {
        .check = check_state,
        .name = name_parts,
        .add = { [VERB_CREATE] = add_create,
                 [VERB_START] = add_start,
                 [VERB_STOP] = add_stop,
                 [VERB_EXTEND] = add_label,
                 [VERB_DESTROY] = add_destroy },
    };

    return google_steps(&verbs, verb, desired, now, out, count, error);
}

/* ---- gcloud ---- */

void tpu_command(const struct desired *desired, const struct step *step, struct text *out)
{
    static const char *const commands[][2] = {
        { "remove-queued-resource", "compute tpus queued-resources delete --force" },
        { "remove-node", "compute tpus tpu-vm delete" },
        { "stop", "compute tpus tpu-vm stop" },
        { "start", "compute tpus tpu-vm start" },
        { "machine", "compute tpus queued-resources describe" },
        { "gone", "compute tpus queued-resources describe" },
        { "node-gone", "compute tpus tpu-vm describe" },
        { "stopped", "compute tpus tpu-vm describe" },
        { "running", "compute tpus tpu-vm describe" },
        { NULL },
    };

    google_command(desired, step, commands, "--zone", out);
}
