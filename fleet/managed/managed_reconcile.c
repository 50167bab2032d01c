/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/managed/managed_reconcile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/log.h"
#include "base/core/memory.h"
#include "fleet/managed/managed_adopt.h"
#include "fleet/managed/managed_check.h"

#define MINUTE_MS 60000LL
#define QUIET_MAX 4    /* maximum minutes between checks of a deployment that does not change */
#define TROUBLE_MAX 10 /* maximum minutes between checks if the deployment cannot be observed */
#define HOUR_WARNING_MS (60 * MINUTE_MS)
#define LAST_WARNING_MS (10 * MINUTE_MS)
#define END_FAILED_MS (60 * MINUTE_MS) /* between two reports that a deployment cannot be ended */
#define ORPHAN_ROUNDS 10 /* targets are searched for orphans once in this many rounds */

/* When a deployment is checked next. */
struct turn {
    char id[ID_SIZE];
    int64_t next_ms;
    int64_t end_failed_ms; /* when it was last reported that the deployment cannot be ended */
    unsigned minutes;      /* from the last check to the next one */
    bool is_seen;          /* true if the deployment is still managed in this round */
};

struct managed_reconciler {
    const struct fleet_frame *frame;
    managed_listener *listener;
    void *context;
    struct turn *turns;
    size_t turn_count;
    unsigned rounds;
};

struct managed_reconciler *managed_reconcile_create(const struct fleet_frame *frame,
                                                    managed_listener *listener, void *context)
{
    struct managed_reconciler *reconciler = memory_zeroed(1, sizeof *reconciler);

    *reconciler =
        (struct managed_reconciler){ .frame = frame, .listener = listener, .context = context };
    return reconciler;
}

void managed_reconcile_destroy(struct managed_reconciler *reconciler)
{
    if (reconciler == NULL)
        return;
    free(reconciler->turns);
    free(reconciler);
}

static void report(const struct managed_reconciler *reconciler, const char *deployment,
                   const char *sentence, bool is_warning)
{
    log_info("%s: %s", deployment, sentence);
    if (reconciler->listener != NULL)
        reconciler->listener(reconciler->context, deployment, sentence, is_warning);
}

/* ---- Turns ---- */

static struct turn *turn_of(struct managed_reconciler *reconciler, const char *id)
{
    struct turn *turn = reconciler->turns;

    for (size_t i = 0; i < reconciler->turn_count; i++, turn++)
        if (strcmp(turn->id, id) == 0)
            return turn;
    reconciler->turns = memory_resize(reconciler->turns, reconciler->turn_count + 1, sizeof *turn);
    turn = &reconciler->turns[reconciler->turn_count++];
    *turn = (struct turn){ .minutes = 1 };
    text_copy(turn->id, sizeof turn->id, id);
    return turn;
}

static void drop_gone(struct managed_reconciler *reconciler)
{
    size_t kept = 0;

    for (size_t i = 0; i < reconciler->turn_count; i++)
        if (reconciler->turns[i].is_seen)
            reconciler->turns[kept++] = reconciler->turns[i];
    reconciler->turn_count = kept;
    for (size_t i = 0; i < kept; i++)
        reconciler->turns[i].is_seen = false;
}

/* Schedules the next check: in a minute if something has changed, or the end is near or past;
 * otherwise after twice the previous interval, up to a limit. */
static void schedule_next(struct turn *turn, const struct fleet_managed_row *row, bool is_observed,
                          bool changed, int64_t now_ms)
{
    unsigned most = is_observed ? QUIET_MAX : TROUBLE_MAX;

    turn->minutes = changed ? 1 : turn->minutes * 2;
    if (turn->minutes > most)
        turn->minutes = most;
    if (row->ends_ms != 0 && row->ends_ms - now_ms < 2 * LAST_WARNING_MS)
        turn->minutes = 1;
    turn->next_ms = now_ms + turn->minutes * MINUTE_MS - MINUTE_MS / 10;
}

/* ---- The end of a deployment ---- */

static void warn(const struct managed_reconciler *reconciler, const struct fleet_managed_row *row,
                 int64_t now_ms)
{
    int64_t left_ms = row->ends_ms - now_ms;
    int64_t level = left_ms <= LAST_WARNING_MS ? 2 : left_ms <= HOUR_WARNING_MS ? 1 : 0;
    bool is_watched = strcmp(row->rights, "watched") == 0;
    char sentence[160];
    struct error error;
    bool first;

    if (row->ends_ms == 0 || left_ms <= 0 || level <= row->warned)
        return;
    if (!fleet_managed_warn(reconciler->frame->store, row->id, level, &first, &error) || !first)
        return;
    snprintf(sentence, sizeof sentence, "it ends in %lld min (%s)%s",
             (long long)((left_ms + MINUTE_MS - 1) / MINUTE_MS), row->at_end,
             is_watched ? "" : ": deployment_extend plans a later end");
    report(reconciler, row->deployment, sentence, true);
}

/* Makes and begins a plan that ends the deployment. Nobody has to agree to it: whoever agreed to
 * the plan that set this end has also agreed to this. */
static CHECKED bool end(const struct managed_reconciler *reconciler,
                        const struct fleet_managed_row *row, struct error *error)
{
    const struct fleet_frame *frame = reconciler->frame;
    const struct managed_wish wish = {
        .verb = strcmp(row->at_end, "stop") == 0 ? VERB_STOP : VERB_DESTROY,
        .deployment = row->deployment,
        .target = row->target,
        .recipe = "",
        .place = "",
        .kind = "",
        .at_end = "",
    };
    struct change change = { .actor = { "opsbrain", "", "", "" },
                             .tool = "life",
                             .arguments = "{}" };
    struct fleet_plan_begun begun;
    struct fleet_plan_row stored;
    struct managed_plan plan;
    bool done;

    if (!managed_plan_make(frame, &wish, &plan, error))
        return false;
    done = fleet_plan_add(frame->store, &plan.row, &change, &stored, error);
    managed_plan_finish(&plan);
    if (!done)
        return false;
    done = fleet_plan_begin(frame->store, stored.id, FLEET_WAY_AGENT, NULL, frame->now_ms(),
                            &change, &begun, error);
    fleet_plan_finish(&stored);
    return done;
}

static bool is_due(const struct fleet_managed_row *row, int64_t now_ms)
{
    return row->ends_ms != 0 && now_ms >= row->ends_ms && strcmp(row->rights, "watched") != 0
           && (strcmp(row->state, "stopped") != 0 || strcmp(row->at_end, "stop") != 0);
}

/* Returns false if the deployment cannot be ended. Each round tries again; users are warned after
 * the first failure and then at most once an hour. */
static bool try_end(struct managed_reconciler *reconciler, const struct fleet_managed_row *row,
                    struct turn *turn, int64_t now_ms)
{
    struct error error;

    if (end(reconciler, row, &error))
        return true;
    if (turn->end_failed_ms == 0 || now_ms - turn->end_failed_ms >= END_FAILED_MS) {
        turn->end_failed_ms = now_ms;
        report(reconciler, row->deployment, error.message, true);
    }
    return false;
}

/* ---- One deployment ---- */

static bool only_reads(const struct fleet_frame *frame)
{
    return frame->only_reads != NULL && atomic_load(frame->only_reads);
}

/* Returns true while a plan is being carried out; its job observes the deployment itself. */
static bool is_changing(const struct fleet_frame *frame, const struct fleet_managed_row *row)
{
    struct fleet_plan_row plan;
    struct error ignored;
    bool changing;

    if (row->plan_id[0] == '\0' || !fleet_plan_find(frame->store, row->plan_id, &plan, &ignored))
        return false;
    changing = strcmp(plan.state, "applying") == 0;
    fleet_plan_finish(&plan);
    return changing;
}

static void check(struct managed_reconciler *reconciler, const struct fleet_managed_row *row,
                  struct managed_round *round)
{
    struct turn *turn = turn_of(reconciler, row->id);
    const struct fleet_frame *frame = reconciler->frame;
    int64_t now_ms = frame->now_ms();
    struct managed_check result;
    struct error error;
    bool is_observed;

    turn->is_seen = true;
    warn(reconciler, row, now_ms);
    if (is_changing(frame, row))
        return;
    if (is_due(row, now_ms) && !only_reads(frame) && try_end(reconciler, row, turn, now_ms)) {
        round->ended++;
        return;
    }
    if (now_ms < turn->next_ms)
        return;
    round->checked++;
    is_observed = managed_check_run(frame, row, &result, &error);
    schedule_next(turn, row, is_observed, is_observed && result.changed, now_ms);
    if (is_observed && result.changed)
        report(reconciler, row->deployment, result.sentence, result.is_trouble);
}

/* Reads the row again before checking it: if clouds are slow, a round takes a long time, and the
 * rows that were listed at its beginning are out of date. */
static void check_named(struct managed_reconciler *reconciler, const char *deployment,
                        struct managed_round *round)
{
    struct fleet_managed_row row;
    struct error error;
    bool found;

    if (!fleet_managed_find(reconciler->frame->store, deployment, &row, &found, &error) || !found)
        return;
    check(reconciler, &row, round);
    fleet_managed_finish(&row);
}

/* ---- Orphans ---- */

/* Returns NULL if no managed deployment has this name. */
static const struct fleet_managed_row *find_named(const struct fleet_managed_row *rows,
                                                  size_t count, const char *deployment)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(rows[i].deployment, deployment) == 0)
            return &rows[i];
    return NULL;
}

/* Adopts an orphan if the end in its label has passed and clouds may be changed. The next round
 * then ends it like any other deployment: with a plan that has a journal. */
static bool adopt_if_due(const struct managed_reconciler *reconciler,
                         const struct managed_target *target, const struct observed *orphan)
{
    const struct fleet_frame *frame = reconciler->frame;
    const struct managed_adoption adoption = { .deployment = orphan->deployment,
                                               .target = target,
                                               .place = orphan->place,
                                               .observed = orphan,
                                               .rights = "created" };
    struct error error;

    if (orphan->ends_ms == 0 || frame->now_ms() < orphan->ends_ms || only_reads(frame))
        return false;
    if (managed_adopt(frame, &adoption, NULL, &error))
        return true;
    log_warning("%s: %s", orphan->deployment, error.message);
    return false;
}

#define ENDED "it has this opsbrain's label, is not known here, and its end has passed: it is "

static const char *sentence_of(const struct managed_target *target, const struct observed *orphan,
                               bool is_adopted)
{
    if (!is_adopted)
        return "it has this opsbrain's label and is not known here: deployment_adopt takes it over";
    if (strcmp(managed_adopt_at_end(target, orphan), "destroy") == 0)
        return ENDED "removed";
    return orphan->at_end[0] != '\0' ? ENDED "stopped"
                                     : ENDED "stopped, because its labels do not say whether to "
                                             "destroy it: deployment_destroy destroys it";
}

static void report_orphan(const struct managed_reconciler *reconciler,
                          const struct managed_target *target, const struct observed *orphan)
{
    bool is_adopted = adopt_if_due(reconciler, target, orphan);

    report(reconciler, orphan->deployment, sentence_of(target, orphan, is_adopted), true);
}

/* Reports an orphan that cannot be adopted, because a managed deployment has its name. */
static void report_twin(const struct managed_reconciler *reconciler,
                        const struct managed_target *target, const struct observed *twin)
{
    char sentence[400];

    snprintf(
        sentence, sizeof sentence,
        "another server with this name and this opsbrain's label exists on %.63s%s%.63s, but is "
        "not managed: end it on its platform",
        target->plain.name, twin->place[0] == '\0' ? "" : " in ", twin->place);
    report(reconciler, twin->deployment, sentence, true);
}

static void report_orphans(const struct managed_reconciler *reconciler,
                           const struct fleet_target_row *row,
                           const struct fleet_managed_row *managed, size_t managed_count,
                           struct managed_round *round)
{
    const struct fleet_frame *frame = reconciler->frame;
    json_auto_t *warnings = json_array();
    struct managed_target target;
    struct observed *list = NULL;
    struct cloud *cloud;
    struct error error;
    const json_t *warning;
    size_t count = 0, at;

    if (!managed_target_read(frame, row, &target, &error)
        || !frame->cloud(frame->context, &target.plain, &cloud, &error)
        || !target.provider->list(cloud, &target.plain, &list, &count, warnings, &error)) {
        log_warning("the target %s cannot be searched: %s", row->name, error.message);
        return;
    }
    json_array_foreach(warnings, at, warning)
        log_warning("the target %s was searched only in part: %s", row->name,
                    json_string_value(warning));
    for (size_t i = 0; i < count; i++) {
        const struct fleet_managed_row *named =
            find_named(managed, managed_count, list[i].deployment);

        if (strcmp(list[i].instance, frame->instance) != 0
            || (named != NULL && managed_check_is_same(named, row->name, &list[i])))
            continue;
        round->orphans++;
        (named == NULL ? report_orphan : report_twin)(reconciler, &target, &list[i]);
    }
    observed_list_free(list, count);
}

static CHECKED bool search(struct managed_reconciler *reconciler,
                           const struct fleet_managed_row *managed, size_t managed_count,
                           struct managed_round *round, struct error *error)
{
    FREE_AUTO struct fleet_target_row *rows = NULL;
    size_t count;

    if (reconciler->rounds++ % ORPHAN_ROUNDS != 0)
        return true;
    if (!fleet_target_list(reconciler->frame->store, &rows, &count, error))
        return false;
    for (size_t i = 0; i < count; i++)
        report_orphans(reconciler, &rows[i], managed, managed_count, round);
    return true;
}

bool managed_reconcile_round(struct managed_reconciler *reconciler, struct managed_round *out,
                             struct error *error)
{
    const struct fleet_frame *frame = reconciler->frame;
    struct fleet_managed_row *rows;
    size_t count;
    bool done;

    *out = (struct managed_round){ 0 };
    if (!fleet_plan_requeue(frame->store, frame->now_ms(), &out->requeued, error)
        || !fleet_managed_list(frame->store, &rows, &count, error))
        return false;
    for (size_t i = 0; i < count; i++)
        check_named(reconciler, rows[i].deployment, out);
    drop_gone(reconciler);
    done = search(reconciler, rows, count, out, error);
    fleet_managed_rows_free(rows, count);
    return done;
}
