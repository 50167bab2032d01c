/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/providers/container_command.h"

#include "base/json/json.h"
#include "base/net/credential.h"
#include "fleet/providers/provider.h"
#include "fleet/recipes/recipe_members.h"

/* Recognizes options like "--port" and "-p". Other words that begin with '-' may be credentials. */
static bool is_option(const char *word)
{
    return strncmp(word, "--", 2) == 0 || (word[0] == '-' && strlen(word) == 2);
}

/* Returns how many bytes of a word can be shown: everything up to and including the first name that
 * sounds like that of a credential. Nothing after the name is shown, because in a script its value
 * could end anywhere. Sets *named to whether the word ends with such a name, because the next word
 * may then be the value. */
static size_t shown_length(const char *word, bool *named)
{
    static const char between[] = " \t\r\n\"'`=:;,()<>[]{}|&";
    size_t at = strspn(word, between);

    for (*named = false; word[at] != '\0'; at += strspn(word + at, between)) {
        size_t length = strcspn(word + at, between);
        bool sounds_secret = recipe_sounds_secret(word + at, length);

        at += length;
        *named = sounds_secret && word[at] == '\0';
        if (sounds_secret)
            break;
    }
    return at;
}

static json_t *mask_word(const char *word, size_t shown_bytes)
{
    TEXT_AUTO start = { 0 };
    TEXT_AUTO out = { 0 };
    json_auto_t *digest = provider_digest(word);

    text_add_bytes(&start, word, shown_bytes);
    credential_add_masked(&out, text_string(&start));
    if (word[shown_bytes] != '\0')
        text_addf(&out, "%s(hidden)", shown_bytes > 0 ? " " : "");
    if (strcmp(text_string(&out), word) != 0)
        text_addf(&out, " %s", json_string_value(digest));
    return json_string(text_string(&out));
}

json_t *container_command_mask(const json_t *words, bool *is_value)
{
    json_t *out = words == NULL ? NULL : json_array();
    const json_t *item;
    size_t i;

    json_array_foreach(words, i, item) {
        const char *word = json_string_value(item);
        bool hides = *is_value && word != NULL && !is_option(word), named = false;
        size_t shown_bytes = word == NULL || hides ? 0 : shown_length(word, &named);

        json_array_append_new(out,
                              word == NULL ? json_deep_copy(item) : mask_word(word, shown_bytes));
        *is_value = hides || (named && is_option(word));
    }
    return out;
}
