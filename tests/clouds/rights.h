/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the permissions that a provider's requests need with the tables in docs/clouds.md. Each
 * line of a table is for one verb (create, stop, ...) or for one other operation, such as "look"
 * (at a deployment) or "check" (of a target). A set of permissions is an object whose keys are
 * the permissions' names. */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/memory.h"
#include "base/json/json.h"

struct recording {
    const char *provider; /* its name; NULL in the test for Kubernetes */
    json_t *needed;       /* the set of permissions for the requests since the last check_line() */
    json_t *all;          /* the set of permissions for all checked lines except "check" */
    json_t *asked;        /* the permissions that target_show checks: a set, or a list for Google */
    char unknown[300];    /* a request whose permissions the test does not know; "": none */
    struct text missing;  /* lines that docs/clouds.md lacks */
};

static inline void add_needed(struct recording *recording, const char *permissions)
{
    FREE_AUTO char *copy = memory_copy_text(permissions);
    char *rest = copy, *name;

    while ((name = strsep(&rest, " ")) != NULL)
        if (name[0] != '\0')
            json_object_set_new(recording->needed, name, json_true());
}

static inline int compare(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Appends to `out` the line that the table must have for the verb. */
static inline void write_line(const struct recording *recording, const char *verb, struct text *out)
{
    const char *names[64], *name;
    size_t count = 0;
    json_t *value;

    json_object_foreach(recording->needed, name, value)
        names[count++] = name;
    qsort(names, count, sizeof names[0], compare);
    text_addf(out, "| %s | ", verb);
    for (size_t i = 0; i < count; i++)
        text_addf(out, "%s`%s`", i > 0 ? ", " : "", names[i]);
    text_add(out, " |\n");
}

/* Returns the section of docs/clouds.md about a platform; the caller frees it. */
static inline char *read_section(const char *title)
{
    FILE *file = fopen(SOURCE_DIR "/docs/clouds.md", "r");
    struct text out = { 0 };
    char line[4096], head[64];
    bool inside = false;

    assert_non_null(file);
    snprintf(head, sizeof head, "## %s\n", title);
    while (fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, "## ", 3) == 0)
            inside = strcmp(line, head) == 0;
        if (inside)
            text_add(&out, line);
    }
    fclose(file);
    return text_take(&out);
}

static inline void check_line(struct recording *recording, const char *section, const char *verb)
{
    TEXT_AUTO line = { 0 };

    if (recording->unknown[0] != '\0')
        fail_msg("%s: the test does not know which permissions %s needs", verb, recording->unknown);
    write_line(recording, verb, &line);
    if (strstr(section, text_string(&line)) == NULL)
        text_add(&recording->missing, text_string(&line));
    if (strcmp(verb, "check") != 0)
        json_object_update(recording->all, recording->needed);
    json_object_clear(recording->needed);
}

static inline void check_missing(struct recording *recording)
{
    if (recording->missing.length > 0) {
        printf("docs/clouds.md lacks these lines:\n%s", text_string(&recording->missing));
        fail();
    }
    text_finish(&recording->missing);
}
