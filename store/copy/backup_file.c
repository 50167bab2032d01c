/* SPDX-License-Identifier: Apache-2.0 */
#include "store/copy/backup_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/compress.h"
#include "base/core/memory.h"
#include "base/core/random.h"
#include "base/core/seal.h"
#include "store/engine/first_line.h"

#define MAGIC "opsbrain backup 1\n"
#define MAGIC_LENGTH (sizeof MAGIC - 1)
#define SALT_BYTES 32
#define HEAD_BYTES (MAGIC_LENGTH + 1 + SALT_BYTES)
#define LENGTH_BYTES 4
/* Memory is allocated as bytes arrive, because the length that the file states can be false. */
#define STEP_BYTES ((size_t)1 << 20)
#define KEY_SIZE 1024
#define KEY_LENGTH_LEAST 32

/* ---- Keys ---- */

static CHECKED bool check_key(const char *path, const char *key, struct error *error)
{
    return strlen(key) >= KEY_LENGTH_LEAST
           || error_set(error, ERROR_INVALID,
                        "the key in %.200s has %zu characters, but needs at least %d: create one "
                        "with `openssl rand -hex 32`",
                        path, strlen(key), KEY_LENGTH_LEAST);
}

static CHECKED bool make_key(struct backup_file *file, const char *key_path, const uint8_t *head,
                             struct error *error)
{
    char key[KEY_SIZE];
    bool done;

    if (key_path[0] == '\0') {
        digest_sha256(head, HEAD_BYTES, file->key);
        return true;
    }
    done = first_line_read("the key", key_path, key, sizeof key, error)
           && check_key(key_path, key, error);
    if (done)
        digest_hmac_sha256(key, strlen(key), head, HEAD_BYTES, file->key);
    explicit_bzero(key, sizeof key);
    return done;
}

/* ---- Writing ---- */

static CHECKED bool write_bytes(struct backup_file *file, const void *bytes, size_t length,
                                struct error *error)
{
    if (fwrite(bytes, 1, length, file->stream) != length)
        return error_set(error, errno == ENOSPC ? ERROR_BUSY : ERROR_INTERNAL,
                         "%.200s cannot be written: %s", file->path, strerror(errno));
    file->bytes += (int64_t)length;
    return true;
}

bool backup_file_begin(struct backup_file *file, const char *key_path, struct error *error)
{
    uint8_t head[HEAD_BYTES];

    file->is_encrypted = key_path[0] != '\0';
    memcpy(head, MAGIC, MAGIC_LENGTH);
    head[MAGIC_LENGTH] = file->is_encrypted ? 'e' : 'p';
    random_bytes(head + MAGIC_LENGTH + 1, SALT_BYTES);
    return make_key(file, key_path, head, error) && write_bytes(file, head, sizeof head, error);
}

static void write_number(uint64_t number, size_t length, uint8_t *out)
{
    for (size_t i = 0; i < length; i++)
        out[i] = (uint8_t)(number >> (8 * (length - 1 - i)));
}

/* Makes the seal for the next piece of a file that is not encrypted. */
static void make_seal(const struct backup_file *file, const uint8_t *bytes, size_t length,
                      uint8_t out[SEAL_BYTES])
{
    uint8_t number[sizeof(uint64_t)], digest[DIGEST_BYTES];
    TEXT_AUTO message = { 0 };

    write_number(file->pieces, sizeof number, number);
    text_add_bytes(&message, (const char *)number, sizeof number);
    text_add_bytes(&message, (const char *)bytes, length);
    digest_hmac_sha256(file->key, sizeof file->key, message.data, message.length, digest);
    memcpy(out, digest, SEAL_BYTES);
}

/* Writes a piece whose contents are `packed`, encrypted if the file is. */
static CHECKED bool write_piece(struct backup_file *file, const uint8_t *packed, size_t length,
                                struct error *error)
{
    FREE_AUTO uint8_t *piece = memory_zeroed(LENGTH_BYTES + length + SEAL_BYTES, 1);
    uint8_t *contents = piece + LENGTH_BYTES;

    write_number(length, LENGTH_BYTES, piece);
    if (file->is_encrypted) {
        seal_close(file->key, file->pieces, packed, length, contents);
    } else {
        memcpy(contents, packed, length);
        make_seal(file, packed, length, contents + length);
    }
    file->pieces++;
    return write_bytes(file, piece, LENGTH_BYTES + length + SEAL_BYTES, error);
}

bool backup_file_write(struct backup_file *file, char kind, const void *bytes, size_t length,
                       struct error *error)
{
    FREE_AUTO void *packed = NULL;
    TEXT_AUTO unpacked = { 0 };
    size_t packed_length;

    text_reserve(&unpacked, length + 1);
    text_add_char(&unpacked, kind);
    text_add_bytes(&unpacked, bytes, length);
    if (!compress_bytes(unpacked.data, unpacked.length, &packed, &packed_length, error))
        return false;
    if (unpacked.length > BACKUP_PIECE_MAX || packed_length > BACKUP_PIECE_MAX)
        return error_set(error, ERROR_INVALID,
                         "a row is too long for a backup: it would make a piece of %zu bytes, but "
                         "the limit is %zu",
                         length, BACKUP_PIECE_MAX);
    return write_piece(file, packed, packed_length, error);
}

/* ---- Reading ---- */

static CHECKED bool explain_short_read(const struct backup_file *file, struct error *error)
{
    if (ferror(file->stream) != 0)
        return error_set(error, ERROR_INVALID, "%.200s cannot be read: %s", file->path,
                         strerror(errno));
    return error_set(
        error, ERROR_INVALID,
        "%.200s ends after %lld bytes, before the end of the backup: use another backup",
        file->path, (long long)file->bytes);
}

static CHECKED bool refuse_damaged(const struct backup_file *file, struct error *error)
{
    if (file->is_encrypted && file->pieces == 0)
        return error_set(error, ERROR_INVALID,
                         "%.200s cannot be opened: it was made with another key, or it is damaged",
                         file->path);
    return error_set(error, ERROR_INVALID, "%.200s is damaged before byte %lld: use another backup",
                     file->path, (long long)file->bytes);
}

static CHECKED bool read_bytes(struct backup_file *file, void *out, size_t length,
                               struct error *error)
{
    size_t count = fread(out, 1, length, file->stream);

    file->bytes += (int64_t)count;
    return count == length || explain_short_read(file, error);
}

bool backup_file_open(struct backup_file *file, const char *key_path, struct error *error)
{
    uint8_t head[HEAD_BYTES];

    if (!read_bytes(file, head, sizeof head, error))
        return false;
    if (memcmp(head, MAGIC, MAGIC_LENGTH) != 0
        || (head[MAGIC_LENGTH] != 'e' && head[MAGIC_LENGTH] != 'p'))
        return error_set(error, ERROR_INVALID, "%.200s is not a backup that this opsbrain can read",
                         file->path);
    file->is_encrypted = head[MAGIC_LENGTH] == 'e';
    if (file->is_encrypted && key_path[0] == '\0')
        return error_set(error, ERROR_FORBIDDEN,
                         "%.200s is encrypted: name its key file with --backup-key", file->path);
    if (!file->is_encrypted && key_path[0] != '\0')
        return error_set(error, ERROR_FORBIDDEN,
                         "%.200s is not encrypted, so perhaps it is not the backup that was made "
                         "with this key; if you trust it, omit --backup-key",
                         file->path);
    return make_key(file, key_path, head, error);
}

/* Reads the contents of a piece and its seal. */
static CHECKED bool read_piece(struct backup_file *file, struct text *out, struct error *error)
{
    uint8_t number[LENGTH_BYTES];
    size_t length = 0;

    if (!read_bytes(file, number, sizeof number, error))
        return false;
    for (size_t i = 0; i < LENGTH_BYTES; i++)
        length = length << 8 | number[i];
    if (length > BACKUP_PIECE_MAX)
        return refuse_damaged(file, error);
    for (length += SEAL_BYTES; out->length < length;) {
        size_t step = length - out->length < STEP_BYTES ? length - out->length : STEP_BYTES;

        text_reserve(out, step);
        if (!read_bytes(file, out->data + out->length, step, error))
            return false;
        out->length += step;
    }
    return true;
}

/* Checks the seal of a piece. If the file is encrypted, decrypts the piece's contents in place.
 * Subtracts the seal's length from *length. */
static bool open_seal(const struct backup_file *file, uint8_t *sealed, size_t *length)
{
    uint8_t seal[SEAL_BYTES];

    if (file->is_encrypted && !seal_open(file->key, file->pieces, sealed, *length, sealed))
        return false;
    *length -= SEAL_BYTES;
    if (file->is_encrypted)
        return true;
    make_seal(file, sealed, *length, seal);
    return memcmp(seal, sealed + *length, SEAL_BYTES) == 0;
}

bool backup_file_read(struct backup_file *file, struct text *out, struct error *error)
{
    TEXT_AUTO piece = { 0 };
    FREE_AUTO void *unpacked = NULL;
    struct error ignored; /* zstd's error, which means that the file is damaged */
    size_t length;

    if (!read_piece(file, &piece, error))
        return false;
    length = piece.length;
    if (!open_seal(file, (uint8_t *)piece.data, &length)
        || !compress_restore(piece.data, length, BACKUP_PIECE_MAX, &unpacked, &length, &ignored)
        || length == 0)
        return refuse_damaged(file, error);
    file->pieces++;
    text_clear(out);
    text_add_bytes(out, unpacked, length);
    return true;
}

bool backup_file_end(struct backup_file *file, struct error *error)
{
    return fgetc(file->stream) == EOF
           || error_set(
               error, ERROR_INVALID,
               "%.200s has bytes after the end of the backup, at byte %lld: use another backup",
               file->path, (long long)file->bytes);
}
