/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/secret_access.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/clock.h"
#include "base/core/log.h"
#include "base/core/memory.h"
#include "base/core/text.h"
#include "base/net/mask.h"
#include "store/audit/audit_log.h"
#include "store/ledger/secret_origins.h"

/* ---- Where a secret may be sent ---- */

static CHECKED bool read_bound(struct store *store, const char *secret, struct secret_access *out,
                               struct error *error)
{
    FREE_AUTO struct secret_origin *rows = NULL;
    size_t count;

    if (!secret_origin_list(store, secret, &rows, &count, error))
        return false;
    *out = (struct secret_access){ .origins = memory_zeroed(count + 1, sizeof *out->origins),
                                   .count = count };
    for (size_t i = 0; i < count; i++)
        text_copy(out->origins[i], sizeof out->origins[i], rows[i].origin);
    return true;
}

bool secret_access_read(const struct access *access, const char *secret, struct secret_access *out,
                        struct error *error)
{
    struct secret_access found = { 0 };

    if (!secret_origins_read(access->secrets_folder, secret, &found.origins, &found.count,
                             &found.by_file, error))
        return false;
    if (!found.by_file)
        return read_bound(access->store, secret, out, error);
    *out = found;
    return true;
}

void secret_access_finish(struct secret_access *found)
{
    free(found->origins);
    *found = (struct secret_access){ 0 };
}

static bool has_origin(const struct secret_access *found, const char *origin)
{
    for (size_t i = 0; i < found->count; i++)
        if (strcmp(found->origins[i], origin) == 0)
            return true;
    return false;
}

/* Finds the URL's origin, whether the secret may be sent to it (*allowed), and whether a file of
 * origins decides that (*by_file). */
static CHECKED bool find_access(const struct access *access, const char *secret, const char *url,
                                char origin[ORIGIN_SIZE], bool *allowed, bool *by_file,
                                struct error *error)
{
    struct secret_access found;

    if (!secret_name_check(secret, error) || !url_origin(url, origin, error)
        || !secret_access_read(access, secret, &found, error))
        return false;
    *allowed = has_origin(&found, origin);
    *by_file = found.by_file;
    secret_access_finish(&found);
    return true;
}

static CHECKED bool refuse_by_file(const char *secret, const char *origin, struct error *error)
{
    return error_set(error, ERROR_FORBIDDEN,
                     "the secret %s may not be sent to %s: the file %s.origins in the secrets "
                     "folder lists all origins that it may be sent to",
                     secret, origin, secret);
}

bool secret_access_check(const struct access *access, const char *secret, const char *url,
                         struct error *error)
{
    char origin[ORIGIN_SIZE];
    bool allowed, by_file;

    if (!find_access(access, secret, url, origin, &allowed, &by_file, error))
        return false;
    if (allowed)
        return true;
    if (by_file)
        return refuse_by_file(secret, origin, error);
    return error_set(error, ERROR_FORBIDDEN,
                     "the secret %s is not bound to %s: an admin can allow it with secret_bind "
                     "{\"secret\": \"%s\", \"origin\": \"%s\"}",
                     secret, origin, secret, origin);
}

bool secret_access_missing(const struct access *access, const char *secret, const char *url,
                           char origin[ORIGIN_SIZE], struct error *error)
{
    bool allowed, by_file;

    if (!find_access(access, secret, url, origin, &allowed, &by_file, error))
        return false;
    if (!allowed && by_file)
        return refuse_by_file(secret, origin, error);
    if (allowed)
        origin[0] = '\0';
    return true;
}

bool secret_access_bind(const struct access *access, const char *secret, const char *url,
                        bool bound, struct change *change, char origin[ORIGIN_SIZE], bool *changed,
                        struct error *error)
{
    bool allowed, by_file;

    if (!find_access(access, secret, url, origin, &allowed, &by_file, error))
        return false;
    if (by_file)
        return error_set(error, ERROR_FORBIDDEN,
                         "the file %s.origins in the secrets folder lists all origins that %s may "
                         "be sent to: edit that file",
                         secret, secret);
    return bound ? secret_origin_add(access->store, secret, origin, clock_utc_ms(), change, changed,
                                     error)
                 : secret_origin_remove(access->store, secret, origin, change, changed, error);
}

bool secret_access_is_weak(const struct access *access, const char *secret)
{
    char value[SECRET_VALUE_SIZE] = "";
    struct error ignored;
    bool weak = secret_read(access->secrets_folder, secret, value, &ignored) && mask_is_weak(value);

    explicit_bzero(value, sizeof value);
    return weak;
}

/* ---- Which servers may be called ---- */

bool access_check_url(const struct access *access, const char *url, struct error *error)
{
    char host[URL_HOST_SIZE];
    int port;

    if (!url_check(url, host, &port, error))
        return false;
    if (access->servers == NULL || server_list_may_have(access->servers, host))
        return true;
    return error_set(error, ERROR_FORBIDDEN,
                     "%s is not among the servers that the setting allowed_servers names: use one "
                     "of those, or add it to the setting",
                     host);
}

/* Returns the list that must contain the server's address. Returns NULL if the server may have any
 * address, because there is no list or the list has the server's host name. */
static const struct server_list *address_list(const struct access *access, const char *url)
{
    char host[URL_HOST_SIZE];
    struct error ignored;
    int port;

    if (access->servers != NULL && url_check(url, host, &port, &ignored)
        && server_list_has_name(access->servers, host))
        return NULL;
    return access->servers;
}

/* Records a use in the audit log: the first use in an hour at once, and the number of further uses
 * when the hour is over. */
static void note_use(const struct access *access, const char *what, const char *url)
{
    const struct change change = { .actor = { .principal = AUDIT_SERVER }, .tool = "secret_use" };
    char origin[ORIGIN_SIZE], subject[SECRET_NAME_SIZE + ORIGIN_SIZE + 16];
    const struct audit_event event = { AUDIT_SECRET, &change, "ok", "", subject };
    struct error error;

    if (!url_origin(url, origin, &error))
        return;
    snprintf(subject, sizeof subject, "%s to %s", what, origin);
    if (!audit_log_count(access->store, &event, &error))
        log_warning("the audit log does not record that %s was used: %s", what, error.message);
}

static CHECKED bool read_secret(const struct access *access, const struct deployment *deployment,
                                char out[SECRET_VALUE_SIZE], struct error *error)
{
    const char *secret = deployment->secret;

    if (!secret_access_check(access, secret, deployment->url, error)
        || !secret_read(access->secrets_folder, secret, out, error))
        return false;
    note_use(access, secret, deployment->url);
    return true;
}

static CHECKED bool read_key(const struct access *access, const struct deployment *deployment,
                             const struct endpoint_lock *lock, char out[SECRET_VALUE_SIZE],
                             struct error *error)
{
    char what[sizeof deployment->name + 8];

    if (!lock->key(lock, out, error))
        return false;
    snprintf(what, sizeof what, "key of %s", deployment->name);
    if (out[0] != '\0')
        note_use(access, what, deployment->url);
    return true;
}

bool secret_access_endpoint(const struct access *access, const struct deployment *deployment,
                            struct endpoint *out, struct error *error)
{
    const struct endpoint_lock *lock = NULL;
    char bearer[SECRET_VALUE_SIZE] = "";

    if (!access_check_url(access, deployment->url, error)
        || (access->locks != NULL
            && !access->locks->find(access->locks->context, deployment, &lock, error))
        || (lock != NULL && !read_key(access, deployment, lock, bearer, error)))
        return false;
    if (bearer[0] == '\0' && deployment->secret[0] != '\0'
        && !read_secret(access, deployment, bearer, error))
        return false;
    text_copy(out->url, sizeof out->url, deployment->url);
    text_copy(out->model, sizeof out->model, deployment->model);
    memcpy(out->bearer, bearer, sizeof bearer);
    out->servers = address_list(access, deployment->url);
    out->lock = lock;
    explicit_bzero(bearer, sizeof bearer);
    return true;
}
