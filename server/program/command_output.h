/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the results of commands. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct table;

struct table *command_output_table(const char *const *headings);     /* end with NULL */
void command_output_table_time(struct table *table, int64_t utc_ms); /* 0: "-" */
void command_output_table_print(struct table *table);                /* and frees it */

/* Prints a text that may hold Markdown tables, and what others wrote: on a terminal as wide as it
 * is, and without what it would obey. */
void command_output_text(const char *text);

/* If it is wanted, prints the reply as JSON; returns whether it was, so that the caller prints no
 * text. */
bool command_output_json(bool wanted, const json_t *reply);

/* Prints the reply's warning, if it has one, on standard error. */
void command_output_warn(const json_t *reply);
