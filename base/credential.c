#include "base/credential.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

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

static const struct shape shapes[] = {
    /* opsbrain, OpenAI and Anthropic, Hugging Face */
    { "obk_", 12 },
    { "sk-", 13, BEGINS_A_WORD },
    { "hf_", 13, BEGINS_A_WORD },
    /* Google, AWS, NVIDIA, Groq, xAI, Perplexity, Replicate */
    { "AIza", 26 },
    { "ya29.", 9 },
    { "GOCSPX-", 10 },
    { "AKIA", 12, CAPITALS },
    { "ASIA", 16, CAPITALS },
    { "nvapi-", 10 },
    { "gsk_", 16 },
    { "xai-", 20, BEGINS_A_WORD },
    { "pplx-", 16 },
    { "r8_", 20, BEGINS_A_WORD },
    /* GitHub, GitLab, Slack */
    { "ghp_", 12 },
    { "gho_", 12 },
    { "ghs_", 12 },
    { "ghu_", 12 },
    { "ghr_", 12 },
    { "github_pat_", 8 },
    { "glpat-", 10 },
    { "gldt-", 10 },
    { "glrt-", 10 },
    { "xoxa-", 8 },
    { "xoxb-", 8 },
    { "xoxe-", 8 },
    { "xoxe.", 8 },
    { "xoxp-", 8 },
    { "xoxr-", 8 },
    { "xoxs-", 8 },
    { "xapp-", 8 },
    /* Stripe, npm, PyPI, DigitalOcean, Shopify, Tailscale, SendGrid */
    { "sk_live_", 8 },
    { "sk_test_", 8 },
    { "rk_live_", 8 },
    { "npm_", 20, BEGINS_A_WORD },
    { "pypi-AgE", 16 },
    { "dop_v1_", 16 },
    { "shpat_", 16 },
    { "tskey-", 10 },
    { "SG.", 20, BEGINS_A_WORD },
    /* JWTs (a JSON object in base64), HTTP, PEM */
    { "eyJ", 17 },
    { "Bearer ", 16, BEGINS_A_WORD | ANY_CASE },
    { "-----BEGIN ", 0, TO_THE_END },
};

static bool is_of_a_token(unsigned char byte, unsigned how)
{
    if ((how & CAPITALS) != 0)
        return isupper(byte) || isdigit(byte);
    if ((how & TO_THE_END) != 0)
        return byte != '\0';
    return isalnum(byte) || (byte != '\0' && strchr("_-.+/=~", byte) != NULL);
}

static bool begins(const struct shape *shape, const char *text)
{
    size_t length = strlen(shape->prefix);

    if ((shape->how & ANY_CASE) != 0)
        return strncasecmp(text, shape->prefix, length) == 0;
    return text[0] == shape->prefix[0] && strncmp(text, shape->prefix, length) == 0;
}

/* The length of one of the shape that begins at text[at]; 0: none. */
static size_t length_at(const struct shape *shape, const char *text, size_t at)
{
    size_t prefix = strlen(shape->prefix), more = 0;

    if (!begins(shape, text + at)
        || ((shape->how & BEGINS_A_WORD) != 0 && at > 0 && isalnum((unsigned char)text[at - 1])))
        return 0;
    while (is_of_a_token((unsigned char)text[at + prefix + more], shape->how))
        more++;
    return more >= shape->least ? prefix + more : 0;
}

bool credential_find(const char *text, size_t *at, size_t *length)
{
    for (*at = 0; text[*at] != '\0'; ++*at)
        for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
            *length = length_at(&shapes[i], text, *at);
            if (*length > 0)
                return true;
        }
    return false;
}

bool text_has_credential(const char *text)
{
    size_t at, length;

    return text != NULL && credential_find(text, &at, &length);
}
