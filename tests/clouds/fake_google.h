/* SPDX-License-Identifier: Apache-2.0 */
/* Google's services on one port: tokens, Cloud Run, Compute Engine, Cloud TPU, Cloud Scheduler,
 * accounts, secrets, quotas and others, as far as the providers use them. The fake checks bodies
 * member by member, and refuses wrong ones with Google's messages; a long operation is done at its
 * second poll. */
#pragma once

#include "tests/clouds/fake_server.h"

struct fake_google {
    struct fake_server *server;
    json_t *objects;      /* by path: "/v2/projects/p/locations/r/services/x" */
    json_t *fields;       /* the types of bodies (fake_fields.h) */
    json_t *operations;   /* the long operations, by name; names of operations, by request id */
    char endpoints[1024]; /* for cloud_endpoints_create */
    char denied[64];      /* the permission that is not granted */
    char operation_error[256], condition_error[256]; /* of operations and of services; "": none */
    int status;         /* of the answer to the next change; 0: success */
    const char *answer; /* the answer's body, if `status` is set; NULL: an error object */
    bool loses_reply;   /* the next change is carried out, but not answered */
    bool sends_numbers; /* int64 values are sent as numbers */
    bool has_pages;     /* lists have three pages: the first object, nothing, the second object */
    const char *page_token; /* the page token of every list; NULL: the right one */
    int gpus;               /* the quota of GPUs or chips */
    int64_t now_ms;         /* the clock of the machines, in UTC */
    bool lacks_capacity; /* the zone has no resources: a flex-start instance waits, other instances
                          * fail; a spot TPU fails, other TPUs wait */
    bool server_fails;   /* the server that a machine's script starts ends at once */
    char operation_code[64]; /* of operation_error, on Compute Engine; "": QUOTA_EXCEEDED */
    int tokens;              /* how many tokens were issued */
    long long versions;      /* the latest number from which an etag, an id or a name was made */
};

void fake_google_start(struct fake_google *fake);
void fake_google_stop(struct fake_google *fake);
