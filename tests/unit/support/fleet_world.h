/* SPDX-License-Identifier: Apache-2.0 */
/* An in-memory provider that refuses what a real one would refuse, and counts the requests. Its
 * memory is shared between processes, so that its state survives when a process is killed. */
#pragma once

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/core/clock.h"
#include "base/core/memory.h"
#include "base/json/json.h"
#include "fleet/managed/managed_apply.h"
#include "store/ledger/store.h"
#include "tests/unit/support/folder.h"

#define FLEET_RESOURCES 64
/* The machine type of servers that must be stopped before their end can be changed. */
#define FLEET_EXTENDS_STOPPED "stops-to-be-extended"
/* The operation of a creation or a change stays unfinished for this many polls. A server starts in
 * three phases, and each of the first two also lasts this many polls, including polls of the
 * operation. */
#define FLEET_POLLS 2

struct fleet_resource {
    char url[128];
    bool exists;
    char instance[64], deployment[64]; /* from its labels */
    int created;                       /* how often it was created */
    int64_t replicas, ends_ms;
    char at_end[16]; /* "stop" or "destroy", as if from its labels; only set by tests; "": none */
    int polls;       /* polls since it was created or changed */
    int changes;     /* how often it was changed; this number is also its etag */
};

/* What goes wrong with a request. */
enum fleet_fault {
    FAULT_NONE,
    FAULT_BUSY,   /* 503; the request has no effect */
    FAULT_LOST,   /* the request takes effect, but no answer arrives */
    FAULT_REFUSE, /* 403; the request has no effect */
    FAULT_DOUBT,  /* 400; the request has no effect, but only reading the resource shows that */
    FAULT_BREAK,  /* every operation ends with an error, but its resource remains */
};

struct fleet_world {
    struct fleet_resource resources[FLEET_RESOURCES];
    int resource_count;
    int events, kill_at; /* the process is killed at this event; 0: never */
    int writes;          /* requests, except GETs, dry runs, and those that a fault refused */
    int touched_foreign; /* changes to resources without our label */
    /* The fault affects writes (FAULT_BUSY: reads, too) whose URL contains fault_at. If fault_at
     * is "", FAULT_REFUSE also affects all dry runs, whatever faults_left is. FAULT_BREAK depends
     * on neither fault_at nor faults_left. */
    char fault_at[64];
    enum fleet_fault fault;
    int faults_left; /* how many more requests get the fault; below 0: all */
    bool never_ready, broken_service, never_done;
    double usd; /* price per hour of every recipe; below 0: not known */
    int recipe_revision, scale_max;
    bool recipe_is_gone, recipe_breaks_rule;
    bool needs_etag; /* a change must name the current etag; reads omit `replicas` if it is 0 */
    bool extends_stopped; /* a server's end can be changed only while the server is stopped */
    char address[64];     /* the address of every server; "": one at which nothing listens */
    /* The name of a target that lists different servers with the same names; "": none. */
    char twins_on[64];
};

/* Counts an event: the beginning of a request, the moment after a write, or an observation. */
static inline void fleet_world_event(struct fleet_world *world)
{
    if (++world->events == world->kill_at)
        raise(SIGKILL);
}

static inline struct fleet_resource *fleet_world_find(struct fleet_world *world, const char *url)
{
    for (int i = 0; i < world->resource_count; i++)
        if (strcmp(world->resources[i].url, url) == 0)
            return &world->resources[i];
    return NULL;
}

static inline struct fleet_resource *fleet_world_put(struct fleet_world *world, const char *url)
{
    struct fleet_resource *resource = fleet_world_find(world, url);

    if (resource == NULL && world->resource_count < FLEET_RESOURCES) {
        resource = &world->resources[world->resource_count++];
        *resource = (struct fleet_resource){ 0 };
        snprintf(resource->url, sizeof resource->url, "%s", url);
    }
    return resource;
}

static inline int fleet_world_existing(const struct fleet_world *world)
{
    int count = 0;

    for (int i = 0; i < world->resource_count; i++)
        count += world->resources[i].exists;
    return count;
}

/* ---- The cloud ---- */

static inline bool fleet_reply(struct cloud_reply *out, long status, enum cloud_verdict verdict,
                               const char *words, struct error *error)
{
    out->status = status;
    out->verdict = verdict;
    snprintf(out->message, sizeof out->message, "%s", words);
    return verdict == CLOUD_DONE
           || error_set(error, verdict == CLOUD_REFUSED ? ERROR_CONFLICT : ERROR_UPSTREAM, "%s",
                        words);
}

static inline bool fleet_write(struct fleet_world *world, const char *method, const char *url,
                               const json_t *body, struct cloud_reply *out, struct error *error)
{
    struct fleet_resource *resource = fleet_world_put(world, url);
    const json_t *labels = json_object_get(body, "labels");

    world->writes++;
    if (strcmp(method, "POST") == 0) {
        if (resource->exists)
            return fleet_reply(out, 409, CLOUD_REFUSED, "it already exists", error);
        resource->exists = true;
        resource->created++;
        resource->polls = 0;
        snprintf(resource->instance, sizeof resource->instance, "%s",
                 json_get_text(labels, "instance", ""));
        snprintf(resource->deployment, sizeof resource->deployment, "%s",
                 json_get_text(labels, "deployment", ""));
    } else if (world->needs_etag && strcmp(method, "PATCH") == 0
               && json_get_integer(body, "etag", -1) != resource->changes) {
        return fleet_reply(out, 403, CLOUD_REFUSED, "the etag does not match", error);
    } else if (!resource->exists) {
        return fleet_reply(out, 404, CLOUD_REFUSED, "it does not exist", error);
    } else if (strncmp(resource->instance, "ins_", 4) != 0) {
        world->touched_foreign++;
    }
    if (strcmp(method, "DELETE") == 0)
        resource->exists = false;
    resource->replicas = json_get_integer(body, "replicas", resource->replicas);
    resource->ends_ms = json_get_integer(body, "ends_ms", resource->ends_ms);
    if (strcmp(method, "PATCH") == 0) {
        resource->polls = 0;
        resource->changes++;
    }
    out->body = json_pack("{s:s}", "operation", url);
    return fleet_reply(out, 200, CLOUD_DONE, "", error);
}

static inline bool fleet_read(struct fleet_world *world, const char *url, struct cloud_reply *out,
                              struct error *error)
{
    const char *operation = strstr(url, "?operation");
    char plain[128];
    struct fleet_resource *resource;

    snprintf(plain, sizeof plain, "%.*s", (int)(operation == NULL ? 127 : operation - url), url);
    resource = fleet_world_find(world, plain);
    if (resource == NULL || (!resource->exists && operation == NULL))
        return fleet_reply(out, 404, CLOUD_REFUSED, "it does not exist", error);
    if (operation != NULL)
        out->body =
            json_pack("{s:b, s:b}", "done", resource->polls++ >= FLEET_POLLS && !world->never_done,
                      "broken", (int)(world->fault == FAULT_BREAK));
    else
        out->body = json_pack("{s:{s:s, s:s}}", "labels", "instance", resource->instance,
                              "deployment", resource->deployment);
    if (operation == NULL && world->needs_etag) {
        json_object_set_new(out->body, "ends_ms", json_integer(resource->ends_ms));
        if (resource->replicas > 0)
            json_object_set_new(out->body, "replicas", json_integer(resource->replicas));
    }
    /* The labels of a grant are deeper in the document. */
    if (operation == NULL && strstr(url, "/grant/") != NULL)
        out->body = json_pack("{s:o}", "part", out->body);
    return fleet_reply(out, 200, CLOUD_DONE, "", error);
}

/* Returns whether the request gets this fault, and if so decrements faults_left. */
static inline bool fleet_has_fault(struct fleet_world *world, const char *url,
                                   enum fleet_fault fault)
{
    if (world->fault != fault || world->faults_left == 0 || strstr(url, world->fault_at) == NULL)
        return false;
    world->faults_left--;
    return true;
}

static inline bool fleet_call(struct cloud *cloud, const char *method, const char *url,
                              const char *content_type, const json_t *body, struct cloud_reply *out,
                              struct error *error)
{
    struct fleet_world *world = (struct fleet_world *)(void *)cloud;
    bool done;

    (void)content_type;
    fleet_world_event(world);
    if (strstr(url, "?dry") == NULL && fleet_has_fault(world, url, FAULT_BUSY))
        return fleet_reply(out, 503, CLOUD_AGAIN, "busy", error);
    if (strcmp(method, "GET") == 0)
        return fleet_read(world, url, out, error);
    if (strstr(url, "?dry") != NULL)
        return world->fault == FAULT_REFUSE && world->fault_at[0] == '\0'
                   ? fleet_reply(out, 403, CLOUD_REFUSED, "quota of 0", error)
                   : fleet_reply(out, 200, CLOUD_DONE, "", error);
    if (fleet_has_fault(world, url, FAULT_REFUSE))
        return fleet_reply(out, 403, CLOUD_REFUSED, "not allowed", error);
    if (fleet_has_fault(world, url, FAULT_DOUBT))
        return fleet_reply(out, 400, CLOUD_REFUSED, "it is busy with another request", error);
    done = fleet_write(world, method, url, body, out, error);
    fleet_world_event(world);
    if (fleet_has_fault(world, url, FAULT_LOST))
        return fleet_reply(out, 0, CLOUD_LOST, "the connection was reset", error);
    return done;
}

/* ---- The provider ---- */

static inline void fleet_add_step(struct step *step, const char *name, const char *method,
                                  const struct desired *desired)
{
    snprintf(step->name, sizeof step->name, "%s", name);
    snprintf(step->method, sizeof step->method, "%s", method);
    snprintf(step->url, sizeof step->url, "https://test/%s/%s", name, desired->deployment);
    text_copy(step->resource, sizeof step->resource, step->url);
    snprintf(step->summary, sizeof step->summary, "%s %s %s", method, name, desired->deployment);
    step->creates = strcmp(method, "POST") == 0;
    step->absent_is_done = strcmp(method, "DELETE") == 0;
    if (step->creates) {
        text_copy(step->undo_url, sizeof step->undo_url, step->url);
        snprintf(step->dry_run_url, sizeof step->dry_run_url, "%.1000s?dry", step->url);
    }
    step->body =
        json_pack("{s:{s:s, s:s}, s:I, s:I}", "labels", "instance", desired->instance, "deployment",
                  desired->deployment, "ends_ms", (json_int_t)desired->ends_ms, "replicas",
                  (json_int_t)(desired->replicas == 0 ? 1 : desired->replicas));
}

static inline bool fleet_test_steps(enum provider_verb verb, const struct desired *desired,
                                    const struct observed *now, struct step **out, size_t *count,
                                    struct error *error)
{
    static const char *const names[] = { "guard", "service", "grant" };
    struct step *steps = memory_zeroed(4, sizeof *steps);

    (void)error;
    *out = steps;
    if (verb == VERB_CREATE || verb == VERB_DESTROY) {
        *count = 3;
        for (size_t i = 0; i < 3; i++)
            fleet_add_step(&steps[i], names[verb == VERB_CREATE ? i : 2 - i],
                           verb == VERB_CREATE ? "POST" : "DELETE", desired);
        return true;
    }
    if (verb == VERB_EXTEND && strcmp(now->machine, FLEET_EXTENDS_STOPPED) == 0) {
        *count = 3;
        fleet_add_step(&steps[0], "service", "PATCH", desired);
        snprintf(steps[0].name, sizeof steps[0].name, "stop");
        fleet_add_step(&steps[1], "guard", "PATCH", desired);
        fleet_add_step(&steps[2], "service", "GET", desired);
        return true;
    }
    *count = 1;
    fleet_add_step(&steps[0], verb == VERB_EXTEND ? "guard" : "service", "PATCH", desired);
    if (now->etag[0] != '\0')
        json_object_set_new(steps[0].body, "etag", json_integer(strtol(now->etag, NULL, 10)));
    if (verb == VERB_STOP)
        json_object_set_new(steps[0].body, "replicas", json_integer(0));
    if (verb == VERB_UPDATE) {
        json_object_set_new(steps[0].body, "replicas", json_integer(now->replicas));
        json_object_set_new(
            steps[0].body, "max_model_len",
            json_integer(recipe_integer(desired->recipe, "arguments.--max-model-len", 0)));
    }
    return true;
}

/* `error_set(...) ? A : B` is always B, because error_set returns false. */
static inline enum step_state fleet_test_outcome(const struct step *step,
                                                 const struct cloud_reply *reply,
                                                 char poll_url[1024], struct error *error)
{
    poll_url[0] = '\0';
    if (reply->verdict == CLOUD_AGAIN)
        return error_set(error, ERROR_BUSY, "%s", reply->message) ? STEP_DONE : STEP_RETRY;
    if (reply->verdict == CLOUD_LOST)
        return error_set(error, ERROR_UPSTREAM, "%s", reply->message) ? STEP_DONE : STEP_LOST;
    if (reply->status == 409)
        return error_set(error, ERROR_CONFLICT, "%s", reply->message) ? STEP_DONE : STEP_EXISTS;
    if (reply->status == 400) {
        snprintf(poll_url, 1024, "%.1000s?operation", step->url);
        return STEP_WAIT;
    }
    if (reply->verdict == CLOUD_REFUSED
        || (json_get_boolean(reply->body, "broken", false)
            && json_get_boolean(reply->body, "done", false)))
        return error_set(error, ERROR_UPSTREAM, "%s: %s", step->name, reply->message) ? STEP_DONE
                                                                                      : STEP_FAILED;
    if (strcmp(step->name, "service") != 0 || json_get_boolean(reply->body, "done", false)
        || step->absent_is_done)
        return STEP_DONE;
    snprintf(poll_url, 1024, "%.1000s?operation", step->url);
    return STEP_WAIT;
}

static inline bool fleet_test_observe(struct cloud *cloud, const struct desired *desired,
                                      struct observed *out, struct error *error)
{
    static const char *const phases[] = { "image", "weights", "ready" };
    struct fleet_world *world = (struct fleet_world *)(void *)cloud;
    struct fleet_resource *resource, *guard;
    char url[128];
    int phase;

    (void)error;
    fleet_world_event(world);
    *out = (struct observed){ .state = "absent" };
    snprintf(url, sizeof url, "https://test/guard/%s", desired->deployment);
    guard = fleet_world_find(world, url);
    snprintf(url, sizeof url, "https://test/service/%s", desired->deployment);
    resource = fleet_world_find(world, url);
    if (resource == NULL || !resource->exists)
        return true;
    phase = resource->polls++ / FLEET_POLLS;
    phase = phase > 2 || resource->replicas == 0 ? 2 : phase;
    phase = world->never_ready && phase == 2 ? 1 : phase;
    out->exists = true;
    out->replicas = resource->replicas;
    out->ends_ms = guard == NULL ? 0 : guard->ends_ms;
    text_copy(out->instance, sizeof out->instance, resource->instance);
    text_copy(out->deployment, sizeof out->deployment, resource->deployment);
    text_copy(out->at_end, sizeof out->at_end, resource->at_end);
    out->ours = observed_is_of(out, desired);
    snprintf(out->state, sizeof out->state, "%s",
             resource->replicas == 0 ? "stopped"
             : world->broken_service ? "failed"
             : phase == 2            ? "ready"
                                     : "starting");
    snprintf(out->message, sizeof out->message, "%s",
             world->broken_service ? "the container ended" : "");
    snprintf(out->phase, sizeof out->phase, "%s", phases[phase]);
    snprintf(out->address, sizeof out->address, "http://127.0.0.1:9/%s", desired->deployment);
    if (world->address[0] != '\0')
        text_copy(out->address, sizeof out->address, world->address);
    if (world->extends_stopped)
        text_copy(out->machine, sizeof out->machine, FLEET_EXTENDS_STOPPED);
    snprintf(out->place, sizeof out->place, "%s", desired->place);
    snprintf(out->uid, sizeof out->uid, "%d", resource->created);
    if (world->needs_etag)
        snprintf(out->etag, sizeof out->etag, "%d", resource->changes);
    out->fields = json_pack("{s:I}", "replicas", (json_int_t)resource->replicas);
    return true;
}

static inline bool fleet_test_check_target(const struct fleet_target *target, struct error *error)
{
    return target->project[0] != '\0' || error_set(error, ERROR_INVALID, "\"project\" is needed");
}

static inline const json_t *fleet_test_labelled(const json_t *resource)
{
    const json_t *part = json_object_get(resource, "part");

    return part != NULL ? part : resource;
}

static inline void fleet_test_lint(const struct desired *desired, json_t *warnings)
{
    if (desired->ends_ms == 0)
        json_array_append_new(warnings, json_string("it has no end"));
}

static inline void fleet_test_command(const struct desired *desired, const struct step *step,
                                      struct text *out)
{
    (void)desired;
    text_addf(out, "testctl %s %s", step->method, step->url);
}

static inline const char *fleet_test_describe_guard(const struct desired *desired)
{
    return strncmp(desired->deployment, "unguarded", 9) == 0 ? NULL : "the guard ends it";
}

static inline bool fleet_test_list(struct cloud *cloud, const struct fleet_target *target,
                                   struct observed **out, size_t *count, json_t *warnings,
                                   struct error *error)
{
    struct fleet_world *world = (struct fleet_world *)(void *)cloud;
    struct observed *list = memory_zeroed(FLEET_RESOURCES, sizeof *list);

    (void)warnings;
    (void)error;
    *count = 0;
    for (int i = 0; i < world->resource_count; i++) {
        const struct fleet_resource *resource = &world->resources[i];
        struct observed *observed = &list[*count];

        if (!resource->exists || strstr(resource->url, "/service/") == NULL)
            continue;
        ++*count;
        observed->exists = true;
        snprintf(observed->name, sizeof observed->name, "%s", strrchr(resource->url, '/') + 1);
        snprintf(observed->resource, sizeof observed->resource, "%s", resource->url);
        snprintf(observed->state, sizeof observed->state, "ready");
        snprintf(observed->instance, sizeof observed->instance, "%s", resource->instance);
        snprintf(observed->deployment, sizeof observed->deployment, "%s", resource->deployment);
        observed->ends_ms = resource->ends_ms;
        text_copy(observed->at_end, sizeof observed->at_end, resource->at_end);
        snprintf(observed->uid, sizeof observed->uid, "%s%d",
                 strcmp(target->name, world->twins_on) == 0 ? "twin" : "", resource->created);
    }
    *out = list;
    return true;
}

static inline bool fleet_test_check(struct cloud *cloud, const struct fleet_target *target,
                                    json_t *findings, struct error *error)
{
    (void)cloud;
    (void)target;
    (void)error;
    json_array_append_new(findings, json_pack("{s:s, s:b, s:s}", "need", "create services", "ok", 0,
                                              "fix", "grant the deployer role"));
    return true;
}

static inline bool fleet_test_key(struct cloud *cloud, const struct observed *observed,
                                  char out[SECRET_VALUE_SIZE], struct error *error)
{
    (void)cloud;
    (void)observed;
    (void)error;
    out[0] = '\0';
    return true;
}

static const struct provider fleet_test_provider = {
    .name = "kubernetes", /* recipes must name a real provider; which one does not matter */
    .title = "The test's cloud",
    .verbs = VERB_BIT(VERB_CREATE) | VERB_BIT(VERB_UPDATE) | VERB_BIT(VERB_START)
             | VERB_BIT(VERB_STOP) | VERB_BIT(VERB_SCALE) | VERB_BIT(VERB_EXTEND)
             | VERB_BIT(VERB_DESTROY),
    .keeps_replicas = true,
    .lock = "only the test can call it.",
    .check_target = fleet_test_check_target,
    .steps = fleet_test_steps,
    .outcome = fleet_test_outcome,
    .labelled = fleet_test_labelled,
    .observe = fleet_test_observe,
    .list = fleet_test_list,
    .check = fleet_test_check,
    .lint = fleet_test_lint,
    .command = fleet_test_command,
    .describe_guard = fleet_test_describe_guard,
    .key = fleet_test_key,
};

static const struct provider *const fleet_test_providers[] = { &fleet_test_provider, NULL };

/* ---- The frame ---- */

/* Returns the world as the cloud; the provider's functions cast it back. */
static inline bool fleet_test_cloud(void *context, const struct fleet_target *target,
                                    struct cloud **out, struct error *error)
{
    (void)target;
    (void)error;
    *out = context;
    return true;
}

#define FLEET_RECIPE                                                                               \
    "{\"name\":\"gemma-small\",\"revision\":%d,\"title\":\"A small model\","                       \
    "\"provider\":\"kubernetes\",\"status\":\"reported\",\"source\":\"a test\","                   \
    "\"as_of\":\"2026-11-21\",\"engine\":\"vllm\",\"model\":\"google/gemma-small\","               \
    "\"quantization\":\"w4a16\",\"image\":\"vllm/vllm-openai:v0.23.0\","                           \
    "\"command\":[\"vllm\",\"serve\",\"google/gemma-small\"],"                                     \
    "\"arguments\":{\"--port\":8000,\"--max-model-len\":4096},"                                    \
    "\"environment\":{\"HF_TOKEN\":{\"secret\":\"hf-secret\",\"key\":\"hf_api_token\"}%s},"        \
    "\"port\":8000,\"weights\":{\"from\":\"hub\",\"repository\":\"google/gemma-small\"},"          \
    "\"probes\":{\"startup\":{\"path\":\"/health\",\"period_s\":10,\"failures\":180},"             \
    "\"readiness\":{\"path\":\"/health\",\"period_s\":10,\"failures\":3}},"                        \
    "\"licence\":{\"name\":\"free\",\"accept_at\":\"https://huggingface.co/google/gemma-small\"}," \
    "\"hardware\":\"nvidia-l4\",\"chips\":1,"                                                      \
    "\"host\":{\"cpu\":4,\"memory_gib\":16,\"shared_memory_gib\":8},"                              \
    "\"kinds\":[\"on_demand\"],\"scale\":{\"min\":1,\"max\":%d},"                                  \
    "\"cost\":[{\"item\":\"aws.g6.2xlarge\",\"quantity\":1}],"                                     \
    "\"overrides\":{\"max_model_len\":{\"least\":1024,\"most\":131072}},"                          \
    "\"kubernetes\":{\"resource\":\"nvidia.com/gpu\"}}"

static inline bool fleet_test_recipe(void *context, const char *name, struct recipe *out,
                                     struct error *error)
{
    const struct fleet_world *world = context;

    char document[1500];

    if (strcmp(name, "gemma-small") != 0 || world->recipe_is_gone)
        return error_set(error, ERROR_NOT_FOUND, "no recipe is named \"%s\"", name);
    snprintf(document, sizeof document, FLEET_RECIPE, world->recipe_revision,
             world->recipe_breaks_rule ? ",\"VLLM_SERVER_DEV_MODE\":\"1\"" : "", world->scale_max);
    return recipe_parse(document, strlen(document), out, error);
}

static inline bool fleet_test_fit(const struct recipe *recipe, const struct catalog *catalog,
                                  struct error *error)
{
    (void)catalog;
    return recipe_integer(recipe, "arguments.--max-model-len", 0) < 100000
           || error_set(error, ERROR_INVALID, "%s does not fit", recipe->name);
}

static inline void fleet_test_price(void *context, const struct recipe *recipe, const char *place,
                                    const char *kind, struct price *out)
{
    const struct fleet_world *world = context;

    (void)recipe;
    (void)place;
    (void)kind;
    *out = (struct price){ .known = world->usd >= 0, .usd_per_hour = world->usd };
    snprintf(out->breakdown, sizeof out->breakdown, "1 x L4 (the test, today)");
}

static inline struct fleet_world *fleet_world_create(void)
{
    struct fleet_world *world =
        mmap(NULL, sizeof *world, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    assert_true(world != MAP_FAILED);
    world->usd = 1;
    world->recipe_revision = 1;
    world->scale_max = 1;
    return world;
}

static inline struct fleet_frame fleet_world_frame(struct fleet_world *world, struct store *store)
{
    struct fleet_frame frame = { .store = store,
                                 .providers = fleet_test_providers,
                                 .context = world,
                                 .cloud = fleet_test_cloud,
                                 .call = fleet_call,
                                 .recipe = fleet_test_recipe,
                                 .fit = fleet_test_fit,
                                 .price = fleet_test_price,
                                 .now_ms = clock_utc_ms,
                                 .pause_ms = 1,
                                 .patience_ms = 2000 };
    struct fleet_instance instance;
    struct error error;

    if (!fleet_instance_read(store, "here", &instance, &error))
        fail_msg("%s", error.message);
    text_copy(frame.instance, sizeof frame.instance, instance.id);
    return frame;
}
