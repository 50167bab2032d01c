/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files that carry out a plan. Private to them. */
#pragma once

#include <string.h>

#include "fleet/managed/managed_apply.h"

/* How far a step has got, according to the plan's journal, which gets a row before and after each
 * request. */
enum apply_stage {
    STAGE_NEW,   /* to be requested, for the first time or again */
    STAGE_MAYBE, /* requested; it is not known whether the request was carried out */
    STAGE_WAITS, /* accepted, and to be polled */
    STAGE_DONE,
    STAGE_FAILED, /* refused: nothing was made */
    STAGE_BROKEN, /* accepted, but failed later: a part of it might be left */
    STAGE_UNDONE,
};

struct apply_step {
    enum apply_stage stage;
    int64_t since_ms; /* STAGE_WAITS: when the platform accepted the request (UTC) */
    char poll_url[1024];
    /* The platform's message if it refused the request but the provider waits anyway, because the
     * resource shows whether the step is done; "" otherwise. */
    char refusal[256];
};

struct apply {
    const struct fleet_frame *frame;
    struct job_run *run;
    struct managed_plan plan;
    struct cloud *cloud;
    struct apply_step *steps;
    /* True if an earlier run began to undo the plan, or if this run was cancelled while it waited
     * for `opsbrain fleet resume`: the plan is then undone, and not carried out. */
    bool undoing;
    char problem[480]; /* why the plan is undone */
};

/* How a part of the run ended. APPLY_FAILED: `error` says why. APPLY_STOPPED: the job was
 * cancelled, or this process must stop working on it. */
enum apply_end { APPLY_DONE = 1, APPLY_FAILED, APPLY_STOPPED };

static inline bool apply_is(const struct apply *apply, enum provider_verb verb)
{
    return strcmp(apply->plan.row.verb, provider_verb_name(verb)) == 0;
}

/* Returns true if the last request only waits for the server. Such a request is not sent:
 * apply_await waits instead, shows the phases of the start and has a time limit. */
static inline bool apply_awaits_last(const struct managed_plan *plan)
{
    const struct step *last = plan->steps + plan->step_count - 1;

    return plan->step_count > 0 && strcmp(last->method, "GET") == 0 && last->dry_run_url[0] == '\0'
           && !last->absent_is_done;
}

/* Adds a row to the journal. While the store is busy, waits. Returns false if the row could not be
 * added; no more requests may then be sent. */
CHECKED bool apply_note(struct apply *apply, size_t step, const char *action, const char *outcome,
                        const char *poll_url, const char *detail, struct error *error);
/* Reads the journal into apply->steps, apply->undoing and apply->problem. */
CHECKED bool apply_recall(struct apply *apply, struct error *error);
/* Returns true if, according to the journal, none of the changes that the plan requested was
 * carried out. Returns false also if the journal cannot be read. */
bool apply_changed_nothing(const struct apply *apply);

/* Finds what exists at the URL of a step's resource. FOUND_FOREIGN: something that does not belong
 * to this deployment. FOUND_UNKNOWN: `error` says why. */
enum apply_found { FOUND_NOTHING = 1, FOUND_OURS, FOUND_FOREIGN, FOUND_UNKNOWN };
CHECKED enum apply_found apply_find(const struct apply *apply, size_t step, struct error *error);
/* TIMEOUT if the deployment's end has passed before the plan is carried out, unless the plan itself
 * stops or destroys the deployment. */
CHECKED bool apply_check_end(const struct apply *apply, struct error *error);
/* Returns how long a server may take to become ready: the frame's limit plus the time that the
 * recipe's startup probe allows. */
int64_t apply_patience_ms(const struct apply *apply);
/* Waits before the next poll or request. The pause doubles with each `round` (counted from 0), up
 * to 8 times the first pause. It is always at least `least_s` seconds long. Returns false if the
 * run should stop. */
bool apply_pause(const struct apply *apply, unsigned round, int64_t least_s);

/* Sends those of the plan's requests that are not done yet, in order, and waits until each is done.
 * Skips a last request that only waits (apply_awaits_last). */
CHECKED enum apply_end apply_steps(struct apply *apply, struct error *error);
/* Waits until the provider shows that the plan has been carried out. Leaves the last state in
 * plan.observed. */
CHECKED enum apply_end apply_await(struct apply *apply, struct error *error);
/* Updates the registry of model servers after a plan was carried out. Registers a running server
 * that has an address; its scraping begins if the plan created or started it. A stopped or
 * destroyed server is no longer scraped, and a destroyed server is also retired. */
CHECKED bool apply_keep_registered(const struct apply *apply, struct error *error);
/* Deletes the resources that this plan created, the newest first. Waits until each is gone. */
CHECKED enum apply_end apply_undo(struct apply *apply, struct error *error);
