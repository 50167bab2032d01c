/* SPDX-License-Identifier: Apache-2.0 */
#include "server/mcp/request_state.h"

#include <string.h>

#include "base/core/memory.h"
#include "base/core/text.h"
#include "base/json/json.h"

/* A state is "1.<HMAC-SHA256 in hex>.<JSON>". The signature also covers the version, "1.". */
#define VERSION "1."
#define VERSION_LENGTH (sizeof VERSION - 1)
#define SEAL_LENGTH (DIGEST_TEXT_SIZE - 1)
#define HEAD_LENGTH (VERSION_LENGTH + SEAL_LENGTH + 1)

void request_state_digest(const char *method, const char *name, const json_t *arguments,
                          char out[DIGEST_TEXT_SIZE])
{
    FREE_AUTO char *written =
        arguments != NULL ? json_write_canonical(arguments) : memory_copy_text("{}");
    TEXT_AUTO text = { 0 };

    text_addf(&text, "%s\n%zu\n%s\n%s", method, strlen(name), name, written);
    digest_sha256_text(text_string(&text), text.length, out);
}

static void seal_of(const uint8_t key[DIGEST_BYTES], const char *json, char out[DIGEST_TEXT_SIZE])
{
    static const char digits[] = "0123456789abcdef";
    uint8_t seal[DIGEST_BYTES];
    TEXT_AUTO sealed = { 0 };

    text_add(&sealed, "opsbrain request state " VERSION);
    text_add(&sealed, json);
    digest_hmac_sha256(key, DIGEST_BYTES, text_string(&sealed), sealed.length, seal);
    for (size_t i = 0; i < DIGEST_BYTES; i++) {
        out[2 * i] = digits[seal[i] >> 4];
        out[2 * i + 1] = digits[seal[i] & 15];
    }
    out[SEAL_LENGTH] = '\0';
}

bool request_state_seal(const uint8_t key[DIGEST_BYTES], const struct request_state *state,
                        char **out, struct error *error)
{
    json_auto_t *body = json_pack("{s:s, s:s, s:s, s:I, s:O}", "nonce", state->nonce, "principal",
                                  state->principal, "digest", state->digest, "expires_ms",
                                  (json_int_t)state->expires_ms, "answers", state->answers);
    FREE_AUTO char *json = json_write(body);
    char seal[DIGEST_TEXT_SIZE];
    struct text sealed = { 0 };

    if (strlen(json) > REQUEST_STATE_BYTES - HEAD_LENGTH)
        return error_set(error, ERROR_INVALID,
                         "the answers so far are too long to be carried to the next round: "
                         "give shorter ones");
    seal_of(key, json, seal);
    text_addf(&sealed, VERSION "%s.", seal);
    text_add(&sealed, json);
    *out = text_take(&sealed);
    return true;
}

/* Returns the JSON within a state; NULL: the state has the wrong form, or its signature is invalid.
 */
static const char *unsealed(const uint8_t key[DIGEST_BYTES], const char *sealed)
{
    size_t length = strlen(sealed);
    char given[DIGEST_TEXT_SIZE], seal[DIGEST_TEXT_SIZE];

    if (length <= HEAD_LENGTH || length > REQUEST_STATE_BYTES
        || strncmp(sealed, VERSION, VERSION_LENGTH) != 0 || sealed[HEAD_LENGTH - 1] != '.')
        return NULL;
    memcpy(given, sealed + VERSION_LENGTH, SEAL_LENGTH);
    given[SEAL_LENGTH] = '\0';
    seal_of(key, sealed + HEAD_LENGTH, seal);
    return text_equal_constant_time(given, seal) ? sealed + HEAD_LENGTH : NULL;
}

static CHECKED bool check(const json_t *body, const char *principal, const char *digest,
                          int64_t now_ms, struct error *error)
{
    if (!json_is_object(json_object_get(body, "answers"))
        || json_get_text(body, "nonce", NULL) == NULL
        || strcmp(json_get_text(body, "principal", ""), principal) != 0)
        return error_set(error, ERROR_INVALID, "params.requestState is not valid");
    if (strcmp(json_get_text(body, "digest", ""), digest) != 0)
        return error_set(error, ERROR_INVALID,
                         "params.requestState belongs to a different request: repeat the method, "
                         "name and arguments of the request that it was returned for");
    if (json_get_integer(body, "expires_ms", 0) <= now_ms)
        return error_set(error, ERROR_INVALID,
                         "params.requestState has expired: send the request again without it");
    return true;
}

bool request_state_open(const uint8_t key[DIGEST_BYTES], const char *sealed, const char *principal,
                        const char *digest, int64_t now_ms, struct request_state *out,
                        struct error *error)
{
    const char *json = unsealed(key, sealed);
    json_auto_t *body = NULL;

    if (json == NULL || !json_parse(json, strlen(json), &body, error))
        return error_set(error, ERROR_INVALID, "params.requestState is not valid");
    if (!check(body, principal, digest, now_ms, error))
        return false;
    *out = (struct request_state){ .expires_ms = json_get_integer(body, "expires_ms", 0) };
    text_copy(out->nonce, sizeof out->nonce, json_get_text(body, "nonce", ""));
    text_copy(out->principal, sizeof out->principal, principal);
    text_copy(out->digest, sizeof out->digest, digest);
    out->answers = json_incref(json_object_get(body, "answers"));
    return true;
}
