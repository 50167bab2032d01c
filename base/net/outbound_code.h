/* SPDX-License-Identifier: Apache-2.0 */
/* libcurl's results as classes of failure, for both clients: outbound calls and the load generator.
 */
#pragma once

#include <curl/curl.h>
#include <stdbool.h>

#include "base/llm/failure.h"

/* Whom to believe over TLS: the authorities in the file SSL_CERT_FILE of the environment, as
 * OpenSSL itself has it, else the machine's. That a certificate is verified cannot be switched off.
 */
void outbound_code_trust(CURL *easy);
enum failure outbound_code_connect_failure(int number); /* of the errno of connecting */
/* `sent`: the request had gone out, so a timeout is not one of connecting. FAILURE_NONE for
 * CURLE_OK. */
enum failure outbound_code_failure(CURL *easy, CURLcode code, bool sent);
