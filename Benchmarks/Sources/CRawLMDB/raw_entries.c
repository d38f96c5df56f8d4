#include "raw_lmdb.h"

#include <lmdb.h>
#include <stdlib.h>
#include <string.h>

enum { table_limit = 32, name_size = 64 };

/// The entries of one table.
struct table {
  char name[name_size];
  size_t count;
  /// The size of each key, then of its value.
  size_t *sizes;
  /// Each key, then its value.
  unsigned char *bytes;
};

struct raw_entries {
  size_t table_count;
  struct table tables[table_limit];
};

static int open_environment(const char *path, MDB_env **env) {
  int rc = mdb_env_create(env);
  if (rc) return rc;
  if ((rc = mdb_env_set_maxdbs(*env, table_limit)) || (rc = mdb_env_set_mapsize(*env, (size_t)1 << 36)) ||
      (rc = mdb_env_open(*env, path, MDB_NOTLS, 0600)))
    mdb_env_close(*env);
  return rc;
}

/// The size of all keys and values of a table in bytes.
static size_t total_size(MDB_cursor *cursor) {
  MDB_val key, value;
  size_t size = 0;
  while (mdb_cursor_get(cursor, &key, &value, MDB_NEXT) == 0) size += key.mv_size + value.mv_size;
  return size;
}

static int copy_entries(MDB_cursor *cursor, struct table *table, size_t entry_count) {
  table->sizes = calloc(2 * entry_count + 1, sizeof *table->sizes);
  table->bytes = malloc(total_size(cursor) + 1);
  if (!table->sizes || !table->bytes) return MDB_PANIC;
  MDB_val key, value;
  unsigned char *end = table->bytes;
  int rc = mdb_cursor_get(cursor, &key, &value, MDB_FIRST);
  for (; rc == 0; rc = mdb_cursor_get(cursor, &key, &value, MDB_NEXT), table->count++) {
    table->sizes[2 * table->count] = key.mv_size;
    table->sizes[2 * table->count + 1] = value.mv_size;
    memcpy(end, key.mv_data, key.mv_size);
    memcpy(end + key.mv_size, value.mv_data, value.mv_size);
    end += key.mv_size + value.mv_size;
  }
  return rc == MDB_NOTFOUND ? 0 : rc;
}

static int read_table(MDB_txn *txn, struct table *table) {
  MDB_dbi dbi;
  MDB_stat statistics;
  MDB_cursor *cursor;
  int rc;
  if ((rc = mdb_dbi_open(txn, table->name, 0, &dbi)) || (rc = mdb_stat(txn, dbi, &statistics)) ||
      (rc = mdb_cursor_open(txn, dbi, &cursor)))
    return rc;
  rc = copy_entries(cursor, table, statistics.ms_entries);
  mdb_cursor_close(cursor);
  return rc;
}

/// Reads the tables that the unnamed one names.
static int read_tables(MDB_txn *txn, raw_entries *entries) {
  MDB_dbi names;
  MDB_cursor *cursor;
  int rc;
  if ((rc = mdb_dbi_open(txn, NULL, 0, &names)) || (rc = mdb_cursor_open(txn, names, &cursor))) return rc;
  MDB_val name, value;
  while (rc == 0 && mdb_cursor_get(cursor, &name, &value, MDB_NEXT) == 0) {
    if (entries->table_count == table_limit || name.mv_size >= name_size) {
      rc = MDB_DBS_FULL;
      break;
    }
    struct table *table = &entries->tables[entries->table_count++];
    memcpy(table->name, name.mv_data, name.mv_size);
    rc = read_table(txn, table);
  }
  mdb_cursor_close(cursor);
  return rc;
}

raw_entries *raw_entries_read(const char *path) {
  raw_entries *entries = calloc(1, sizeof *entries);
  MDB_env *env;
  if (!entries) return NULL;
  int rc = open_environment(path, &env);
  if (rc == 0) {
    MDB_txn *txn;
    rc = mdb_txn_begin(env, NULL, MDB_RDONLY, &txn);
    if (rc == 0) {
      rc = read_tables(txn, entries);
      mdb_txn_abort(txn);
    }
    mdb_env_close(env);
  }
  if (rc == 0) return entries;
  raw_entries_free(entries);
  return NULL;
}

void raw_entries_free(raw_entries *entries) {
  for (size_t i = 0; i < entries->table_count; i++) {
    free(entries->tables[i].sizes);
    free(entries->tables[i].bytes);
  }
  free(entries);
}

static int append_all(MDB_txn *txn, const struct table *table) {
  MDB_dbi dbi;
  MDB_cursor *cursor;
  int rc;
  if ((rc = mdb_dbi_open(txn, table->name, MDB_CREATE, &dbi)) || (rc = mdb_cursor_open(txn, dbi, &cursor))) return rc;
  const unsigned char *next = table->bytes;
  for (size_t i = 0; i < table->count && rc == 0; i++) {
    MDB_val key = {table->sizes[2 * i], (void *)next};
    MDB_val value = {table->sizes[2 * i + 1], (void *)(next + key.mv_size)};
    next += key.mv_size + value.mv_size;
    rc = mdb_cursor_put(cursor, &key, &value, MDB_APPEND);
  }
  mdb_cursor_close(cursor);
  return rc;
}

int raw_entries_write(const raw_entries *entries, const char *path) {
  MDB_env *env;
  int rc = open_environment(path, &env);
  if (rc) return rc;
  MDB_txn *txn;
  rc = mdb_txn_begin(env, NULL, 0, &txn);
  if (rc == 0) {
    for (size_t i = 0; i < entries->table_count && rc == 0; i++) rc = append_all(txn, &entries->tables[i]);
    if (rc)
      mdb_txn_abort(txn);
    else
      rc = mdb_txn_commit(txn);
  }
  mdb_env_close(env);
  return rc;
}
