/* SPDX-License-Identifier: Apache-2.0 */
#include "server/pages/page_asset.h"

#include <stdlib.h>
#include <string.h>

#include "base/core/memory.h"
#include "server/http/exchange.h"
#include "server/pages/page_reply.h"
#include "web/assets/assets.h"
#include "web/chart_style.h"

struct file {
    char digest[CHART_STYLE_DIGEST_SIZE];
    const char *type;
    struct text bytes;
};

static void file_finish(void *request)
{
    struct file *file = request;

    text_finish(&file->bytes);
    free(file);
}

static bool find_embedded(const char *name, struct file *out)
{
    const struct asset *asset = asset_find(name);

    if (asset == NULL)
        return false;
    out->type = asset->type;
    text_copy(out->digest, sizeof out->digest, asset->digest);
    text_add_bytes(&out->bytes, asset->bytes, *asset->length);
    return true;
}

static bool find_chart_style(const char *name, struct file *out)
{
    if (strcmp(name, CHART_STYLE_NAME) != 0)
        return false;
    out->type = "text/css; charset=utf-8";
    chart_style_digest(out->digest);
    chart_style_write(&out->bytes);
    return true;
}

bool page_asset_admit(struct exchange *exchange, const char *path)
{
    const char *name = strrchr(path, '/') + 1;
    struct file *file = memory_zeroed(1, sizeof *file);

    exchange->request = file;
    exchange->request_finish = file_finish;
    if (find_embedded(name, file) || find_chart_style(name, file))
        return true;
    exchange_refuse(exchange, 404, "there is no such file");
    return false;
}

void page_asset_serve(struct exchange *exchange)
{
    struct file *file = exchange->request;
    const char *digest = exchange_query(exchange, "v");
    bool lasts = digest != NULL && strcmp(digest, file->digest) == 0;

    page_reply_headers(exchange, NULL);
    exchange_add_header(exchange, "Cache-Control",
                        lasts ? "public, max-age=31536000, immutable" : "no-cache");
    if (!page_reply_is_known(exchange, file->digest, exchange->headers.if_none_match))
        exchange_reply(exchange, 200, file->type, &file->bytes);
}
