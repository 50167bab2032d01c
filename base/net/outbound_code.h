/* SPDX-License-Identifier: Apache-2.0 */
/* Classifies libcurl's results as failures, for outbound calls and for the load generator. */
#pragma once

#include <curl/curl.h>
#include <stdbool.h>

#include "base/llm/failure.h"

struct outbound_tls;

/* Sets which authorities to trust for TLS: those of `tls`; if it has none (NULL or ""), those in
 * the file that SSL_CERT_FILE names, as in OpenSSL itself; else the machine's. Certificates are
 * always verified. */
void outbound_code_trust(CURL *easy, const struct outbound_tls *tls);
enum failure outbound_code_connect_failure(int number); /* from the errno of connecting */
/* `sent`: the request was sent, so that a timeout cannot be one of connecting. FAILURE_NONE for
 * CURLE_OK. */
enum failure outbound_code_failure(CURL *easy, CURLcode code, bool sent);
