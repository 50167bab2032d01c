/* SPDX-License-Identifier: Apache-2.0 */
#include "web/assets/assets.h"

#include <string.h>

#define EMBEDDED(symbol)                                                                           \
    extern const char symbol[], symbol##_digest[];                                                 \
    extern const size_t symbol##_length
EMBEDDED(asset_style_css);
EMBEDDED(asset_chart_css);
EMBEDDED(asset_page_js);
EMBEDDED(asset_marks_js);
EMBEDDED(asset_icon_svg);

#define ROW(name, type, symbol)                                                                    \
    {                                                                                              \
        name, type, symbol, &symbol##_length, symbol##_digest                                      \
    }
const struct asset assets[] = {
    ROW("style.css", "text/css; charset=utf-8", asset_style_css),
    ROW("chart.css", "text/css; charset=utf-8", asset_chart_css),
    ROW("page.js", "text/javascript; charset=utf-8", asset_page_js),
    ROW("marks.js", "text/javascript; charset=utf-8", asset_marks_js),
    ROW("icon.svg", "image/svg+xml", asset_icon_svg),
    { 0 },
};

const struct asset *asset_find(const char *name)
{
    for (const struct asset *asset = assets; asset->name != NULL; asset++)
        if (strcmp(asset->name, name) == 0)
            return asset;
    return NULL;
}
