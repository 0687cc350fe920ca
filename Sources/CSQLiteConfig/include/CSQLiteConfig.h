#ifndef CSQLITECONFIG_H
#define CSQLITECONFIG_H

/// Disables everything that a database file could make SQLite execute: triggers, views, and schema
/// functions that are not innocuous.
///
/// Written in C because `sqlite3_db_config` is variadic, and Swift does not import variadic C
/// functions.
///
/// - `connection`: A `sqlite3 *`.
/// - `isDefensive`: Whether SQL may not write to the schema. Only a copy whose schema is being
///   repaired passes 0.
/// - Returns: A result code of SQLite.
int vellum_sqlite_treat_as_data(void *connection, int isDefensive);

/// Reserves room on the disk for the bytes of a file from `present`, its length a moment ago, to
/// `size`.
///
/// Changes no byte of the file, whatever another process writes into it or cuts off it meanwhile.
/// That is why it is `fallocate` (fallocate(2)) and not `posix_fallocate`, which writes a byte into
/// each block where the file system cannot reserve. On Apple platforms the file keeps its length
/// (fcntl(2), `F_PREALLOCATE`).
///
/// Written in C because Swift does not import it.
///
/// - Returns: 0, or the number of the error. A file system that cannot reserve room is no error.
int vellum_reserve(int file, long long present, long long size);

/// Returns how many bytes a file may have before the disk must give it room: its length, and on
/// Apple platforms what is reserved behind that.
///
/// - Returns: -1 if that cannot be known.
long long vellum_room(int file);

/// Renames a file, unless the new name is taken.
///
/// Written in C because Swift does not import it everywhere.
///
/// - Returns: 0, or the number of the error: EEXIST if the name is taken, ENOTSUP if the file
///   system cannot do it in one step.
int vellum_rename_new(const char *path, const char *target);

/// Waits until another thread of any process that maps the memory wakes it, or a while has passed,
/// if the word still has the expected value: futex(2), and os_sync_wait_on_address(3) on Apple
/// platforms. May return without a reason.
///
/// Written in C because `syscall` is variadic.
///
/// - `word`: Of memory that is mapped from a file.
void vellum_wait(const void *word, unsigned int expected, long long milliseconds);

/// Wakes every thread that waits at the word, in all processes.
void vellum_wake(void *word);

#endif
