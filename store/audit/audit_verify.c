/* SPDX-License-Identifier: Apache-2.0 */
#include "store/audit/audit_verify.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/core/clock.h"
#include "base/core/memory.h"
#include "store/audit/audit_chain.h"
#include "store/ledger/store_private.h"

#define PAGE_ROWS 1000 /* limited because PostgreSQL sends all rows of a result at once */

bool audit_mark_read(const char *text, struct audit_mark *out)
{
    size_t number = strspn(text, "0123456789");
    char digits[24];

    if (number == 0 || number >= sizeof digits || text[number] != ':'
        || strlen(text + number + 1) != DIGEST_TEXT_SIZE - 1
        || strspn(text + number + 1, "0123456789abcdef") != DIGEST_TEXT_SIZE - 1)
        return false;
    memcpy(digits, text, number);
    digits[number] = '\0';
    memcpy(out->digest, text + number + 1, sizeof out->digest);
    return text_to_integer(digits, 1, INT64_MAX, &out->id);
}

/* ---- Rows ---- */

struct walk {
    const struct audit_keys *keys;
    const struct audit_mark *mark;
    const atomic_bool *stop;
    struct audit_verdict *verdict;
    uint8_t before[DIGEST_BYTES]; /* the stored digest of the previous row */
    bool keyed;                   /* an earlier row had a key */
    bool anchor_keyless;          /* the anchor has no key */
};

static bool is_text(const struct audit_span *span, const char *text)
{
    return span->length == strlen(text) && memcmp(span->bytes, text, span->length) == 0;
}

static void note_wrong(struct audit_verdict *verdict, int64_t id)
{
    if (verdict->wrong < AUDIT_WRONG_SHOWN)
        verdict->wrong_ids[verdict->wrong] = id;
    verdict->wrong++;
}

static void note_key(struct walk *walk, const struct audit_span *key_id)
{
    struct audit_verdict *verdict = walk->verdict;
    bool keyless = key_id->length == 0;

    /* Before opsbrain writes the first row with a key, it seals the anchor with that key. So an
     * anchor without a key cannot precede a row with one. */
    if (verdict->rows == 0 && walk->anchor_keyless && !keyless)
        verdict->anchor_changed = true;
    if (!keyless)
        walk->keyed = true;
    else if (walk->keyed)
        verdict->keyless_after++;
    else
        verdict->keyless_before++;
    snprintf(verdict->key_id, sizeof verdict->key_id, "%.*s", (int)key_id->length,
             keyless ? "" : key_id->bytes);
}

static void note_locked(struct audit_verdict *verdict, const char *key_id)
{
    verdict->locked++;
    text_copy(verdict->locked_key, sizeof verdict->locked_key, key_id);
}

static void check_mark(const struct walk *walk, int64_t id, const uint8_t digest[DIGEST_BYTES])
{
    char hex[DIGEST_TEXT_SIZE];

    if (walk->mark->id != id)
        return;
    digest_write(digest, hex);
    walk->verdict->mark = strcmp(hex, walk->mark->digest) == 0 ? MARK_RIGHT : MARK_WRONG;
}

/* Each row is checked against the stored digest of the previous row, even if that digest is wrong:
 * otherwise all rows after a change would be reported, too. */
static void check_row(struct walk *walk, const struct sql *sql)
{
    struct audit_verdict *verdict = walk->verdict;
    uint8_t stored[DIGEST_BYTES], computed[DIGEST_BYTES];
    struct audit_link link;
    int64_t id;

    audit_chain_read(sql, &link);
    audit_chain_read_digest(sql, AUDIT_NUMBERS + AUDIT_TEXTS, stored);
    id = link.numbers[AUDIT_ID];
    note_key(walk, &link.texts[AUDIT_KEY_ID]);
    if (!audit_chain_digest(walk->keys, &link, walk->before, computed))
        note_locked(verdict, verdict->key_id);
    else if (memcmp(stored, computed, sizeof stored) != 0)
        note_wrong(verdict, id);
    if (is_text(&link.texts[AUDIT_TOOL], AUDIT_ALARM)
        && is_text(&link.texts[AUDIT_PRINCIPAL], AUDIT_SERVER))
        verdict->alarms++;
    if (walk->mark != NULL)
        check_mark(walk, id, stored);
    if (verdict->rows++ == 0) {
        verdict->first_id = id;
        verdict->first_ms = link.numbers[AUDIT_AT_MS];
    }
    verdict->last_id = id;
    verdict->last_ms = link.numbers[AUDIT_AT_MS];
    memcpy(walk->before, stored, sizeof stored);
}

/* *more: there may be further rows. */
static CHECKED bool check_page(struct sql_connection *connection, struct walk *walk, bool *more,
                               struct error *error)
{
    const struct audit_verdict *verdict = walk->verdict;
    int64_t rows_before = verdict->rows;
    enum sql_step step;
    SQL_AUTO sql = sql_begin(connection, "SELECT " AUDIT_COLUMNS ", digest FROM audit "
                                         "WHERE id >= ?1 ORDER BY id LIMIT ?2");

    sql_bind_integer(&sql, 1, rows_before == 0 ? INT64_MIN : verdict->last_id + 1);
    sql_bind_integer(&sql, 2, PAGE_ROWS);
    while ((step = sql_step(&sql, error)) == SQL_ROW)
        check_row(walk, &sql);
    *more = verdict->rows - rows_before == PAGE_ROWS && verdict->last_id < INT64_MAX;
    return step == SQL_DONE;
}

static CHECKED bool check_rows(struct sql_connection *connection, struct walk *walk,
                               struct error *error)
{
    bool more = true;

    while (more) {
        if (!check_page(connection, walk, &more, error))
            return false;
        if (more && walk->stop != NULL && atomic_load(walk->stop))
            return error_set(error, ERROR_CANCELLED, "the check of the audit log was stopped");
    }
    return true;
}

/* ---- The two ends ---- */

static CHECKED bool begin_at_anchor(struct sql_connection *connection, struct walk *walk,
                                    struct error *error)
{
    struct audit_verdict *verdict = walk->verdict;
    struct audit_chain_anchor anchor;
    bool found;

    if (!audit_chain_anchor_read(connection, walk->keys, &anchor, &found, error))
        return false;
    if (!found)
        return true;
    memcpy(walk->before, anchor.digest, sizeof walk->before);
    walk->anchor_keyless = anchor.key_id[0] == '\0';
    verdict->anchor_changed = !anchor.sealed;
    verdict->removed = anchor.removed;
    verdict->removed_until_ms = anchor.to_ms;
    if (!walk->anchor_keyless && audit_keys_find(walk->keys, anchor.key_id) == NULL)
        text_copy(verdict->locked_key, sizeof verdict->locked_key, anchor.key_id);
    return true;
}

/* Every row that the anchor stands for must be gone. */
static void compare_beginning(const struct audit_chain_head *head, struct audit_verdict *verdict)
{
    if (verdict->rows > 0 && verdict->first_id <= head->anchored_id)
        verdict->anchor_changed = true;
}

static void compare_end(const struct audit_chain_head *head, const struct walk *walk)
{
    struct audit_verdict *verdict = walk->verdict;
    int64_t last = verdict->rows > 0 ? verdict->last_id : head->anchored_id;

    if (head->id > last)
        verdict->missing = head->id - last;
    verdict->end_changed =
        !head->sealed || head->id != last || memcmp(head->digest, walk->before, DIGEST_BYTES) != 0;
    if (head->key_id[0] != '\0' && audit_keys_find(walk->keys, head->key_id) == NULL)
        text_copy(verdict->locked_key, sizeof verdict->locked_key, head->key_id);
}

static void compare_mark(const struct audit_chain_head *head, const struct walk *walk)
{
    struct audit_verdict *verdict = walk->verdict;

    if (walk->mark == NULL || walk->mark->id == 0 || verdict->mark != MARK_NONE)
        return;
    verdict->mark = walk->mark->id <= head->anchored_id ? MARK_OLDER : MARK_GONE;
}

static bool is_intact(const struct audit_verdict *verdict)
{
    return verdict->wrong == 0 && verdict->missing == 0 && verdict->alarms == 0
           && verdict->keyless_after == 0 && verdict->locked == 0 && verdict->locked_key[0] == '\0'
           && !verdict->end_changed && !verdict->end_keyless && !verdict->anchor_changed
           && verdict->mark != MARK_WRONG && verdict->mark != MARK_GONE;
}

/* Works in the caller's transaction, so rows that are added meanwhile do not matter. */
static CHECKED bool check_snapshot(struct sql_connection *connection, struct walk *walk,
                                   struct error *error)
{
    struct audit_chain_head head;
    bool done = begin_at_anchor(connection, walk, error) && check_rows(connection, walk, error)
                && audit_chain_head_read(connection, walk->keys, &head, error);

    if (!done)
        return false;
    compare_beginning(&head, walk->verdict);
    compare_end(&head, walk);
    compare_mark(&head, walk);
    walk->verdict->end_keyless = walk->keys->count > 0 && head.id > 0 && head.key_id[0] == '\0';
    walk->verdict->newest.id = head.id;
    digest_write(walk->before, walk->verdict->newest.digest);
    return true;
}

static void keep_verdict(struct store *store, const struct audit_verdict *verdict)
{
    pthread_mutex_lock(&store->verdict_lock);
    if (store->verdict == NULL)
        store->verdict = memory_zeroed(1, sizeof *store->verdict);
    *store->verdict = *verdict;
    pthread_mutex_unlock(&store->verdict_lock);
}

bool audit_verify(struct store *store, const struct audit_mark *mark, const atomic_bool *stop,
                  struct audit_verdict *out, struct error *error)
{
    struct audit_verdict verdict = { .at_ms = clock_utc_ms() };
    struct walk walk = {
        .keys = &store->audit_keys, .mark = mark, .stop = stop, .verdict = &verdict
    };
    struct error ignored;
    bool done;
    READER_AUTO reader = database_reader(store->main);

    if (!sql_connection_snapshot(reader.connection, error))
        return false;
    done = check_snapshot(reader.connection, &walk, error);
    if (!sql_connection_run(reader.connection, "COMMIT", done ? error : &ignored) || !done)
        return false;
    verdict.intact = is_intact(&verdict);
    keep_verdict(store, &verdict);
    *out = verdict;
    return true;
}

bool audit_last_verdict(struct store *store, struct audit_verdict *out)
{
    bool found;

    pthread_mutex_lock(&store->verdict_lock);
    found = store->verdict != NULL;
    *out = found ? *store->verdict : (struct audit_verdict){ 0 };
    pthread_mutex_unlock(&store->verdict_lock);
    return found;
}

bool audit_newest(struct store *store, struct audit_mark *out, struct error *error)
{
    struct audit_chain_head head;
    READER_AUTO reader = database_reader(store->main);

    if (!audit_chain_head_read(reader.connection, &store->audit_keys, &head, error))
        return false;
    out->id = head.id;
    digest_write(head.digest, out->digest);
    return true;
}

/* ---- The verdict in words ---- */

static void describe_wrong(const struct audit_verdict *verdict, struct text *out)
{
    int64_t shown = verdict->wrong < AUDIT_WRONG_SHOWN ? verdict->wrong : AUDIT_WRONG_SHOWN;

    if (verdict->wrong == 0)
        return;
    text_addf(out,
              "; %" PRId64 " row%s changed, moved or added by another program, or following such a "
              "row or a removed one: ",
              verdict->wrong, verdict->wrong == 1 ? "" : "s");
    for (int64_t i = 0; i < shown; i++)
        text_addf(out, "%s%" PRId64, i == 0 ? "" : ", ", verdict->wrong_ids[i]);
    if (shown < verdict->wrong)
        text_add(out, ", ...");
}

static void describe_ends(const struct audit_verdict *verdict, struct text *out)
{
    if (verdict->missing > 0)
        text_addf(out, "; rows missing at the end: %" PRId64, verdict->missing);
    else if (verdict->end_changed)
        text_add(out, "; opsbrain's record of the newest row was changed or removed, or does not "
                      "match that row");
    if (verdict->anchor_changed)
        text_add(out, "; the record of the rows that retention removed (the anchor) was changed, "
                      "or some of these rows are back");
    if (verdict->alarms > 0)
        text_addf(out,
                  "; rows (%s) reporting that another program wrote to the audit log: %" PRId64,
                  AUDIT_ALARM, verdict->alarms);
}

static void describe_keys(const struct audit_verdict *verdict, struct text *out)
{
    if (verdict->key_id[0] == '\0' && verdict->keyless_after == 0 && !verdict->end_keyless)
        text_add(out, "; there is no key (setting audit_key), so a chain rewritten from its "
                      "beginning would not be noticed");
    else if (verdict->keyless_before > 0)
        text_addf(out, "; rows written before there was a key: %" PRId64, verdict->keyless_before);
    if (verdict->end_keyless)
        text_add(
            out,
            "; there is a key (setting audit_key), but the newest row was written without one: "
            "the server that wrote it had no audit_key, or another program wrote it");
    if (verdict->keyless_after > 0)
        text_addf(out,
                  "; rows without a key after a row with one, so not written by opsbrain: %" PRId64,
                  verdict->keyless_after);
    if (verdict->locked_key[0] != '\0')
        text_addf(out,
                  "; key %s is not in the audit_key file; rows whose key is not there: "
                  "%" PRId64 " (keep earlier keys in that file, on the lines after the newest)",
                  verdict->locked_key, verdict->locked);
}

static void describe_mark(const struct audit_verdict *verdict, struct text *out)
{
    static const char *const words[] = {
        [MARK_NONE] = "",
        [MARK_RIGHT] = "; the given digest matches its row",
        [MARK_WRONG] = "; the given digest does not match its row: the chain was rewritten",
        [MARK_GONE] = "; the row for the given digest is missing",
        [MARK_OLDER] = "; retention has removed the row for the given digest",
    };

    text_add(out, words[verdict->mark]);
}

void audit_verdict_describe(const struct audit_verdict *verdict, struct text *out)
{
    char from[CLOCK_TEXT_SIZE], to[CLOCK_TEXT_SIZE];

    text_addf(out, "the audit log %s: %" PRId64 " row%s",
              verdict->intact ? "is intact" : "IS NOT INTACT", verdict->rows,
              verdict->rows == 1 ? "" : "s");
    if (verdict->rows > 0)
        text_addf(out, " (%" PRId64 " to %" PRId64 ", %s to %s)", verdict->first_id,
                  verdict->last_id, clock_format_utc(verdict->first_ms, from),
                  clock_format_utc(verdict->last_ms, to));
    if (verdict->removed > 0)
        text_addf(out, "; earlier rows that retention removed: %" PRId64 ", the newest from %s",
                  verdict->removed, clock_format_utc(verdict->removed_until_ms, from));
    describe_wrong(verdict, out);
    describe_ends(verdict, out);
    describe_keys(verdict, out);
    describe_mark(verdict, out);
    if (verdict->newest.id > 0)
        text_addf(out, "; newest %" PRId64 ":%s", verdict->newest.id, verdict->newest.digest);
}
