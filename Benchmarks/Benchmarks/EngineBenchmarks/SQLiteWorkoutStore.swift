import BenchmarkData
import Foundation
import GRDB
import SQLitePeer
import SystemPackage

/// The peer: the same workouts in SQLite through GRDB, tuned as the peer of tasks is.
///
/// With sums it has a table of minutes and sessions by sport and quarter hour, and for all sports under an empty name,
/// which triggers keep: exact in every zone, as the engine's measures are. Without them, an index covers the questions.
final class SQLiteWorkoutStore: Sendable {
  let pool: DatabasePool
  private let keepsSums: Bool

  init(at file: FilePath, synchronous: SQLiteTaskStore.Synchronous, keepsSums: Bool) throws {
    self.keepsSums = keepsSums
    pool = try SQLiteTaskStore.openTuned(file, synchronous: synchronous)
    try pool.writeWithoutTransaction { database in
      try database.execute(sql: Self.schema(covering: keepsSums ? "" : ", minutes"))
      if keepsSums { try database.execute(sql: Self.sums) }
    }
  }

  func close() throws {
    try pool.close()
  }

  private static func schema(covering column: String) -> String {
    """
    CREATE TABLE workout (
      id BLOB NOT NULL PRIMARY KEY, sport TEXT NOT NULL, start INTEGER NOT NULL, minutes INTEGER NOT NULL,
      notes TEXT NOT NULL, isRace INTEGER NOT NULL
    ) WITHOUT ROWID;
    CREATE INDEX bySport ON workout(sport, start\(column));
    CREATE INDEX newest ON workout(start DESC);
    CREATE INDEX byLength ON workout(minutes, start);
    """
  }

  private static let sums = """
    CREATE TABLE total (
      sport TEXT NOT NULL, quarter INTEGER NOT NULL, minutes INTEGER NOT NULL, sessions INTEGER NOT NULL,
      PRIMARY KEY (sport, quarter)
    ) WITHOUT ROWID;
    CREATE TRIGGER added AFTER INSERT ON workout BEGIN \(add) END;
    CREATE TRIGGER removed AFTER DELETE ON workout BEGIN \(subtract) END;
    CREATE TRIGGER changed AFTER UPDATE ON workout BEGIN \(subtract) \(add) END;
    """

  private static let add = ["new.sport", "''"].map { sport in
    """
    INSERT INTO total VALUES (\(sport), new.start / \(quarterHour), new.minutes, 1)
      ON CONFLICT DO UPDATE SET minutes = minutes + excluded.minutes, sessions = sessions + 1;
    """
  }.joined(separator: "\n")

  private static let subtract = """
    UPDATE total SET minutes = minutes - old.minutes, sessions = sessions - 1
      WHERE sport IN (old.sport, '') AND quarter = old.start / \(quarterHour);
    """

  static let quarterHour = 900_000_000

  static let columns = "id, sport, start, minutes, notes, isRace"

  /// Inserts workouts in one transaction, in the order of their ids, so that the tree is written from left to right.
  func insert(_ workouts: [Workout]) throws {
    let sorted = workouts.sorted { $0.id < $1.id }
    try pool.write { database in
      for workout in sorted { try Self.add(workout, in: database) }
    }
  }

  static func add(_ workout: Workout, in database: Database) throws {
    let statement = try database.cachedStatement(sql: "INSERT INTO workout (\(columns)) VALUES (?, ?, ?, ?, ?, ?)")
    try statement.execute(
      arguments: [
        workout.id, workout.sport, Years.microseconds(workout.start), workout.minutes, workout.notes, workout.isRace,
      ])
  }
}

/// The peer's record, which GRDB decodes by the names of its columns; its instants are integers, as in the table.
struct SQLiteWorkout: Codable, FetchableRecord {
  let id: UUID
  let sport: String
  let start: Int64
  let minutes: Int
  let notes: String
  let isRace: Bool

  var workout: Workout {
    Workout(
      id: id, sport: sport, start: Date(microseconds: start), minutes: minutes, notes: notes, isRace: isRace)
  }
}

extension Date {
  fileprivate init(microseconds: Int64) {
    self.init(timeIntervalSince1970: Double(microseconds) / 1_000_000)
  }
}

extension SQLiteWorkoutStore {
  // MARK: Records

  static func workout(_ id: UUID, in database: Database) throws -> SQLiteWorkout? {
    try SQLiteWorkout.fetchOne(try oneByID(database), arguments: [id])
  }

  static func workoutByHand(_ id: UUID, in database: Database) throws -> Workout? {
    let rows = try Row.fetchCursor(try oneByID(database), arguments: [id])
    return try rows.next().map(workout)
  }

  private static func oneByID(_ database: Database) throws -> Statement {
    try database.cachedStatement(sql: "SELECT \(columns) FROM workout WHERE id = ?")
  }

  /// The first workouts of a sport from an instant on.
  static func page(_ sport: String, from start: Date, limit: Int, in database: Database) throws -> [SQLiteWorkout] {
    try SQLiteWorkout.fetchAll(try pageOfSport(database), arguments: [sport, Years.microseconds(start), limit])
  }

  static func pageByHand(_ sport: String, from start: Date, limit: Int, in database: Database) throws -> [Workout] {
    let rows = try Row.fetchCursor(
      try pageOfSport(database), arguments: [sport, Years.microseconds(start), limit])
    var workouts: [Workout] = []
    workouts.reserveCapacity(limit)
    while let row = try rows.next() { workouts.append(workout(row)) }
    return workouts
  }

  private static func pageOfSport(_ database: Database) throws -> Statement {
    try database.cachedStatement(
      sql: "SELECT \(columns) FROM workout WHERE sport = ? AND start >= ? ORDER BY start LIMIT ?")
  }

  /// A row as a value, column by column: faster than decoding by name.
  private static func workout(_ row: Row) -> Workout {
    Workout(
      id: row[0], sport: row[1], start: Date(microseconds: row[2]), minutes: row[3], notes: row[4], isRace: row[5])
  }

  // MARK: Sums

  /// Where minutes are added up from.
  enum Source {
    case rows, sums

    fileprivate var query: String {
      switch self {
      case .rows: "SELECT start, minutes FROM workout WHERE sport = ? AND start >= ? AND start < ? ORDER BY start"
      case .sums:
        """
        SELECT quarter * \(quarterHour), minutes FROM total
        WHERE sport = ? AND quarter >= ? / \(quarterHour) AND quarter < ? / \(quarterHour) ORDER BY quarter
        """
      }
    }
  }

  /// The minutes of a sport, of the table of sums also of all (an empty name), between ascending instants.
  ///
  /// It is one scan, split here where the boundaries are known: that is faster than a sum for each period in SQL.
  static func minutes(
    of sport: String, between boundaries: [Int64], from source: Source, in database: Database
  ) throws -> [Int] {
    guard let first = boundaries.first, let last = boundaries.last else { return [] }
    let rows = try Row.fetchCursor(
      database.cachedStatement(sql: source.query), arguments: [sport, first, last])
    var (sums, place) = ([Int](repeating: 0, count: boundaries.count - 1), 0)
    while let row = try rows.next() {
      let start: Int64 = row[0]
      while boundaries[place + 1] <= start { place += 1 }
      sums[place] += row[1] as Int
    }
    return sums
  }

  /// The minutes of each sport that has any, by name: a step along the table of sums for each name, then a sum.
  static func minutesBySport(between first: Int64, and last: Int64, in database: Database) throws -> [Int] {
    let statement = try database.cachedStatement(
      sql: """
        WITH RECURSIVE names(sport) AS (
          SELECT min(sport) FROM total WHERE sport > ''
          UNION ALL
          SELECT (SELECT min(sport) FROM total WHERE sport > names.sport) FROM names WHERE sport IS NOT NULL
        )
        SELECT (
          SELECT sum(minutes) FROM total
          WHERE sport = names.sport AND quarter >= ? / \(quarterHour) AND quarter < ? / \(quarterHour)
        ) FROM names WHERE sport IS NOT NULL ORDER BY sport
        """)
    return try Int?.fetchAll(statement, arguments: [first, last]).compactMap(\.self)
  }

  /// The number of workouts, and their minutes by the sport's name: from the rows, and the same from the table of sums.
  func everything() throws -> [Int] {
    try pool.read { database in
      let count = try Int.fetchOne(database, sql: "SELECT count(*) FROM workout") ?? 0
      let minutes = try Int.fetchAll(
        database, sql: "SELECT sum(minutes) FROM workout GROUP BY sport ORDER BY sport")
      guard keepsSums else { return [count] + minutes }
      let sums = try Row.fetchAll(
        database, sql: "SELECT sum(minutes), sum(sessions) FROM total GROUP BY sport ORDER BY sport")
      try expectEqual(sums.map { $0[0] as Int }, [minutes.reduce(0, +)] + minutes, "the minutes that triggers keep")
      try expectEqual(sums.map { $0[1] as Int }.reduce(0, +), 2 * count, "the sessions that triggers keep")
      return [count] + minutes
    }
  }
}
