/* SPDX-License-Identifier: Apache-2.0 */
/* The query parameters and the headers of a request. */

#include "server/http/exchange.h"
#include "server/http/exchange_private.h"
#include "server/http/forwarded.h"

struct query_visit {
    void (*each)(void *context, const char *name, const char *value);
    void *context;
};

struct header_visit {
    void (*each)(void *context, const char *name, size_t name_size, const char *value,
                 size_t value_size);
    void *context;
};

const char *exchange_query(const struct exchange *exchange, const char *name)
{
    return MHD_lookup_connection_value(exchange->mhd, MHD_GET_ARGUMENT_KIND, name);
}

static enum MHD_Result visit_query(void *context, enum MHD_ValueKind kind, const char *name,
                                   const char *value)
{
    const struct query_visit *visit = context;

    (void)kind;
    visit->each(visit->context, name, value);
    return MHD_YES;
}

void exchange_each_query(const struct exchange *exchange,
                         void (*each)(void *context, const char *name, const char *value),
                         void *context)
{
    struct query_visit visit = { each, context };

    MHD_get_connection_values(exchange->mhd, MHD_GET_ARGUMENT_KIND, visit_query, &visit);
}

/* libmicrohttpd prescribes the parameters. NOLINTNEXTLINE(readability-function-size) */
static enum MHD_Result visit_header(void *context, enum MHD_ValueKind kind, const char *name,
                                    size_t name_size, const char *value, size_t value_size)
{
    const struct header_visit *visit = context;

    (void)kind;
    visit->each(visit->context, name, name_size, value, value_size);
    return MHD_YES;
}

void exchange_each_header(const struct exchange *exchange,
                          void (*each)(void *context, const char *name, size_t name_size,
                                       const char *value, size_t value_size),
                          void *context)
{
    struct header_visit visit = { each, context };

    MHD_get_connection_values_n(exchange->mhd, MHD_HEADER_KIND, visit_header, &visit);
}

bool exchange_is_over_tls(const struct exchange *exchange)
{
    return exchange->connection->is_proxy && forwarded_is_https(exchange->mhd);
}
