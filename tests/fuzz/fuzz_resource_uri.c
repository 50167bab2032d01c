/* SPDX-License-Identifier: Apache-2.0 */
/* resource_match: if a URI is accepted, the URI made from its resource and value leads to them
 * again. A refusal has an error message. */
#include <string.h>

#include "base/core/memory.h"
#include "handlers/resource.h"
#include "tests/fuzz/fuzz.h"

static void check_match(const char *uri)
{
    const struct resource *resource = NULL, *again = NULL;
    char value[INSTANCE_VALUE_SIZE] = "", second[INSTANCE_VALUE_SIZE];
    char made[RESOURCE_URI_SIZE];
    struct error error = { 0 };

    if (!resource_match(resources, uri, &resource, value, &error)) {
        must(resource == NULL && value[0] == '\0');
        must(error.kind == ERROR_NOT_FOUND && error.message[0] != '\0');
        must(text_is_utf8(error.message, strlen(error.message)));
        return;
    }
    must(resource_is_template(resource) ? text_is_name(value) : value[0] == '\0');
    resource_uri(resource, value, made);
    must(resource_match(resources, made, &again, second, &error));
    must(again == resource && strcmp(value, second) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    FREE_AUTO char *uri = memory_zeroed(size + 1, 1);

    memcpy(uri, data, size);
    check_match(uri);
    return 0;
}
