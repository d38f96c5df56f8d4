import BenchmarkData
package import GRDB
package import SystemPackage
import Tally

/// The peer: the same tasks in SQLite through GRDB, tuned as by an expert in both.
///
/// A row is found by its id in one tree (`WITHOUT ROWID`), instants are integers, each measured view has an index in its
/// order, statements are prepared once, columns are read by number, and the page cache is large.
package final class SQLiteTaskStore: Sendable {
  package let pool: DatabasePool

  /// The flush that a commit waits for, as SQLite's `synchronous`; a `DatabasePool` sets `NORMAL` by itself.
  package enum Synchronous: Int, Sendable {
    case normal = 1
    case full = 2
  }

  package init(at file: FilePath, synchronous: Synchronous) throws {
    pool = try Self.openTuned(file, synchronous: synchronous)
    try pool.writeWithoutTransaction { try $0.execute(sql: Self.schema) }
  }

  /// Opens a database of any tables with these settings.
  package static func openTuned(_ file: FilePath, synchronous: Synchronous) throws -> DatabasePool {
    var configuration = Configuration()
    // Other processes may write.
    configuration.busyMode = .timeout(60)
    configuration.prepareDatabase { database in
      try database.execute(sql: "PRAGMA cache_size = -65536; PRAGMA temp_store = MEMORY")
    }
    let pool = try DatabasePool(path: file.string, configuration: configuration)
    try pool.writeWithoutTransaction { database in
      try database.execute(sql: "PRAGMA synchronous = \(synchronous.rawValue)")
      let isSet = try Int.fetchOne(database, sql: "PRAGMA synchronous")
      try expectEqual(isSet, synchronous.rawValue, "SQLite's synchronous, read back")
    }
    return pool
  }

  package func close() throws {
    try pool.close()
  }

  private static let schema = """
    CREATE TABLE IF NOT EXISTS task (
      id BLOB NOT NULL PRIMARY KEY, title TEXT NOT NULL, notes TEXT, state INTEGER NOT NULL, rank INTEGER NOT NULL,
      scheduledDay INTEGER, dueAt INTEGER, remindAt INTEGER, listID BLOB, sortOrder INTEGER NOT NULL,
      createdAt INTEGER NOT NULL, updatedAt INTEGER NOT NULL, completedAt INTEGER, completedOffset INTEGER
    ) WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS byPlace ON task(listID, rank, sortOrder, createdAt);
    CREATE INDEX IF NOT EXISTS byDay ON task(scheduledDay, rank, sortOrder, createdAt) WHERE scheduledDay IS NOT NULL;
    CREATE INDEX IF NOT EXISTS byDue ON task(dueAt) WHERE dueAt IS NOT NULL;
    CREATE INDEX IF NOT EXISTS byReminder ON task(remindAt) WHERE remindAt IS NOT NULL;
    CREATE INDEX IF NOT EXISTS byCompleted ON task(completedAt) WHERE completedAt IS NOT NULL;
    CREATE INDEX IF NOT EXISTS byCreated ON task(createdAt);
    CREATE TABLE IF NOT EXISTS taskTag (
      tag TEXT NOT NULL, rank INTEGER NOT NULL, sortOrder INTEGER NOT NULL, createdAt INTEGER NOT NULL,
      taskID BLOB NOT NULL, PRIMARY KEY (tag, rank, sortOrder, createdAt, taskID)
    ) WITHOUT ROWID;
    """
}
