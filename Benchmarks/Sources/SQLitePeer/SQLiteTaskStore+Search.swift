package import Foundation
package import GRDB

/// Full-text search as SQLite has it (FTS5), over the same texts.
extension SQLiteTaskStore {
  /// Indexes titles and notes in the order of creation, with accents removed; what Tally's index holds, too.
  package func makeSearchIndex() throws {
    try pool.write { database in
      try database.execute(
        sql: """
          CREATE VIRTUAL TABLE search USING fts5(
            title, notes, id UNINDEXED, tokenize = 'unicode61 remove_diacritics 2', prefix = '2 3'
          );
          INSERT INTO search(title, notes, id) SELECT title, notes, id FROM task ORDER BY createdAt, id;
          INSERT INTO search(search) VALUES ('optimize');
          """)
    }
  }

  /// The ids of the tasks that have all words, newest first: the cheapest order that FTS5 has.
  package static func search(_ words: String, limit: Int, in database: GRDB.Database) throws -> [UUID] {
    let statement = try database.cachedStatement(
      sql: "SELECT id FROM search WHERE search MATCH ? ORDER BY rowid DESC LIMIT ?")
    return try UUID.fetchAll(statement, arguments: [words, limit])
  }
}
