/* SPDX-License-Identifier: Apache-2.0 */
#include "base/net/mask.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/core/error.h"
#include "base/core/memory.h"
#include "base/net/mask_view.h"

#define SHORT_BYTES 12                  /* a shorter secret is weak */
#define FEW_DISTINCT 5                  /* a secret with fewer distinct bytes is weak */
#define LEAST_BYTES 8                   /* length of the shortest piece that is hidden */
#define GRAM 4                          /* how many bytes are looked up together */
#define STRIDE (LEAST_BYTES - GRAM + 1) /* one lookup every STRIDE bytes misses no piece */
#define BUCKETS 4096
#define FORMS 5
#define HIDDEN "(hidden)"

/* One way of writing the secret, with each byte folded (see fold). */
struct form {
    size_t from, length; /* its place in mask->bytes */
    size_t least;        /* this many bytes in a row reveal the secret */
};

struct mask {
    bool weak;
    char *word; /* the secret itself */
    struct form forms[FORMS];
    size_t form_count;
    struct text bytes; /* all forms, one after the other */
    uint8_t *form_of;  /* for each byte in `bytes`, the index of its form in `forms` */
    /* A hash table of the positions in `bytes` at which a sequence of GRAM bytes of one form
     * begins. `head` has the first position in each bucket, and `next` has, for each position, the
     * next one in the same bucket. 1 is added to all positions, so that 0 means "none". */
    uint32_t head[BUCKETS];
    uint32_t *next;
};

/* Maps upper case to lower case, and base64's URL-safe alphabet to the standard one. */
static unsigned char fold(unsigned char byte)
{
    if (byte >= 'A' && byte <= 'Z')
        return (unsigned char)(byte + ('a' - 'A'));
    return byte == '-' ? '+' : byte == '_' ? '/' : byte;
}

/* ---- The forms of a secret ------------------------------------------------------------------- */

static void add_form(struct mask *mask, const struct text *written)
{
    struct form *form = &mask->forms[mask->form_count++];
    size_t least = written->length - written->length / 4;

    *form = (struct form){ .from = mask->bytes.length,
                           .length = written->length,
                           .least = least > LEAST_BYTES ? least : LEAST_BYTES };
    for (size_t i = 0; i < written->length; i++)
        text_add_char(&mask->bytes, (char)fold((unsigned char)written->data[i]));
}

static void add_hexadecimal(struct mask *mask, const char *secret)
{
    TEXT_AUTO written = { 0 };

    for (const char *c = secret; *c != '\0'; c++)
        text_addf(&written, "%02x", (unsigned char)*c);
    add_form(mask, &written);
    explicit_bzero(written.data, written.length);
}

/* Adds the bytes in base64, without the last character if it depends on what follows the bytes. */
static void add_base64(struct mask *mask, const char *bytes)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t bits = 8 * strlen(bytes);
    TEXT_AUTO written = { 0 };

    for (size_t bit = 0; bit + 6 <= bits; bit += 6) {
        unsigned pair = (unsigned)(unsigned char)bytes[bit / 8] << 8;

        if (bit / 8 + 1 < bits / 8)
            pair |= (unsigned char)bytes[bit / 8 + 1];
        text_add_char(&written, digits[pair >> (10 - bit % 8) & 63]);
    }
    add_form(mask, &written);
    explicit_bzero(written.data, written.length);
}

static size_t bucket_of(const unsigned char *folded)
{
    uint32_t gram;

    memcpy(&gram, folded, sizeof gram);
    return gram * UINT32_C(2654435761) >> 20;
}

static void index_form(struct mask *mask, uint8_t which)
{
    const struct form *form = &mask->forms[which];
    const unsigned char *bytes = (const unsigned char *)mask->bytes.data;

    memset(mask->form_of + form->from, which, form->length);
    for (size_t i = form->from; i + GRAM <= form->from + form->length; i++) {
        uint32_t *head = &mask->head[bucket_of(bytes + i)];

        mask->next[i] = *head;
        *head = (uint32_t)i + 1;
    }
}

/* If a longer text is encoded in base64, a secret in it can begin at any of three positions in a
 * group of three bytes, so the secret has three base64 forms. */
static void add_forms(struct mask *mask, const char *secret)
{
    TEXT_AUTO written = { 0 };

    text_add(&written, secret);
    add_form(mask, &written);
    add_hexadecimal(mask, secret);
    for (size_t skipped = 0; skipped < 3; skipped++)
        add_base64(mask, secret + skipped);
    mask->form_of = memory_zeroed(mask->bytes.length, sizeof *mask->form_of);
    mask->next = memory_zeroed(mask->bytes.length, sizeof *mask->next);
    for (size_t i = 0; i < mask->form_count; i++)
        index_form(mask, (uint8_t)i);
    explicit_bzero(written.data, written.length);
}

struct mask *mask_create(const char *secret)
{
    struct mask *mask;

    if (secret == NULL || secret[0] == '\0')
        return NULL;
    mask = memory_zeroed(1, sizeof *mask);
    mask->weak = mask_is_weak(secret);
    mask->word = memory_copy_text(secret);
    /* Allocate once: if the text grew, copies of the secret would be left in freed memory. */
    text_reserve(&mask->bytes, 8 * strlen(secret));
    if (!mask->weak)
        add_forms(mask, secret);
    return mask;
}

void mask_destroy(struct mask *mask)
{
    if (mask == NULL)
        return;
    explicit_bzero(mask->word, strlen(mask->word));
    if (mask->bytes.data != NULL)
        explicit_bzero(mask->bytes.data, mask->bytes.length);
    free(mask->word);
    text_finish(&mask->bytes);
    free(mask->form_of);
    free(mask->next);
    free(mask);
}

void mask_destroy_at(struct mask **mask)
{
    mask_destroy(*mask);
}

/* ---- Weak secrets ---------------------------------------------------------------------------- */

static size_t count_distinct(const char *secret)
{
    bool seen[256] = { false };
    size_t count = 0;

    for (const char *c = secret; *c != '\0'; c++) {
        count += !seen[(unsigned char)*c];
        seen[(unsigned char)*c] = true;
    }
    return count;
}

/* The words are placeholders from the documentation of engines and clients, and words that servers
 * often write. */
bool mask_is_weak(const char *secret)
{
    static const char *const words[] = {
        "token-abc123",   "sk-no-key-required", "no-key-required", "not-required",
        "not-applicable", "your-api-key",       "your_api_key",    "your-api-key-here",
        "unauthorized",   "authorization",      "authentication",  "unauthenticated",
        "authenticated",  "authenticate",       "configuration",   "administrator",
        "placeholder",    "openai-compatible",  "not-configured",  "undefined",
    };

    if (strlen(secret) < SHORT_BYTES || count_distinct(secret) < FEW_DISTINCT)
        return true;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcasecmp(secret, words[i]) == 0)
            return true;
    return false;
}

static bool is_word_byte(unsigned char byte)
{
    return isalnum(byte) || byte == '_' || byte >= 0x80;
}

/* ---- Finding a secret ------------------------------------------------------------------------ */

struct spans {
    struct span *at;
    size_t count, room;
};

static void add_span(struct spans *spans, struct span span)
{
    if (spans->count == spans->room) {
        spans->room = 2 * spans->room + 8;
        spans->at = memory_resize(spans->at, spans->room, sizeof *spans->at);
    }
    spans->at[spans->count++] = span;
}

/* The longest run of bytes around `at` in the view that matches the bytes around `place` in
 * mask->bytes, within one form. */
static struct span extend(const struct mask *mask, const struct mask_view *view, size_t at,
                          size_t place)
{
    const struct form *form = &mask->forms[mask->form_of[place]];
    const char *bytes = mask->bytes.data;
    size_t back = 0, ahead = 0;

    while (back < at && back < place - form->from
           && (char)fold(view->bytes[at - back - 1]) == bytes[place - back - 1])
        back++;
    while (at + ahead < view->length && place + ahead < form->from + form->length
           && (char)fold(view->bytes[at + ahead]) == bytes[place + ahead])
        ahead++;
    return (struct span){ at - back, at + ahead };
}

/* Whether the run is long enough to reveal the secret. At the end of a truncated text, LEAST_BYTES
 * are enough, because the rest of the secret may have been cut off. */
static bool reveals(const struct mask *mask, const struct mask_view *view, bool is_truncated,
                    size_t place, struct span run)
{
    size_t length = run.to - run.from;

    return length >= mask->forms[mask->form_of[place]].least
           || (is_truncated && run.to == view->length && length >= LEAST_BYTES);
}

/* Finds the longest run around `at` that reveals the secret. Returns false if there is none. */
static bool find_run(const struct mask *mask, const struct mask_view *view, bool is_truncated,
                     size_t at, struct span *out)
{
    unsigned char gram[GRAM];
    bool found = false;

    for (size_t i = 0; i < GRAM; i++)
        gram[i] = fold(view->bytes[at + i]);
    for (uint32_t next = mask->head[bucket_of(gram)]; next != 0; next = mask->next[next - 1]) {
        struct span run = extend(mask, view, at, next - 1);

        if (!reveals(mask, view, is_truncated, next - 1, run)
            || (found && run.to - run.from <= out->to - out->from))
            continue;
        *out = run;
        found = true;
    }
    return found;
}

static void find_runs(const struct mask *mask, const struct mask_view *view, bool is_truncated,
                      struct spans *spans)
{
    struct span run;

    for (size_t at = 0; at + GRAM <= view->length;) {
        if (!find_run(mask, view, is_truncated, at, &run)) {
            at += STRIDE;
            continue;
        }
        add_span(spans, mask_view_origin(view, run));
        at = run.to;
    }
}

static void find_words(const struct mask *mask, const struct mask_view *view, struct spans *spans)
{
    size_t length = strlen(mask->word);

    for (size_t at = 0; at + length <= view->length; at++) {
        struct span word = { at, at + length };

        if (memcmp(view->bytes + at, mask->word, length) == 0
            && (at == 0 || !is_word_byte(view->bytes[at - 1]))
            && (word.to == view->length || !is_word_byte(view->bytes[word.to])))
            add_span(spans, mask_view_origin(view, word));
    }
}

/* Searches the text as it is, and again after each of up to three rounds of decoding. */
static void find_all(const struct mask *mask, const struct text *text, bool is_truncated,
                     struct spans *spans)
{
    struct mask_view view = mask_view_of(text->data, text->length);

    for (int round = 0; round < MASK_VIEW_ROUNDS; round++) {
        if (mask->weak)
            find_words(mask, &view, spans);
        else
            find_runs(mask, &view, is_truncated, spans);
        if (!mask_view_decode(&view, mask->weak ? MASK_VIEW_KEEPS_BLANKS : MASK_VIEW_DROPS_BLANKS))
            break;
    }
    mask_view_finish(&view);
}

/* ---- Hiding a secret ------------------------------------------------------------------------- */

static int by_start(const void *a, const void *b)
{
    const struct span *first = a, *second = b;

    return first->from < second->from ? -1 : first->from > second->from;
}

static void replace(const struct spans *spans, struct text *text)
{
    struct text out = { 0 };
    size_t done = 0;

    for (size_t i = 0; i < spans->count; i++) {
        const struct span *span = &spans->at[i];

        if (span->to <= done)
            continue;
        if (span->from >= done) { /* the span does not overlap the previous one */
            text_add_bytes(&out, text->data + done, span->from - done);
            text_add(&out, HIDDEN);
        }
        done = span->to;
    }
    text_add_bytes(&out, text->data + done, text->length - done);
    explicit_bzero(text->data, text->length);
    text_finish(text);
    *text = out;
}

void mask_text(const struct mask *mask, enum mask_kind kind, bool is_truncated, struct text *text)
{
    struct spans spans = { 0 };

    if (mask == NULL || text->length == 0 || (mask->weak && kind != MASK_FAILURE))
        return;
    find_all(mask, text, is_truncated, &spans);
    if (spans.count > 0) {
        qsort(spans.at, spans.count, sizeof *spans.at, by_start);
        replace(&spans, text);
    }
    free(spans.at);
}

void mask_string(const struct mask *mask, enum mask_kind kind, char *string, size_t size)
{
    TEXT_AUTO text = { 0 };

    if (mask == NULL)
        return;
    text_add(&text, string);
    mask_text(mask, kind, text.length + UTF8_LONGEST >= size, &text);
    text_copy(string, size, text_string(&text));
}

void mask_error(const struct mask *mask, struct error *error)
{
    mask_string(mask, MASK_FAILURE, error->message, sizeof error->message);
}

/* ---- Text that is still growing -------------------------------------------------------------- */

/* The length of the longest run at the end of the view that also occurs in one of the forms. */
static size_t open_bytes(const struct mask *mask, const struct mask_view *view)
{
    size_t longest = 0;

    for (size_t end = 1; end <= mask->bytes.length; end++) {
        size_t from = mask->forms[mask->form_of[end - 1]].from, count = 0;

        while (count < end - from && count < view->length
               && (char)fold(view->bytes[view->length - count - 1])
                      == mask->bytes.data[end - count - 1])
            count++;
        longest = count > longest ? count : longest;
    }
    return longest;
}

size_t mask_safe_length(const struct mask *mask, const char *bytes, size_t length)
{
    size_t safe, reach, first;
    struct mask_view view;

    if (mask == NULL || mask->weak || length == 0)
        return length;
    safe = mask_view_whole(bytes, length);
    reach = MASK_VIEW_GROWTH * mask->bytes.length;
    first = reach < safe ? safe - reach : 0; /* no unfinished piece can begin before this */
    view = mask_view_of(bytes + first, safe - first);
    for (int round = 0; round < MASK_VIEW_ROUNDS; round++) {
        size_t open = open_bytes(mask, &view);
        size_t from =
            first + mask_view_origin(&view, (struct span){ view.length - open, view.length }).from;

        if (open > 0 && from < safe)
            safe = from;
        if (!mask_view_decode(&view, MASK_VIEW_DROPS_BLANKS))
            break;
    }
    mask_view_finish(&view);
    while (safe > 0 && safe < length && ((unsigned char)bytes[safe] & 0xc0) == 0x80)
        safe--;
    return safe;
}
