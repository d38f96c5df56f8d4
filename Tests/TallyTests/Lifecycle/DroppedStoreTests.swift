import Foundation
import LMDB
import SystemPackage
import TallySystem
import TallyTestSupport
import Testing

@testable import Tally

/// Stores that are dropped, suspended or copied while others still use them.
@Suite struct DroppedStoreTests {
  @Test func aStoreThatIsOpenIsRefusedUnderEachName() throws {
    try withStore { store in
      let twin = store.directory.removingLastComponent().appending("twin")
      try FileManager.default.createDirectory(atPath: twin.string, withIntermediateDirectories: true)
      for name in try FileManager.default.contentsOfDirectory(atPath: store.directory.string) {
        try SystemCalls.link(store.directory.appending(name), as: twin.appending(name))
      }
      func code(_ body: () throws -> Void) -> TallyError.Code? {
        #expect(throws: TallyError.self) { try body() }?.code
      }
      #expect(code { _ = try TaskStore(at: twin, configuration: .testing()) } == .alreadyOpen)
      #expect(code { try TaskStore.compact(at: twin, configuration: .testing()) } == .alreadyOpen)
      try store.writeAndWait { _ = try $0.add("task", to: .inbox) }
    }
  }

  /// Two stores that shared all files until one of them was compacted must not share a table of readers.
  @Test func aTwinThatIsCompactedIsAStoreOfItsOwn() throws {
    try withTemporaryDirectory { directory in
      let (path, twin) = (directory.appending("store"), directory.appending("twin"))
      let store = try TaskStore(at: path, configuration: .testing())
      for number in 0..<30 { try store.writeAndWait { _ = try $0.add("task \(number)", to: .inbox) } }
      try store.close()
      try FileManager.default.createDirectory(atPath: twin.string, withIntermediateDirectories: true)
      for name in try FileManager.default.contentsOfDirectory(atPath: path.string) {
        try SystemCalls.link(path.appending(name), as: twin.appending(name))
      }
      try TaskStore.compact(at: path, configuration: .testing())
      let (first, second) = (
        try TaskStore(at: path, configuration: .testing()), try TaskStore(at: twin, configuration: .testing())
      )
      for number in 0..<20 {
        try first.writeAndWait { _ = try $0.add("first \(number)", to: .inbox) }
        if number.isMultiple(of: 2) { try second.writeAndWait { _ = try $0.add("second \(number)", to: .inbox) } }
      }
      #expect(try first.read { try $0.taskCount } == 50)
      #expect(try second.read { try $0.taskCount } == 40)
      for store in [first, second] {
        try checkInvariants(of: store)
        try store.close()
      }
    }
  }

  /// Where one of the two data files was replaced, as by copying over it, the lock file is still shared.
  @Test func aTwinWhoseFileWasReplacedGetsItsOwnLocks() throws {
    try withTemporaryDirectory { directory in
      let (path, twin) = (directory.appending("store"), directory.appending("twin"))
      let store = try TaskStore(at: path, configuration: .testing())
      for number in 0..<30 { try store.writeAndWait { _ = try $0.add("task \(number)", to: .inbox) } }
      try store.close()
      try FileManager.default.createDirectory(atPath: twin.string, withIntermediateDirectories: true)
      try FileManager.default.copyItem(
        atPath: path.appending("data.mdb").string, toPath: twin.appending("data.mdb").string)
      for name in ["lock.mdb", "access.lock"] {
        try SystemCalls.link(path.appending(name), as: twin.appending(name))
      }
      let (first, second) = (
        try TaskStore(at: path, configuration: .testing()), try TaskStore(at: twin, configuration: .testing())
      )
      for number in 0..<5 { try first.writeAndWait { _ = try $0.add("first \(number)", to: .inbox) } }
      try second.writeAndWait { _ = try $0.add("second", to: .inbox) }
      #expect(try first.read { try $0.taskCount } == 35)
      #expect(try second.read { try $0.taskCount } == 31)
      for store in [first, second] {
        try checkInvariants(of: store)
        try store.close()
      }
    }
  }

  @Test func aWriterThatRacesASuspensionIsToldSo() async throws {
    try await withTemporaryDirectory { directory in
      let store = try TaskStore(at: directory.appending("store"), configuration: .testing())
      let isDone = Monitor(false)
      try await withThrowingTaskGroup(of: Set<String>.self) { group in
        for kind in 0..<6 {
          group.addTask {
            var wrong: Set<String> = []
            while !isDone.withLock({ $0 }) {
              do {
                switch kind % 3 {
                case 0: _ = try await store.write { try $0.add("task", to: .inbox) }
                case 1: try Self.write(to: store)
                default: _ = try store.read { try $0.taskCount }
                }
              } catch let error as TallyError where error.code == .storeSuspended {
                await Task.yield()
              } catch {
                wrong.insert("\(error)")
              }
            }
            return wrong
          }
        }
        for _ in 0..<60 {
          do {
            try store.suspend(waitingAtMost: .seconds(30))
          } catch {
            Issue.record("suspend: \(error)")
          }
          try store.resume()
        }
        isDone.withLock { $0 = true }
        for try await wrong in group { #expect(wrong == []) }
      }
      try checkInvariants(of: store)
      try store.close()
    }
  }

  private static func write(to store: TaskStore) throws {
    try store.writeAndWait { _ = try $0.add("task", to: .inbox) }
  }
}

/// Programming errors are not called failures of the storage.
@Suite struct ProgrammingErrorTests {
  @Test func errorsOfTheProgramSaySo() throws {
    try withStore { store in
      let reentrant = #expect(throws: TallyError.self) {
        try store.writeAndWait { _ in try store.writeAndWait { _ in } }
      }
      let open = #expect(throws: TallyError.self) {
        var configuration = store.configuration
        configuration.waitLimitInSeconds = 0
        _ = try TaskStore(at: store.directory, configuration: configuration)
      }
      let long = #expect(throws: TallyError.self) {
        try store.writeAndWait { _ in throw LMDBError(.badValueSize, operation: "put") }
      }
      let codes: [LMDBError.Code] = [
        .closed, .forked, .badTransaction, .readOnly, .wrongThread, .badDatabase, .keyExists, .notPositioned,
        .databasesFull, .readersFull, .invalidArgument,
      ]
      let errors =
        [reentrant, open, long].compactMap { $0 } + codes.map { TallyError(LMDBError($0, operation: "test")) }
      #expect(errors.count == codes.count + 3)
      for error in errors {
        #expect(!error.message.contains("The storage failed"), "\(error.message)")
        for text in [error.message, error.remedy] {
          #expect(!text.contains("environment"), "\(text)")
        }
      }
    }
  }

  @Test func aValueThatCannotBeReadKeepsTheDecodersError() throws {
    struct Person: Codable { var name: String }
    try withStore { store in
      try store.writeAndWait { transaction in
        try transaction.setBytes(Array(#"{"name": 7, "secret": "private"}"#.utf8), forKey: "person", in: "test")
      }
      let error = #expect(throws: TallyError.self) {
        try store.read { _ = try $0.value(Person.self, forKey: "person", in: "test") }
      }
      #expect(error?.code == .invalidValue)
      let cause = try #require(error?.cause as? DecodingError)
      #expect("\(cause)".contains("name") && !"\(cause)".contains("private"))
    }
  }
}
