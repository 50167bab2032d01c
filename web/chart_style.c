/* SPDX-License-Identifier: Apache-2.0 */
#include "web/chart_style.h"

#include "analysis/charts/palette.h"
#include "base/core/digest.h"

void chart_style_write(struct text *out)
{
    palette_write_css(out);
}

void chart_style_digest(char out[CHART_STYLE_DIGEST_SIZE])
{
    TEXT_AUTO style = { 0 };
    char digest[DIGEST_TEXT_SIZE];

    chart_style_write(&style);
    digest_sha256_text(text_string(&style), style.length, digest);
    text_copy(out, CHART_STYLE_DIGEST_SIZE, digest);
}
