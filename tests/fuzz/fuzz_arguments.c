/* SPDX-License-Identifier: Apache-2.0 */
/* Tests tool_check and audit_arguments. If tool_check refuses arguments, there is an error message;
 * the arguments that it returns are accepted again, unchanged. Whatever the arguments,
 * audit_arguments returns JSON of at most 4 KiB for the audit log. */
#include <string.h>

#include "base/core/memory.h"
#include "base/json/json.h"
#include "handlers/audit_arguments.h"
#include "tests/fuzz/fuzz.h"

static void check(const struct tool *tool, const json_t *arguments)
{
    json_auto_t *out = NULL, *again = NULL;
    struct error error = { 0 };

    if (!tool_check(tool, arguments, &out, &error)) {
        must(out == NULL && error.kind == ERROR_INVALID && error.message[0] != '\0');
        must(text_is_utf8(error.message, strlen(error.message)));
        return;
    }
    must(tool_check(tool, out, &again, &error));
    must(json_equal(out, again));
}

static void check_audited(const struct tool *tool, const json_t *arguments)
{
    FREE_AUTO char *audited = audit_arguments(tool, arguments);
    json_auto_t *parsed = NULL;
    struct error error;

    must(strlen(audited) <= 4096);
    must(json_parse(audited, strlen(audited), &parsed, &error));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    json_auto_t *arguments = NULL;
    struct error error;

    if (!json_parse((const char *)data, size, &arguments, &error))
        return 0;
    for (size_t i = 0; tools[i] != NULL; i++) {
        check(tools[i], arguments);
        check_audited(tools[i], arguments);
    }
    return 0;
}
