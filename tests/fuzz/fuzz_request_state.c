/* SPDX-License-Identifier: Apache-2.0 */
/* request_state_open refuses bytes that were not sealed, and a sealed state that was changed.
 * Sealed answers are unchanged when the state is opened. */
#include <string.h>

#include "base/core/memory.h"
#include "base/json/json.h"
#include "server/mcp/request_state.h"
#include "tests/fuzz/fuzz.h"

static const uint8_t key[DIGEST_BYTES] = { 7 };

static bool opens(const char *sealed, struct request_state *out)
{
    struct error error = { .kind = ERROR_NONE };
    bool open = request_state_open(key, sealed, "ann", "d1", 1000, out, &error);

    must(open || error.kind == ERROR_INVALID);
    return open;
}

/* Checks that both values are equal, down to the digits of their numbers. */
static void check_same(const json_t *a, const json_t *b)
{
    FREE_AUTO char *one = json_write_canonical(a);
    FREE_AUTO char *other = json_write_canonical(b);

    must(strcmp(one, other) == 0);
}

/* Seals the answers in a valid state; they must be unchanged when the state is opened. */
static void seal_and_open(json_t *answers)
{
    struct request_state in = { "rnd_1", "ann", "d1", 2000, answers }, out;
    FREE_AUTO char *sealed = NULL;
    struct error error;

    if (!request_state_seal(key, &in, &sealed, &error))
        return;
    if (!opens(sealed, &out))
        return; /* the answers are nested too deeply */
    check_same(out.answers, answers);
    must(strcmp(out.nonce, "rnd_1") == 0);
    json_decref(out.answers);
    sealed[2] = sealed[2] == '0' ? '1' : '0';
    must(!opens(sealed, &out));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    FREE_AUTO char *sealed = memory_zeroed(size + 1, 1);
    json_auto_t *answers = NULL;
    struct request_state out;
    struct error error;

    memcpy(sealed, data, size);
    must(!opens(sealed, &out));
    if (json_parse((const char *)data, size, &answers, &error) && json_is_object(answers))
        seal_and_open(answers);
    return 0;
}
