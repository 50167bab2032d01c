/* SPDX-License-Identifier: Apache-2.0 */
/* Gives advice on how to fix the cause of a failed call, if the failure reveals it. */
#include <string.h>

#include "base/net/outbound_transfer.h"
#include "base/net/url.h"

bool outbound_is_page(const struct outbound_response *response)
{
    const char *body = text_string(&response->body);

    body += strspn(body, " \t\r\n");
    return strncasecmp(response->content_type, "text/html", 9) == 0
           || strncasecmp(body, "<!doctype html", 14) == 0 || strncasecmp(body, "<html", 5) == 0;
}

void outbound_advise_page(const char *url, struct text *out)
{
    TEXT_AUTO peer = { 0 };
    const char *authority = strstr(url, "://");
    const char *path = authority == NULL ? NULL : strchr(authority + 3, '/');

    outbound_transfer_describe_peer(url, &peer);
    if (path != NULL && strncmp(path, "/v1/", 4) != 0)
        text_addf(out, "; this is a web page, not an API: try %.*s://%s/v1", (int)(authority - url),
                  url, text_string(&peer));
    else
        text_addf(
            out,
            "; this is a web page, not an API: use the base URL under which /models answers with "
            "JSON, such as http://%.*s:8000/v1",
            (int)url_host_length(text_string(&peer)), text_string(&peer));
}

static bool is_plain_http(const struct outbound_transfer *transfer)
{
    return strncasecmp(transfer->request->url, "http://", 7) == 0;
}

static void advise_on_certificate(const struct outbound_transfer *transfer, struct text *out)
{
    if (strstr(transfer->detail, "subject name") != NULL)
        text_add(out, "; use a host name that the server's certificate contains");
    else if (strstr(transfer->detail, "expired") != NULL)
        text_add(out, "; the server's certificate must be renewed");
    else
        text_add(
            out,
            "; to trust the server, put its certificate, or that of its certificate authority, "
            "into a file, set SSL_CERT_FILE in opsbrain's environment to that file and "
            "restart opsbrain");
}

/* If a server that expects TLS receives plain HTTP, it answers with a message that says so, or with
 * bytes that are not HTTP, or it closes the connection. */
static void advise_on_scheme(const struct outbound_transfer *transfer, CURLcode code,
                             const char *peer, struct text *out)
{
    bool without_headers = transfer->response->first_byte_ns == 0;

    if (transfer->response->status == 400 && transfer->response->body.length > 0
        && strcasestr(text_string(&transfer->response->body), "HTTPS") != NULL)
        text_addf(out, "; this port speaks TLS: use https://%s", peer);
    else if (without_headers
             && (code == CURLE_UNSUPPORTED_PROTOCOL || code == CURLE_GOT_NOTHING
                 || code == CURLE_RECV_ERROR))
        text_addf(out, "; if this port speaks TLS, use https://%s", peer);
}

static void advise_on_token(const struct outbound_transfer *transfer, const char *peer,
                            struct text *out)
{
    const char *scheme = is_plain_http(transfer) ? "http" : "https";

    if (transfer->request->bearer != NULL)
        text_add(out, "; the server rejected the token: correct the secret's value, or name a "
                      "different secret with deployment_update");
    else
        text_addf(out,
                  "; the server requires a token: have an admin store it as "
                  "OPSBRAIN_SECRET_<NAME> or in the secrets folder and bind it (secret_bind <NAME> "
                  "to %s://%s), then use deployment_update with secret <NAME>",
                  scheme, peer);
}

static void advise_on_status(const struct outbound_transfer *transfer, const char *peer,
                             struct text *out)
{
    const struct outbound_response *response = transfer->response;

    if (response->failure == FAILURE_AUTH)
        advise_on_token(transfer, peer, out);
    else if (response->status < 500 && outbound_is_page(response))
        outbound_advise_page(transfer->request->url, out);
}

void outbound_transfer_advise(const struct outbound_transfer *transfer, CURLcode code,
                              const char *peer, struct text *out)
{
    const struct outbound_response *response = transfer->response;

    if (transfer->stopped != FAILURE_NONE)
        return;
    if (code == CURLE_PEER_FAILED_VERIFICATION)
        advise_on_certificate(transfer, out);
    else if (!is_plain_http(transfer) && response->sent_ns == 0
             && (code == CURLE_SSL_CONNECT_ERROR || code == CURLE_OPERATION_TIMEDOUT))
        text_addf(out, "; if this port speaks plain HTTP, use http://%s", peer);
    else if (is_plain_http(transfer))
        advise_on_scheme(transfer, code, peer, out);
    if (out->length == 0 && (code == CURLE_OK || transfer->enough))
        advise_on_status(transfer, peer, out);
}
