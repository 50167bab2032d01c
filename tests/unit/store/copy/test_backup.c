/* SPDX-License-Identifier: Apache-2.0 */
/* Backups: a restore yields exactly what was backed up, for SQLite files and for the engine that
 * the tests use (test_database.h). A damaged backup is refused before anything is restored. */
#include <endian.h>
#include <errno.h>
#include <glob.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "store/copy/backup_reader.h"
#include "store/copy/backup_writer.h"
#include "store/copy/copy.h"
#include "store/copy/copy_target.h"
#include "tests/unit/support/backdoor.h"
#include "tests/unit/support/copy_route.h"
#include "tests/unit/support/every_row.h"
#include "tests/unit/support/ledger.h"

#define HEAD_BYTES 51 /* the size in bytes of a backup's head (store/copy/backup_file.h) */

struct vault {
    struct copy_route route;
    char path[FOLDER_SIZE + 16], other[FOLDER_SIZE + 16]; /* the paths of two backups */
    char key[FOLDER_SIZE + 16];                           /* the path of a key file */
};

static void write_file(const char *path, const char *content)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    fputs(content, file);
    fclose(file);
}

static int set_up(void **state)
{
    struct vault *vault = calloc(1, sizeof *vault);

    copy_route_begin(&vault->route);
    snprintf(vault->path, sizeof vault->path, "%s/backup", vault->route.from);
    snprintf(vault->other, sizeof vault->other, "%s/other", vault->route.from);
    snprintf(vault->key, sizeof vault->key, "%s/key", vault->route.from);
    write_file(vault->key, "0123456789abcdef0123456789abcdef\n");
    *state = vault;
    return 0;
}

static int tear_down(void **state)
{
    struct vault *vault = *state;

    copy_route_end(&vault->route);
    free(vault);
    return 0;
}

static bool back_up(struct vault *vault, const char *folder, const char *database, const char *path,
                    const char *key)
{
    const struct copy_place place = { folder, database };
    struct copy_report report;

    return copy_backup(&place, path, key, &report, &vault->route.error);
}

static bool restore(struct vault *vault, const char *path, const char *key, const char *folder,
                    const char *database)
{
    const struct copy_place place = { folder, database };
    struct copy_report report;

    return copy_restore(path, key, &place, &report, &vault->route.error);
}

static void every_row_is_restored(void **state)
{
    struct vault *vault = *state;
    struct stat status;

    every_row_fill(vault->route.from, 3);
    assert_ok(&vault->route, back_up(vault, vault->route.from, "", vault->path, ""));
    assert_refused(&vault->route, back_up(vault, vault->route.from, "", vault->path, ""),
                   ERROR_CONFLICT, "there is already a file");
    assert_int_equal(stat(vault->path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    assert_ok(&vault->route, restore(vault, vault->path, "", vault->route.middle,
                                     test_database(vault->route.middle)));
    assert_ok(&vault->route, back_up(vault, vault->route.middle, test_database(vault->route.middle),
                                     vault->other, vault->key));
    assert_ok(&vault->route, restore(vault, vault->other, vault->key, vault->route.to, ""));
    every_row_compare(vault->route.from, vault->route.to);
    assert_refused(&vault->route, restore(vault, vault->other, vault->key, vault->route.to, ""),
                   ERROR_CONFLICT, "not empty");
}

static void a_backup_is_made_while_the_store_is_used(void **state)
{
    struct vault *vault = *state;
    struct ledger ledger = { 0 };
    struct store *store;

    memcpy(ledger.folder, vault->route.middle, sizeof ledger.folder);
    assert_ok(&ledger, store_open(vault->route.middle, test_database(vault->route.middle), 2,
                                  &ledger.store, &ledger.error));
    ledger_deployment(&ledger, "gemma");
    assert_ok(&vault->route, back_up(vault, vault->route.middle, test_database(vault->route.middle),
                                     vault->path, ""));
    ledger_deployment(&ledger, "llama");
    store_close(ledger.store);
    assert_ok(&vault->route, restore(vault, vault->path, "", vault->route.to, ""));
    assert_ok(&vault->route, store_open(vault->route.to, "", 2, &store, &vault->route.error));
    store_close(store);
}

#define NO_FILTER 77 /* exit status: the kernel does not accept a system call filter */

/* Makes renameat2 with flags fail in this process, as it does on NFS. */
static bool forbid_rename_flags(void)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_renameat2, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[4])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = { sizeof filter / sizeof *filter, filter };

    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
           && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static void a_backup_is_written_where_renameat2_supports_no_flags(void **state)
{
    struct vault *vault = *state;
    pid_t child;
    int status;

    every_row_fill(vault->route.from, 1);
    child = fork();
    if (child == 0) {
        if (!forbid_rename_flags())
            _exit(NO_FILTER);
        bool done = back_up(vault, vault->route.from, "", vault->path, "");
        if (!done)
            fprintf(stderr, "%s\n", vault->route.error.message);
        _exit(done ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == NO_FILTER)
        skip();
    assert_int_equal(status, 0);
    assert_ok(&vault->route, restore(vault, vault->path, "", vault->route.to, ""));
}

/* ---- Interruptions ---- */

/* Begins a backup, raises the signal, and writes a piece. Unless the signal is ignored, it is
 * blocked until backup_writer_finish and then ends the process. If it is ignored, returns 1 if the
 * piece was written and 0 if it was not. Returns 2 if the backup could not begin. */
static int write_after_signal(const struct vault *vault, int signal)
{
    const struct text rows = { .data = (char[]){ "x" }, .length = 1 };
    struct backup_writer writer;
    struct error error;

    if (!backup_writer_begin(vault->path, "", "test", &writer, &error))
        return 2;
    const struct copy_sink sink = backup_writer_sink(&writer);
    raise(signal);
    bool written = sink.receive(sink.context, 0, &rows, &error);
    backup_writer_finish(&writer);
    return written;
}

/* Raises the signal in a child process during a backup. Checks that waitpid reports the expected
 * status for the child, and that no file is left. */
static void expect_end(const struct vault *vault, int signal, int expected_status)
{
    pid_t child = fork();
    TEXT_AUTO names = { 0 };
    glob_t found = { 0 };
    int status;

    if (child == 0)
        _exit(write_after_signal(vault, signal));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, expected_status);
    text_addf(&names, "%s*", vault->path);
    assert_int_equal(glob(text_string(&names), 0, NULL, &found), GLOB_NOMATCH);
    globfree(&found);
}

static void a_backup_that_a_signal_ended_leaves_no_file(void **state)
{
    static const int signals[] = { SIGHUP, SIGINT, SIGTERM };

    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        expect_end(*state, signals[i], signals[i]);
}

/* nohup makes a process ignore SIGHUP. */
static void an_ignored_signal_does_not_end_a_backup(void **state)
{
    signal(SIGHUP, SIG_IGN);
    expect_end(*state, SIGHUP, 1 << 8);
    signal(SIGHUP, SIG_DFL);
}

/* ---- Keys ---- */

static void assert_looks_encrypted(const char *path)
{
    char content[1 << 16];
    FILE *file = fopen(path, "r");
    size_t length = fread(content, 1, sizeof content, file);

    fclose(file);
    assert_true(length > 1000);
    assert_null(memmem(content, length, "\x28\xb5\x2f\xfd", 4)); /* the magic number of zstd */
}

static void a_restore_with_a_wrong_missing_or_unneeded_key_is_refused(void **state)
{
    struct vault *vault = *state;
    char wrong_key[FOLDER_SIZE + 16];

    every_row_fill(vault->route.from, 1);
    assert_ok(&vault->route, back_up(vault, vault->route.from, "", vault->path, vault->key));
    assert_looks_encrypted(vault->path);
    snprintf(wrong_key, sizeof wrong_key, "%s/wrong", vault->route.from);
    write_file(wrong_key, "too short\n");
    assert_refused(&vault->route, restore(vault, vault->path, wrong_key, vault->route.to, ""),
                   ERROR_INVALID, "at least 32");
    write_file(wrong_key, "0123456789abcdef0123456789abcdeg\n");
    assert_refused(&vault->route, restore(vault, vault->path, wrong_key, vault->route.to, ""),
                   ERROR_INVALID, "another key");
    assert_refused(&vault->route, restore(vault, vault->path, "", vault->route.to, ""),
                   ERROR_FORBIDDEN, "is encrypted");
    assert_refused(&vault->route, restore(vault, vault->path, "/nowhere", vault->route.to, ""),
                   ERROR_INVALID, "cannot be read");
    assert_ok(&vault->route, back_up(vault, vault->route.from, "", vault->other, ""));
    assert_refused(&vault->route, restore(vault, vault->other, vault->key, vault->route.to, ""),
                   ERROR_FORBIDDEN, "is not encrypted");
}

/* ---- Damage ---- */

static bool read_all(struct vault *vault, const struct copy_tables *tables, const char *key)
{
    static const struct copy_sink nowhere = { 0 };
    struct backup_reader reader;
    struct copy_report report;
    bool done;

    if (!backup_reader_open(vault->path, key, &reader, &vault->route.error))
        return false;
    done = backup_reader_run(&reader, tables, &nowhere, &report, &vault->route.error);
    backup_reader_close(&reader);
    return done;
}

/* Returns the size of the backup in bytes. */
static int64_t make_small_backup(struct vault *vault, const char *key, struct copy_tables *tables)
{
    int64_t versions[COPY_SETS];
    struct stat status;

    copy_side_versions(versions);
    assert_ok(&vault->route, copy_tables_read(versions, tables, &vault->route.error));
    char path[FOLDER_SIZE + 32];
    for (int set = 0; set < 2; set++) {
        snprintf(path, sizeof path, "%s/%s", vault->route.from, every_row_files[set]);
        every_row_fill_file(path, set == 0 ? &migrations_sqlite_main : &migrations_sqlite_scrapes,
                            1, NULL);
    }
    assert_ok(&vault->route, back_up(vault, vault->route.from, "", vault->path, key));
    assert_true(read_all(vault, tables, key));
    assert_int_equal(stat(vault->path, &status), 0);
    return status.st_size;
}

static void flip(const struct vault *vault, off_t at)
{
    int file = open(vault->path, O_RDWR);
    unsigned char byte;

    assert_int_equal(pread(file, &byte, 1, at), 1);
    byte ^= 1 << (at % 8);
    assert_int_equal(pwrite(file, &byte, 1, at), 1);
    close(file);
}

/* Sets the length of the first piece to values from 4 GiB down to 128 KiB: each must be noticed. */
static void huge_lengths_are_noticed(struct vault *vault, const struct copy_tables *tables,
                                     const char *key)
{
    for (uint32_t length = 0xffffffff; length > 0xffff; length >>= 1) {
        uint32_t bytes = htobe32(length);
        int file = open(vault->path, O_RDWR);

        assert_int_equal(pwrite(file, &bytes, sizeof bytes, HEAD_BYTES), sizeof bytes);
        close(file);
        assert_false(read_all(vault, tables, key));
    }
}

static void damage_is_noticed_in(struct vault *vault, const char *key)
{
    struct copy_tables tables;
    int64_t size = make_small_backup(vault, key, &tables);

    for (off_t at = 0; at < size; at += at < 120 ? 3 : 211) {
        flip(vault, at);
        if (read_all(vault, &tables, key))
            fail_msg("a change to byte %lld was not noticed", (long long)at);
        flip(vault, at);
    }
    assert_true(read_all(vault, &tables, key));
    assert_ok(&vault->route, back_up(vault, vault->route.from, "", vault->other, key));
    for (off_t length = size - 1; length >= 0; length -= length < 120 ? 3 : 211) {
        assert_int_equal(truncate(vault->path, length), 0);
        if (read_all(vault, &tables, key))
            fail_msg("a truncation to %lld bytes was not noticed", (long long)length);
        assert_non_null(strstr(vault->route.error.message, vault->path));
    }
    assert_ok(&vault->route, rename(vault->other, vault->path) == 0);
    huge_lengths_are_noticed(vault, &tables, key);
    copy_tables_finish(&tables);
}

static void damage_to_an_unencrypted_backup_is_noticed(void **state)
{
    damage_is_noticed_in(*state, "");
}

static void damage_to_an_encrypted_backup_is_noticed(void **state)
{
    struct vault *vault = *state;

    damage_is_noticed_in(vault, vault->key);
}

static void a_damaged_file_is_refused_before_a_database_is_created(void **state)
{
    struct vault *vault = *state;
    struct copy_tables tables;
    int64_t size = make_small_backup(vault, "", &tables);
    char path[FOLDER_SIZE + 32];

    copy_tables_finish(&tables);
    flip(vault, size - 100);
    assert_refused(&vault->route, restore(vault, vault->path, "", vault->route.to, ""),
                   ERROR_INVALID, "damaged");
    snprintf(path, sizeof path, "%s/opsbrain.db", vault->route.to);
    assert_int_not_equal(access(path, F_OK), 0);
    flip(vault, size - 100);
    FILE *file = fopen(vault->path, "a");
    fputs("more", file);
    fclose(file);
    assert_refused(&vault->route, restore(vault, vault->path, "", vault->route.to, ""),
                   ERROR_INVALID, "after the end");
}

/* A restore reads the file twice, which is not possible with a pipe. */
static void a_backup_from_a_pipe_is_refused_at_once(void **state)
{
    struct vault *vault = *state;
    char path[32];
    int ends[2];

    assert_int_equal(pipe(ends), 0);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    close(ends[1]);
    assert_refused(&vault->route, restore(vault, path, "", vault->route.to, ""), ERROR_INVALID,
                   "cannot be read twice");
    close(ends[0]);
}

/* A malicious file can have valid seals, but invalid rows or no tables. */
static void a_sealed_file_without_valid_tables_is_refused(void **state)
{
    static const char *const bodies[] = { "", "\x01", "\x09", "\x03\xff\xff\xff\xff\xff\xff\xff",
                                          "\x03\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff" };
    struct vault *vault = *state;
    struct copy_tables tables;
    int64_t versions[COPY_SETS];

    copy_side_versions(versions);
    assert_ok(&vault->route, copy_tables_read(versions, &tables, &vault->route.error));
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        struct backup_writer writer;
        struct text rows = { 0 };

        unlink(vault->path);
        assert_ok(&vault->route,
                  backup_writer_begin(vault->path, "", "test", &writer, &vault->route.error));
        text_add(&rows, bodies[i]);
        const struct copy_sink sink = backup_writer_sink(&writer);
        if (rows.length > 0)
            assert_ok(&vault->route, sink.receive(sink.context, 0, &rows, &vault->route.error));
        assert_ok(&vault->route, backup_writer_end(&writer, &vault->route.error));
        backup_writer_finish(&writer);
        text_finish(&rows);
        assert_false(read_all(vault, &tables, ""));
        assert_non_null(strstr(vault->route.error.message, "damaged"));
    }
    copy_tables_finish(&tables);
}

static void a_backup_whose_description_is_too_long_or_has_an_invalid_id_is_refused(void **state)
{
    static const char *const beginnings[] = { "{\"id\":\"bak_\\u001b[2J\",\"rest\":\"",
                                              "{\"id\":\"bak_1\",\"rest\":\"" };
    struct vault *vault = *state;
    struct backup_reader reader;

    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++) {
        struct backup_file file = { .stream = fopen(vault->path, "w"), .path = vault->path };
        TEXT_AUTO document = { 0 };

        text_add(&document, beginnings[i]);
        for (size_t length = 0; i > 0 && length < 65536; length++)
            text_add_char(&document, ' ');
        text_add(&document, "\",\"main\":1,\"scrapes\":1}");
        assert_ok(&vault->route, backup_file_begin(&file, "", &vault->route.error));
        assert_ok(&vault->route, backup_file_write(&file, 'd', document.data, document.length,
                                                   &vault->route.error));
        assert_int_equal(fclose(file.stream), 0);
        assert_refused(&vault->route,
                       backup_reader_open(vault->path, "", &reader, &vault->route.error),
                       ERROR_INVALID, "not valid");
    }
}

/* ---- Versions ---- */

/* Creates an empty database with version 21 of the schema, which has no tables for clouds. */
static void make_older(struct vault *vault, const struct copy_place *place)
{
    const int64_t versions[] = { 21, migrations_sqlite_scrapes.count };
    struct copy_tables tables;
    struct copy_side side;

    assert_ok(&vault->route, copy_tables_read(versions, &tables, &vault->route.error));
    assert_ok(&vault->route,
              copy_side_open_target(place, versions, &tables, "x", &side, &vault->route.error));
    struct copy_target target = { .side = &side, .tables = &tables };
    assert_ok(&vault->route, copy_target_end(&target, &vault->route.error));
    copy_side_close(&side);
    copy_tables_finish(&tables);
}

static void an_older_copy_is_brought_up_to_date_when_it_is_opened(void **state)
{
    struct vault *vault = *state;
    const struct copy_place place = copy_route_middle(&vault->route);
    struct store *store;

    make_older(vault, &place);
    assert_ok(&vault->route,
              store_open(vault->route.middle, place.database, 1, &store, &vault->route.error));
    store_close(store);
}

static void a_refused_restore_does_not_upgrade_an_older_database(void **state)
{
    struct vault *vault = *state;
    const struct copy_place place = copy_route_middle(&vault->route);
    char message[BACKDOOR_MESSAGE_SIZE];

    every_row_fill(vault->route.from, 1);
    assert_ok(&vault->route, back_up(vault, vault->route.from, "", vault->path, ""));
    make_older(vault, &place);
    backdoor_run(vault->route.middle, "INSERT INTO principals (id, name, role, created_ms) "
                                      "VALUES (1, 'a', 'viewer', 0)");
    assert_refused(&vault->route,
                   restore(vault, vault->path, "", vault->route.middle, place.database),
                   ERROR_CONFLICT, "not empty");
    /* this table, which later versions have, was not added */
    assert_int_equal(backdoor_try(vault->route.middle, "SELECT * FROM fleet_instance", message),
                     -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(every_row_is_restored),
        TEST(a_backup_is_made_while_the_store_is_used),
        TEST(a_backup_is_written_where_renameat2_supports_no_flags),
        TEST(a_backup_that_a_signal_ended_leaves_no_file),
        TEST(an_ignored_signal_does_not_end_a_backup),
        TEST(a_restore_with_a_wrong_missing_or_unneeded_key_is_refused),
        TEST(damage_to_an_unencrypted_backup_is_noticed),
        TEST(damage_to_an_encrypted_backup_is_noticed),
        TEST(a_damaged_file_is_refused_before_a_database_is_created),
        TEST(a_backup_from_a_pipe_is_refused_at_once),
        TEST(a_sealed_file_without_valid_tables_is_refused),
        TEST(a_backup_whose_description_is_too_long_or_has_an_invalid_id_is_refused),
        TEST(an_older_copy_is_brought_up_to_date_when_it_is_opened),
        TEST(a_refused_restore_does_not_upgrade_an_older_database),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
