/* SPDX-License-Identifier: Apache-2.0 */
#include "server/pages/page_body.h"

#include "server/http/exchange.h"
#include "server/pages/page_server.h"
#include "server/settings/settings.h"
#include "store/ledger/disk_space.h"

#define FILES_AT_ONCE 8 /* each can occupy up to PAGE_BODY_FILE_MAX bytes on the disk */

static bool refuse(struct exchange *exchange, const struct error *error)
{
    exchange_refuse_fault(exchange, "storing a file from a form", error);
    return false;
}

/* Refuses without logging an error: the server is not at fault. */
static bool refuse_busy(struct exchange *exchange)
{
    exchange_add_header(exchange, "Retry-After", "5");
    exchange_refuse(exchange, 503, "%d files are being received: try again in 5 s", FILES_AT_ONCE);
    return false;
}

/* Prepares to store the body, when its first piece arrives. */
static bool begin(struct page_body *body, struct exchange *exchange, struct page_server *server)
{
    struct error error;

    if (!role_allows(exchange->principal.role, ROLE_ADMIN)
        && !disk_space_check(server->services->store, &error))
        return refuse(exchange, &error);
    body->server = server;
    body->stored.fd = -1;
    if (atomic_fetch_add(&server->files, 1) >= FILES_AT_ONCE)
        return refuse_busy(exchange);
    return body_file_create(server->settings->data, &body->stored, &error)
           || refuse(exchange, &error);
}

bool page_body_add(struct page_body *body, struct exchange *exchange, struct page_server *server,
                   const char *bytes, size_t size)
{
    struct error error;

    if (body->server == NULL && !begin(body, exchange, server))
        return false;
    return body_file_add(&body->stored, bytes, size, &error) || refuse(exchange, &error);
}

bool page_body_read(struct page_body *body, const struct text *in_memory, struct form *form,
                    struct error *error)
{
    if (body->stored.size == 0) {
        form_read(form, text_string(in_memory), in_memory->length);
        return true;
    }
    if (!body_file_map(&body->stored, &body->mapped, error))
        return false;
    multipart_read(form, body->boundary, body->mapped, body->stored.size, &body->file,
                   &body->file_bytes);
    return true;
}

void page_body_finish(struct page_body *body)
{
    if (body->mapped != NULL)
        body_file_unmap(&body->stored, body->mapped);
    if (body->server == NULL)
        return;
    body_file_finish(&body->stored);
    atomic_fetch_sub(&body->server->files, 1);
}
