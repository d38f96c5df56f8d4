#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// An open environment with the tables that a task's creation writes, or NULL.
typedef struct raw_store raw_store;

/// Opens a store's directory with liblmdb's own defaults, by which every commit is on the disk: a copy that no one else
/// has open, or, for reading only, beside Tally and without locks, a store that no one changes.
raw_store *_Nullable raw_store_open(const char *_Nonnull path, bool only_reads);

/// Turns off liblmdb's flushes (MDB_NOSYNC), which is not safe. With a path, each commit first writes and flushes one block
/// of that new file: the least that a durable commit can do. Returns an error's code.
int raw_store_skip_flushes(raw_store *_Nonnull store, const char *_Nullable path);
void raw_store_close(raw_store *_Nonnull store);

/// Looks up records by id in one read transaction and copies each; returns a sum over their bytes, or -1.
int64_t raw_store_read(raw_store *_Nonnull store, const uint8_t *_Nonnull ids, size_t count);

/// Walks the tasks of a list in their order, in one read transaction, and copies the record of each; returns their
/// number, or -1.
int64_t raw_store_read_list(raw_store *_Nonnull store, const uint8_t *_Nonnull list_id);

/// Puts the entries of some creations of tasks, in the same number and sizes, and commits them together; returns
/// liblmdb's code.
int raw_store_create(raw_store *_Nonnull store, uint64_t first, size_t count);

/// All entries of a store's tables, in memory and in the order of their keys, or NULL.
typedef struct raw_entries raw_entries;

/// Reads the entries of a store in a directory.
raw_entries *_Nullable raw_entries_read(const char *_Nonnull path);
void raw_entries_free(raw_entries *_Nonnull entries);

/// Appends all entries to the tables of a new environment in an empty directory, in one transaction, commits and closes;
/// returns liblmdb's code.
int raw_entries_write(const raw_entries *_Nonnull entries, const char *_Nonnull path);
