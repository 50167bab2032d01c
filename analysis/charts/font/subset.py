#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the two fonts of the charts, and the table of their widths, from Debian's fonts-inter.

The fonts keep Latin, Greek and a few symbols. Digits, full stop and comma have their tabular forms, so that figures
line up in columns. Needs the packages fonttools and fonts-inter. Usage: analysis/charts/font/subset.py
"""
import os
from fontTools import subset
from fontTools.ttLib import TTFont

SOURCE = "/usr/share/fonts/opentype/inter/"
WEIGHTS = {"regular": "Inter-Regular.otf", "semibold": "Inter-SemiBold.otf"}
RANGES = [(0x20, 0x7E), (0xA0, 0x17F), (0x391, 0x3A9), (0x3B1, 0x3C9)]
SYMBOLS = "–—‘’“”•…←↑→↓≈≠≤≥−∞□†€"
TABULAR = "0123456789.,"

here = os.path.dirname(os.path.abspath(__file__))


def kept(font):
    wanted = {c for low, high in RANGES for c in range(low, high + 1)} | {ord(c) for c in SYMBOLS}
    return sorted(wanted & set(font.getBestCmap()))


def tabular_glyphs(font):
    gsub = font["GSUB"].table
    wanted = [r.Feature for r in gsub.FeatureList.FeatureRecord if r.FeatureTag == "tnum"]
    mapping = {}
    for index in wanted[0].LookupListIndex:
        for table in gsub.LookupList.Lookup[index].SubTable:
            mapping.update(getattr(table, "ExtSubTable", table).mapping)
    return mapping


def bake_tabular(font):
    mapping = tabular_glyphs(font)
    for table in font["cmap"].tables:
        for c in map(ord, TABULAR):
            if c in table.cmap and table.cmap[c] in mapping:
                table.cmap[c] = mapping[table.cmap[c]]


def make(name, source):
    font = TTFont(SOURCE + source)
    bake_tabular(font)
    options = subset.Options(layout_features=[], hinting=False, notdef_outline=True, name_IDs=[0, 1, 2, 13, 14],
                             drop_tables=["GSUB", "GPOS", "GDEF", "STAT", "DSIG", "meta"], desubroutinize=False)
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=kept(font))
    subsetter.subset(font)
    font["head"].modified = font["head"].created
    font.recalcTimestamp = False
    font.save(os.path.join(here, f"inter-{name}.otf"))
    return font


def write_widths(fonts):
    cmaps = {name: font.getBestCmap() for name, font in fonts.items()}
    units = fonts["regular"]["head"].unitsPerEm
    rows = [(c, *(round(f["hmtx"][cmaps[n][c]][0] * 1000 / units) for n, f in fonts.items()))
            for c in sorted(cmaps["regular"])]
    lines = [f"    {{ 0x{c:04x}, {{ {regular}, {semibold} }} }}," for c, regular, semibold in rows]
    with open(os.path.join(here, "..", "font_widths.c"), "w", encoding="utf-8") as out:
        out.write("/* SPDX-License-Identifier: Apache-2.0 */\n"
                  "/* Written by analysis/charts/font/subset.py, together with the fonts in analysis/charts/font/. */\n"
                  "/* clang-format off */\n"
                  '#include "analysis/charts/font.h"\n\n'
                  "const struct font_width font_widths[] = {\n" + "\n".join(lines) + "\n};\n"
                  "const size_t font_width_count = sizeof font_widths / sizeof font_widths[0];\n")


write_widths({name: make(name, source) for name, source in WEIGHTS.items()})
