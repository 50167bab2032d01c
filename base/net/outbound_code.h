/* SPDX-License-Identifier: Apache-2.0 */
/* What outbound calls and the load generator share: which certificates libcurl trusts, and which
 * class of failure a result of libcurl, or an errno of connect, is. */
#pragma once

#include <curl/curl.h>
#include <stdbool.h>

#include "base/llm/failure.h"

struct outbound_tls;

/* Sets which authorities to trust for TLS: those of `tls`; if it has none (NULL or ""), the
 * machine's. If SSL_CERT_FILE is set, the file that it names replaces libcurl's file of the
 * machine's authorities, but not libcurl's folder of them, if it has one. Also sets the client
 * certificate of `tls`, if it has one. The server's certificate is always verified. */
void outbound_code_trust(CURL *easy, const struct outbound_tls *tls);
enum failure outbound_code_connect_failure(int number); /* `number`: connect's errno */
/* `sent`: the connection was there and sending began, so that a timeout cannot be one of
 * connecting. FAILURE_NONE for CURLE_OK. */
enum failure outbound_code_failure(CURL *easy, CURLcode code, bool sent);
