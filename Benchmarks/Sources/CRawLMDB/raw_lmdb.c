#include "raw_lmdb.h"

#include <lmdb.h>
#include <stdlib.h>
#include <string.h>

// What a task without dates in a list puts where: a record, and entries of the indexes by place, creation and id's tail,
// and two counters' rows.
static const struct {
  const char *name;
  size_t key_size, value_size;
} writes[] = {
    {"tasks", 16, 120}, {"byPlace", 50, 0}, {"byCreated", 24, 0}, {"byTail", 16, 0}, {"counts", 22, 40}, {"meta", 6, 40},
};
enum { write_count = sizeof writes / sizeof writes[0] };

struct raw_store {
  MDB_env *env;
  MDB_dbi tables[write_count];
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

raw_store *raw_store_open(const char *path) {
  raw_store *store = calloc(1, sizeof *store);
  if (!store) return NULL;
  if (mdb_env_create(&store->env) == 0) {
    if (mdb_env_set_maxdbs(store->env, 32) == 0 && mdb_env_set_mapsize(store->env, (size_t)1 << 36) == 0 &&
        mdb_env_open(store->env, path, MDB_NOTLS, 0600) == 0 && open_tables(store) == 0)
      return store;
    mdb_env_close(store->env);
  }
  free(store);
  return NULL;
}

void raw_store_close(raw_store *store) {
  mdb_env_close(store->env);
  free(store);
}

int64_t raw_store_read(raw_store *store, const uint8_t *ids, size_t count) {
  MDB_txn *txn;
  if (mdb_txn_begin(store->env, NULL, MDB_RDONLY, &txn)) return -1;
  int64_t sum = 0;
  unsigned char copy[65536];
  for (size_t i = 0; i < count; i++) {
    MDB_val key = {16, (void *)(ids + 16 * i)}, value;
    if (mdb_get(txn, store->tables[0], &key, &value) || value.mv_size > sizeof copy) {
      mdb_txn_abort(txn);
      return -1;
    }
    memcpy(copy, value.mv_data, value.mv_size);
    for (size_t j = 0; j < value.mv_size; j += 16) sum += copy[j];
  }
  mdb_txn_abort(txn);
  return sum;
}

int raw_store_create(raw_store *store, uint64_t number) {
  MDB_txn *txn;
  int rc = mdb_txn_begin(store->env, NULL, 0, &txn);
  if (rc) return rc;
  unsigned char bytes[256] = {0};
  for (size_t i = 0; i < write_count && !rc; i++) {
    // Scattered like the ends of ids, so that each index touches a page of its own.
    uint64_t scattered = (number + 1) * UINT64_C(0x9E3779B97F4A7C15) + i;
    memset(bytes, 0xA5, writes[i].key_size);
    memcpy(bytes, &scattered, writes[i].key_size < sizeof scattered ? writes[i].key_size : sizeof scattered);
    MDB_val key = {writes[i].key_size, bytes}, value = {writes[i].value_size, bytes + 64};
    rc = mdb_put(txn, store->tables[i], &key, &value, 0);
  }
  if (rc) {
    mdb_txn_abort(txn);
    return rc;
  }
  return mdb_txn_commit(txn);
}
