/* SPDX-License-Identifier: Apache-2.0 */
/* A fake of the Kubernetes API server. It checks the members of the objects that are created or
 * applied, and refuses wrong members with messages like the real server's. The test sets the state
 * of the pods. */
#pragma once

#include "tests/clouds/fake_server.h"

struct fake_kubernetes {
    struct fake_server *server;
    json_t *objects; /* by path */
    json_t *fields;  /* the types of the objects (fake_fields.h) */
    /* the state of the pods: "pending", "image", "pull_error", "weights", "crash", "ready" */
    char pod[32];
    char log[128];    /* the log of each pod */
    char denied[64];  /* access reviews deny access to this resource */
    bool has_pages;   /* lists come in pages of one object each, with empty pages in between */
    int status;       /* the HTTP status with which the next change fails; 0: it succeeds */
    bool loses_reply; /* the next change is carried out, but not answered */
    int changes;      /* how many changes were requested, without dry runs and `status` failures */
    long long uids;   /* the last number that was used as a uid or resourceVersion */
};

void fake_kubernetes_start(struct fake_kubernetes *fake);
void fake_kubernetes_stop(struct fake_kubernetes *fake);
