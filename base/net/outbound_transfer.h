/* SPDX-License-Identifier: Apache-2.0 */
/* One outbound call in progress. Private to outbound*.c. */
#pragma once

#include <curl/curl.h>
#include <netinet/in.h>

#include "base/net/mask.h"
#include "base/net/outbound.h"

struct outbound_transfer {
    const struct outbound_request *request;
    struct outbound_response *response;
    struct mask *mask; /* hides the call's bearer */
    CURLM *multi;
    CURL *easy;
    struct curl_slist *headers;
    size_t received_bytes, limit_bytes;
    int64_t last_byte_ns;
    enum failure stopped;           /* why we ended it */
    bool enough;                    /* enough of an error's body was read */
    char refused[INET6_ADDRSTRLEN]; /* the address that we refused to connect to, */
    bool unlisted;                  /* because it is not in the list */
    char detail[CURL_ERROR_SIZE];
};

/* The class of failure with which it ended, from what stopped it, libcurl's code and the status. */
enum failure outbound_transfer_classify(const struct outbound_transfer *transfer, CURLcode code);
/* "host:port" of a URL: other parts of it may carry a secret into a log. */
void outbound_transfer_describe_peer(const char *url, struct text *out);
/* "; " and advice on how to fix such a failure, or nothing. */
void outbound_transfer_advise(const struct outbound_transfer *transfer, CURLcode code,
                              const char *peer, struct text *out);
/* The sentence for a failure already classified in its response; returns false. */
CHECKED bool outbound_transfer_explain(const struct outbound_transfer *transfer, CURLcode code,
                                       struct error *error);
