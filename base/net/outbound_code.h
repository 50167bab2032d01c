/* SPDX-License-Identifier: Apache-2.0 */
/* Used by both outbound calls and the load generator: sets which certificates libcurl trusts, and
 * converts libcurl's result codes and connect's errno to classes of failure. */
#pragma once

#include <curl/curl.h>
#include <stdbool.h>

#include "base/llm/failure.h"

struct outbound_tls;

/* Sets which certificate authorities to trust for TLS: those in `tls` or, if `tls` is NULL or has
 * none (""), the machine's. libcurl reads the machine's authorities from a file and, on some
 * machines, also from a folder. If SSL_CERT_FILE is set, the file that it names replaces libcurl's
 * file, but not the folder. Also sets the client certificate if `tls` has one. The server's
 * certificate is always verified. */
void outbound_code_trust(CURL *easy, const struct outbound_tls *tls);
enum failure outbound_code_connect_failure(int number); /* `number`: connect's errno */
/* Converts libcurl's result code to a class of failure (FAILURE_NONE for CURLE_OK). `sent`: the
 * connection was established and sending began, so a timeout did not occur while connecting. */
enum failure outbound_code_failure(CURL *easy, CURLcode code, bool sent);
