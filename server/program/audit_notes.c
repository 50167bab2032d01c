/* SPDX-License-Identifier: Apache-2.0 */
#include "server/program/audit_notes.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/core/log.h"
#include "server/settings/settings.h"
#include "store/audit/audit_log.h"
#include "store/ledger/store.h"

bool audit_notes_use_key(struct store *store, const char *data_folder, const char *file,
                         struct error *error)
{
    char folder[PATH_MAX], place[PATH_MAX];
    size_t length;

    if (file[0] == '\0' || realpath(data_folder, folder) == NULL || realpath(file, place) == NULL)
        return store_use_audit_key(store, file, error); /* reports what is wrong, if anything is */
    length = strlen(folder);
    if (strncmp(place, folder, length) == 0 && place[length] == '/')
        return error_set(
            error, ERROR_INVALID,
            "audit_key is %.150s, which is in the data folder: anyone who can change the audit log "
            "could read the keys there, so put the file elsewhere",
            file);
    return store_use_audit_key(store, file, error);
}

static void note(struct store *store, const char *what, const char *arguments, const char *detail)
{
    char client[64];
    struct error error;
    const struct change change = { .actor = { .principal = AUDIT_SERVER, .client = client },
                                   .tool = what,
                                   .arguments = arguments };

    snprintf(client, sizeof client, "opsbrain " OPSBRAIN_VERSION ", uid %ld", (long)getuid());
    if (!audit_log_add(store, &change, "ok", detail, "", &error))
        log_error("this %s could not be recorded in the audit log: %s", what, error.message);
}

void audit_note_start(struct store *store, const struct settings *settings)
{
    TEXT_AUTO changes = { 0 };
    char detail[64];

    config_changes(settings_table, settings_count, settings, &changes);
    snprintf(detail, sizeof detail, "process %ld", (long)getpid());
    note(store, "start", text_string(&changes), detail);
}

void audit_note_stop(struct store *store, const char *why)
{
    note(store, "stop", NULL, why);
}
