import Foundation
import LMDB
import SystemPackage
import TallyTestSupport
import Testing

@testable import Tally

/// Values that an application keeps beside the tasks.
@Suite struct ValueTests {
  struct Theme: Codable, Equatable {
    var name: String
    var scale: Double
  }

  @Test func aValueComesBackAsTheTypeThatItWasSetWith() throws {
    try withStore { store in
      let dark = Theme(name: "dark", scale: 1.5)
      try store.writeAndWait { transaction in
        try transaction.setValue(dark, forKey: "theme", in: "app.settings")
        try transaction.setBytes([0, 255, 7], forKey: [0, 0, 1] as [UInt8], in: "app.settings")
        try transaction.setValue(3, forKey: Data([9]), in: "app.settings")
        // Inside the same transaction.
        #expect(try transaction.value(Theme.self, forKey: "theme", in: "app.settings") == dark)
      }
      try store.read { (snapshot) throws in
        #expect(try snapshot.value(Theme.self, forKey: "theme", in: "app.settings") == dark)
        #expect(try snapshot.bytes(forKey: [0, 0, 1] as [UInt8], in: "app.settings") == [0, 255, 7])
        #expect(try snapshot.value(Int.self, forKey: Data([9]), in: "app.settings") == 3)
        #expect(try snapshot.bytes(forKey: "theme", in: "app.settings") == Array(#"{"name":"dark","scale":1.5}"#.utf8))
        #expect(try snapshot.bytes(forKey: "theme", in: "app.setting") == nil)
        #expect(try snapshot.bytes(forKey: "them", in: "app.settings") == nil)
      }
    }
  }

  @Test func aValueOfAnotherTypeIsATypedErrorThatDoesNotQuoteIt() throws {
    try withStore { store in
      try store.writeAndWait { try $0.setValue("secret", forKey: "k", in: "n") }
      let error = #expect(throws: TallyError.self) { try store.read { try $0.value(Int.self, forKey: "k", in: "n") } }
      #expect(error?.code == .invalidValue)
      #expect(error?.description.contains("secret") == false)
      let infinite = #expect(throws: TallyError.self) {
        try store.writeAndWait { try $0.setValue(Double.infinity, forKey: "k", in: "n") }
      }
      #expect(infinite?.code == .invalidValue)
    }
  }

  @Test func aNamespaceIsOneRangeInTheOrderOfItsKeys() throws {
    try withStore { store in
      try store.writeAndWait { transaction in
        for number in [300, -1, 0, 7] { try transaction.setValue("\(number)", forKey: number, in: "n") }
        // Neighbours in the order of names, which a careless end of the range would take in.
        for other in ["m", "n!", "n ", "na", "o"] { try transaction.setValue(other, forKey: 0, in: other) }
      }
      try store.read { (snapshot) throws in
        func keys(_ values: [StoredValue]) throws -> [Int] { try values.map { try $0.key.decoded() } }
        #expect(try keys(snapshot.values(in: "n")) == [-1, 0, 7, 300])
        #expect(try keys(snapshot.values(in: "n", reversed: true, limit: 2)) == [300, 7])
        #expect(try keys(snapshot.values(in: "n", from: 0, upTo: 300)) == [0, 7])
        #expect(try keys(snapshot.values(in: "n", upTo: 0)) == [-1])
        #expect(try keys(snapshot.values(in: "n", limit: 0)) == [])
        #expect(try snapshot.values(in: "n", from: 7).map { try $0.decoded(as: String.self) } == ["7", "300"])
        #expect(try snapshot.values(in: "n", from: 8, upTo: 1).isEmpty)
        #expect(try snapshot.valueNamespaces().map(\.name) == ["m", "n", "n ", "n!", "na", "o"])
      }
    }
  }

  @Test func removingTakesOneValueOrARangeAndSaysHowMany() throws {
    try withStore { store in
      try store.writeAndWait { transaction in
        for number in 0..<10 { try transaction.setBytes([1], forKey: number, in: "n") }
        try transaction.setBytes([1], forKey: 0, in: "other")
      }
      try store.writeAndWait { (transaction) throws in
        #expect(try transaction.removeValue(forKey: 3, in: "n"))
        #expect(try !transaction.removeValue(forKey: 3, in: "n"))
        #expect(try transaction.removeAllValues(in: "n", from: 5, upTo: 8) == 3)
        #expect(try transaction.values(in: "n").map { try $0.key.decoded(as: Int.self) } == [0, 1, 2, 4, 8, 9])
        #expect(try transaction.removeAllValues(in: "n") == 6)
        #expect(try transaction.removeAllValues(in: "n") == 0)
      }
      #expect(try store.read { try $0.valueNamespaces() }.map(\.name) == ["other"])
    }
  }

  @Test func keysAndNamespacesHaveBounds() throws {
    try withStore { store in
      let longestKey = [UInt8](repeating: 0, count: ValueKey.maximumByteCount)
      let longestName = String(repeating: "é", count: ValueKey.maximumNamespaceByteCount / 2)
      try store.writeAndWait { try $0.setBytes([1], forKey: longestKey, in: longestName) }
      #expect(try store.read { try $0.values(in: longestName).map(\.key.bytes) } == [longestKey])
      let refused: [(key: [UInt8], namespace: String)] = [
        ([], "n"), (longestKey + [0], "n"), ([1], ""), ([1], longestName + "x"), ([1], "a\0b"), ([1], "a\nb"),
      ]
      for (key, namespace) in refused {
        for attempt in 0..<3 {
          let error = #expect(throws: TallyError.self, "\(key.count) \(namespace.count)") {
            try store.writeAndWait { transaction in
              switch attempt {
              case 0: try transaction.setBytes([1], forKey: key, in: namespace)
              case 1: try transaction.removeValue(forKey: key, in: namespace)
              default: _ = try transaction.bytes(forKey: key, in: namespace)
              }
            }
          }
          #expect(error?.code == .invalidKey)
        }
      }
      #expect(throws: TallyError.self) { try store.read { try $0.values(in: "n", from: longestKey + [0]) } }
      #expect(throws: TallyError.self) { try store.read { try $0.values(in: "") } }
    }
  }

  @Test func aValueIsWrittenWithTheTasksOrNotAtAll() throws {
    try withStore { (store) throws in
      struct Stop: Error {}
      #expect(throws: Stop.self) {
        try store.writeAndWait { transaction in
          try transaction.add("task")
          try transaction.setValue(1, forKey: "k", in: "n")
          throw Stop()
        }
      }
      #expect(try store.read { try $0.bytes(forKey: "k", in: "n") } == nil)
    }
  }

  @Test func aValueThatIsThereAlreadyWritesNothing() throws {
    try withStore { store in
      try store.writeAndWait { try $0.setValue(1, forKey: "k", in: "n") }
      let sequence = try store.read { try $0.sequence }
      try store.writeAndWait { try $0.setValue(1, forKey: "k", in: "n") }
      try store.writeAndWait { try $0.removeValue(forKey: "other", in: "n") }
      #expect(try store.read { try $0.sequence } == sequence)
    }
  }

  @Test func informationGivesTheSizesOfNamespaces() throws {
    try withStore { store in
      #expect(try store.information().valueNamespaces == [])
      try store.writeAndWait { transaction in
        try transaction.setBytes([1, 2, 3], forKey: "ab", in: "n")
        try transaction.setBytes([], forKey: "c", in: "n")
      }
      // Each key has the namespace and two bytes before it.
      #expect(
        try store.information().valueNamespaces == [ValueNamespace(name: "n", count: 2, sizeInBytes: 3 + 2 + 1 + 2 * 3)]
      )
    }
  }

  @Test func backupSnapshotAndCompactionHaveTheValues() throws {
    try withTemporaryDirectory { directory in
      let path = directory.appending("store")
      let store = try TaskStore(at: path, configuration: .testing())
      try store.writeAndWait { try $0.setValue(1, forKey: "k", in: "n") }
      try store.backup(to: directory.appending("backup"))
      try store.publishSnapshot(to: directory.appending("snapshot"))
      try store.writeAndWait { try $0.setValue(2, forKey: "k", in: "n") }
      let snapshot = try TaskStore(snapshotAt: directory.appending("snapshot"))
      #expect(try snapshot.read { try $0.value(Int.self, forKey: "k", in: "n") } == 1)
      try snapshot.close()
      try store.close()
      try TaskStore.compact(at: path)
      let compacted = try TaskStore(at: path, configuration: .testing())
      #expect(try compacted.read { try $0.value(Int.self, forKey: "k", in: "n") } == 2)
      try compacted.close()
      try TaskStore.restore(from: directory.appending("backup"), to: path)
      let restored = try TaskStore(at: path, configuration: .testing())
      #expect(try restored.read { try $0.value(Int.self, forKey: "k", in: "n") } == 1)
      try checkInvariants(of: restored)
      try restored.close()
    }
  }

  @Test func observersOfAnythingAreWokenByAValue() async throws {
    try await withStore { store in
      var values = store.values { try $0.value(Int.self, forKey: "k", in: "n") }.makeAsyncIterator()
      #expect(try await values.next() == .some(nil))
      var changes = try store.changes().makeAsyncIterator()
      try await store.write { try $0.setValue(5, forKey: "k", in: "n") }
      #expect(try await values.next() == 5)
      let change = try #require(try await changes.next())
      #expect(change.isComplete && change.tasks.isEmpty && change.lists.isEmpty)
    }
  }

  @Test func aDamagedKeyOfAValueIsFoundAndSetAside() throws {
    try withFilledStore { path, _ in
      let store = try TaskStore(at: path, configuration: .testing())
      try store.writeAndWait { try $0.setValue(1, forKey: "k", in: "n") }
      try store.close()
      let damaged: [[UInt8]] = [[0x6E, 1], [UInt8](repeating: 0x6E, count: 511), [0, 0, 1], [0x6E, 0, 0]]
      try DamagedStore(directory: path).change("values") { table, transaction in
        for key in damaged { try table.put([7], forKey: key, in: &transaction) }
      }
      let report = try TaskStore.verify(at: path)
      #expect(report.faults.map(\.description) == Array(repeating: "unreadableRecord in values", count: damaged.count))
      let repair = try TaskStore.repair(at: path)
      #expect(repair.after.isSound && repair.after.setAsideCount == damaged.count)
      let repaired = try TaskStore(at: path, configuration: .testing())
      #expect(try repaired.read { try $0.value(Int.self, forKey: "k", in: "n") } == 1)
      try repaired.close()
    }
  }
}
