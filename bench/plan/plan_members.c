/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/plan/plan_members.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct member;

/* How members of one kind are read (after their values have been checked) and written. */
struct kind {
    const char *phrase;        /* as in "<name> must be <phrase>" */
    json_type type, item_type; /* item_type: the type of a list's values */
    void (*read)(const struct member *member, const json_t *value, struct plan *plan);
    json_t *(*write)(const struct member *member, const struct plan *plan);
};

struct member {
    const char *name;
    const struct kind *kind;
    size_t value_offset; /* where the value is in struct plan */
    size_t count_offset; /* for a list: where the number of its values is in struct plan */
    /* The range, inclusive, of a number, or of the length of a string (in bytes) or list. The `low`
     * of a list is not used here. */
    double low, high;
    double item_low, item_high; /* the same for each value in a list */
    const char *const *choices; /* ends with NULL; for a CHOICE, in the order of its enum */
    const char *initial;        /* the default as JSON text; NULL: none */
    /* The next members are not used here: the rows of plan_parameters.h set them for the tools
     * (handlers/tool.h). */
    bool rare;
    const char *help, *more;
};

static void *value_in(const struct member *member, struct plan *plan)
{
    return (char *)plan + member->value_offset;
}

static const void *value_of(const struct member *member, const struct plan *plan)
{
    return (const char *)plan + member->value_offset;
}

static size_t *count_in(const struct member *member, struct plan *plan)
{
    return (size_t *)(void *)((char *)plan + member->count_offset);
}

static size_t count_of(const struct member *member, const struct plan *plan)
{
    return *(const size_t *)(const void *)((const char *)plan + member->count_offset);
}

/* ---- Single values --------------------------------------------------------------------------- */

static void read_integer(const struct member *member, const json_t *value, struct plan *plan)
{
    *(int64_t *)value_in(member, plan) = json_integer_value(value);
}

static json_t *write_integer(const struct member *member, const struct plan *plan)
{
    return json_integer(*(const int64_t *)value_of(member, plan));
}

static void read_number(const struct member *member, const json_t *value, struct plan *plan)
{
    *(double *)value_in(member, plan) = json_number_value(value);
}

static json_t *write_number(const struct member *member, const struct plan *plan)
{
    return json_real(*(const double *)value_of(member, plan));
}

static void read_boolean(const struct member *member, const json_t *value, struct plan *plan)
{
    *(bool *)value_in(member, plan) = json_is_true(value);
}

static json_t *write_boolean(const struct member *member, const struct plan *plan)
{
    return json_boolean(*(const bool *)value_of(member, plan));
}

static void read_text(const struct member *member, const json_t *value, struct plan *plan)
{
    text_copy(value_in(member, plan), (size_t)member->high + 1, json_string_value(value));
}

static json_t *write_text(const struct member *member, const struct plan *plan)
{
    return json_string(value_of(member, plan));
}

/* Returns the index of the choice; -1 if there is no such choice. */
static int find_choice(const struct member *member, const json_t *value)
{
    for (int i = 0; member->choices[i] != NULL; i++)
        if (strcmp(json_string_value(value), member->choices[i]) == 0)
            return i;
    return -1;
}

static void read_choice(const struct member *member, const json_t *value, struct plan *plan)
{
    *(int *)value_in(member, plan) = find_choice(member, value);
}

static json_t *write_choice(const struct member *member, const struct plan *plan)
{
    return json_string(member->choices[*(const int *)value_of(member, plan)]);
}

static void read_percentile(const struct member *member, const json_t *value, struct plan *plan)
{
    *(int64_t *)value_in(member, plan) = strtol(json_string_value(value) + 1, NULL, 10);
}

static json_t *write_percentile(const struct member *member, const struct plan *plan)
{
    return json_sprintf("p%" PRId64, *(const int64_t *)value_of(member, plan));
}

/* ---- Lists ----------------------------------------------------------------------------------- */

static int compare_integers(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;

    return (left > right) - (left < right);
}

static int compare_numbers(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;

    return (left > right) - (left < right);
}

/* Sorts the levels and removes duplicates. Returns how many are left. */
static size_t sort_levels(void *levels, size_t count, size_t size,
                          int (*compare)(const void *a, const void *b))
{
    char *at = levels;
    size_t kept = 0;

    qsort(levels, count, size, compare);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || compare(at + (kept - 1) * size, at + i * size) != 0)
            memmove(at + kept++ * size, at + i * size, size);
    return kept;
}

static void read_integers(const struct member *member, const json_t *list, struct plan *plan)
{
    int64_t *levels = value_in(member, plan);
    size_t i;
    json_t *value;

    json_array_foreach(list, i, value)
        levels[i] = json_integer_value(value);
    *count_in(member, plan) =
        sort_levels(levels, json_array_size(list), sizeof *levels, compare_integers);
}

static json_t *write_integers(const struct member *member, const struct plan *plan)
{
    const int64_t *levels = value_of(member, plan);
    json_t *list = json_array();

    for (size_t i = 0; i < count_of(member, plan); i++)
        json_array_append_new(list, json_integer(levels[i]));
    return list;
}

static void read_numbers(const struct member *member, const json_t *list, struct plan *plan)
{
    double *levels = value_in(member, plan);
    size_t i;
    json_t *value;

    json_array_foreach(list, i, value)
        levels[i] = json_number_value(value);
    *count_in(member, plan) =
        sort_levels(levels, json_array_size(list), sizeof *levels, compare_numbers);
}

static json_t *write_numbers(const struct member *member, const struct plan *plan)
{
    const double *levels = value_of(member, plan);
    json_t *list = json_array();

    for (size_t i = 0; i < count_of(member, plan); i++)
        json_array_append_new(list, json_real(levels[i]));
    return list;
}

static size_t text_size(const struct member *member)
{
    return (size_t)member->item_high + 1;
}

static void read_texts(const struct member *member, const json_t *list, struct plan *plan)
{
    char *texts = value_in(member, plan);
    size_t i;
    json_t *value;

    json_array_foreach(list, i, value)
        text_copy(texts + i * text_size(member), text_size(member), json_string_value(value));
    *count_in(member, plan) = json_array_size(list);
}

static json_t *write_texts(const struct member *member, const struct plan *plan)
{
    const char *texts = value_of(member, plan);
    json_t *list = json_array();

    for (size_t i = 0; i < count_of(member, plan); i++)
        json_array_append_new(list, json_string(texts + i * text_size(member)));
    return list;
}

/* ---- The tables ------------------------------------------------------------------------------ */

enum kind_name {
    KIND_INTEGER,
    KIND_NUMBER,
    KIND_BOOLEAN,
    KIND_TEXT,
    KIND_CHOICE,     /* one of an enum's values */
    KIND_PERCENTILE, /* one of `choices`; stored as a whole number: "p99" as 99 */
    KIND_INTEGERS,
    KIND_NUMBERS,
    KIND_TEXTS,
};

static const struct kind kinds[] = {
    [KIND_INTEGER] = { "a whole number", JSON_INTEGER, 0, read_integer, write_integer },
    [KIND_NUMBER] = { "a number", JSON_REAL, 0, read_number, write_number },
    [KIND_BOOLEAN] = { "true or false", JSON_TRUE, 0, read_boolean, write_boolean },
    [KIND_TEXT] = { "a string", JSON_STRING, 0, read_text, write_text },
    [KIND_CHOICE] = { "a string", JSON_STRING, 0, read_choice, write_choice },
    [KIND_PERCENTILE] = { "a string", JSON_STRING, 0, read_percentile, write_percentile },
    [KIND_INTEGERS] = { "a list of whole numbers", JSON_ARRAY, JSON_INTEGER, read_integers,
                        write_integers },
    [KIND_NUMBERS] = { "a list of numbers", JSON_ARRAY, JSON_REAL, read_numbers, write_numbers },
    [KIND_TEXTS] = { "a list of strings", JSON_ARRAY, JSON_STRING, read_texts, write_texts },
};

#define AT(member) .value_offset = offsetof(struct plan, member)
#define LIST(values, values_count)                                                                 \
    .value_offset = offsetof(struct plan, values),                                                 \
    .count_offset = offsetof(struct plan, values_count)
#define PLAN_PARAMETER(name, kind, place, ...) { name, &kinds[KIND_##kind], place, __VA_ARGS__ },

static const struct member members[] = {
#include "bench/plan/plan_parameters.h"
};

#define MEMBERS (sizeof members / sizeof *members)

/* ---- Checks ---------------------------------------------------------------------------------- */

static bool is_of_type(json_type type, const json_t *value)
{
    json_type given = json_typeof(value);

    return given == type || (type == JSON_REAL && given == JSON_INTEGER)
           || (type == JSON_TRUE && given == JSON_FALSE);
}

static CHECKED bool check_type(const struct member *member, const json_t *value,
                               struct error *error)
{
    bool fits = is_of_type(member->kind->type, value);
    size_t i;
    json_t *item;

    json_array_foreach(value, i, item)
        fits = fits && is_of_type(member->kind->item_type, item);
    return fits
           || error_set(error, ERROR_INVALID, "'%s' must be %s", member->name,
                        member->kind->phrase);
}

static CHECKED bool check_choice(const struct member *member, const json_t *value,
                                 struct error *error)
{
    TEXT_AUTO names = { 0 };

    if (find_choice(member, value) >= 0)
        return true;
    for (size_t i = 0; member->choices[i] != NULL; i++)
        text_addf(&names, "%s%s",
                  i == 0                           ? ""
                  : member->choices[i + 1] == NULL ? " or "
                                                   : ", ",
                  member->choices[i]);
    return error_set(error, ERROR_INVALID, "'%s' is '%.40s': it must be %s", member->name,
                     json_string_value(value), text_string(&names));
}

/* Checks a number, or the length of a string. `is_item`: it is one value in a list. */
static CHECKED bool check_range(const char *name, bool is_item, const json_t *value, double low,
                                double high, struct error *error)
{
    bool is_text = json_is_string(value);
    double size = is_text ? (double)json_string_length(value) : json_number_value(value);

    return (size >= low && size <= high)
           || error_set(error, ERROR_INVALID, "'%s' %s %s%.16g%s: %s must be from %.16g to %.16g%s",
                        name, is_item ? "contains" : "is", is_text ? "a string of " : "", size,
                        is_text ? " bytes" : "", is_item ? "each value" : "it", low, high,
                        is_text ? " bytes long" : "");
}

static CHECKED bool check_items(const struct member *member, const json_t *list,
                                struct error *error)
{
    size_t i;
    json_t *item;

    if ((double)json_array_size(list) > member->high)
        return error_set(error, ERROR_INVALID, "'%s' has %zu values: give at most %.0f",
                         member->name, json_array_size(list), member->high);
    json_array_foreach(list, i, item)
        if (!check_range(member->name, true, item, member->item_low, member->item_high, error))
            return false;
    return true;
}

static CHECKED bool check(const struct member *member, const json_t *value, struct error *error)
{
    if (!check_type(member, value, error))
        return false;
    if (member->choices != NULL)
        return check_choice(member, value, error);
    if (json_is_array(value))
        return check_items(member, value, error);
    return json_is_boolean(value)
           || check_range(member->name, false, value, member->low, member->high, error);
}

/* ---- Reading and writing --------------------------------------------------------------------- */

static bool is_given(const json_t *value)
{
    return value != NULL && !(json_is_string(value) && json_string_length(value) == 0)
           && !(json_is_array(value) && json_array_size(value) == 0);
}

/* Returns a new reference; NULL if the member is not given and has no default. */
static json_t *given_or_initial(const struct member *member, const json_t *arguments)
{
    json_t *given = json_object_get(arguments, member->name);

    if (is_given(given))
        return json_incref(given);
    return member->initial == NULL ? NULL : json_loads(member->initial, JSON_DECODE_ANY, NULL);
}

bool plan_members_read(const json_t *arguments, struct plan *plan, struct error *error)
{
    for (const struct member *member = members; member < members + MEMBERS; member++) {
        json_auto_t *value = given_or_initial(member, arguments);

        if (value == NULL)
            continue;
        if (!check(member, value, error))
            return false;
        member->kind->read(member, value, plan);
    }
    return true;
}

bool plan_members_is_default(const struct plan *plan, const char *name)
{
    for (const struct member *member = members; member < members + MEMBERS; member++) {
        json_auto_t *value = NULL, *initial = NULL;

        if (strcmp(member->name, name) != 0)
            continue;
        value = member->kind->write(member, plan);
        initial = given_or_initial(member, NULL);
        return json_is_number(value) ? json_number_value(value) == json_number_value(initial)
                                     : json_equal(value, initial);
    }
    return false;
}

json_t *plan_members_to_json(const struct plan *plan)
{
    json_t *json = json_object();

    for (const struct member *member = members; member < members + MEMBERS; member++)
        json_object_set_new(json, member->name, member->kind->write(member, plan));
    return json;
}
