/* SPDX-License-Identifier: Apache-2.0 */
/* The format of a backup file. Numbers are big-endian.
 *
 *     head    "opsbrain backup 1\n"; then 'e' (encrypted) or 'p' (not encrypted); then 32 random
 *             bytes
 *     piece   length of the contents (4 bytes), contents, seal (16 bytes)
 *     ...
 *
 * The file's own key is the HMAC-SHA256 of the head with the user's key or, if the user gave no
 * key, the SHA-256 of the head. Pieces are numbered from 0. An encrypted piece is sealed with
 * AES-256-GCM (base/core/seal.h), using the file's key and the piece's number. The seal of an
 * unencrypted piece is the beginning of the HMAC-SHA256 of its number (8 bytes) and contents with
 * the file's key. So a reader notices if a piece was changed, omitted or swapped by accident. In an
 * encrypted file, it also notices a forged piece. The contents, once decrypted, are a zstd
 * frame; the first byte after decompression says what follows:
 *
 *     'd'     a description of the file as JSON, always in the first piece (backup_reader.h)
 *     'r'     rows of the current table (copy_rows.h)
 *     't'     the table is complete: the number of its rows (8 bytes), and their digest
 *     'e'     the end: the digest of the concatenated digests of all tables
 *
 * Private to store/copy/. */
#pragma once

#include <stdint.h>
#include <stdio.h>

#include "base/core/digest.h"
#include "base/core/error.h"
#include "base/core/text.h"

#define BACKUP_PIECE_MAX ((size_t)256 << 20) /* in bytes, compressed or not */

/* The caller sets `stream` and `path`; the rest is zero at first. */
struct backup_file {
    FILE *stream;
    const char *path; /* borrowed */
    bool is_encrypted;
    uint8_t key[DIGEST_BYTES]; /* the file's own key */
    uint64_t pieces;           /* read or written so far */
    int64_t bytes;             /* read or written so far */
};

/* Writes the head. `key_path`: the file with the user's key; "": the backup is not encrypted. */
CHECKED bool backup_file_begin(struct backup_file *file, const char *key_path, struct error *error);
/* Reads the head. FORBIDDEN: the file is encrypted but no key was given, or a key was given but the
 * file is not encrypted. */
CHECKED bool backup_file_open(struct backup_file *file, const char *key_path, struct error *error);
/* Writes the next piece. BUSY: the disk is full. */
CHECKED bool backup_file_write(struct backup_file *file, char kind, const void *bytes,
                               size_t length, struct error *error);
/* Reads and unpacks the next piece; the first byte of `out` is its kind. INVALID: the file is
 * damaged, or ends too early. */
CHECKED bool backup_file_read(struct backup_file *file, struct text *out, struct error *error);
/* Checks that the file ends after the last piece that was read. INVALID: it does not. */
CHECKED bool backup_file_end(struct backup_file *file, struct error *error);
