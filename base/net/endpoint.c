/* SPDX-License-Identifier: Apache-2.0 */
#include "base/net/endpoint.h"

#include <string.h>

bool endpoint_renew(struct endpoint *endpoint, struct error *error)
{
    char bearer[SECRET_VALUE_SIZE];

    if (endpoint->lock == NULL)
        return true;
    if (!endpoint->lock->key(endpoint->lock, bearer, error))
        return false;
    if (bearer[0] != '\0')
        memcpy(endpoint->bearer, bearer, sizeof bearer);
    explicit_bzero(bearer, sizeof bearer);
    return true;
}

bool endpoint_check_scrapable(const struct endpoint *endpoint, struct error *error)
{
    return !endpoint_sleeps(endpoint)
           || error_set(error, ERROR_UNSUPPORTED,
                        "not scraped: the server scales to zero, and scrapes would keep a paid "
                        "instance running; set min_instances to 1 or more to have it scraped, or "
                        "read its metrics once with metrics_show");
}
