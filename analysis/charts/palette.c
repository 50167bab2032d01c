/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/charts/palette.h"

#include <stdio.h>

static const struct {
    const char *name;
    uint32_t colours[THEMES];
} plain[PAINT_STEP] = {
    [PAINT_NONE] = { "none", { 0, 0 } },
    [PAINT_PAPER] = { "paper", { 0xffffff, 0x14181d } },
    [PAINT_INK] = { "ink", { 0x1f2933, 0xe6eaee } },
    [PAINT_MUTED] = { "muted", { 0x52606d, 0xa5b0bb } },
    [PAINT_RULE] = { "rule", { 0xe4e7eb, 0x2b333c } },
    [PAINT_FAINT] = { "faint", { 0x87929e, 0x76828e } },
    [PAINT_SHADE] = { "shade", { 0xf0f4f8, 0x1e252d } },
    [PAINT_FAIL] = { "fail", { 0x9b1c1c, 0xff9c94 } },
    [PAINT_FAIL_PALE] = { "fail-pale", { 0xfbeaea, 0x3a1e20 } },
    [PAINT_MARK] = { "mark", { 0xb45309, 0xffb454 } },
};

/* Low values are pale on light paper and dark on dark paper, so that high values are prominent. */
static const uint32_t steps[PALETTE_STEPS] = { 0xf0f6fb, 0xd9e8f4, 0xbcd8ec, 0x94c1df, 0x6ba6cf,
                                               0x3876a8, 0x2a6a9f, 0x1a5386, 0x0b3a66 };
#define PALE_STEPS 5 /* how many of the first steps need dark text */

static const uint32_t series[THEMES][PALETTE_SERIES] = {
    { 0x0072b2, 0xc24e00, 0x00845f, 0xb0568a, 0x1f2933, 0x7a35d6 },
    { 0x56b4e9, 0xff9d4d, 0x3fd0a4, 0xe7a6cb, 0xe6eaee, 0xb08cff },
};

/* The index into `steps`. */
static int index_of(enum theme theme, int step)
{
    return theme == THEME_LIGHT ? step : PALETTE_STEPS - 1 - step;
}

uint32_t palette_colour(enum theme theme, enum paint paint)
{
    if (paint >= PAINT_SERIES)
        return series[theme][paint - PAINT_SERIES];
    if (paint >= PAINT_ON_STEP)
        return index_of(theme, (int)paint - PAINT_ON_STEP) < PALE_STEPS ? 0x1f2933 : 0xffffff;
    if (paint >= PAINT_STEP)
        return steps[index_of(theme, (int)paint - PAINT_STEP)];
    return plain[paint].colours[theme];
}

const char *palette_name(enum paint paint, char out[PALETTE_NAME_SIZE])
{
    if (paint >= PAINT_SERIES)
        snprintf(out, PALETTE_NAME_SIZE, "series%d", (int)paint - PAINT_SERIES);
    else if (paint >= PAINT_ON_STEP)
        snprintf(out, PALETTE_NAME_SIZE, "on%d", (int)paint - PAINT_ON_STEP);
    else if (paint >= PAINT_STEP)
        snprintf(out, PALETTE_NAME_SIZE, "step%d", (int)paint - PAINT_STEP);
    else
        snprintf(out, PALETTE_NAME_SIZE, "%s", plain[paint].name);
    return out;
}
