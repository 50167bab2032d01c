/* Where the users of a cell connect to: the host is resolved once, not once per connection. */
#pragma once

#include <stdint.h>

#include "base/endpoint.h"
#include "base/error.h"

struct curl_slist;

/* For CURLOPT_RESOLVE. NULL where the URL names an address. UPSTREAM where the host does not
 * resolve, or only to addresses that no deployment may have. Free with curl_slist_free_all. */
bool reach_resolve(const struct endpoint *endpoint, struct curl_slist **out, struct error *error);
/* Raises the limit of open files as far as it goes. BUSY, with the limit and what to do, where
 * `connections` more do not fit. */
bool reach_fit(int64_t connections, struct error *error);
