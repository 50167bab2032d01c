/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/cloud/cloud_tokens.h"

#include <string.h>

#include "base/core/text.h"

#define EARLY_MS 300000 /* how long before expiry a token is renewed */

/* A token whose lifetime is shorter than twice EARLY_MS is renewed after half of its lifetime. */
static bool is_fresh(const struct cloud_token *token, int64_t now_ms)
{
    int64_t life_ms, early_ms;

    if (token->ends_ms == INT64_MAX)
        return true;
    life_ms = token->ends_ms - token->fetched_ms;
    early_ms = life_ms / 2 < EARLY_MS ? life_ms / 2 : EARLY_MS;
    return now_ms >= token->fetched_ms - EARLY_MS && now_ms < token->ends_ms - early_ms;
}

static struct cloud_token *find(struct cloud *cloud, const char *audience)
{
    for (size_t i = 0; i < cloud->token_count; i++)
        if (strcmp(cloud->tokens[i].audience, audience) == 0)
            return &cloud->tokens[i];
    return NULL;
}

/* Returns the place for a new token: that of the audience's old token, else a free one. If all
 * places are in use, the new token replaces the one that expires first. */
static struct cloud_token *place_for(struct cloud *cloud, const char *audience)
{
    struct cloud_token *place = find(cloud, audience);

    if (place != NULL)
        return place;
    if (cloud->token_count < CLOUD_TOKENS_MAX)
        return &cloud->tokens[cloud->token_count++];
    place = cloud->tokens;
    for (size_t i = 1; i < cloud->token_count; i++)
        if (cloud->tokens[i].ends_ms < place->ends_ms)
            place = &cloud->tokens[i];
    return place;
}

static CHECKED bool renew(struct cloud *cloud, const char *audience, const char *rejected,
                          char out[SECRET_VALUE_SIZE], struct error *error)
{
    const struct cloud_source *source = cloud_source_of(cloud->credential.kind);
    struct cloud_token *old = find(cloud, audience);
    struct cloud_token fetched = { 0 };
    bool done = source->fetch(cloud, audience, &fetched, error);

    if (done) {
        text_copy(fetched.audience, sizeof fetched.audience, audience);
        fetched.fetched_ms = cloud->now_ms();
        *place_for(cloud, audience) = fetched;
        text_copy(out, SECRET_VALUE_SIZE, fetched.value);
    } else if (rejected == NULL && old != NULL && old->ends_ms > cloud->now_ms()) {
        text_copy(out, SECRET_VALUE_SIZE, old->value); /* still valid; the next call tries again */
        done = true;
    }
    explicit_bzero(&fetched, sizeof fetched);
    return done;
}

bool cloud_tokens_get(struct cloud *cloud, const char *audience, const char *rejected,
                      char out[SECRET_VALUE_SIZE], struct error *error)
{
    const struct cloud_token *known;
    bool done = true;

    if (strlen(audience) >= CLOUD_AUDIENCE_SIZE)
        return error_set(error, ERROR_INVALID, "the audience is longer than %d bytes",
                         CLOUD_AUDIENCE_SIZE - 1);
    pthread_mutex_lock(&cloud->lock);
    known = find(cloud, audience);
    if (known != NULL && is_fresh(known, cloud->now_ms())
        && (rejected == NULL || strcmp(known->value, rejected) != 0))
        text_copy(out, SECRET_VALUE_SIZE, known->value);
    else
        done = renew(cloud, audience, rejected, out, error);
    pthread_mutex_unlock(&cloud->lock);
    return done;
}

bool cloud_id_token(struct cloud *cloud, const char *audience, char out[SECRET_VALUE_SIZE],
                    struct error *error)
{
    if (audience[0] == '\0')
        return error_set(error, ERROR_INVALID, "an ID token needs an audience");
    return cloud_tokens_get(cloud, audience, NULL, out, error);
}
