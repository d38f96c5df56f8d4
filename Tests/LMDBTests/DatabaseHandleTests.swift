import Dispatch
import Testing

@testable import LMDB

@Suite struct DatabaseHandleTests {
  @Test func missingDatabaseIsNotFound() throws {
    let sample = try Sample()
    #expect(try code { _ = try Sample.Numbers(opening: "none", in: sample.environment) } == .databaseNotFound)
    try sample.environment.write { (transaction) throws in
      #expect(
        try code { _ = try Sample.Numbers(opening: "none", creating: false, in: &transaction) } == .databaseNotFound
      )
      try sample.numbers.put([1], forKey: 1, in: &transaction)
    }
    #expect(try sample.count() == 1)
  }

  @Test(arguments: ["", "a\u{0}b", "\u{0}"])
  func nameThatCannotBeStoredIsRefused(name: String) throws {
    let sample = try Sample()
    try sample.environment.write { (transaction) throws in
      #expect(try code { _ = try Sample.Numbers(opening: name, creating: true, in: &transaction) } == .invalidArgument)
    }
    #expect(try code { _ = try Sample.Numbers(opening: name, in: sample.environment) } == .invalidArgument)
  }

  @Test func handleOfAnAbortedTransactionIsRefusedEvenIfItsNumberIsUsedAgain() throws {
    let sample = try Sample()
    var transaction = try sample.environment.beginWrite()
    let stale = try Sample.Numbers(opening: "stale", creating: true, in: &transaction)
    try stale.put([1], forKey: 1, in: &transaction)
    transaction.abort()
    #expect(try code { try sample.environment.read { _ = try stale.value(forKey: 1, in: $0) } } == .badDatabase)
    let next = try sample.environment.write { try Sample.Numbers(opening: "next", creating: true, in: &$0) }
    #expect(next.handle.index == stale.handle.index)
    #expect(try code { try sample.environment.write { try stale.put([1], forKey: 1, in: &$0) } } == .badDatabase)
    #expect(try sample.environment.read { try next.count(in: $0) } == 0)
  }

  @Test func handleOpenedInAnAbortedNestedTransactionIsRefused() throws {
    let sample = try Sample()
    try sample.environment.write { (transaction) throws in
      var stale: Sample.Numbers?
      try? transaction.nested { nested in
        stale = try Sample.Numbers(opening: "stale", creating: true, in: &nested)
        throw LMDBError(.other, operation: "test")
      }
      #expect(stale != nil)
      #expect(try code { _ = try stale?.count(in: transaction) } == .badDatabase)
    }
  }

  @Test func handleOpenedInACommittedNestedTransactionFollowsTheParent() throws {
    let sample = try Sample()
    var kept: Sample.Numbers?
    try sample.environment.write { (transaction) throws in
      kept = try transaction.nested { try Sample.Numbers(opening: "kept", creating: true, in: &$0) }
    }
    #expect(try sample.environment.read { try kept?.count(in: $0) } == 0)
    var transaction = try sample.environment.beginWrite()
    let lost = try transaction.nested { try Sample.Numbers(opening: "lost", creating: true, in: &$0) }
    transaction.abort()
    let next = try sample.environment.write { try Sample.Numbers(opening: "next", creating: true, in: &$0) }
    #expect(next.handle.index == lost.handle.index)
    #expect(try code { try sample.environment.read { _ = try lost.count(in: $0) } } == .badDatabase)
  }

  @Test func handleOfAnotherEnvironmentIsRefused() throws {
    let (left, right) = (try Sample(), try Sample())
    #expect(try code { try left.environment.read { _ = try right.numbers.count(in: $0) } } == .badDatabase)
    #expect(try code { try left.environment.write { try right.numbers.put([], forKey: 1, in: &$0) } } == .badDatabase)
  }

  /// liblmdb would give both one number, and each would read the other's entries.
  @Test func aTransactionThatIsOlderThanADatabaseOpensNone() throws {
    let sample = try Sample()
    try sample.environment.write { transaction in
      _ = try Sample.Bytes(opening: "first", creating: true, in: &transaction)
      _ = try Sample.Bytes(opening: "second", creating: true, in: &transaction)
    }
    try sample.environment.close()
    let again = try LMDBEnvironment(path: sample.directory.path)
    var first: Sample.Bytes?
    let error = try code {
      try again.write { transaction in
        let opener = DispatchQueue(label: "opener")
        first = try opener.sync { try Sample.Bytes(opening: "first", in: again) }
        _ = try Sample.Bytes(opening: "second", creating: false, in: &transaction)
      }
    }
    #expect(error == .busy)
    let second = try again.write { try Sample.Bytes(opening: "second", creating: false, in: &$0) }
    try again.write { transaction in
      try first?.put([1], forKey: [1], in: &transaction)
      #expect(try second.value(forKey: [1], in: transaction) == nil)
    }
  }

  @Test func moreDatabasesThanAllowedAreRefused() throws {
    let directory = try TemporaryDirectory()
    var options = LMDBEnvironment.Options()
    options.maxDatabases = 2
    let environment = try LMDBEnvironment(path: directory.path, options: options)
    try environment.write { (transaction) throws in
      _ = try Sample.Numbers(opening: "1", creating: true, in: &transaction)
      _ = try Sample.Numbers(opening: "2", creating: true, in: &transaction)
      #expect(try code { _ = try Sample.Numbers(opening: "3", creating: true, in: &transaction) } == .databasesFull)
      _ = try Sample.Numbers(opening: "2", creating: true, in: &transaction)
    }
  }

  @Test func databaseWithSeveralValuesPerKeyIsRefused() throws {
    let sample = try Sample()
    let duplicates: UInt32 = 0x04
    let create: UInt32 = 0x40000
    try sample.environment.write { (transaction) throws in
      let core = transaction.core
      // The handle is that of the live transaction, used within it.
      let handle = try unsafe core.usableHandle("test")
      try sample.environment.reserveDatabaseOpening("test", for: core.thread)
      #expect(
        try code { _ = try unsafe core.openDatabase(named: "many", flags: duplicates | create, in: handle) }
          == .incompatible
      )
    }
    #expect(try code { _ = try Sample.Numbers(opening: "many", in: sample.environment) } == .incompatible)
    #expect(
      try code { try sample.environment.write { _ = try Sample.Numbers(opening: "many", creating: true, in: &$0) } }
        == .incompatible
    )
  }

  @Test func openingWhileAWriteTransactionOpensIsRefusedOnItsThread() throws {
    let sample = try Sample()
    try sample.environment.write { (transaction) throws in
      _ = try Sample.Numbers(opening: "new", creating: true, in: &transaction)
      #expect(try code { _ = try Sample.Numbers(opening: "numbers", in: sample.environment) } == .busy)
    }
    _ = try Sample.Numbers(opening: "new", in: sample.environment)
  }

  @Test func readerBegunBeforeADatabaseWasOpenedDoesNotKnowIt() throws {
    let sample = try Sample()
    try sample.environment.read { (transaction) throws in
      let late = try sample.environment.write { try Sample.Numbers(opening: "late", creating: true, in: &$0) }
      #expect(try code { _ = try late.count(in: transaction) } == .badDatabase)
      #expect(try code { _ = try late.value(forKey: 1, in: transaction) } == .badDatabase)
      #expect(try code { _ = try late.cursor(in: transaction).isAtEntry } == .badDatabase)
    }
  }
}
