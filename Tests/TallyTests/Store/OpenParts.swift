import LMDB

@testable import Tally

/// What an open store has of its files, for tests that look below it.
extension TaskStore {
  var environment: Environment {
    get throws { try connection.current.environment }
  }

  var tables: Tables {
    get throws { try connection.current.tables }
  }
}
