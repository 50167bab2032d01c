/* SPDX-License-Identifier: Apache-2.0 */
/* A small Kubernetes API server: it checks requests member by member, and refuses wrong ones with
 * the real server's messages. The pods are in the state that a test sets. */
#pragma once

#include "tests/clouds/fake_server.h"

struct fake_kubernetes {
    struct fake_server *server;
    json_t *objects; /* by path */
    json_t *fields;
    /* the state of the pods: "pending", "image", "pull_error", "weights", "crash", "ready" */
    char pod[32];
    char log[128];   /* the log of each pod */
    char denied[64]; /* the resource that reviews deny */
    bool has_pages;  /* lists come in pages of one object, with an empty page between two */
    /* Faults of the next request that changes something: */
    int status;       /* the request fails with this status; 0: it does not */
    bool loses_reply; /* the request is carried out, and the connection breaks */
    int changes;      /* requests to change something, except dry runs */
    long long uids;   /* the latest uid or resourceVersion */
};

void fake_kubernetes_start(struct fake_kubernetes *fake);
void fake_kubernetes_stop(struct fake_kubernetes *fake);
