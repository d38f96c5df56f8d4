import Foundation
import TallySystem
import Testing

@testable import LMDB

@Suite struct DroppingTests {
  @Test func namesAreThoseOfTheDatabases() throws {
    let directory = try TemporaryDirectory()
    let environment = try LMDBEnvironment(path: directory.path)
    #expect(try environment.read { try $0.databaseNames() } == [])
    try environment.write { (transaction) throws in
      for name in ["numbers", "b\u{E9}", "Z", "a b"] {
        _ = try Sample.Numbers(opening: name, creating: true, in: &transaction)
      }
      #expect(try transaction.databaseNames() == ["Z", "a b", "b\u{E9}", "numbers"])
      try? transaction.nested { nested in
        _ = try Sample.Numbers(opening: "lost", creating: true, in: &nested)
        #expect(try nested.databaseNames().contains("lost"))
        throw CancellationError()
      }
    }
    try environment.close()
    // Names are there without anything having been opened.
    let again = try LMDBEnvironment(path: directory.path)
    #expect(try again.read { try $0.databaseNames() } == ["Z", "a b", "b\u{E9}", "numbers"])
  }

  @Test func droppedDatabaseIsGoneAndItsNameFree() throws {
    let sample = try Sample()
    try sample.environment.write { (transaction) throws in
      for key in UInt64(0)..<3000 { try sample.numbers.put([1, 2, 3], forKey: key, in: &transaction) }
      try sample.bytes.put([7], forKey: [7], in: &transaction)
    }
    let copy = sample.numbers
    try sample.environment.write { (transaction) throws in
      try sample.numbers.drop(in: &transaction)
      #expect(try code { _ = try sample.numbers.count(in: transaction) } == .badDatabase)
      #expect(try code { try copy.put([], forKey: 1, in: &transaction) } == .badDatabase)
      #expect(try code { try copy.drop(in: &transaction) } == .badDatabase)
      #expect(try transaction.databaseNames() == ["bytes"])
    }
    #expect(try code { try sample.environment.read { _ = try copy.value(forKey: 1, in: $0) } } == .badDatabase)
    #expect(try code { _ = try Sample.Numbers(opening: "numbers", in: sample.environment) } == .databaseNotFound)
    let new = try sample.environment.write { try Sample.Numbers(opening: "numbers", creating: true, in: &$0) }
    try sample.environment.write { try new.put([9], forKey: 9, in: &$0) }
    #expect(try sample.environment.read { try new.count(in: $0) } == 1)
    #expect(try code { _ = try sample.count() } == .badDatabase)
    #expect(try sample.environment.read { try sample.bytes.value(forKey: [7], in: $0) } == [7])
    try sample.environment.checkStructure()
  }

  @Test func databaseOfAnAbortedDropIsThereWhenItIsOpenedAgain() throws {
    let sample = try Sample()
    try sample.put([1], forKey: 1)
    var transaction = try sample.environment.beginWrite()
    try sample.numbers.drop(in: &transaction)
    transaction.abort()
    #expect(try code { _ = try sample.count() } == .badDatabase)
    let again = try Sample.Numbers(opening: "numbers", in: sample.environment)
    #expect(try sample.environment.read { try again.value(forKey: 1, in: $0) } == [1])
    try sample.environment.write { try again.put([2], forKey: 2, in: &$0) }
    try sample.environment.checkStructure()
  }

  @Test func databaseCanBeCreatedFilledAndDroppedAgainInOneTransaction() throws {
    let sample = try Sample()
    for isKept in [true, false, true] {
      var transaction = try sample.environment.beginWrite()
      for round in 0..<3 {
        let brief = try Sample.Numbers(opening: "brief", creating: true, in: &transaction)
        #expect(try brief.count(in: transaction) == 0)
        for key in UInt64(0)..<500 { try brief.put([UInt8(round)], forKey: key, in: &transaction) }
        try sample.numbers.put([UInt8(round)], forKey: UInt64(round), in: &transaction)
        try brief.drop(in: &transaction)
      }
      if isKept { try transaction.commit() } else { transaction.abort() }
      #expect(try sample.environment.read { try $0.databaseNames() } == ["bytes", "numbers"])
      try sample.environment.checkStructure()
    }
    #expect(try sample.count() == 3)
  }

  @Test func nestedTransactionDropsNothing() throws {
    let sample = try Sample()
    try sample.put([1], forKey: 1)
    try sample.environment.write { (transaction) throws in
      try transaction.nested { nested in
        #expect(try code { try sample.numbers.drop(in: &nested) } == .invalidArgument)
        try sample.numbers.put([2], forKey: 2, in: &nested)
      }
    }
    #expect(try sample.count() == 2)
  }

  @Test func readerOfTheSameThreadKeepsADatabase() throws {
    let sample = try Sample()
    try sample.put([1], forKey: 1)
    try sample.environment.write { (transaction) throws in
      let environment = sample.environment
      try environment.read { (reader) throws in
        #expect(try code { try sample.numbers.drop(in: &transaction) } == .busy)
        #expect(try sample.numbers.count(in: reader) == 1)
      }
      // Refusing has no effect on anything that follows.
      try sample.numbers.put([2], forKey: 2, in: &transaction)
    }
    #expect(try sample.count() == 2)
  }

  @Test func droppingWaitsForReadersAndNewOnesForTheDrop() throws {
    let sample = try Sample()
    try sample.put([1], forKey: 1)
    let (environment, numbers) = (sample.environment, sample.numbers)
    let mayEnd = Stop()
    let reader = onThread { ready in
      _ = try? environment.read { transaction in
        ready.signal()
        while !mayEnd.isSet { usleep(1_000) }
        #expect(throws: Never.self) { try #expect(numbers.value(forKey: 1, in: transaction) == [1]) }
      }
    }
    let dropping = onThread { ready in
      ready.signal()
      #expect(throws: Never.self) { try environment.write { try numbers.drop(in: &$0) } }
    }
    while environment.state.waiterCount < 1 { usleep(1_000) }
    let late = onThread { ready in
      ready.signal()
      #expect((try? code { try environment.read { _ = try numbers.count(in: $0) } }) == .badDatabase)
    }
    while environment.state.waiterCount < 2 { usleep(1_000) }
    mayEnd.set()
    for thread in [reader, dropping, late] { thread.wait() }
    #expect(try environment.read { try $0.databaseNames() } == ["bytes"])
  }
}
