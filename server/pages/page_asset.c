/* SPDX-License-Identifier: Apache-2.0 */
#include "server/pages/page_asset.h"

#include <stdlib.h>
#include <string.h>

#include "base/core/memory.h"
#include "server/http/exchange.h"
#include "server/pages/page_reply.h"
#include "web/assets/assets.h"

bool page_asset_admit(struct exchange *exchange, const char *path)
{
    const struct asset **found = memory_zeroed(1, sizeof *found);

    exchange->request = found;
    exchange->request_finish = free;
    *found = asset_find(strrchr(path, '/') + 1);
    if (*found == NULL)
        exchange_refuse(exchange, 404, "there is no such file");
    return *found != NULL;
}

void page_asset_serve(struct exchange *exchange)
{
    const struct asset *asset = *(const struct asset **)exchange->request;
    const char *digest = exchange_query(exchange, "v");
    bool lasts = digest != NULL && strcmp(digest, asset->digest) == 0;
    TEXT_AUTO bytes = { 0 };

    page_reply_headers(exchange, NULL);
    exchange_add_header(exchange, "Cache-Control",
                        lasts ? "public, max-age=31536000, immutable" : "no-cache");
    if (page_reply_if_known(exchange, asset->digest, exchange->headers.if_none_match))
        return;
    text_add_bytes(&bytes, asset->bytes, *asset->length);
    exchange_reply(exchange, 200, asset->type, &bytes);
}
