/* libcurl's results as classes of failure, for both clients: outbound calls and the load generator.
 */
#pragma once

#include <curl/curl.h>
#include <stdbool.h>

#include "base/failure.h"

/* `sent`: the request had gone out, so a timeout is not one of connecting. FAILURE_NONE for
 * CURLE_OK. */
enum failure outbound_failure_of_connect(int number); /* of the errno of connecting */
enum failure outbound_failure_of_code(CURL *easy, CURLcode code, bool sent);
