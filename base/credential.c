#include "base/credential.h"

#include <ctype.h>
#include <limits.h>
#include <string.h>

enum {
    BEGINS_A_WORD = 1, /* in others it is ordinary: "disk-" */
    ANY_CASE = 2,
    CAPITALS = 4,   /* and digits alone follow */
    TO_THE_END = 8, /* what follows is all of it */
};

/* What begins so, with at least so many characters behind it: shorter words are ordinary ones. */
struct shape {
    const char *prefix;
    size_t least;
    unsigned how;
};

/* By its first byte, so that most bytes of a text are passed over at once. */
#define BEGINNING(byte, ...)                                                                       \
    [byte] = (const struct shape[])                                                                \
    {                                                                                              \
        __VA_ARGS__,                                                                               \
        {                                                                                          \
            NULL                                                                                   \
        }                                                                                          \
    }
static const struct shape *const shapes[UCHAR_MAX + 1] = {
    /* Google, AWS */
    BEGINNING('A', { "AIza", 26 }, { "AKIA", 12, CAPITALS }, { "ASIA", 16, CAPITALS }),
    /* HTTP */
    BEGINNING('B', { "Bearer ", 16, BEGINS_A_WORD | ANY_CASE }),
    /* HTTP */
    BEGINNING('b', { "Bearer ", 16, BEGINS_A_WORD | ANY_CASE }),
    /* DigitalOcean */
    BEGINNING('d', { "dop_v1_", 16 }),
    /* JWT: a JSON object in base64 */
    BEGINNING('e', { "eyJ", 17 }),
    /* Google */
    BEGINNING('G', { "GOCSPX-", 10 }),
    /* Groq, GitHub, GitLab */
    BEGINNING('g', { "gsk_", 16 }, { "ghp_", 12 }, { "gho_", 12 }, { "ghs_", 12 }, { "ghu_", 12 },
              { "ghr_", 12 }, { "github_pat_", 8 }, { "glpat-", 10 }, { "gldt-", 10 },
              { "glrt-", 10 }),
    /* Hugging Face */
    BEGINNING('h', { "hf_", 13, BEGINS_A_WORD }),
    /* NVIDIA, npm */
    BEGINNING('n', { "nvapi-", 10 }, { "npm_", 20, BEGINS_A_WORD }),
    /* opsbrain */
    BEGINNING('o', { "obk_", 12 }),
    /* Perplexity, PyPI */
    BEGINNING('p', { "pplx-", 16 }, { "pypi-AgE", 16 }),
    /* Replicate, Stripe */
    BEGINNING('r', { "r8_", 20, BEGINS_A_WORD }, { "rk_live_", 8 }),
    /* SendGrid */
    BEGINNING('S', { "SG.", 20, BEGINS_A_WORD }),
    /* OpenAI, Anthropic, Stripe, Shopify */
    BEGINNING('s', { "sk-", 13, BEGINS_A_WORD }, { "sk_live_", 8 }, { "sk_test_", 8 },
              { "shpat_", 16 }),
    /* Tailscale */
    BEGINNING('t', { "tskey-", 10 }),
    /* xAI, Slack */
    BEGINNING('x', { "xai-", 20, BEGINS_A_WORD }, { "xoxa-", 8 }, { "xoxb-", 8 }, { "xoxe-", 8 },
              { "xoxe.", 8 }, { "xoxp-", 8 }, { "xoxr-", 8 }, { "xoxs-", 8 }, { "xapp-", 8 }),
    /* Google */
    BEGINNING('y', { "ya29.", 9 }),
    /* PEM */
    BEGINNING('-', { "-----BEGIN ", 0, TO_THE_END }),
};

static bool is_of_a_token(unsigned char byte, unsigned how)
{
    if ((how & CAPITALS) != 0)
        return isupper(byte) || isdigit(byte);
    if ((how & TO_THE_END) != 0)
        return byte != '\0';
    return isalnum(byte) || (byte != '\0' && strchr("_-.+/=~", byte) != NULL);
}

/* The length of its prefix; 0: the text begins otherwise. */
static size_t begins(const struct shape *shape, const char *text)
{
    bool any_case = (shape->how & ANY_CASE) != 0;
    size_t length = 0;

    for (; shape->prefix[length] != '\0'; length++)
        if (text[length] != shape->prefix[length]
            && !(any_case
                 && tolower((unsigned char)text[length])
                        == tolower((unsigned char)shape->prefix[length])))
            return 0;
    return length;
}

/* The length of one of the shape that begins at text[at]; 0: none. */
static size_t length_at(const struct shape *shape, const char *text, size_t at)
{
    size_t prefix = begins(shape, text + at), more = 0;

    if (prefix == 0
        || ((shape->how & BEGINS_A_WORD) != 0 && at > 0 && isalnum((unsigned char)text[at - 1])))
        return 0;
    while (is_of_a_token((unsigned char)text[at + prefix + more], shape->how))
        more++;
    return more >= shape->least ? prefix + more : 0;
}

bool credential_find(const char *text, size_t *at, size_t *length)
{
    for (*at = 0; text[*at] != '\0'; ++*at) {
        const struct shape *shape = shapes[(unsigned char)text[*at]];

        for (; shape != NULL && shape->prefix != NULL; shape++) {
            if (text[*at + 1] != shape->prefix[1] && (shape->how & ANY_CASE) == 0)
                continue;
            *length = length_at(shape, text, *at);
            if (*length > 0)
                return true;
        }
    }
    return false;
}

bool text_has_credential(const char *text)
{
    size_t at, length;

    return text != NULL && credential_find(text, &at, &length);
}
