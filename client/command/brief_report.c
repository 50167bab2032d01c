/* SPDX-License-Identifier: Apache-2.0 */
#include "client/command/brief_report.h"

#include <string.h>

#define MATRICES_SHOWN 3 /* for each output length: latency, throughput, TTFT */
#define PAGE "Page: "    /* begins the line after the last section */

struct brief {
    size_t matrices;     /* how many so far under the latest heading of level 1 or 2 */
    struct text omitted; /* titles of omitted sections: "; Peak; Saturation; " */
    struct text *out;
};

static const char *after_line(const char *text)
{
    text += strcspn(text, "\n");
    return *text == '\n' ? text + 1 : text;
}

/* Returns the number of "#" at the start of a heading; 0: the line is not a heading. */
static size_t level_of(const char *line)
{
    size_t level = strspn(line, "#");

    return level > 0 && line[level] == ' ' ? level : 0;
}

/* Returns the length of a section. It ends at the next heading of the same or a higher level, or at
 * the line that begins with PAGE. */
static size_t section_length(const char *text)
{
    const char *end = after_line(text);

    for (size_t level = level_of(text); *end != '\0'; end = after_line(end))
        if ((level_of(end) > 0 && level_of(end) <= level) || strncmp(end, PAGE, strlen(PAGE)) == 0)
            break;
    return (size_t)(end - text);
}

/* Returns whether a matrix begins here: a table directly after a heading of level 3. */
static bool is_matrix(const char *heading)
{
    const char *next = after_line(heading);

    return level_of(heading) == 3 && next[0] == '\n' && next[1] == '|';
}

/* Returns whether a section is omitted, and counts the matrices. The takeaways already give the
 * peak with its requests/s and, in a report with one table instead of matrices, also the
 * saturation. */
static bool is_omitted(struct brief *brief, const char *heading)
{
    static const char *const details[] = { "### Throughput, requests/s\n", "### Peak\n",
                                           "## What was measured\n", "## How it was measured\n" };

    for (size_t i = 0; i < sizeof details / sizeof *details; i++)
        if (strncmp(heading, details[i], strlen(details[i])) == 0)
            return true;
    if (is_matrix(heading))
        return ++brief->matrices > MATRICES_SHOWN;
    return brief->matrices == 0 && strncmp(heading, "### Saturation\n", 15) == 0;
}

#define BETWEEN "; "

static void omit(struct brief *brief, const char *heading)
{
    const char *title = heading + level_of(heading) + 1;
    TEXT_AUTO entry = { 0 };

    if (brief->omitted.length == 0)
        text_add(&brief->omitted, BETWEEN);
    text_addf(&entry, BETWEEN "%.*s" BETWEEN, (int)strcspn(title, "\n"), title);
    if (strstr(text_string(&brief->omitted), text_string(&entry)) == NULL)
        text_add(&brief->omitted, text_string(&entry) + strlen(BETWEEN));
}

static void add_omitted(struct brief *brief)
{
    const size_t around = strlen(BETWEEN);

    if (brief->omitted.length > 0)
        text_addf(brief->out, "--all also shows: %.*s.\n\n",
                  (int)(brief->omitted.length - 2 * around), brief->omitted.data + around);
    text_clear(&brief->omitted);
}

/* Adds a line, or omits a whole section; returns what follows. */
static const char *add_or_omit(struct brief *brief, const char *text)
{
    const char *end = after_line(text);
    size_t level = level_of(text);

    if (strncmp(text, PAGE, strlen(PAGE)) == 0)
        add_omitted(brief);
    if (level == 1 || level == 2)
        brief->matrices = 0;
    if (level > 0 && is_omitted(brief, text)) {
        omit(brief, text);
        return text + section_length(text);
    }
    text_add_bytes(brief->out, text, (size_t)(end - text));
    return end;
}

void brief_report_add(const char *report, struct text *out)
{
    struct brief brief = { .out = out };

    while (*report != '\0')
        report = add_or_omit(&brief, report);
    add_omitted(&brief);
    text_finish(&brief.omitted);
}
