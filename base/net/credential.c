/* SPDX-License-Identifier: Apache-2.0 */
#include "base/net/credential.h"

#include <ctype.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>

enum {
    BEGINS_A_WORD = 1, /* a credential only at the start of a word: not "sk-" in "disk-" */
    ANY_CASE = 2,      /* the prefix can be in upper or lower case */
    CAPITALS = 4,      /* the credential has only capitals and digits after its prefix */
    TO_THE_END = 8,    /* the credential extends to the end of the text */
};

/* A form of credential: a prefix followed by at least `least` characters. */
struct shape {
    const char *prefix;
    size_t least;
    unsigned flags; /* BEGINS_A_WORD, ... */
};

/* The shapes that begin with the same byte. In `second_bytes`, bit N is set if the low five bits of
 * some shape's second byte are N (they are the same in upper and lower case). Thus most bytes of a
 * text need not be compared with any shape. */
struct beginning {
    const struct shape *shapes;
    uint32_t second_bytes;
};

#define SECOND(byte) (UINT32_C(1) << ((byte)&31))
#define BEGINNING(byte, second_bits, ...)                                                          \
    [byte] = {                                                                                     \
        (const struct shape[]){ __VA_ARGS__, { NULL } },                                           \
        second_bits,                                                                               \
    }
static const struct beginning beginnings[UCHAR_MAX + 1] = {
    /* Google, AWS */
    BEGINNING('A', SECOND('I') | SECOND('K') | SECOND('S'), { "AIza", 26 },
              { "AKIA", 12, CAPITALS }, { "ASIA", 16, CAPITALS }),
    /* HTTP */
    BEGINNING('B', SECOND('e'), { "Bearer ", 16, BEGINS_A_WORD | ANY_CASE }),
    /* HTTP */
    BEGINNING('b', SECOND('e'), { "Bearer ", 16, BEGINS_A_WORD | ANY_CASE }),
    /* DigitalOcean */
    BEGINNING('d', SECOND('o'), { "dop_v1_", 16 }),
    /* JWT: a JSON object in base64 */
    BEGINNING('e', SECOND('y'), { "eyJ", 17 }),
    /* Google */
    BEGINNING('G', SECOND('O'), { "GOCSPX-", 10 }),
    /* Groq, GitHub, GitLab */
    BEGINNING('g', SECOND('h') | SECOND('i') | SECOND('l') | SECOND('s'), { "gsk_", 16 },
              { "ghp_", 12 }, { "gho_", 12 }, { "ghs_", 12 }, { "ghu_", 12 }, { "ghr_", 12 },
              { "github_pat_", 8 }, { "glpat-", 10 }, { "gldt-", 10 }, { "glrt-", 10 }),
    /* Hugging Face */
    BEGINNING('h', SECOND('f'), { "hf_", 13, BEGINS_A_WORD }),
    /* NVIDIA, npm */
    BEGINNING('n', SECOND('p') | SECOND('v'), { "nvapi-", 10 }, { "npm_", 20, BEGINS_A_WORD }),
    /* opsbrain */
    BEGINNING('o', SECOND('b'), { "obk_", 12 }),
    /* Perplexity, PyPI */
    BEGINNING('p', SECOND('p') | SECOND('y'), { "pplx-", 16 }, { "pypi-AgE", 16 }),
    /* Replicate, Stripe */
    BEGINNING('r', SECOND('8') | SECOND('k'), { "r8_", 20, BEGINS_A_WORD }, { "rk_live_", 8 }),
    /* SendGrid */
    BEGINNING('S', SECOND('G'), { "SG.", 20, BEGINS_A_WORD }),
    /* OpenAI, Anthropic, Stripe, Shopify */
    BEGINNING('s', SECOND('h') | SECOND('k'), { "sk-", 13, BEGINS_A_WORD }, { "sk_live_", 8 },
              { "sk_test_", 8 }, { "shpat_", 16 }),
    /* Tailscale */
    BEGINNING('t', SECOND('s'), { "tskey-", 10 }),
    /* xAI, Slack */
    BEGINNING('x', SECOND('a') | SECOND('o'), { "xai-", 20, BEGINS_A_WORD }, { "xoxa-", 8 },
              { "xoxb-", 8 }, { "xoxe-", 8 }, { "xoxe.", 8 }, { "xoxp-", 8 }, { "xoxr-", 8 },
              { "xoxs-", 8 }, { "xapp-", 8 }),
    /* Google */
    BEGINNING('y', SECOND('a'), { "ya29.", 9 }),
    /* PEM */
    BEGINNING('-', SECOND('-'), { "-----BEGIN ", 0, TO_THE_END }),
};

static bool continues_credential(unsigned char byte, unsigned flags)
{
    if ((flags & CAPITALS) != 0)
        return isupper(byte) || isdigit(byte);
    if ((flags & TO_THE_END) != 0)
        return byte != '\0';
    return isalnum(byte) || (byte != '\0' && strchr("_-.+/=~", byte) != NULL);
}

/* The length of the shape's prefix if the text begins with it, else 0. */
static size_t prefix_length(const struct shape *shape, const char *text)
{
    bool any_case = (shape->flags & ANY_CASE) != 0;
    size_t length = 0;

    for (; shape->prefix[length] != '\0'; length++)
        if (text[length] != shape->prefix[length]
            && !(any_case
                 && tolower((unsigned char)text[length])
                        == tolower((unsigned char)shape->prefix[length])))
            return 0;
    return length;
}

/* The length of a credential of this shape that begins at text[at]; 0 if there is none. */
static size_t length_at(const struct shape *shape, const char *text, size_t at)
{
    size_t prefix = prefix_length(shape, text + at), more = 0;

    if (prefix == 0
        || ((shape->flags & BEGINS_A_WORD) != 0 && at > 0 && isalnum((unsigned char)text[at - 1])))
        return 0;
    while (continues_credential((unsigned char)text[at + prefix + more], shape->flags))
        more++;
    return more >= shape->least ? prefix + more : 0;
}

bool credential_find(const char *text, size_t *at, size_t *length)
{
    for (size_t i = 0; text[i] != '\0'; i++) {
        const struct beginning *beginning = &beginnings[(unsigned char)text[i]];

        if ((beginning->second_bytes & SECOND(text[i + 1])) == 0)
            continue;
        *at = i;
        for (const struct shape *shape = beginning->shapes; shape->prefix != NULL; shape++) {
            *length = length_at(shape, text, i);
            if (*length > 0)
                return true;
        }
    }
    return false;
}

bool credential_is_in(const char *text)
{
    size_t at, length;

    return text != NULL && credential_find(text, &at, &length);
}

static void add_without_credentials(struct text *out, const char *text)
{
    size_t at, length;

    while (credential_find(text, &at, &length)) {
        text_add_bytes(out, text, at);
        text_add(out, "(hidden)");
        text += at + length;
    }
    text_add(out, text);
}

/* Appends one word. If it is a URL with a user part, "(hidden)" replaces that part. */
static void add_word(struct text *out, const char *word, size_t length)
{
    TEXT_AUTO copy = { 0 };
    const char *scheme, *at;

    text_add_bytes(&copy, word, length);
    scheme = strstr(text_string(&copy), "://");
    at = scheme == NULL ? NULL : strrchr(scheme, '@');
    if (at == NULL) {
        text_add_bytes(out, word, length);
        return;
    }
    text_add_bytes(out, copy.data, (size_t)(scheme + 3 - copy.data));
    text_add(out, "(hidden)");
    text_add(out, at);
}

/* The length of the word at the beginning of the text. The user part of a URL belongs to the word
 * even if it contains a separator that URLs allow there, such as a comma in a password. */
static size_t word_length(const char *text, const char *separators)
{
    size_t length = strcspn(text, separators);
    const char *scheme = memmem(text, length, "://", 3);
    const char *authority = scheme == NULL ? NULL : scheme + 3;

    for (size_t i = 0; authority != NULL && strchr(" \t\r\n\"`<>[]{}/?#", authority[i]) == NULL;
         i++)
        if (authority[i] == '@' && authority + i >= text + length)
            length = (size_t)(authority + i + 1 - text);
    return length;
}

void credential_add_masked(struct text *out, const char *text)
{
    static const char separators[] = " \t\r\n\"'`,;=()<>[]{}";
    TEXT_AUTO printable = { 0 };
    TEXT_AUTO hidden = { 0 };

    /* Make the text printable first, so that it is searched in the form in which it is shown. */
    text_add_printable(&printable, text, strlen(text), SIZE_MAX / 2);
    add_without_credentials(&hidden, text_string(&printable));
    for (text = text_string(&hidden); *text != '\0';) {
        size_t gap = strspn(text, separators);
        size_t word = word_length(text + gap, separators);

        text_add_bytes(out, text, gap);
        if (word > 0)
            add_word(out, text + gap, word);
        text += gap + word;
    }
}
