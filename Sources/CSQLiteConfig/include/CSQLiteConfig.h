#ifndef CSQLITECONFIG_H
#define CSQLITECONFIG_H

/// Disables everything that a database file could make SQLite execute: triggers, views, and schema functions that are not innocuous.
///
/// Written in C because `sqlite3_db_config` is variadic, and Swift does not import variadic C functions.
///
/// - `connection`: A `sqlite3 *`.
/// - `isDefensive`: Whether SQL may not write to the schema. Only a copy whose schema is being repaired passes 0.
/// - Returns: A result code of SQLite.
int vellum_sqlite_treat_as_data(void *connection, int isDefensive);

#endif
