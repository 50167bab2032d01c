/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the results of commands. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct table;

struct table *command_output_table(const char *const *headings);     /* they end with NULL */
void command_output_table_time(struct table *table, int64_t utc_ms); /* 0: "-" */
void command_output_table_print(struct table *table);                /* also frees it */

/* Prints a text that may contain Markdown tables and untrusted text. No escape sequence in the text
 * reaches the terminal, and its tables and lines are fitted to the terminal's width. */
void command_output_text(const char *text);

/* Prints the reply as JSON if `wanted`, and returns `wanted`: if it is true, the caller has nothing
 * more to print. */
bool command_output_json(bool wanted, const json_t *reply);

/* Prints the reply's warning, if it has one, on standard error. */
void command_output_warn(const json_t *reply);
