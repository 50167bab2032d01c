/* SPDX-License-Identifier: Apache-2.0 */
/* Google's services on one port: tokens, Cloud Run, Compute Engine, Cloud Scheduler, accounts and
 * secrets, as far as the providers use them. Bodies are checked member by member and refused in
 * Google's words; a long operation is done after it was polled twice. */
#pragma once

#include "tests/clouds/fake_server.h"

struct fake_google {
    struct fake_server *server;
    json_t *objects; /* by path: "/v2/projects/p/locations/r/services/x" */
    json_t *fields, *operations;
    char endpoints[1024];                            /* for cloud_endpoints_create */
    char denied[64];                                 /* the permission that is not granted */
    char operation_error[256], condition_error[256]; /* of the next create; "": it works */
    int status;                                      /* of the next change; 0: done */
    const char *answer;                              /* its body */
    bool loses_reply;
    bool numbers;           /* int64 values are sent as numbers */
    bool pages;             /* lists come in three pages, the second of them empty */
    const char *page_token; /* of every list; NULL: unchanged */
    int gpus;               /* quota */
    /* Machines: */
    int64_t now_ms;          /* their clock */
    bool lacks_capacity;     /* flex-start waits, the others fail: a zone without resources */
    bool server_fails;       /* the server that the script starts ends */
    char operation_code[64]; /* of operation_error */
    int changes, tokens;
    long long versions;
};

void fake_google_start(struct fake_google *fake);
void fake_google_stop(struct fake_google *fake);
