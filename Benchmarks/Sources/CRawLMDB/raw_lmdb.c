#include "raw_lmdb.h"

#include <errno.h>
#include <fcntl.h>
#include <lmdb.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/// The place of an entry among the keys of its table.
enum place {
  /// After all others, as in an order by time.
  last,
  /// Anywhere, as in an order by the end of an id: a page of its own.
  scattered,
  /// Replacing the same one each time.
  same,
};

// The entries of the creation of a task without dates in a list: a record, entries of the indexes by place, creation,
// change and id's tail, a block of counts and a total for all tasks and for the list, an entry of the undo log, and the
// header.
static const struct {
  const char *name;
  size_t key_size, value_size;
  enum place place;
} writes[] = {
    {"tasks", 16, 120, last},
    {"byPlace", 50, 0, last},
    {"byCreated", 24, 0, last},
    {"byChange", 25, 0, last},
    {"byTail", 16, 0, scattered},
    {"counts", 22, 1544, same},
    {"counts", 22, 140, same},
    {"totals", 18, 8, same},
    {"totals", 18, 8, same},
    {"history", 12, 50, last},
    {"meta", 6, 40, same},
};
enum { write_count = sizeof writes / sizeof writes[0] };

enum { tasks = 0, by_place = 1, id_size = 16, list_id_size = 16 };
/// The beginning of a key of `byPlace` where the task is in a list.
enum { in_list = 2 };

struct raw_store {
  MDB_env *env;
  MDB_dbi tables[write_count];
  /// Kept between reads and renewed for each: beginning another one would allocate it again.
  MDB_txn *reader;
  /// A file of which each commit flushes a block, or -1.
  int blocks;
  uint64_t commit_count;
};

static int open_tables(raw_store *store) {
  MDB_txn *txn;
  int rc = mdb_txn_begin(store->env, NULL, MDB_RDONLY, &txn);
  if (rc) return rc;
  for (size_t i = 0; i < write_count && !rc; i++) rc = mdb_dbi_open(txn, writes[i].name, 0, &store->tables[i]);
  if (rc) {
    mdb_txn_abort(txn);
    return rc;
  }
  return mdb_txn_commit(txn);
}

static int open_reader(raw_store *store) {
  int rc = mdb_txn_begin(store->env, NULL, MDB_RDONLY, &store->reader);
  if (rc == 0) mdb_txn_reset(store->reader);
  return rc;
}

raw_store *raw_store_open(const char *path, bool only_reads) {
  raw_store *store = calloc(1, sizeof *store);
  if (!store) return NULL;
  store->blocks = -1;
  // Without locks, which belong to a process and not to an environment: Tally has the store open, and no one writes.
  unsigned flags = MDB_NOTLS | (only_reads ? MDB_RDONLY | MDB_NOLOCK : 0);
  if (mdb_env_create(&store->env) == 0) {
    if (mdb_env_set_maxdbs(store->env, 32) == 0 && mdb_env_set_mapsize(store->env, (size_t)1 << 36) == 0 &&
        mdb_env_open(store->env, path, flags, 0600) == 0 && open_tables(store) == 0 &&
        open_reader(store) == 0)
      return store;
    mdb_env_close(store->env);
  }
  free(store);
  return NULL;
}

void raw_store_close(raw_store *store) {
  if (store->blocks >= 0) close(store->blocks);
  mdb_txn_abort(store->reader);
  mdb_env_close(store->env);
  free(store);
}

/// Finds a record by the id of its task, copies it and adds its bytes to a sum; returns liblmdb's code.
static int read_task(raw_store *store, const void *id, int64_t *sum) {
  unsigned char copy[65536];
  MDB_val key = {id_size, (void *)id}, value;
  int rc = mdb_get(store->reader, store->tables[tasks], &key, &value);
  if (rc) return rc;
  if (value.mv_size > sizeof copy) return MDB_BAD_VALSIZE;
  memcpy(copy, value.mv_data, value.mv_size);
  for (size_t i = 0; i < value.mv_size; i += 16) *sum += copy[i];
  return 0;
}

int64_t raw_store_read(raw_store *store, const uint8_t *ids, size_t count) {
  int64_t sum = 0;
  int rc = mdb_txn_renew(store->reader);
  if (rc) return -1;
  for (size_t i = 0; i < count && !rc; i++) rc = read_task(store, ids + id_size * i, &sum);
  mdb_txn_reset(store->reader);
  return rc ? -1 : sum;
}

/// Walks the part of `byPlace` whose keys begin with a prefix; returns the number of tasks, or -1.
static int64_t read_place(raw_store *store, MDB_cursor *cursor, const uint8_t *prefix, size_t prefix_size) {
  int64_t count = 0, sum = 0;
  MDB_val key = {prefix_size, (void *)prefix}, value;
  int rc = mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE);
  while (rc == 0 && memcmp(key.mv_data, prefix, prefix_size) == 0) {
    // A key ends with the id of its task.
    if (read_task(store, (uint8_t *)key.mv_data + key.mv_size - id_size, &sum)) return -1;
    count++;
    rc = mdb_cursor_get(cursor, &key, &value, MDB_NEXT);
  }
  return (rc == 0 || rc == MDB_NOTFOUND) && sum >= 0 ? count : -1;
}

int64_t raw_store_read_list(raw_store *store, const uint8_t *list_id) {
  uint8_t prefix[1 + list_id_size] = {in_list};
  memcpy(prefix + 1, list_id, list_id_size);
  if (mdb_txn_renew(store->reader)) return -1;
  MDB_cursor *cursor;
  int64_t count = -1;
  if (mdb_cursor_open(store->reader, store->tables[by_place], &cursor) == 0) {
    count = read_place(store, cursor, prefix, sizeof prefix);
    mdb_cursor_close(cursor);
  }
  mdb_txn_reset(store->reader);
  return count;
}

/// Puts the entries of one creation.
static int put_creation(raw_store *store, MDB_txn *txn, uint64_t number) {
  static const unsigned char value_bytes[2048] = {0};
  for (size_t i = 0; i < write_count; i++) {
    unsigned char key_bytes[64];
    memset(key_bytes, 0xFF, sizeof key_bytes);
    uint64_t word = writes[i].place == scattered ? (number + 1) * UINT64_C(0x9E3779B97F4A7C15) : number;
    if (writes[i].place == same) word = i;
    // The lowest digits last, so that keys are in the order of their numbers; a scattered one begins with its number.
    size_t size = writes[i].key_size, digits = size < sizeof word ? size : sizeof word;
    unsigned char *end = writes[i].place == scattered ? key_bytes + digits : key_bytes + size;
    for (size_t j = 1; j <= digits; j++, word >>= 8) end[-(ptrdiff_t)j] = word & 0xFF;
    MDB_val key = {size, key_bytes}, value = {writes[i].value_size, (void *)value_bytes};
    int rc = mdb_put(txn, store->tables[i], &key, &value, 0);
    if (rc) return rc;
  }
  return 0;
}

enum { block_size = 4096, block_count = 1024 };
static const char block[block_size];

int raw_store_skip_flushes(raw_store *store, const char *path) {
  int rc = mdb_env_set_flags(store->env, MDB_NOSYNC, 1);
  if (rc || !path) return rc;
  store->blocks = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (store->blocks < 0) return errno;
  // Written beforehand, so that flushing a block later changes no metadata.
  for (int i = 0; i < block_count; i++)
    if (pwrite(store->blocks, block, block_size, (off_t)i * block_size) != block_size) return EIO;
  return fsync(store->blocks) ? errno : 0;
}

static int flush_block(raw_store *store) {
  if (store->blocks < 0) return 0;
  off_t place = (off_t)(store->commit_count++ % block_count) * block_size;
  if (pwrite(store->blocks, block, block_size, place) != block_size) return EIO;
  return fdatasync(store->blocks) ? errno : 0;
}

int raw_store_create(raw_store *store, uint64_t first, size_t count) {
  MDB_txn *txn;
  int rc = mdb_txn_begin(store->env, NULL, 0, &txn);
  if (rc) return rc;
  for (size_t i = 0; i < count && !rc; i++) rc = put_creation(store, txn, first + i);
  if (!rc) rc = flush_block(store);
  if (rc) {
    mdb_txn_abort(txn);
    return rc;
  }
  return mdb_txn_commit(txn);
}
