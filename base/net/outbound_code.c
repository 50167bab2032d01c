/* SPDX-License-Identifier: Apache-2.0 */
#include "base/net/outbound_code.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/net/outbound.h"

static void set_blob(CURL *easy, CURLoption option, const char *pem)
{
    struct curl_blob blob = { (void *)(uintptr_t)pem, strlen(pem), CURL_BLOB_COPY };

    if (pem[0] != '\0')
        curl_easy_setopt(easy, option, &blob);
}

void outbound_code_trust(CURL *easy, const struct outbound_tls *tls)
{
    const char *file = getenv("SSL_CERT_FILE");

    if (file != NULL && file[0] != '\0')
        curl_easy_setopt(easy, CURLOPT_CAINFO, file);
    if (tls == NULL)
        return;
    if (tls->authorities[0] != '\0') { /* trust no other authorities */
        curl_easy_setopt(easy, CURLOPT_CAINFO, NULL);
        curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
    }
    set_blob(easy, CURLOPT_CAINFO_BLOB, tls->authorities);
    set_blob(easy, CURLOPT_SSLCERT_BLOB, tls->certificate);
    set_blob(easy, CURLOPT_SSLKEY_BLOB, tls->key);
}

enum failure outbound_code_connect_failure(int number)
{
    switch (number) {
    case ETIMEDOUT:
    case EHOSTUNREACH:
        return FAILURE_CONNECT_TIMEOUT;
    case EMFILE:
    case ENFILE:
    case EADDRNOTAVAIL:
    case ENOBUFS:
    case ENOMEM:
        return FAILURE_CLIENT_LIMIT;
    default:
        return FAILURE_CONNECT_REFUSED;
    }
}

static enum failure failure_of_connect(CURL *easy)
{
    long number = 0;

    curl_easy_getinfo(easy, CURLINFO_OS_ERRNO, &number);
    return outbound_code_connect_failure((int)number);
}

enum failure outbound_code_failure(CURL *easy, CURLcode code, bool sent)
{
    switch ((int)code) {
    case CURLE_OK:
        return FAILURE_NONE;
    case CURLE_COULDNT_RESOLVE_HOST:
        return FAILURE_DNS;
    case CURLE_COULDNT_CONNECT:
        return failure_of_connect(easy);
    case CURLE_OPERATION_TIMEDOUT:
        return sent ? FAILURE_TOTAL_TIMEOUT : FAILURE_CONNECT_TIMEOUT;
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CIPHER:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
        return FAILURE_TLS;
    case CURLE_SEND_ERROR:
        return FAILURE_SEND;
    case CURLE_RECV_ERROR:
    case CURLE_GOT_NOTHING:
    case CURLE_PARTIAL_FILE:
        return FAILURE_RESET;
    case CURLE_OUT_OF_MEMORY:
        return FAILURE_CLIENT_LIMIT;
    default:
        return FAILURE_PROTOCOL;
    }
}
