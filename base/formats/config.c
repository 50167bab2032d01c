/* SPDX-License-Identifier: Apache-2.0 */
#include "base/formats/config.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/core/memory.h"
#include "base/formats/table.h"
#include "base/json/json.h"

#define NAME_SIZE 80
#define HELP_WIDTH 100
#define HELP_INDENT 28

/* The value that was chosen for a setting, and where it came from. */
struct choice {
    const char *text;
    bool from_environment;
    int64_t number; /* of an INTEGER, DURATION_S or BOOLEAN, once is_readable has parsed it */
};

static const char *flag_of(const struct setting *setting, char out[NAME_SIZE])
{
    snprintf(out, NAME_SIZE, "--%s", setting->name);
    for (char *c = out; *c != '\0'; c++)
        if (*c == '_')
            *c = '-';
    return out;
}

static const char *variable_of(const struct setting *setting, char out[NAME_SIZE])
{
    snprintf(out, NAME_SIZE, "OPSBRAIN_%s", setting->name);
    for (char *c = out; *c != '\0'; c++)
        *c = (char)toupper((unsigned char)*c);
    return out;
}

static bool read_boolean(const char *text, int64_t *out)
{
    static const char *const words[] = { "false", "true", "no", "yes", "off", "on", "0", "1" };

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcasecmp(text, words[i]) == 0) {
            *out = (int64_t)(i % 2);
            return true;
        }
    }
    return false;
}

/* Reads a number of seconds, or a number with the unit s, m, h or d. */
static bool read_duration(const char *text, int64_t low, int64_t high, int64_t *out)
{
    static const char units[] = "smhd";
    static const int64_t seconds[] = { 1, 60, 3600, 86400 };
    size_t length = strlen(text);
    const char *unit = length > 0 ? strchr(units, text[length - 1]) : NULL;
    int64_t factor = unit != NULL ? seconds[unit - units] : 1, value;
    char digits[24];

    text_copy(digits, sizeof digits, text);
    if (length >= sizeof digits)
        return false;
    if (unit != NULL)
        digits[length - 1] = '\0';
    if (!text_to_integer(digits, INT64_MIN, INT64_MAX, &value)
        || __builtin_mul_overflow(value, factor, &value) || value < low || value > high)
        return false;
    *out = value;
    return true;
}

static bool is_text(const struct choice *choice)
{
    return strlen(choice->text) < CONFIG_TEXT_SIZE
           && text_is_utf8(choice->text, strlen(choice->text));
}

/* Whether the URL has "user:password@" before its host, or the parameter "password". */
static bool has_password(const char *url)
{
    const char *authority = strstr(url, "://");
    size_t length, user;

    if (strstr(url, "password=") != NULL)
        return true;
    if (authority == NULL)
        return false;
    authority += 3;
    length = strcspn(authority, "@/"); /* libpq looks for the "@" in the same way */
    user = strcspn(authority, ":");
    return authority[length] == '@' && user < length;
}

/* Whether a password was given in a flag, where everybody who lists the machine's processes can
 * read it. */
static bool is_exposed(const struct setting *setting, const struct choice *choice)
{
    return setting->type == SETTING_PRIVATE && !choice->from_environment
           && has_password(choice->text);
}

/* Parses the value. Returns whether it is valid. */
static bool is_readable(const struct setting *setting, struct choice *choice)
{
    switch (setting->type) {
    case SETTING_PRIVATE:
        return is_text(choice) && !is_exposed(setting, choice);
    case SETTING_TEXT:
        return is_text(choice);
    case SETTING_INTEGER:
        return text_to_integer(choice->text, setting->low, setting->high, &choice->number);
    case SETTING_DURATION_S:
        return read_duration(choice->text, setting->low, setting->high, &choice->number);
    case SETTING_BOOLEAN:
        return read_boolean(choice->text, &choice->number);
    }
    return false;
}

/* Describes the values that a setting accepts. */
static void describe_allowed(const struct setting *setting, struct text *out)
{
    switch (setting->type) {
    case SETTING_TEXT:
        text_addf(out, "at most %d bytes of UTF-8 text", CONFIG_TEXT_SIZE - 1);
        return;
    case SETTING_INTEGER:
        text_addf(out, "a whole number from %lld to %lld", (long long)setting->low,
                  (long long)setting->high);
        return;
    case SETTING_DURATION_S:
        text_addf(out, "a time from %llds to %llds, such as 90, 90s, 15m, 2h or 7d",
                  (long long)setting->low, (long long)setting->high);
        return;
    case SETTING_BOOLEAN:
        text_add(out, "true or false");
        return;
    case SETTING_PRIVATE:
        text_addf(out, "at most %d bytes of UTF-8 text", CONFIG_TEXT_SIZE - 1);
        return;
    }
    text_add(out, "of the setting's type, which the table of settings does not state");
}

static CHECKED bool refuse_exposed(const struct setting *setting, struct error *error)
{
    char flag[NAME_SIZE], variable[NAME_SIZE];

    flag_of(setting, flag);
    variable_of(setting, variable);
    return error_set(error, ERROR_INVALID,
                     "%s has a password, which every user of this machine could read on the "
                     "command line: set the environment variable %s instead",
                     flag, variable);
}

static CHECKED bool refuse(const struct setting *setting, const struct choice *choice,
                           struct error *error)
{
    char name[NAME_SIZE];
    TEXT_AUTO allowed = { 0 };
    TEXT_AUTO shown = { 0 };

    if (is_exposed(setting, choice))
        return refuse_exposed(setting, error);
    if (choice->from_environment)
        variable_of(setting, name);
    else
        flag_of(setting, name);
    describe_allowed(setting, &allowed);
    if (setting->type == SETTING_PRIVATE)
        text_add(&shown, "***");
    else
        text_add_printable(&shown, choice->text, strlen(choice->text), 60);
    return error_set(error, ERROR_INVALID, "%s is \"%s\", but must be %s", name,
                     text_string(&shown), allowed.data);
}

/* Finds the setting for "--name" or "--name=value"; returns `count` if there is none. *value is the
 * text after '=', or NULL. */
static size_t find_flag(const struct setting *table, size_t count, const char *argument,
                        const char **value)
{
    size_t length = strcspn(argument, "=");
    char flag[NAME_SIZE];

    *value = argument[length] == '=' ? argument + length + 1 : NULL;
    for (size_t i = 0; i < count; i++) {
        flag_of(&table[i], flag);
        if (strlen(flag) == length && memcmp(flag, argument, length) == 0)
            return i;
    }
    return count;
}

static CHECKED bool refuse_argument(const char *argument, struct error *error)
{
    TEXT_AUTO shown = { 0 };
    bool is_flag = argument[0] == '-';

    text_add_printable(&shown, argument, is_flag ? strcspn(argument, "=") : strlen(argument), 60);
    return error_set(error, ERROR_INVALID, "there is no %s \"%s\"; --help lists the flags",
                     is_flag ? "flag" : "argument", text_string(&shown));
}

static CHECKED bool choose_from_flags(const struct setting *table, size_t count, int argc,
                                      char *const *argv, struct choice *choices,
                                      struct error *error)
{
    for (int i = 1; i < argc; i++) {
        const char *value;
        size_t found = find_flag(table, count, argv[i], &value);

        if (found == count)
            return refuse_argument(argv[i], error);
        if (value == NULL && table[found].type == SETTING_BOOLEAN
            && (i + 1 == argc || argv[i + 1][0] == '-'))
            value = "true";
        if (value == NULL && i + 1 == argc)
            return error_set(error, ERROR_INVALID, "%s needs a value", argv[i]);
        choices[found] = (struct choice){ .text = value != NULL ? value : argv[++i] };
    }
    return true;
}

static void choose_from_environment(const struct setting *table, size_t count,
                                    struct choice *choices)
{
    char variable[NAME_SIZE];

    for (size_t i = 0; i < count; i++) {
        const char *value = secure_getenv(variable_of(&table[i], variable));

        if (value != NULL && value[0] != '\0')
            choices[i] = (struct choice){ .text = value, .from_environment = true };
    }
}

static void store_value(const struct setting *setting, const struct choice *choice, void *out)
{
    char *field = (char *)out + setting->offset;
    bool truth = choice->number != 0;

    switch (setting->type) {
    case SETTING_TEXT:
    case SETTING_PRIVATE:
        memcpy(field, choice->text, strlen(choice->text) + 1);
        return;
    case SETTING_INTEGER:
    case SETTING_DURATION_S:
        memcpy(field, &choice->number, sizeof choice->number);
        return;
    case SETTING_BOOLEAN:
        memcpy(field, &truth, sizeof truth);
    }
}

bool config_read(const struct setting *table, size_t count, int argc, char *const *argv, void *out,
                 struct error *error)
{
    FREE_AUTO struct choice *choices = memory_zeroed(count, sizeof *choices);

    for (size_t i = 0; i < count; i++)
        choices[i].text = table[i].initial;
    choose_from_environment(table, count, choices);
    if (!choose_from_flags(table, count, argc, argv, choices, error))
        return false;
    for (size_t i = 0; i < count; i++)
        if (!is_readable(&table[i], &choices[i]))
            return refuse(&table[i], &choices[i], error);
    for (size_t i = 0; i < count; i++)
        store_value(&table[i], &choices[i], out);
    return true;
}

/* Appends one setting's value as JSON. */
static void add_value(const struct setting *setting, const void *field, struct text *out)
{
    int64_t number;
    bool truth;

    switch (setting->type) {
    case SETTING_PRIVATE:
        text_add(out, *(const char *)field == '\0' ? "\"\"" : "\"***\"");
        return;
    case SETTING_TEXT:
        json_add_string(out, field, strlen(field));
        return;
    case SETTING_INTEGER:
    case SETTING_DURATION_S:
        memcpy(&number, field, sizeof number);
        text_add_integer(out, number);
        return;
    case SETTING_BOOLEAN:
        memcpy(&truth, field, sizeof truth);
        text_add(out, truth ? "true" : "false");
    }
}

/* Appends a setting's default, in the same form as add_value. */
static void add_default(const struct setting *setting, struct text *out)
{
    struct choice choice = { .text = setting->initial };

    if (setting->type == SETTING_TEXT || setting->type == SETTING_PRIVATE)
        json_add_string(out, setting->initial, strlen(setting->initial));
    else if (!is_readable(setting, &choice))
        return;
    else if (setting->type == SETTING_BOOLEAN)
        text_add(out, choice.number != 0 ? "true" : "false");
    else
        text_add_integer(out, choice.number);
}

void config_changes(const struct setting *table, size_t count, const void *values, struct text *out)
{
    const char *separator = "";

    text_add_char(out, '{');
    for (size_t i = 0; i < count; i++) {
        TEXT_AUTO value = { 0 };
        TEXT_AUTO initial = { 0 };

        add_value(&table[i], (const char *)values + table[i].offset, &value);
        add_default(&table[i], &initial);
        if (strcmp(text_string(&value), text_string(&initial)) == 0)
            continue;
        text_addf(out, "%s\"%s\":%s", separator, table[i].name, text_string(&value));
        separator = ",";
    }
    text_add_char(out, '}');
}

static const char *type_name(enum setting_type type)
{
    static const char *const names[] = {
        [SETTING_TEXT] = "text",       [SETTING_INTEGER] = "number",
        [SETTING_DURATION_S] = "time", [SETTING_BOOLEAN] = "true/false",
        [SETTING_PRIVATE] = "text",
    };

    return names[type];
}

static void add_spaces(struct text *out, size_t count)
{
    text_addf(out, "%*s", (int)count, "");
}

/* Appends words. Where a line would exceed HELP_WIDTH, begins a new line with an indent. */
static void add_wrapped(struct text *out, const char *words)
{
    size_t column = HELP_INDENT;

    while (*words != '\0') {
        size_t length = strcspn(words, " ");

        if (column > HELP_INDENT && column + 1 + length > HELP_WIDTH) {
            text_add_char(out, '\n');
            add_spaces(out, HELP_INDENT);
            column = HELP_INDENT;
        } else if (column > HELP_INDENT) {
            text_add_char(out, ' ');
            column++;
        }
        text_add_bytes(out, words, length);
        column += length;
        words += length + strspn(words + length, " ");
    }
    text_add_char(out, '\n');
}

void config_help(const struct setting *table, size_t count, struct text *out)
{
    for (size_t i = 0; i < count; i++) {
        const struct setting *setting = &table[i];
        char flag[NAME_SIZE], variable[NAME_SIZE];
        TEXT_AUTO words = { 0 };
        size_t start = out->length;

        text_addf(out, "  %s %s", flag_of(setting, flag), type_name(setting->type));
        if (out->length - start >= HELP_INDENT) {
            text_add_char(out, '\n');
            start = out->length;
        }
        add_spaces(out, HELP_INDENT - (out->length - start));
        text_addf(&words, "%s (default: %s; %s)", setting->help,
                  setting->initial[0] != '\0' ? setting->initial : "none",
                  variable_of(setting, variable));
        add_wrapped(out, words.data);
    }
}

void config_markdown(const struct setting *table, size_t count, struct text *out)
{
    struct table *rows = table_create();
    char name[NAME_SIZE];

    table_column(rows, "Flag", false);
    table_column(rows, "Environment", false);
    table_column(rows, "Default", false);
    table_column(rows, "Meaning", false);
    for (size_t i = 0; i < count; i++) {
        const char *initial = table[i].initial;

        table_cell(rows, "`%s`", flag_of(&table[i], name));
        table_cell(rows, "`%s`", variable_of(&table[i], name));
        table_cell(rows, initial[0] != '\0' ? "`%s`" : "%s", initial);
        table_cell(rows, "%s", table[i].help);
    }
    table_render(rows, out);
    table_destroy(rows);
}
