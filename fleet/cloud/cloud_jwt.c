/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/cloud/cloud_jwt.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/base64.h"
#include "base/core/memory.h"
#include "base/json/json.h"

#define KEY_BITS_LEAST 2048
#define PAYLOAD_BYTES_MAX 8192

void cloud_jwt_encode(const void *bytes, size_t length, struct text *out)
{
    size_t start = out->length;

    base64_add(out, bytes, length);
    for (size_t i = start; i < out->length; i++)
        if (out->data[i] == '+')
            out->data[i] = '-';
        else if (out->data[i] == '/')
            out->data[i] = '_';
        else if (out->data[i] == '=')
            out->data[out->length = i] = '\0';
}

static void add_json(const json_t *value, struct text *out)
{
    FREE_AUTO char *json = json_write(value);

    cloud_jwt_encode(json, strlen(json), out);
}

static CHECKED bool read_key(const char *pem, EVP_PKEY **out, struct error *error)
{
    char no_passphrase[] = ""; /* otherwise, OpenSSL would ask for a passphrase on the terminal */
    BIO *bio = BIO_new_mem_buf(pem, -1);
    EVP_PKEY *key = bio != NULL ? PEM_read_bio_PrivateKey(bio, NULL, NULL, no_passphrase) : NULL;

    BIO_free(bio);
    if (key != NULL && EVP_PKEY_is_a(key, "RSA") && EVP_PKEY_get_bits(key) >= KEY_BITS_LEAST) {
        *out = key;
        return true;
    }
    EVP_PKEY_free(key);
    return error_set(error, ERROR_INVALID,
                     "the service account's private_key is not an RSA key of at least %d bits, in "
                     "PEM form and without a passphrase",
                     KEY_BITS_LEAST);
}

static bool sign(EVP_PKEY *key, const struct text *input, unsigned char **out, size_t *length)
{
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    const unsigned char *bytes = (const unsigned char *)input->data;
    bool done = context != NULL && EVP_DigestSignInit(context, NULL, EVP_sha256(), NULL, key) == 1
                && EVP_DigestSign(context, NULL, length, bytes, input->length) == 1;

    if (done) {
        *out = memory_zeroed(*length, 1);
        done = EVP_DigestSign(context, *out, length, bytes, input->length) == 1;
    }
    EVP_MD_CTX_free(context);
    return done;
}

bool cloud_jwt_sign(const char *pem, const char *key_id, const json_t *claims, struct text *out,
                    struct error *error)
{
    json_auto_t *header = json_pack("{s:s, s:s}", "alg", "RS256", "typ", "JWT");
    FREE_AUTO unsigned char *signature = NULL;
    EVP_PKEY *key = NULL;
    size_t length = 0;
    bool done;

    if (!read_key(pem, &key, error))
        return false;
    if (key_id[0] != '\0')
        json_object_set_new(header, "kid", json_string(key_id));
    add_json(header, out);
    text_add_char(out, '.');
    add_json(claims, out);
    done = sign(key, out, &signature, &length);
    EVP_PKEY_free(key);
    if (!done)
        return error_set(error, ERROR_INTERNAL, "cannot sign with the service account's key");
    text_add_char(out, '.');
    cloud_jwt_encode(signature, length, out);
    return true;
}

/* Decodes base64url without padding. Returns false if the text has a character that base64url does
 * not use. */
static bool decode(const char *text, size_t length, char *out, size_t *out_length)
{
    static const char alphabet[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    unsigned bits = 0, value = 0;

    *out_length = 0;
    for (size_t i = 0; i < length; i++) {
        const char *digit = text[i] != '\0' ? strchr(alphabet, text[i]) : NULL;

        if (digit == NULL)
            return false;
        value = (value << 6 | (unsigned)(digit - alphabet)) & 0xffff;
        bits += 6;
        if (bits >= 8)
            out[(*out_length)++] = (char)(value >> (bits -= 8) & 0xff);
    }
    return true;
}

int64_t cloud_jwt_ends_ms(const char *token)
{
    const char *payload = strchr(token, '.');
    const char *end = payload != NULL ? strchr(payload + 1, '.') : NULL;
    char bytes[PAYLOAD_BYTES_MAX];
    json_auto_t *claims = NULL;
    struct error ignored;
    int64_t ends_s;
    size_t length;

    if (end == NULL || (size_t)(end - payload) > sizeof bytes)
        return 0;
    if (!decode(payload + 1, (size_t)(end - payload - 1), bytes, &length)
        || !json_parse(bytes, length, &claims, &ignored))
        return 0;
    ends_s = json_get_integer(claims, "exp", 0);
    return ends_s > 0 && ends_s < INT64_C(1) << 40 ? ends_s * 1000 : 0;
}
