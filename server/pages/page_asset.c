/* SPDX-License-Identifier: Apache-2.0 */
#include "server/pages/page_asset.h"

#include <string.h>

#include "server/http/exchange.h"
#include "server/pages/page_reply.h"
#include "web/assets/assets.h"

bool page_asset_admit(struct exchange *exchange, const char *path)
{
    exchange->request = (void *)(uintptr_t)asset_find(strrchr(path, '/') + 1);
    if (exchange->request == NULL)
        exchange_refuse(exchange, 404, "there is no such file");
    return exchange->request != NULL;
}

void page_asset_serve(struct exchange *exchange)
{
    const struct asset *asset = exchange->request;
    const char *digest = exchange_query(exchange, "v");
    bool lasts = digest != NULL && strcmp(digest, asset->digest) == 0;
    struct text body = { 0 };

    text_add_bytes(&body, asset->bytes, *asset->length);
    page_reply_headers(exchange, NULL);
    exchange_add_header(exchange, "Cache-Control",
                        lasts ? "public, max-age=31536000, immutable" : "no-cache");
    exchange_reply(exchange, 200, asset->type, &body);
}
