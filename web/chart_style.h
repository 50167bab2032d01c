/* SPDX-License-Identifier: Apache-2.0 */
/* The colours of the charts on pages, as a style sheet: /assets/chart.css. */
#pragma once

#include "base/core/text.h"

#define CHART_STYLE_NAME "chart.css"
#define CHART_STYLE_DIGEST_SIZE 17

void chart_style_write(struct text *out);
/* In its URL, as of other assets. */
void chart_style_digest(char out[CHART_STYLE_DIGEST_SIZE]);
