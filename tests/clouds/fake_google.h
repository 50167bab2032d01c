/* SPDX-License-Identifier: Apache-2.0 */
/* A fake of Google's services on one port: tokens, Cloud Run, Compute Engine, Cloud TPU, Cloud
 * Scheduler, accounts, secrets, quotas and others, as far as the providers use them. It checks
 * every member of a request's body, and refuses wrong bodies with Google's error messages. A
 * long-running operation is done at its second poll. */
#pragma once

#include "tests/clouds/fake_server.h"

struct fake_google {
    struct fake_server *server;
    json_t *objects; /* by path: "/v2/projects/p/locations/r/services/x" */
    json_t *fields;  /* the types of bodies (fake_fields.h) */
    /* The long-running operations, by name. Also, by request id, what a repeated request gets: the
     * name of the operation (Compute Engine) or the first request's answer (Cloud TPU). */
    json_t *operations;
    char endpoints[1024]; /* for cloud_endpoints_create */
    char denied[64];      /* the permission that is not granted */
    /* the error messages with which operations fail and services report that they are not ready;
     * "": none */
    char operation_error[256], condition_error[256];
    int status;         /* the HTTP status with which the next change fails; 0: it succeeds */
    const char *answer; /* the body of that failure; NULL: an error object */
    bool loses_reply;   /* the next change is carried out, but not answered */
    bool sends_numbers; /* int64 values are sent as numbers */
    bool has_pages;     /* lists have three pages: the first object, nothing, the second object */
    const char *page_token; /* the nextPageToken in every list; NULL: the right one */
    int gpus;               /* the quota for GPUs or chips */
    int64_t now_ms;         /* the time on the machines' clock, in UTC */
    bool lacks_capacity; /* the zone has no resources: a flex-start instance waits, other instances
                          * fail; a spot TPU fails, other TPUs wait */
    bool server_fails;   /* the server that a machine's startup script starts ends at once */
    char operation_code[64]; /* goes with operation_error on Compute Engine; "": QUOTA_EXCEEDED */
    int tokens;              /* how many tokens were issued */
    long long versions;      /* the last number that was used in an etag, an id or a name */
};

void fake_google_start(struct fake_google *fake);
void fake_google_stop(struct fake_google *fake);
