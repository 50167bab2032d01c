/* SPDX-License-Identifier: Apache-2.0 */
/* A server that imitates a cloud, for the tests of fleet/cloud/cloud*.c. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json/json.h"
#include "base/net/outbound.h"
#include "fleet/cloud/cloud.h"
#include "tests/clouds/fake_server.h"
#include "tests/unit/support/folder.h"

/* One server imitates Google's token endpoint and metadata server, Cloud Run and a Kubernetes
 * API. */
struct world {
    struct fake_server *server;
    struct cloud_endpoints *endpoints;
    char folder[FOLDER_SIZE];
    int tokens, identities; /* number of requests for access tokens and for identity tokens */
    int calls;              /* number of all other requests; below, these are named "calls" */
    int valid;  /* in calls, the server accepts only the access token with this number; 0: any */
    int life_s; /* lifetime of each access token */
    int status; /* HTTP status of answers to calls; 0: 200 */
    /* after this many calls, the status becomes 200; 0: it does not change */
    int good_after;
    /* body and content type of answers to calls; NULL: a small JSON object */
    const char *answer, *type;
    bool breaks_off;     /* the connection of a call ends without an answer */
    bool without_flavor; /* metadata answers lack the header Metadata-Flavor */
    bool token_down;     /* requests for an access token get a 503 */
    char last_bearer[256], last_path[256], last_type[64], last_body[4096];
};

static int64_t test_now_ms;

static inline int64_t now_ms(void)
{
    return test_now_ms;
}

static inline void give_token(struct world *world, struct fake_reply *reply)
{
    world->tokens++;
    if (world->token_down)
        reply->status = 503;
    text_addf(&reply->body, "{\"access_token\":\"canary-token-%d\",\"expires_in\":%d}",
              world->tokens, world->life_s);
}

static inline void give_call(struct world *world, const struct fake_request *request,
                             struct fake_reply *reply)
{
    char valid[64];

    world->calls++;
    snprintf(valid, sizeof valid, "canary-token-%d", world->valid);
    snprintf(world->last_bearer, sizeof world->last_bearer, "%s", request->bearer);
    snprintf(world->last_path, sizeof world->last_path, "%s", request->path);
    snprintf(world->last_type, sizeof world->last_type, "%s", request->content_type);
    snprintf(world->last_body, sizeof world->last_body, "%s", request->body);
    reply->breaks_off = world->breaks_off;
    if (world->valid > 0 && strcmp(request->bearer, valid) != 0) {
        reply->status = 401;
        text_addf(&reply->body, "{\"error\":{\"code\":401,\"message\":\"bad %s\"}}",
                  request->bearer);
        return;
    }
    if (world->calls > world->good_after && world->good_after > 0)
        world->status = 0;
    reply->status = world->status;
    reply->type = world->type;
    text_add(&reply->body, world->answer != NULL ? world->answer : "{\"name\":\"x\"}");
}

static inline void answer(void *context, const struct fake_request *request,
                          struct fake_reply *reply)
{
    static const char metadata[] = "/computeMetadata/v1/instance/service-accounts/default/";
    struct world *world = context;

    if (strncmp(request->path, metadata, strlen(metadata)) == 0) {
        if (strcmp(request->metadata_flavor, "Google") != 0)
            reply->status = 403;
        reply->header = world->without_flavor ? NULL : "Metadata-Flavor";
        reply->value = "Google";
        if (strcmp(request->path + strlen(metadata), "token") == 0) {
            give_token(world, reply);
            return;
        }
        world->identities++;
        reply->type = "text/html";
        text_add(&reply->body, "a.eyJleHAiOjIwMDB9.b\n"); /* a JWT with {"exp":2000} */
    } else if (strcmp(request->path, "/token") == 0) {
        snprintf(world->last_body, sizeof world->last_body, "%s", request->body);
        give_token(world, reply);
    } else
        give_call(world, request, reply);
}

static inline void write_file(const struct world *world, const char *name, const char *text)
{
    char path[256];
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", world->folder, name);
    file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static inline void write_kubeconfig(const struct world *world)
{
    char text[1024];

    snprintf(text, sizeof text,
             "clusters: [{name: c, cluster: {server: 'http://127.0.0.1:%d'}}]\n"
             "users: [{name: robot, user: {token: canary-token-1}}]\n"
             "contexts: [{name: x, context: {cluster: c, user: robot, namespace: llm}}]\n"
             "current-context: x\n",
             fake_server_port(world->server));
    write_file(world, "lab.yaml", text);
}

static inline int set_up(void **state)
{
    struct world *world = calloc(1, sizeof *world);
    char text[256];
    struct error error;
    int port;

    world->server = fake_server_start(answer, world);
    world->life_s = 3600;
    port = fake_server_port(world->server);
    snprintf(text, sizeof text,
             "run=http://127.0.0.1:%d, token=http://127.0.0.1:%d,metadata=http://127.0.0.1:%d",
             port, port, port);
    assert_true(cloud_endpoints_create(text, &world->endpoints, &error));
    folder_create(world->folder);
    write_kubeconfig(world);
    test_now_ms = 1000000;
    *state = world;
    return 0;
}

static inline int tear_down(void **state)
{
    struct world *world = *state;

    fake_server_stop(world->server);
    cloud_endpoints_destroy(world->endpoints);
    folder_remove(world->folder);
    free(world);
    return 0;
}

static inline struct cloud *make(const struct world *world, enum cloud_kind kind, const char *file)
{
    struct cloud_credential credential = { .kind = kind };
    const struct cloud_config config = { .secrets_folder = world->folder,
                                         .endpoints = world->endpoints,
                                         .account_folder = world->folder,
                                         .now_ms = now_ms };
    struct cloud *cloud = NULL;
    struct error error = { 0 };

    snprintf(credential.file, sizeof credential.file, "%s", file);
    if (!cloud_create(&credential, &config, &cloud, &error))
        fail_msg("%s", error.message);
    return cloud;
}

/* The URL of a project in the Cloud Run API. */
#define RUN "https://run.googleapis.com/v2/projects/p"

static inline bool call(struct cloud *cloud, const char *method, const char *url,
                        struct cloud_reply *out, struct error *error)
{
    json_auto_t *body = strcmp(method, "GET") != 0 ? json_pack("{s:i}", "a", 1) : NULL;

    return cloud_call(cloud, method, url, NULL, body, out, error);
}
