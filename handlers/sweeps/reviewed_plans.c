/* SPDX-License-Identifier: Apache-2.0 */
#include "handlers/sweeps/reviewed_plans.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/digest.h"
#include "base/core/memory.h"
#include "base/json/json.h"
#include "store/ledger/principals.h"

#define ARGUMENTS_BYTES_MAX 16384

struct entry {
    char principal[sizeof((struct principal *)0)->name];
    char digest[DIGEST_TEXT_SIZE];
    char *arguments; /* JSON; NULL: the entry is not in use */
};

struct reviewed_plans {
    pthread_mutex_t lock;
    struct entry entries[REVIEWED_PLANS_MAX];
    size_t next; /* index of the entry that will be overwritten next */
};

struct reviewed_plans *reviewed_plans_create(void)
{
    struct reviewed_plans *planned = memory_zeroed(1, sizeof *planned);

    pthread_mutex_init(&planned->lock, NULL);
    return planned;
}

void reviewed_plans_destroy(struct reviewed_plans *planned)
{
    if (planned == NULL)
        return;
    for (size_t i = 0; i < REVIEWED_PLANS_MAX; i++)
        free(planned->entries[i].arguments);
    pthread_mutex_destroy(&planned->lock);
    free(planned);
}

static struct entry *find(struct reviewed_plans *planned, const char *principal, const char *digest)
{
    for (size_t i = 0; i < REVIEWED_PLANS_MAX; i++) {
        struct entry *entry = &planned->entries[i];

        if (entry->arguments != NULL && strcmp(entry->digest, digest) == 0
            && strcmp(entry->principal, principal) == 0)
            return entry;
    }
    return NULL;
}

void reviewed_plans_keep(struct reviewed_plans *planned, const char *principal, const char *digest,
                         const json_t *arguments)
{
    char *written = json_write(arguments);
    struct entry *entry;

    if (strlen(written) > ARGUMENTS_BYTES_MAX) {
        free(written);
        return;
    }
    pthread_mutex_lock(&planned->lock);
    entry = find(planned, principal, digest);
    if (entry == NULL) {
        entry = &planned->entries[planned->next];
        planned->next = (planned->next + 1) % REVIEWED_PLANS_MAX;
    }
    free(entry->arguments);
    entry->arguments = written;
    text_copy(entry->principal, sizeof entry->principal, principal);
    text_copy(entry->digest, sizeof entry->digest, digest);
    pthread_mutex_unlock(&planned->lock);
}

json_t *reviewed_plans_find(struct reviewed_plans *planned, const char *principal,
                            const char *digest)
{
    const struct entry *entry;
    json_t *arguments = NULL;

    pthread_mutex_lock(&planned->lock);
    entry = find(planned, principal, digest);
    if (entry != NULL)
        arguments = json_loads(entry->arguments, 0, NULL);
    pthread_mutex_unlock(&planned->lock);
    return arguments;
}
