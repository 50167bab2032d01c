/* SPDX-License-Identifier: Apache-2.0 */
/* docs/clouds.md lists the permissions that each verb needs on Kubernetes. They must be the
 * permissions that the verb's requests need. */
#include "tests/unit/support/kubernetes_world.h"

#include "tests/clouds/rights.h"

#define DOOR "/api/v1/namespaces/llm/services/http:gemma:8000/proxy"

/* The parts of a path such as "/apis/apps/v1/namespaces/llm/deployments/gemma/scale". */
struct object_path {
    char group[64], resource[64], name[64], subresource[64];
};

static bool read_path(const char *path, struct object_path *out)
{
    const char *inside = strstr(path, "/namespaces/llm/");

    *out = (struct object_path){ 0 };
    if (inside == NULL
        || sscanf(inside, "/namespaces/llm/%63[^/]/%63[^/]/%63[^/]", out->resource, out->name,
                  out->subresource)
               < 1)
        return false;
    return strncmp(path, "/api/v1/", 8) == 0 || sscanf(path, "/apis/%63[^/]/", out->group) == 1;
}

static void need(struct recording *recording, const char *verb, const char *group,
                 const char *resource, const char *subresource)
{
    TEXT_AUTO name = { 0 };

    text_addf(&name, "%s %s%s%s%s%s", verb, resource, group[0] != '\0' ? "." : "", group,
              subresource[0] != '\0' ? "/" : "", subresource);
    json_object_set_new(recording->needed, text_string(&name), json_true());
}

/* Whoever creates a role must have every right that the role grants. The rules in the request's
 * body are [{"apiGroups": [...], "resources": [...], "verbs": [...]}]. */
static void need_granted(struct recording *recording, const struct fake_request *request)
{
    json_auto_t *role = json_loads(request->body, 0, NULL);
    const json_t *rule;
    size_t i;

    json_array_foreach(json_object_get(role, "rules"), i, rule) {
        const char *to = json_string_value(json_array_get(json_object_get(rule, "resources"), 0));
        const char *verb = json_string_value(json_array_get(json_object_get(rule, "verbs"), 0));

        need(recording, verb, "apps", "deployments", strchr(to, '/') == NULL ? "" : "scale");
    }
}

static void need_for_path(struct recording *recording, const json_t *objects,
                          const struct fake_request *request, const struct object_path *parts)
{
    static const struct {
        const char *method, *named, *unnamed;
    } verbs[] = {
        { "GET", "get", "list" },
        { "POST", "create", "create" },
        { "PATCH", "patch", "" },
        { "DELETE", "delete", "deletecollection" },
    };

    for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++)
        if (strcmp(verbs[i].method, request->method) == 0)
            need(recording, parts->name[0] != '\0' ? verbs[i].named : verbs[i].unnamed,
                 parts->group, parts->resource, parts->subresource);
    if (strcmp(request->method, "GET") != 0 && strcmp(request->method, "DELETE") != 0
        && json_object_get(objects, request->path) == NULL && parts->subresource[0] == '\0') {
        /* an apply can also create the object */
        need(recording, "create", parts->group, parts->resource, "");
        need(recording, "get", parts->group, parts->resource,
             ""); /* to read it after a lost answer */
    }
    if (strcmp(parts->resource, "roles") == 0)
        need_granted(recording, request);
}

struct rights {
    struct recording recording;
    const json_t *objects;
};

static bool record(void *context, enum fake_moment moment, const struct fake_request *request,
                   struct fake_reply *reply, void **memory)
{
    struct rights *rights = context;
    struct recording *recording = &rights->recording;
    json_auto_t *review = NULL;
    const json_t *asked;
    struct object_path parts;

    (void)reply, (void)memory;
    if (moment != FAKE_BEFORE)
        return false;
    if (read_path(request->path, &parts)) {
        need_for_path(recording, rights->objects, request, &parts);
        return false;
    }
    review = json_loads(request->body, 0, NULL);
    asked = json_object_get(json_object_get(review, "spec"), "resourceAttributes");
    if (asked == NULL)
        snprintf(recording->unknown, sizeof recording->unknown, "%s %.280s", request->method,
                 request->path);
    else { /* to ask about the account's own permissions, no permission is needed */
        json_t *needed = recording->needed;

        recording->needed = recording->asked;
        need(recording, json_get_text(asked, "verb", ""), json_get_text(asked, "group", ""),
             json_get_text(asked, "resource", ""), json_get_text(asked, "subresource", ""));
        recording->needed = needed;
    }
    return false;
}

/* ---- Each verb ---- */

static void check_other_requests(struct world *world, struct recording *recording,
                                 const char *section)
{
    const struct provider *provider = world->life.provider;
    struct life *life = &world->life;
    json_auto_t *warnings = json_array();
    struct observed *list = NULL;
    struct observed now = look(world);
    char key[SECRET_VALUE_SIZE];
    size_t count;

    check_line(recording, section, "look");
    assert_true(provider->key(life->cloud, &now, key, &life->error));
    observed_finish(&now);
    check_line(recording, section, "key");
    assert_true(provider->list(life->cloud, &world->target, &list, &count, warnings, &life->error));
    observed_list_free(list, count);
    check_line(recording, section, "list");
}

/* Sends requests to a model server through the API server's proxy. */
static void check_proxy_requests(struct world *world, struct recording *recording,
                                 const char *section)
{
    CLOUD_REPLY_AUTO models = { 0 };
    CLOUD_REPLY_AUTO answer = { 0 };
    json_auto_t *body = json_object();
    struct error *error = &world->life.error;

    error_ignore(
        cloud_call(world->life.cloud, "GET", DOOR "/v1/models", NULL, NULL, &models, error));
    error_ignore(
        cloud_call(world->life.cloud, "POST", DOOR "/v1/completions", NULL, body, &answer, error));
    check_line(recording, section, "door proxy");
}

static void check_asked(struct world *world, struct recording *recording)
{
    json_auto_t *findings = json_array();
    const char *name;
    json_t *value;

    text_copy(world->target.door, sizeof world->target.door, "proxy");
    assert_true(world->life.provider->check(world->life.cloud, &world->target, findings,
                                            &world->life.error));
    json_object_foreach(recording->all, name, value)
        if (json_object_get(recording->asked, name) == NULL)
            fail_msg("target_show does not ask about the permission to %s", name);
    json_object_foreach(recording->asked, name, value)
        if (json_object_get(recording->all, name) == NULL)
            fail_msg("target_show asks about the permission to %s, which nothing needs", name);
}

static void the_document_lists_the_permissions_of_each_verb(void **state)
{
    static const enum provider_verb verbs[] = { VERB_STOP,   VERB_START,  VERB_SCALE,
                                                VERB_UPDATE, VERB_EXTEND, VERB_DESTROY };
    struct world *world = *state;
    FREE_AUTO char *section = read_section("Kubernetes");
    struct rights rights = {
        .recording = { .needed = json_object(), .all = json_object(), .asked = json_object() },
        .objects = world->fake.objects
    };
    struct recording *recording = &rights.recording;

    fake_server_add(world->fake.objects, SECRETS "gemma-key",
                    "{\"kind\":\"Secret\",\"data\":{\"key\":\"a2V5\"}}");
    text_copy(world->target.door, sizeof world->target.door, "node_port");
    fake_server_guard(world->fake.server, record, &rights);
    must_apply(world, VERB_CREATE);
    check_line(recording, section, "create");
    check_other_requests(world, recording, section);
    check_proxy_requests(world, recording, section);
    for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++) {
        world->life.desired.end_destroys = verbs[i] != VERB_START;
        world->life.desired.ends_ms += verbs[i] == VERB_START ? 3600000 : 0;
        must_apply(world, verbs[i]);
        check_line(recording, section, provider_verb_name(verbs[i]));
    }
    check_missing(recording);
    check_asked(world, recording);
    json_decref(recording->needed);
    json_decref(recording->all);
    json_decref(recording->asked);
}

int main(void)
{
    const struct CMUnitTest tests[] = { LIVE(the_document_lists_the_permissions_of_each_verb) };
    struct error error;

    if (!outbound_global_init(&error))
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
