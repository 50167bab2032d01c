/* SPDX-License-Identifier: Apache-2.0 */
/* opsbrain backup, opsbrain restore, opsbrain move: copy everything in a database. */

#include <stdio.h>
#include <string.h>

#include "base/formats/config.h"
#include "client/command/client.h"
#include "client/command/client_commands.h"
#include "server/program/command_output.h"
#include "server/program/commands.h"
#include "store/copy/copy.h"
#include "store/ledger/store.h"

struct options {
    char data[CONFIG_TEXT_SIZE], database[CONFIG_TEXT_SIZE], backup_key[CONFIG_TEXT_SIZE];
    char database_password_file[CONFIG_TEXT_SIZE];
    char from[CONFIG_TEXT_SIZE], to[CONFIG_TEXT_SIZE];
    bool json;
};

#define AT(member) offsetof(struct options, member)
#define PASSWORD_FLAG                                                                              \
    {                                                                                              \
        "database_password_file", SETTING_TEXT, "", 0, 0, AT(database_password_file),              \
            "file whose first line is the database's password"                                     \
    }
static const struct setting file_flags[] = {
    { "data", SETTING_TEXT, "./data", 0, 0, AT(data), "the database's folder" },
    { "database", SETTING_PRIVATE, "", 0, 0, AT(database),
      "postgresql://USER@HOST/NAME, as for serve; if not set, files in `data` are used" },
    PASSWORD_FLAG,
    { "backup_key", SETTING_TEXT, "", 0, 0, AT(backup_key),
      "file whose first line is the backup's encryption key; if not set, the backup is not "
      "encrypted" },
    { "json", SETTING_BOOLEAN, "false", 0, 0, AT(json), "prints JSON" },
};
static const struct setting move_flags[] = {
    { "from", SETTING_PRIVATE, "", 0, 0, AT(from),
      "the database's folder, or postgresql://USER@HOST/NAME; put a password in the environment or "
      "PGPASSFILE, not in a flag" },
    { "to", SETTING_PRIVATE, "", 0, 0, AT(to), "the same, for the copy" },
    PASSWORD_FLAG,
    { "json", SETTING_BOOLEAN, "false", 0, 0, AT(json), "prints JSON" },
};

static struct copy_place place_of(const struct options *options)
{
    return (struct copy_place){ options->data, options->database };
}

/* Returns the place that a folder or an address names. An address that is not PostgreSQL's is
 * refused later, with an error message that does not show it. */
static struct copy_place place_at(const char *text)
{
    bool is_address = strstr(text, "://") != NULL;

    return is_address ? (struct copy_place){ "", text } : (struct copy_place){ text, "" };
}

/* ---- Carrying out ---- */

static json_t *reply_of(const struct copy_report *report)
{
    return json_pack("{s:I, s:I}", "tables", (json_int_t)report->tables, "rows",
                     (json_int_t)report->rows);
}

/* Writes the answer about a restored or moved database. */
static void answer_copied(const char *done, const struct copy_report *report, struct text *out,
                          json_t **reply)
{
    *reply = reply_of(report);
    json_object_set_new(*reply, "only_reads_clouds", json_true());
    text_addf(
        out,
        "%s and compared with the source: %lld rows in %lld tables; a server on this database "
        "only reads the clouds until `opsbrain fleet resume` is run\n",
        done, (long long)report->rows, (long long)report->tables);
}

static CHECKED bool backup(const struct options *options, const char *path, struct text *out,
                           json_t **reply, struct error *error)
{
    const bool encrypted = options->backup_key[0] != '\0';
    const struct copy_place place = place_of(options);
    struct copy_report report;

    if (!copy_backup(&place, path, options->backup_key, &report, error))
        return false;
    *reply = reply_of(&report);
    json_object_set_new(*reply, "bytes", json_integer(report.bytes));
    json_object_set_new(*reply, "encrypted", json_boolean(encrypted));
    text_addf(out, "%s: %lld rows in %lld tables, %lld bytes, %s\n", path, (long long)report.rows,
              (long long)report.tables, (long long)report.bytes,
              encrypted ? "encrypted" : "not encrypted");
    return true;
}

static CHECKED bool restore(const struct options *options, const char *path, struct text *out,
                            json_t **reply, struct error *error)
{
    const struct copy_place place = place_of(options);
    struct copy_report report;

    if (!copy_restore(path, options->backup_key, &place, &report, error))
        return false;
    answer_copied("restored", &report, out, reply);
    return true;
}

static CHECKED bool move(const struct options *options, const char *path, struct text *out,
                         json_t **reply, struct error *error)
{
    const struct copy_place from = place_at(options->from), to = place_at(options->to);
    struct copy_report report;

    (void)path;
    if (options->from[0] == '\0' || options->to[0] == '\0')
        return error_set(error, ERROR_INVALID,
                         "move needs --from and --to: each a data folder or postgresql://...");
    if (strcmp(options->from, options->to) == 0)
        return error_set(error, ERROR_INVALID, "--from and --to are the same database");
    if (!copy_move(&from, &to, &report, error))
        return false;
    answer_copied("copied", &report, out, reply);
    return true;
}

static const struct copy_command {
    const char *name, *operand, *help;
    const struct setting *flags;
    size_t flag_count;
    CHECKED bool (*run)(const struct options *options, const char *path, struct text *out,
                        json_t **reply, struct error *error);
} copy_commands[] = {
    { "backup", " FILE",
      "writes everything in the database to a new file, even while a server is running", file_flags,
      sizeof file_flags / sizeof *file_flags, backup },
    { "restore", " FILE",
      "fills an empty database (SQLite or PostgreSQL) from a backup; run it again if it is "
      "interrupted",
      file_flags, sizeof file_flags / sizeof *file_flags, restore },
    { "move", "",
      "copies a database that no server uses into an empty one (SQLite or PostgreSQL); run it "
      "again if it is interrupted",
      move_flags, sizeof move_flags / sizeof *move_flags, move },
};

static int show_help(const struct copy_command *command)
{
    TEXT_AUTO text = { 0 };

    text_addf(&text, "  opsbrain %s%s [--FLAG VALUE]...\n      %s\n\n", command->name,
              command->operand, command->help);
    config_help(command->flags, command->flag_count, &text);
    command_output_text(text_string(&text));
    return STATUS_DONE;
}

static int run(const struct copy_command *command, int argc, char *const *argv)
{
    int operands = command->operand[0] != '\0';
    struct options options = { 0 };
    TEXT_AUTO out = { 0 };
    json_auto_t *reply = NULL;
    struct error error;

    if (client_asks_for_help(argc, argv))
        return show_help(command);
    if (operands > 0 && (argc < 2 || argv[1][0] == '-' || argv[1][0] == '\0')) {
        text_addf(&out, "%s needs a file name: opsbrain %s%s (see --help)", command->name,
                  command->name, command->operand);
        command_fail(text_string(&out));
        return STATUS_USAGE;
    }
    if (!config_read(command->flags, command->flag_count, argc - operands, argv + operands,
                     &options, &error)) {
        command_fail(error.message);
        return STATUS_USAGE;
    }
    store_use_password_file(options.database_password_file);
    if (!command->run(&options, operands > 0 ? argv[1] : "", &out, &reply, &error))
        return command_fail(error.message);
    if (!command_output_json(options.json, reply))
        fputs(text_string(&out), stdout);
    return STATUS_DONE;
}

int command_copy(int argc, char *const *argv)
{
    for (size_t i = 0; i < sizeof copy_commands / sizeof *copy_commands; i++)
        if (strcmp(argv[0], copy_commands[i].name) == 0)
            return run(&copy_commands[i], argc, argv);
    return STATUS_USAGE;
}
