/* SPDX-License-Identifier: Apache-2.0 */
/* cloud_problem_read and cloud_problem_judge: any answer from a cloud becomes a bounded, printable
 * message and a verdict that fits the status. The first byte of the input chooses the status. */
#include <string.h>

#include "base/core/text.h"
#include "base/json/json.h"
#include "fleet/cloud/cloud_problem.h"
#include "tests/fuzz/fuzz.h"

static void check_shown(const char *text, size_t size)
{
    size_t length = strnlen(text, size);

    must(length < size);
    must(text_is_utf8(text, length));
    for (size_t i = 0; i < length; i++)
        must((unsigned char)text[i] >= ' ' || text[i] == '\n' || text[i] == '\t');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const long statuses[] = { 200, 400, 401, 403, 404, 409, 429, 500, 502, 503 };
    struct cloud_problem problem;
    json_auto_t *body = NULL;
    struct error error;
    long status;

    if (size == 0)
        return 0;
    status = statuses[data[0] % (sizeof statuses / sizeof statuses[0])];
    error_ignore(json_parse((const char *)data + 1, size - 1, &body, &error));
    cloud_problem_read(status, body, &problem);
    check_shown(problem.kind, sizeof problem.kind);
    check_shown(problem.message, sizeof problem.message);
    must(problem.message[0] != '\0');
    must(problem.retry_after_s >= -1 && problem.retry_after_s <= 3600);
    must((cloud_problem_judge(status, body, true) == CLOUD_DONE) == (status == 200));
    must(cloud_problem_judge(status, body, true) != CLOUD_LOST);
    must(cloud_problem_judge(status, body, false) != CLOUD_AGAIN || status == 429);
    return 0;
}
