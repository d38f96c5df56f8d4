#!/usr/bin/env python3
"""Shows what the room of a store is used for: Benchmarks/Scripts/room.py STORE [TASKS]

One row per table of STORE/data.mdb: entries, bytes of keys and of values, pages, how full its leaves are, and bytes per task.
The file is read page by page, as liblmdb lays it out (mdb.c, "MDB_page"), and must not be written meanwhile.
"""

import pathlib
import struct
import sys

HEADER = 16
BRANCH, LEAF, OVERFLOW = 0x01, 0x02, 0x04
BIG_DATA, SUB_DATA = 0x01, 0x02
NO_PAGE = (1 << 64) - 1


class Table:
    """The contents of the pages of one tree."""

    def __init__(self, name):
        self.name = name
        self.entries = self.key_bytes = self.value_bytes = self.leaves = self.branches = self.overflow = self.used = 0

    @property
    def pages(self):
        return self.leaves + self.branches + self.overflow


class Store:
    def __init__(self, file):
        self.bytes = file.read_bytes()
        # The first meta page has the size of a page where others have that of free pages' records.
        self.page_size = struct.unpack_from("<I", self.bytes, HEADER + 24)[0]
        metas = [struct.unpack_from("<QQ", self.bytes, number * self.page_size + HEADER + 120) for number in (0, 1)]
        self.meta = max((0, 1), key=lambda number: metas[number][1])
        self.last_page = metas[self.meta][0]

    def page(self, number):
        return number * self.page_size

    def root(self, offset):
        """The root of a tree whose record is at an offset."""
        return struct.unpack_from("<Q", self.bytes, offset + 40)[0]

    def nodes(self, page):
        lower = struct.unpack_from("<H", self.bytes, page + 12)[0]
        for index in range((lower - HEADER) // 2):
            node = page + struct.unpack_from("<H", self.bytes, page + HEADER + 2 * index)[0]
            yield node, *struct.unpack_from("<HHHH", self.bytes, node)

    def walk(self, number, table, visit=lambda name, value: None):
        if number == NO_PAGE:
            return
        page = self.page(number)
        flags, lower, upper = struct.unpack_from("<HHH", self.bytes, page + 10)
        if flags & BRANCH:
            table.branches += 1
            for _, low, high, top, _ in self.nodes(page):
                self.walk(low | high << 16 | top << 32, table, visit)
            return
        table.leaves += 1
        table.used += self.page_size - (upper - lower)
        for node, low, high, kind, key_size in self.nodes(page):
            size = low | high << 16
            table.entries += 1
            table.key_bytes += key_size
            table.value_bytes += size
            value = node + 8 + key_size
            if kind & BIG_DATA:
                first = struct.unpack_from("<Q", self.bytes, value)[0]
                table.overflow += struct.unpack_from("<I", self.bytes, self.page(first) + 12)[0]
            if kind & SUB_DATA:
                visit(self.bytes[node + 8:value].decode(), value)

    def tables(self):
        """All tables, those of liblmdb itself first."""
        records = self.page(self.meta) + HEADER + 24
        free, names, found = Table("free pages' list"), Table("names of tables"), []
        self.walk(self.root(records), free)

        def visit(name, record):
            found.append(Table(name))
            self.walk(self.root(record), found[-1])

        self.walk(self.root(records + 48), names, visit)
        return [free, names] + sorted(found, key=lambda table: -table.pages)


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    store = Store(pathlib.Path(sys.argv[1]) / "data.mdb")
    tables = [table for table in store.tables() if table.entries]
    tasks = int(sys.argv[2]) if len(sys.argv) == 3 else next(t.entries for t in tables if t.name == "tasks")
    print("| table | entries | key, bytes | value, bytes | pages | leaves full | bytes per task |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for table in tables:
        full = table.used / (table.leaves * store.page_size)
        print(f"| `{table.name}` | {table.entries:,} | {table.key_bytes / table.entries:.1f} | "
              f"{table.value_bytes / table.entries:.1f} | {table.pages:,} | {full:.0%} | "
              f"{table.pages * store.page_size / tasks:.1f} |")
    used = sum(table.pages for table in tables) + 2
    print(f"| free, and the two meta pages | | | | {store.last_page + 1 - used + 2:,} | | "
          f"{(store.last_page + 1 - used + 2) * store.page_size / tasks:.1f} |")
    print(f"| all | | | | {store.last_page + 1:,} | | {(store.last_page + 1) * store.page_size / tasks:.1f} |")


if __name__ == "__main__":
    main()
