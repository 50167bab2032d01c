/* SPDX-License-Identifier: Apache-2.0 */
/* The kinds of credentials, and the names that their files can have. */
#include <string.h>

#include "fleet/cloud/cloud.h"

static const struct kind {
    const char *name;
    bool has_file;
} kinds[] = {
    [CLOUD_NONE] = { "none", false },
    [CLOUD_WORKLOAD_IDENTITY] = { "workload_identity", false },
    [CLOUD_SERVICE_ACCOUNT_FILE] = { "service_account_file", true },
    [CLOUD_KUBECONFIG] = { "kubeconfig", true },
    [CLOUD_IN_CLUSTER] = { "in_cluster", false },
};
#define KINDS (sizeof kinds / sizeof kinds[0])

enum cloud_kind cloud_kind_find(const char *name)
{
    for (size_t i = CLOUD_NONE; i < KINDS; i++)
        if (strcmp(kinds[i].name, name) == 0)
            return (enum cloud_kind)i;
    return (enum cloud_kind)0;
}

const char *cloud_kind_name(enum cloud_kind kind)
{
    return (size_t)kind < KINDS && kinds[kind].name != NULL ? kinds[kind].name : "";
}

/* Refuses the two files that belong to a deployment's secret: the secret itself, whose name has no
 * '.' (secret_name_check), and its .origins file. */
static bool is_file_name(const char *name)
{
    static const char origins[] = ".origins";
    size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-_.");

    return length > 0 && length < CLOUD_FILE_SIZE && name[length] == '\0' && name[0] != '.'
           && name[0] != '-' && strchr(name, '.') != NULL
           && (length < strlen(origins) || strcmp(name + length - strlen(origins), origins) != 0);
}

bool cloud_credential_check(const struct cloud_credential *credential, struct error *error)
{
    const char *name = cloud_kind_name(credential->kind);

    if (name[0] == '\0')
        return error_set(error, ERROR_INVALID, "the credential has no kind");
    if (!kinds[credential->kind].has_file && credential->file[0] != '\0')
        return error_set(error, ERROR_INVALID, "a credential of kind %s takes no file", name);
    if (kinds[credential->kind].has_file && !is_file_name(credential->file))
        return error_set(error, ERROR_INVALID,
                         "a credential of kind %s is a file in the secrets folder: give its name "
                         "without a path, such as \"team.json\" (a-z, 0-9, '-', '_' and at "
                         "least one '.')",
                         name);
    return true;
}
