/* SPDX-License-Identifier: Apache-2.0 */
/* Types that statements and engines share. Private to store/. */
#pragma once

/* Used by one thread at a time. */
struct sql_connection;

enum sql_connection_kind { SQL_CONNECTION_READER = 1, SQL_CONNECTION_WRITER };
/* The types of values, and of the columns of tables. */
enum sql_type { SQL_INTEGER = 1, SQL_REAL, SQL_TEXT, SQL_BLOB };
enum sql_step { SQL_ROW, SQL_DONE, SQL_FAILED };
