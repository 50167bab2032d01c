/* SPDX-License-Identifier: Apache-2.0 */
/* The cloud services that opsbrain can call, and checks of request URLs. Private to fleet/cloud. */
#pragma once

#include "fleet/cloud/cloud.h"

#define CLOUD_URL_SIZE 2048

/* Returns the base URL of the service `name`: its replacement or, if there is none, the one in the
 * table. The table must have the service. Borrowed. */
const char *cloud_endpoints_base(const struct cloud_endpoints *endpoints, const char *name);
/* Returns true if the base URL of the service `name` was replaced. The table must have the
 * service. */
bool cloud_endpoints_is_replaced(const struct cloud_endpoints *endpoints, const char *name);
/* Writes `url` to `out`, with the service's base URL replaced if cloud_endpoints_create was given a
 * replacement. FORBIDDEN unless `url` belongs to a service in the table other than "token" and
 * "metadata". INVALID if the result is too long, or as for cloud_url_check. */
CHECKED bool cloud_endpoints_resolve(const struct cloud_endpoints *endpoints, const char *url,
                                     char out[CLOUD_URL_SIZE], struct error *error);
/* INVALID unless the URL has only visible ASCII characters, no '#' or '\', and no "." or ".."
 * segment in its path. */
CHECKED bool cloud_url_check(const char *url, struct error *error);
