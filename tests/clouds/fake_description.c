/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/clouds/fake_description.h"

#include <string.h>

#include "base/json/json.h"

json_t *fake_description_load(const char *file)
{
    TEXT_AUTO path = { 0 };

    text_addf(&path, SOURCE_DIR "/../shared/data/cloud-apis/%s", file);
    return json_load_file(text_string(&path), 0, NULL);
}

static bool check(const json_t *schemas, const json_t *type, const json_t *value, struct text *out);

static bool check_object(const json_t *schemas, const json_t *type, const json_t *value,
                         struct text *out)
{
    const json_t *members = json_object_get(type, "properties");
    const json_t *others = json_object_get(type, "additionalProperties"), *member;
    const char *name;

    if (!json_is_object(value))
        return false;
    json_object_foreach(json_iterable(value), name, member) {
        const json_t *known = json_object_get(members, name);
        size_t length = out->length;

        text_addf(out, "%s%s", length > 0 ? "." : "", name);
        if (known == NULL)
            known = others;
        if (known == NULL || json_is_true(json_object_get(known, "readOnly"))
            || !check(schemas, known, member, out))
            return false;
        out->length = length;
        out->data[length] = '\0';
    }
    return true;
}

/* `words` lists the allowed values; NULL if the type has no such list: then every value is allowed.
 */
static bool is_in_enum(const json_t *words, const json_t *value)
{
    const json_t *word;
    size_t i;

    json_array_foreach(words, i, word)
        if (json_equal(word, value))
            return true;
    return words == NULL;
}

static bool check_text(const json_t *type, const json_t *value)
{
    const char *format = json_get_text(type, "format", "");
    const char *text = json_string_value(value);

    if (text == NULL || !is_in_enum(json_object_get(type, "enum"), value))
        return false;
    return strstr(format, "int64") == NULL || text[strspn(text, "-0123456789")] == '\0';
}

static bool check(const json_t *schemas, const json_t *type, const json_t *value, struct text *out)
{
    const char *reference = json_get_text(type, "$ref", NULL);
    const char *name = json_get_text(type, "type", "");
    const json_t *item;
    size_t i;

    if (reference != NULL)
        return check_object(schemas, json_object_get(schemas, reference), value, out);
    if (strcmp(name, "object") == 0)
        return check_object(schemas, type, value, out);
    if (strcmp(name, "array") == 0) {
        json_array_foreach(value, i, item)
            if (!check(schemas, json_object_get(type, "items"), item, out))
                return false;
        return json_is_array(value);
    }
    if (strcmp(name, "boolean") == 0)
        return json_is_boolean(value);
    if (strcmp(name, "string") == 0)
        return check_text(type, value);
    return json_is_number(value);
}

bool fake_description_check(const json_t *description, const char *schema, const json_t *value,
                            struct text *out)
{
    const json_t *schemas = json_object_get(description, "schemas");

    text_clear(out);
    return check_object(schemas, json_object_get(schemas, schema), value, out);
}
