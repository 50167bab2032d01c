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
    size_t received_bytes; /* bytes of a 2xx body so far */
    size_t limit_bytes;    /* the limit on received_bytes */
    /* When the latest byte of the answer arrived; before the first byte, when sending began; 0: it
     * has not begun. Monotonic. */
    int64_t last_byte_ns;
    /* Why we stopped the transfer; NONE: we did not, or only because of `enough`. */
    enum failure stopped;
    bool enough; /* an error's body has as many bytes as are kept, so we stopped reading */
    char refused[INET6_ADDRSTRLEN]; /* the address that we refused to connect to; "": none */
    bool unlisted;                  /* the latest address is not in request->servers */
    char detail[CURL_ERROR_SIZE];   /* libcurl's error message; "": none */
};

/* Derives a transfer's class of failure from `stopped`, libcurl's code, the status and the body. */
enum failure outbound_transfer_classify(const struct outbound_transfer *transfer, CURLcode code);
/* Appends the URL's "host:port", or its "host" if it has no port. The other parts of the URL may
 * contain a secret, which must not be logged. */
void outbound_transfer_describe_peer(const char *url, struct text *out);
/* Appends "; " and advice on how to fix the failure, if there is any. */
void outbound_transfer_advise(const struct outbound_transfer *transfer, CURLcode code,
                              const char *peer, struct text *out);
/* Sets the error to a message that explains transfer->response->failure. Returns false. */
CHECKED bool outbound_transfer_explain(const struct outbound_transfer *transfer, CURLcode code,
                                       struct error *error);
