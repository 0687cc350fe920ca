#ifndef CSQLITECONFIG_H
#define CSQLITECONFIG_H

/// Turns off what a database file could make SQLite run: triggers, views, and functions in its schema that are not innocuous.
///
/// `sqlite3_db_config` is variadic, and Swift imports no variadic C function.
///
/// - `connection`: A `sqlite3 *`.
/// - `isDefensive`: Whether SQL may not write to the schema either. Only a copy whose schema is being repaired says 0.
/// - Returns: A result code of SQLite.
int vellum_sqlite_treat_as_data(void *connection, int isDefensive);

#endif
