/* SPDX-License-Identifier: Apache-2.0 */
/* deployment_show: shows whether a deployment is up, what it serves, and who measures it. */

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/clock.h"
#include "base/core/memory.h"
#include "base/json/json.h"
#include "base/net/credential.h"
#include "fleet/engine_metrics.h"
#include "fleet/metrics_page.h"
#include "handlers/answers/deployment_answer.h"
#include "handlers/answers/deployment_argument.h"
#include "handlers/answers/deployment_endpoint.h"
#include "handlers/answers/managed_answer.h"
#include "handlers/answers/sweep_answer.h"
#include "store/series/scrapes.h"

static const struct param params[] = {
    PARAM_DEPLOYMENT,
    { 0 },
};

static const struct field health_fields[] = {
    { "status", VALUE_TEXT,
      .help = "up: it lists its model; down: it does not, or opsbrain is not allowed to query it; "
              "sleeps: it can scale to zero, so it was not queried." },
    { "problem", VALUE_TEXT, .foreign = true, .optional = true,
      .help = "Why it is down, or was not queried." },
    { "checked_at", VALUE_TEXT, .optional = true,
      .help = "When checked, UTC; missing: it sleeps." },
    { 0 },
};

static const struct field model_fields[] = {
    { "id", VALUE_TEXT, .optional = true, .help = "Model that requests go to." },
    { "context_tokens", VALUE_INTEGER, .optional = true, .help = "Longest prompt plus answer." },
    { "engine", VALUE_TEXT, .optional = true,
      .help = "Engine as recognized, or else as registered." },
    { "engine_version", VALUE_TEXT, .optional = true, .help = "Its version." },
    { "details", VALUE_OBJECT, .included = INCLUDED_IN_DETAIL,
      .help = "What else it reports about itself." },
    { "observed_at", VALUE_TEXT, .included = INCLUDED_IN_DETAIL, .optional = true,
      .help = "When it reported this, UTC." },
    { 0 },
};

static const struct field load_fields[] = {
    { "requests_running", VALUE_NUMBER, .optional = true, .help = "Sequences being generated." },
    { "requests_waiting", VALUE_NUMBER, .optional = true, .help = "Requests in the queue." },
    { "kv_cache_use", VALUE_NUMBER, .optional = true, .help = "KV cache in use, 0 to 1." },
    { 0 },
};

static const struct field watch_fields[] = {
    { "interval_s", VALUE_NUMBER, .sparse = true,
      .help = "Seconds between stored scrapes; 0: not watched." },
    { "last_at", VALUE_TEXT, .optional = true, .help = "Last scrape, UTC." },
    { "last_error", VALUE_TEXT, .optional = true, .help = "Why the last scrape failed." },
    { "left_out", VALUE_TEXT, .optional = true,
      .help = "How many of its series are not stored, and which limits they exceed." },
    { 0 },
};

static const struct field lease_fields[] = {
    { "job", VALUE_TEXT, .help = "Job that is using its endpoint." },
    { "principal", VALUE_TEXT, .help = "Who started it." },
    { "purpose", VALUE_TEXT, .help = "What the job works on, such as its sweep." },
    { "waiting", VALUE_INTEGER, .help = "Jobs in line after it." },
    { 0 },
};

static const struct field fields[] = {
    { "deployment", VALUE_OBJECT, .help = "As it is registered.",
      .fields = deployment_answer_fields },
    { "health", VALUE_OBJECT, .help = "Is it up?", .fields = health_fields },
    { "model", VALUE_OBJECT, .optional = true,
      .help = "What it serves, as it last reported; missing: it never reported.",
      .fields = model_fields },
    { "load", VALUE_OBJECT, .optional = true,
      .help = "From its metrics, just read; missing: none were read.", .fields = load_fields },
    { "watch", VALUE_OBJECT, .help = "Are its metrics stored?", .fields = watch_fields },
    { "lease", VALUE_OBJECT, .optional = true,
      .help = "Which job is using its endpoint; missing: none.", .fields = lease_fields },
    { "last_sweep", VALUE_OBJECT, .optional = true, .help = "Its newest sweep; missing: none.",
      .fields = sweep_answer_fields, .described_in = "sweep_show" },
    { "managed", VALUE_OBJECT, .optional = true,
      .help = "How opsbrain runs it; missing: opsbrain neither deployed nor adopted it.",
      .fields = managed_answer_fields, .described_in = "fleet_list" },
    FIELD_NEXT_STEP,
    { 0 },
};

/* Everything that is shown about a deployment, collected before the answer is written. */
struct view {
    struct deployment deployment;
    enum { DOWN, UP, SLEEPS } health;
    bool knows_facts, has_load, has_lease, is_managed;
    struct error problem; /* why it is down, or was not queried */
    struct model_facts facts;
    struct engine_metrics_snapshot load;
    struct scrape_target watch;
    struct scrape_left_out left_out; /* how many series of its last scrape were not stored */
    struct endpoint_lease lease;
    int64_t waiting; /* number of jobs in line for its endpoint, without the one that is using it */
    struct fleet_managed_row managed;
    struct sweep_row *sweeps; /* its newest sweep; sweep_count is 0 if it has none */
    size_t sweep_count;
};

static CHECKED bool ask_server(const struct call *call, struct view *view, struct error *error)
{
    ENDPOINT_AUTO endpoint = { 0 };
    struct error ignored;

    if (!secret_access_endpoint(&call->services->access, &view->deployment, &endpoint,
                                &view->problem))
        view->health = DOWN;
    else if (endpoint_sleeps(&endpoint)) {
        view->health = SLEEPS;
        error_set(&view->problem, ERROR_UNSUPPORTED,
                  "not queried, so as not to wake it; model_health queries it anyway");
    } else if (deployment_endpoint_ask(call->services, &view->deployment, &endpoint, &view->facts,
                                       &view->problem)) {
        view->health = UP;
        view->knows_facts = true;
        view->has_load = engine_metrics_scrape(&endpoint, &view->load, &ignored);
        return true;
    }
    return model_facts_latest(call->services->store, view->deployment.id, &view->facts,
                              &view->knows_facts, error);
}

static CHECKED bool find_watch(struct store *store, struct view *view, struct error *error)
{
    if (!scrape_target_find(store, view->deployment.id, &view->watch, error))
        return false;
    const struct scrape_range last = { view->deployment.id, NULL, view->watch.last_ms,
                                       view->watch.last_ms + 1, 1 };
    return scrape_left_out_read(store, &last, SCRAPE_RAW, &view->left_out, error);
}

static CHECKED bool find_lease(struct store *store, struct view *view, struct error *error)
{
    FREE_AUTO struct endpoint_lease *leases = NULL;
    char endpoint[ENDPOINT_NAME_SIZE];
    size_t count;

    if (!endpoint_lease_name(view->deployment.url, endpoint, error)
        || !endpoint_lease_list(store, &leases, &count, error))
        return false;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(leases[i].endpoint, endpoint) != 0)
            continue;
        if (leases[i].granted_ms == 0) {
            view->waiting++;
            continue;
        }
        view->has_lease = true;
        view->lease = leases[i];
    }
    return true;
}

static CHECKED bool view_read(const struct call *call, struct view *view, struct error *error)
{
    struct store *store = call->services->store;

    return deployment_argument(call, &view->deployment, error) && ask_server(call, view, error)
           && find_watch(store, view, error) && find_lease(store, view, error)
           && fleet_managed_find(store, view->deployment.name, &view->managed, &view->is_managed,
                                 error)
           && sweep_list(store, view->deployment.name, 0, 1, &view->sweeps, &view->sweep_count,
                         error);
}

static const char *next_step(const struct view *view)
{
    if (view->health == DOWN)
        return "model_health once the server is running; deployment_update corrects a wrong URL, "
               "model or secret";
    if (view->sweep_count == 0)
        return "model_health; sweep_start with only the deployment's name finds where the server "
               "saturates";
    if (sweep_answer_is_active(&view->sweeps[0]))
        return "job_show with the newest sweep's id and wait_s 600";
    return "run_report for its newest sweep, or sweep_plan for another";
}

/* ---- Structured ---- */

static json_t *load_json(const struct view *view)
{
    if (!view->has_load)
        return json_null();
    return json_pack("{s:o, s:o, s:o}", "requests_running",
                     json_number_or_null(view->load.requests_running), "requests_waiting",
                     json_number_or_null(view->load.requests_waiting), "kv_cache_use",
                     json_number_or_null(view->load.kv_cache_use));
}

static json_t *lease_json(const struct view *view)
{
    if (!view->has_lease)
        return json_null();
    return json_pack("{s:s, s:s, s:s, s:I}", "job", view->lease.job_id, "principal",
                     view->lease.principal, "purpose", view->lease.purpose, "waiting",
                     (json_int_t)view->waiting);
}

static const char *const health_words[] = { [DOWN] = "down", [UP] = "up", [SLEEPS] = "sleeps" };

static json_t *health_json(const struct view *view)
{
    TEXT_AUTO problem = { 0 };

    if (view->health != UP)
        credential_add_masked(&problem, view->problem.message);
    return json_pack("{s:s, s:o, s:o}", "status", health_words[view->health], "problem",
                     answer_json_text(text_string(&problem)), "checked_at",
                     view->health == SLEEPS ? json_null() : answer_json_time(clock_utc_ms()));
}

static json_t *watch_json(const struct view *view)
{
    TEXT_AUTO left_out = { 0 };

    metrics_page_describe_left_out(&view->left_out, &left_out);
    return json_pack("{s:f, s:o, s:o, s:o}", "interval_s", (double)view->watch.interval_ms / 1000,
                     "last_at", answer_json_time(view->watch.last_ms), "last_error",
                     answer_json_text(view->watch.last_error), "left_out",
                     answer_json_text(text_string(&left_out)));
}

static json_t *structured(const struct view *view)
{
    return json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "deployment",
        deployment_answer_json(&view->deployment), "health", health_json(view), "model",
        view->knows_facts ? deployment_answer_facts_json(&view->facts) : json_null(), "load",
        load_json(view), "watch", watch_json(view), "lease", lease_json(view), "last_sweep",
        view->sweep_count == 0 ? json_null() : sweep_answer_json(&view->sweeps[0]), "managed",
        view->is_managed ? managed_answer_json(&view->managed) : json_null());
}

/* ---- The dashboard ---- */

static void add_line(struct text *out, const char *name, const char *value)
{
    text_addf(out, "%-10s ", name);
    text_add_printable(out, value, strlen(value), 300);
    text_add_char(out, '\n');
}

static void add_optional(struct text *out, const char *name, const char *value)
{
    if (value[0] != '\0' && strcmp(value, "{}") != 0)
        add_line(out, name, value);
}

static void add_model(const struct view *view, struct text *out)
{
    TEXT_AUTO line = { 0 };

    if (!view->knows_facts)
        return;
    text_addf(&line, "%s on %s%s%s", view->facts.model, view->facts.engine,
              view->facts.engine_version[0] != '\0' ? " " : "", view->facts.engine_version);
    if (view->facts.context_tokens > 0)
        text_addf(&line, ", context %" PRId64 " tokens", view->facts.context_tokens);
    add_line(out, "Model", text_string(&line));
}

/* Adds `value`, between the texts `before` and `after`, if the server reports it. */
static void add_figure(double value, const char *before, const char *after, struct text *line)
{
    if (isfinite(value))
        text_addf(line, "%s%s%.0f%s", line->length > 0 ? ", " : "", before, value, after);
}

static void add_load(const struct view *view, struct text *out)
{
    const struct engine_metrics_snapshot *load = &view->load;
    TEXT_AUTO line = { 0 };

    if (!view->has_load)
        return;
    add_figure(load->requests_running, "", " running", &line);
    add_figure(load->requests_waiting, "", " waiting", &line);
    add_figure(load->kv_cache_use * 100, "KV cache ", " % in use", &line);
    add_optional(out, "Load", text_string(&line));
}

static void add_watch(const struct view *view, struct text *out)
{
    char time[TIME_SHOWN_SIZE];
    TEXT_AUTO line = { 0 };
    TEXT_AUTO left_out = { 0 };

    if (view->watch.interval_ms == 0) {
        add_line(out, "Metrics", "not stored (metrics_watch can store them)");
        return;
    }
    text_addf(&line, "stored every %g s, last %s%s%s", (double)view->watch.interval_ms / 1000,
              answer_time(view->watch.last_ms, time),
              view->watch.last_error[0] != '\0' ? ", failing: " : "", view->watch.last_error);
    metrics_page_describe_left_out(&view->left_out, &left_out);
    if (left_out.length > 0)
        text_addf(&line, "; %s", left_out.data);
    add_line(out, "Metrics", text_string(&line));
}

static void add_measuring(const struct view *view, struct text *out)
{
    TEXT_AUTO line = { 0 };

    if (view->has_lease) {
        text_addf(&line, "%s by %s, %" PRId64 " in line", view->lease.job_id, view->lease.principal,
                  view->waiting);
        add_line(out, "Measuring", text_string(&line));
    }
    if (view->sweep_count > 0) {
        const struct sweep_row *sweep = &view->sweeps[0];

        text_clear(&line);
        text_addf(&line, "%s is %s, %" PRId64 " of %" PRId64 " cells", sweep->id, sweep->state,
                  sweep->cells_done, sweep->cells_total);
        add_line(out, "Last sweep", text_string(&line));
    }
}

static void add_chips(int64_t chips, struct text *out)
{
    char shown[24];

    snprintf(shown, sizeof shown, "%" PRId64, chips);
    add_line(out, "Chips", shown);
}

static void add_managed(const struct view *view, struct text *out)
{
    if (!view->is_managed)
        return;
    text_addf(out, "%-10s ", "Managed");
    managed_answer_describe(&view->managed, out);
}

static void add_health(const struct view *view, struct text *out)
{
    static const char *const begins[] = { [DOWN] = "DOWN: ", [UP] = "up", [SLEEPS] = "sleeps; " };
    TEXT_AUTO line = { 0 };

    text_add(&line, begins[view->health]);
    if (view->health != UP)
        credential_add_masked(&line, view->problem.message);
    add_line(out, "Health", text_string(&line));
}

static void write_dashboard(const struct view *view, struct text *out)
{
    const struct deployment *deployment = &view->deployment;

    text_addf(out, "%s (revision %" PRId64 ")\n\n", deployment->name, deployment->revision);
    add_health(view, out);
    add_model(view, out);
    add_load(view, out);
    add_line(out, "URL", deployment->url);
    add_optional(out, "Weights", deployment->model_revision);
    add_optional(out, "Quantization", deployment->quantization);
    add_optional(out, "Hardware", deployment->hardware);
    if (deployment->chips > 0)
        add_chips(deployment->chips, out);
    add_optional(out, "Region", deployment->region);
    add_optional(out, "Limits", deployment->limits);
    add_optional(out, "Labels", deployment->labels);
    add_optional(out, "Secret", deployment->secret);
    add_optional(out, "Owner", deployment->owner);
    add_managed(view, out);
    add_watch(view, out);
    add_measuring(view, out);
    text_add_char(out, '\n');
}

static CHECKED bool run(struct call *call, struct answer *answer, struct error *error)
{
    struct view view = { 0 };
    bool done = view_read(call, &view, error);

    if (done) {
        answer->structured = structured(&view);
        write_dashboard(&view, &answer->text);
        answer_next(answer, next_step(&view));
        answer_shows(answer, "/deployments/%s", view.deployment.name);
    }
    sweep_answer_rows_free(view.sweeps, view.sweep_count);
    if (view.is_managed)
        fleet_managed_finish(&view.managed);
    return done;
}

const struct tool tool_deployment_show = {
    .name = "deployment_show",
    .title = "Show a deployment",
    .help = "Dashboard of one deployment: up or down, model, engine, load, settings, newest sweep, "
            "next step.",
    .more = "Start here when something is wrong; model_health then shows whether the model really "
            "answers. The dashboard also says whether metrics are stored and who is measuring.",
    .sets = SET_FLEET | SET_MEASURE,
    .params = params,
    .fields = fields,
    .role = ROLE_VIEWER,
    .placement = PLACE_WAITING,
    .read_only = true,
    .idempotent = true,
    .open_world = true,
    .run = run,
};
