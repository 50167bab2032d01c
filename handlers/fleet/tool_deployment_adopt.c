/* SPDX-License-Identifier: Apache-2.0 */
/* deployment_adopt: begins to manage a server that already exists on a target. */

#include <string.h>

#include "base/core/clock.h"
#include "fleet/managed/managed_adopt.h"
#include "fleet/managed/managed_target.h"
#include "handlers/answer.h"
#include "handlers/consent.h"
#include "handlers/fleet/plan_answer.h"
#include "handlers/fleet/target_answer.h"
#include "handlers/values.h"
#include "store/ledger/deployments.h"

static const struct param params[] = {
    { "deployment", VALUE_TEXT, .required = true, .low = 1, .high = 63,
      .help = "Its name on the platform and in opsbrain." },
    { "target", VALUE_TEXT, .required = true, .low = 1, .high = 63,
      .help = "Name from target_list." },
    { "region", VALUE_TEXT, .high = 63, .help = "Where it runs; default: the target's first." },
    { "may_end", VALUE_BOOLEAN, .initial = "false",
      .help = "Whether opsbrain may stop and destroy it." },
    PARAM_CONFIRM("The same name again, as confirmation."),
    { 0 },
};

static const struct field fields[] = {
    { "deployment", VALUE_TEXT, .help = "Its name." },
    { "target", VALUE_TEXT, .help = "Where it runs." },
    { "rights", VALUE_TEXT,
      .help = "adopted: opsbrain may stop and destroy it; watched: it may not." },
    { "state", VALUE_TEXT,
      .help = "On the platform: pending, starting, ready, stopping, stopped, failed or deleting." },
    { "address", VALUE_TEXT, .optional = true, .foreign = true,
      .help = "Where it can be called; missing: it has none." },
    FIELD_NEXT_STEP,
    { 0 },
};

static CHECKED bool find(const struct call *call, struct managed_target *target, const char **place,
                         struct observed *out, struct error *error)
{
    const struct managed_wish wish = plan_answer_wish(call, VERB_CREATE);
    const struct fleet_frame *frame;
    struct desired desired;
    struct cloud *cloud;

    if (!target_answer_frame(call, &frame, error)
        || !value_check_name("deployment", wish.deployment, error)
        || !managed_target_find(frame, wish.target, target, error)
        || !managed_target_place(target, wish.place, place, error)
        || !frame->cloud(frame->context, &target->plain, &cloud, error))
        return false;
    desired = (struct desired){ .target = &target->plain,
                                .deployment = wish.deployment,
                                .instance = frame->instance,
                                .place = *place,
                                .kind = "",
                                .request_seed = "" };
    *out = (struct observed){ 0 };
    if (!target->provider->observe(cloud, &desired, out, error))
        return false;
    if (out->exists)
        return true;
    observed_finish(out);
    return error_set(error, ERROR_NOT_FOUND,
                     "there is no server named %s on %s: deployment_discover lists what is there",
                     wish.deployment, wish.target);
}

/* Observes the server again, because the user may take an hour to answer. The user consented to one
 * particular server, and to its address, because a key might be sent there. Its state is allowed to
 * change. */
static CHECKED bool check_same(const struct call *call, const struct observed *shown,
                               struct error *error)
{
    struct managed_target target;
    struct observed now;
    const char *place;
    bool same;

    if (!find(call, &target, &place, &now, error))
        return false;
    same =
        strcmp(now.uid, shown->uid) == 0
            ? strcmp(now.address, shown->address) == 0
                  || error_set(error, ERROR_CONFLICT,
                               "%s is now at \"%.200s\", but \"%.200s\" was shown: call "
                               "deployment_adopt again",
                               call_text(call, "deployment"), now.address, shown->address)
            : error_set(error, ERROR_CONFLICT,
                        "%s is now a different server (%s) than the one that was shown (%s): call "
                        "deployment_adopt again",
                        call_text(call, "deployment"), now.uid, shown->uid);
    observed_finish(&now);
    return same;
}

static struct managed_adoption adoption_of(const struct call *call,
                                           const struct managed_target *target, const char *place,
                                           const struct observed *observed)
{
    return (struct managed_adoption){ .deployment = call_text(call, "deployment"),
                                      .target = target,
                                      .place = place,
                                      .observed = observed,
                                      .rights = call_boolean(call, "may_end", false) ? "adopted"
                                                                                     : "watched" };
}

static void describe_end(const struct call *call, const struct managed_adoption *adoption,
                         struct text *out)
{
    int64_t ends_ms = managed_adopt_ends_ms(call->services->fleet, adoption);
    char time[TIME_SHOWN_SIZE];

    if (ends_ms != 0)
        text_addf(out, " The server ends at %s UTC (then: %s), as recorded on its platform.",
                  answer_time(ends_ms, time),
                  managed_adopt_at_end(adoption->target, adoption->observed));
}

static CHECKED bool ask(struct call *call, const struct managed_adoption *adoption,
                        struct error *error)
{
    const struct observed *observed = adoption->observed;
    const char *name = adoption->deployment;
    bool may_end = strcmp(adoption->rights, "adopted") == 0;
    TEXT_AUTO plan = { 0 };
    TEXT_AUTO identity = { 0 };
    TEXT_AUTO declined = { 0 };

    text_addf(&identity, "%s %s", observed->uid, observed->address);
    text_addf(&plan,
              "Add %s on %s (%s%s%.200s) to the registry? opsbrain will check it every one to ten "
              "minutes%s. Adding it changes nothing on the platform.",
              name, adoption->target->plain.name, observed->state,
              observed->address[0] == '\0' ? "" : ", ", observed->address,
              may_end ? ", and may stop and destroy it" : ", and will never change it");
    describe_end(call, adoption, &plan);
    text_addf(&declined, "%s was not adopted", name);
    const struct consent consent = { .name = name,
                                     .key = "adopt",
                                     .identity = text_string(&identity),
                                     .title = "Adopt it",
                                     .plan = text_string(&plan),
                                     .summary = text_string(&plan),
                                     .declined = text_string(&declined) };
    return consent_get(call, &consent, error);
}

static CHECKED bool go_ahead(struct call *call, struct error *error)
{
    struct managed_adoption adoption;
    struct managed_target target;
    struct observed shown;
    const char *place;
    bool given;

    if (!find(call, &target, &place, &shown, error))
        return false;
    adoption = adoption_of(call, &target, place, &shown);
    given = ask(call, &adoption, error)
            && (call_text(call, "confirm") != NULL || check_same(call, &shown, error));
    observed_finish(&shown);
    return given;
}

/* Registers the server's address, unless it has none or its name is already registered. */
static CHECKED bool register_address(struct call *call, const struct observed *observed,
                                     struct error *error)
{
    struct deployment wanted = { .labels = "{}", .limits = "{}" }, stored;

    text_copy(wanted.name, sizeof wanted.name, call_text(call, "deployment"));
    text_copy(wanted.url, sizeof wanted.url, observed->address);
    text_copy(wanted.provider, sizeof wanted.provider, call_text(call, "target"));
    text_copy(wanted.hardware, sizeof wanted.hardware, observed->machine);
    text_copy(wanted.region, sizeof wanted.region, observed->place);
    return wanted.url[0] == '\0'
           || deployment_find(call->services->store, wanted.name, &stored, error)
           || (error->kind == ERROR_NOT_FOUND
               && deployment_add(call->services->store, &wanted, clock_utc_ms(), &call->change,
                                 &stored, error));
}

static void describe(const struct call *call, const struct managed_adoption *adoption,
                     struct answer *answer)
{
    const struct observed *observed = adoption->observed;
    const char *target = adoption->target->plain.name;

    answer->structured = json_pack("{s:s, s:s, s:s, s:s, s:o}", "deployment", adoption->deployment,
                                   "target", target, "rights", adoption->rights, "state",
                                   observed->state, "address", answer_json_text(observed->address));
    text_addf(&answer->text, "%s on %s is %s: %s%s.", adoption->deployment, target,
              adoption->rights, observed->state,
              observed->address[0] == '\0' ? ", without an address to register" : "");
    describe_end(call, adoption, &answer->text);
    text_add(&answer->text, "\n");
    text_copy(answer->changed, sizeof answer->changed, adoption->deployment);
    answer_next(answer, "deployment_show");
}

static CHECKED bool run(struct call *call, struct answer *answer, struct error *error)
{
    struct managed_adoption adoption;
    struct managed_target target;
    struct observed observed;
    const char *place;
    bool done;

    if (!find(call, &target, &place, &observed, error))
        return false;
    adoption = adoption_of(call, &target, place, &observed);
    done = managed_adopt(call->services->fleet, &adoption, &call->change, error)
           && register_address(call, &observed, error);
    if (done)
        describe(call, &adoption, answer);
    observed_finish(&observed);
    return done;
}

const struct tool tool_deployment_adopt = {
    .name = "deployment_adopt",
    .title = "Adopt a running model server",
    .help = "Adds a model server that runs on a target to the registry, with or without the "
            "right to stop and destroy it. It asks first.",
    .more = "The server has no end, unless this opsbrain created it and gave it one. Only "
            "admins may adopt servers, since adoption gives rights over what others made.",
    .sets = SET_DEPLOY,
    .params = params,
    .fields = fields,
    .role = ROLE_ADMIN,
    .placement = PLACE_WAITING,
    .open_world = true,
    .destroys = STATED_YES,
    .spends_money = STATED_NO,
    .changes_resources = true,
    .grows = true,
    .go_ahead = go_ahead,
    .run = run,
};
