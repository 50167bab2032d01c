/* SPDX-License-Identifier: Apache-2.0 */
/* A small Kubernetes API server: it checks the members of objects that are created or applied,
 * and refuses wrong ones with messages like the real server's. The pods are in the state that a
 * test sets. */
#pragma once

#include "tests/clouds/fake_server.h"

struct fake_kubernetes {
    struct fake_server *server;
    json_t *objects; /* by path */
    json_t *fields;  /* the types of the objects (fake_fields.h) */
    /* the state of the pods: "pending", "image", "pull_error", "weights", "crash", "ready" */
    char pod[32];
    char log[128];   /* the log of each pod */
    char denied[64]; /* the resource that reviews deny */
    bool has_pages;  /* lists come in pages of one object, with an empty page between two */
    /* The next request to change something fails with `status`; 0: it does not. */
    int status;
    bool loses_reply; /* after the next such request is carried out, the connection breaks */
    int changes;      /* requests to change something, except dry runs, and failures by `status` */
    long long uids;   /* the latest uid or resourceVersion */
};

void fake_kubernetes_start(struct fake_kubernetes *fake);
void fake_kubernetes_stop(struct fake_kubernetes *fake);
