/* SPDX-License-Identifier: Apache-2.0 */
/* The program's commands, except those in client/command/client_commands.h. argv[0] is the word
 * that named the command or, without one, the program's name. Each returns the exit status. */
#pragma once

int command_serve(int argc, char *const *argv);
int command_key(int argc, char *const *argv);
int command_principal(int argc, char *const *argv);
int command_secret(int argc, char *const *argv);
int command_audit(int argc, char *const *argv);
int command_clock(int argc, char *const *argv);
int command_copy(int argc, char *const *argv); /* backup, restore, move */
int command_plan(int argc, char *const *argv);
int command_fleet(int argc, char *const *argv);
int command_watchdog(int argc, char *const *argv); /* watches a model server on this machine */
int command_bench(int argc, char *const *argv);
int command_help(int argc, char *const *argv);
int command_version(int argc, char *const *argv);

/* Writes "opsbrain: <message>" to standard error; returns 1. */
int command_fail(const char *message);
