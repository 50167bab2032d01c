/* SPDX-License-Identifier: Apache-2.0 */
/* Carries out a call: checks role and arguments, runs the tool, and checks the answer. Records the
 * call in the audit log if it failed, if its tool counts reads, or if the tool can change something
 * but the store did not already record the call together with a change. */

#include "handlers/call.h"

#include <string.h>

#include "base/core/log.h"
#include "base/core/memory.h"
#include "base/json/json.h"
#include "base/net/credential.h"
#include "handlers/audit_arguments.h"
#include "handlers/values.h"
#include "store/audit/audit_log.h"
#include "store/ledger/disk_space.h"

static CHECKED bool check_role(const struct tool *tool, const struct call *call,
                               struct error *error)
{
    if (role_allows(call->principal.role, tool->role))
        return true;
    return error_set(error, ERROR_FORBIDDEN, "%s needs the role %s; %s has the role %s", tool->name,
                     role_name(tool->role), call->principal.name, role_name(call->principal.role));
}

/* Refuses a call that would add to the store if the disk is nearly full, or if the caller has
 * already stored as much as it is allowed to. Admins are exempt, so that they can make room. */
static CHECKED bool check_space(const struct tool *tool, struct call *call, struct error *error)
{
    const struct services *services = call->services;

    call->change.storage_limit_bytes = 0;
    if (!tool->grows || role_allows(call->principal.role, ROLE_ADMIN))
        return true;
    call->change.storage_limit_bytes = services->storage_limit_bytes;
    return disk_space_check(services->store, error)
           && usage_check(services->store, call->principal.name, services->storage_limit_bytes,
                          error);
}

/* A call with effects outside of opsbrain is recorded before it runs; if it cannot be recorded, it
 * does not run. */
static CHECKED bool announce(const struct tool *tool, struct call *call, struct error *error)
{
    if (tool->read_only || !tool->open_world)
        return true;
    return audit_log_announce(call->services->store, &call->change, error);
}

static CHECKED bool has_go_ahead(const struct tool *tool, struct call *call, struct error *error)
{
    bool given;

    if (tool->go_ahead == NULL)
        return true;
    call->in_go_ahead = true;
    given = tool->go_ahead(call, error);
    call->in_go_ahead = false;
    return given;
}

static CHECKED bool run_checked(const struct tool *tool, struct call *call, struct answer *answer,
                                struct error *error)
{
    if (!check_space(tool, call, error) || !announce(tool, call, error)
        || !has_go_ahead(tool, call, error) || !tool->run(call, answer, error))
        return false;
    return tool->fields == NULL || tool_conforms(tool, answer->structured, error);
}

static CHECKED bool check_arguments(const struct tool *tool, const struct call *call,
                                    json_t **checked, struct error *error)
{
    json_auto_t *recalled = NULL;

    if (tool->recall == NULL)
        return tool_check(tool, call->arguments, checked, error);
    return tool->recall(call, call->arguments, &recalled, error)
           && tool_check(tool, recalled, checked, error);
}

bool call_run(const struct tool *tool, struct call *call, struct answer *answer,
              struct error *error)
{
    const json_t *raw = call->arguments;
    json_auto_t *checked = json_incref(call->checked);
    bool done;

    if (!check_role(tool, call, error)
        || (checked == NULL && !check_arguments(tool, call, &checked, error)))
        return false;
    call->arguments = checked;
    done = run_checked(tool, call, answer, error);
    call->arguments = raw;
    if (!done)
        answer_finish(answer);
    return done;
}

/* Records how a call ended. A call that was recorded before it ran gets a row of its own. Other
 * calls can be frequent: only the first of them get rows of their own, and the rest are counted
 * (audit_log_count). */
static void audit_outcome(struct call *call, const char *outcome, const char *detail)
{
    struct store *store = call->services->store;
    const struct audit_event event = { AUDIT_REFUSED, &call->change, outcome, detail, "" };
    struct error problem;

    if (!(call->change.intent != 0
              ? audit_log_add(store, &call->change, outcome, detail, "", &problem)
              : audit_log_count(store, &event, &problem)))
        log_error("request %s: %s by %s ended as \"%s\" without an audit row: %s",
                  call->change.actor.request_id, call->change.tool, call->change.actor.principal,
                  outcome, problem.message);
}

/* Masks credentials in the message, which can quote what the caller gave in the wrong place. */
static void mask(struct error *error)
{
    TEXT_AUTO masked = { 0 };
    TEXT_AUTO shown = { 0 };

    credential_add_masked(&masked, error->message);
    text_add_printable(&shown, text_string(&masked), masked.length, sizeof error->message - 1);
    text_copy(error->message, sizeof error->message, text_string(&shown));
}

/* Logs an internal error, and replaces its message with one that names only the request's id, with
 * which the error can be found in the log. */
static void hide_internal(const struct call *call, struct error *error)
{
    if (error->kind != ERROR_INTERNAL)
        return;
    log_error("request %s: %s: %s", call->change.actor.request_id, call->change.tool,
              error->message);
    error_set(error, ERROR_INTERNAL, "internal error, see request %s in the server's log",
              call->change.actor.request_id);
}

static void complete_actor(struct call *call)
{
    struct actor *actor = &call->change.actor;

    actor->principal = call->principal.name;
    actor->role = role_name(call->principal.role);
    if (actor->client == NULL)
        actor->client = "";
    if (actor->request_id == NULL)
        actor->request_id = "";
}

void call_begin(struct call *call, const char *name, const char *arguments)
{
    complete_actor(call);
    call->change.tool = name;
    call->change.arguments = arguments;
    call->change.intent = 0;
    call->change.written = false;
}

void call_refused(struct call *call, struct error *error)
{
    mask(error);
    audit_outcome(call, error_kind_name(error->kind), error->message);
    hide_internal(call, error);
}

void call_read(const struct call *call, const char *what)
{
    const struct change change = { .actor = call->change.actor, .tool = call->change.tool };
    const struct audit_event event = { AUDIT_READ, &change, "ok", "", what };
    struct error problem;

    if (!audit_log_count(call->services->store, &event, &problem))
        log_warning("request %s: the read was not counted in the audit log: %s",
                    call->change.actor.request_id, problem.message);
}

/* If the tool changes deployments but did not say which one it changed, sets answer->changed to the
 * one in the call's arguments. */
static void complete_changed(const struct tool *tool, const struct call *call,
                             struct answer *answer)
{
    const char *deployment = call_text(call, "deployment");

    if (tool->changes_resources && answer->changed[0] == '\0' && deployment != NULL)
        text_copy(answer->changed, sizeof answer->changed, deployment);
}

static void complete(const struct tool *tool, const struct call *call, struct answer *answer)
{
    complete_changed(tool, call, answer);
    answer_condense(tool, call_boolean(call, "detail", false), answer);
    answer_link(call->base_url, answer);
}

/* A call that only reads is audited if it fails, or if the tool counts its reads. */
static CHECKED bool read_only_call(const struct tool *tool, struct call *call,
                                   struct answer *answer, struct error *error)
{
    FREE_AUTO char *arguments = NULL;

    call_begin(call, tool->name, NULL);
    if (call_run(tool, call, answer, error)) {
        if (tool->counts_reads)
            call_read(call, json_get_text(call->arguments, "run", ""));
        complete(tool, call, answer);
        return true;
    }
    arguments = audit_arguments(tool, call->arguments);
    call->change.arguments = arguments;
    call_refused(call, error);
    call->change.arguments = NULL;
    return false;
}

bool tool_call(const struct tool *tool, struct call *call, struct answer *answer,
               struct error *error)
{
    FREE_AUTO char *arguments = NULL;
    bool done;

    if (tool->read_only)
        return read_only_call(tool, call, answer, error);
    arguments = audit_arguments(tool, call->arguments);
    call_begin(call, tool->name, arguments);
    done = call_run(tool, call, answer, error);
    if (!done)
        call_refused(call, error);
    else if (!call->change.written)
        audit_outcome(call, "ok", "nothing changed");
    if (done)
        complete(tool, call, answer);
    call->change.arguments = NULL;
    return done;
}

static const char *nearest_tool(const char *name)
{
    const char *best = NULL;

    for (size_t i = 0; tools[i] != NULL; i++)
        if (value_name_is_near(name, tools[i]->name)
            && (best == NULL
                || value_name_distance(name, tools[i]->name) < value_name_distance(name, best)))
            best = tools[i]->name;
    return best;
}

/* Adds the tools with the same prefix: for "sweep_begin", those whose names begin with "sweep_". */
static void list_same_prefix(const char *name, struct text *out)
{
    size_t prefix = strcspn(name, "_") + 1;

    for (size_t i = 0; tools[i] != NULL; i++)
        if (strncmp(tools[i]->name, name, prefix) == 0)
            text_addf(out, "%s%s", out->length == 0 ? "" : ", ", tools[i]->name);
}

static CHECKED bool refuse_missing(const char *name, struct error *error)
{
    char shown[VALUE_SHOWN_SIZE];
    json_auto_t *given = json_string(name);
    const char *near = nearest_tool(name);
    TEXT_AUTO others = { 0 };

    value_show(given, shown);
    if (near != NULL)
        return error_set(error, ERROR_NOT_FOUND, "no tool is called %s: did you mean \"%s\"?",
                         shown, near);
    list_same_prefix(name, &others);
    if (others.length > 0)
        return error_set(error, ERROR_NOT_FOUND, "no tool is called %s; similar tools are %s",
                         shown, text_string(&others));
    return error_set(error, ERROR_NOT_FOUND, "no tool is called %s: tools/list lists all tools",
                     shown);
}

bool tool_missing(struct call *call, const char *name, struct error *error)
{
    bool always_false = refuse_missing(name, error);

    call_begin(call, "(unknown)", "{}");
    audit_outcome(call, error_kind_name(error->kind), error->message);
    return always_false;
}
