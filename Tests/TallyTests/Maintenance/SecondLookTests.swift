import Foundation
import LMDB
import SystemPackage
import TallyEngine
import TallyTestSupport
import Testing

@testable import Tally

/// No sound store is called damaged, whatever other processes write meanwhile.
@Suite struct SecondLookTests {
  /// The first two pages of a store's file; the next commit writes to one of them.
  private struct MetaPages {
    let path: FilePath
    let pageSizeInBytes: Int

    init(of store: TaskStore) throws {
      path = store.directory.appending("data.mdb")
      let head = try Data(contentsOf: URL(fileURLWithPath: path.string), options: .alwaysMapped)
      pageSizeInBytes = Int(head[40]) | Int(head[41]) << 8 | Int(head[42]) << 16
    }

    private func number(_ page: [UInt8]) -> UInt64 {
      page[144..<152].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    private func page(_ index: Int) throws -> [UInt8] {
      let file = try FileDescriptor.open(path, .readOnly)
      return try file.closeAfter {
        var bytes = [UInt8](repeating: 0, count: 152)
        // Within the call only.
        _ = try unsafe bytes.withUnsafeMutableBytes {
          try unsafe file.read(fromAbsoluteOffset: Int64(index * pageSizeInBytes), into: $0)
        }
        return bytes
      }
    }

    private func put(_ page: [UInt8], _ index: Int) throws {
      let file = try FileDescriptor.open(path, .writeOnly)
      _ = try file.closeAfter { try file.writeAll(toAbsoluteOffset: Int64(index * pageSizeInBytes), page) }
    }

    /// Writes the page of a next commit that is not acknowledged; returns a function that restores the old page.
    func beginCommit() throws -> () throws -> Void {
      let pages = try [page(0), page(1)]
      let newest = number(pages[0]) > number(pages[1]) ? 0 : 1
      var next = pages[newest]
      next[0] = UInt8(1 - newest)
      for (index, byte) in (0..<8).map({ UInt8(truncatingIfNeeded: (number(next) + 1) >> (8 * $0)) }).enumerated() {
        next[144 + index] = byte
      }
      try put(next, 1 - newest)
      return { try put(pages[1 - newest], 1 - newest) }
    }
  }

  /// The newest transaction in the file is the same before and after, but the snapshots differ.
  @Test(arguments: 1...3) func aCommitThatIsOnItsWayIsNotTakenForTheLastOne(writesAfterCall: Int) throws {
    try withStore { store in
      try store.writeAndWait { transaction in
        for number in 0..<20 { _ = try transaction.add("task \(number)", to: .inbox) }
        _ = try transaction.addList(name: "list")
      }
      let pages = try MetaPages(of: store)
      var takeBack: (() throws -> Void)? = try pages.beginCommit()
      var callCount = 0
      let report = try store.verify { _ in
        callCount += 1
        guard callCount == writesAfterCall, let body = takeBack else { return }
        takeBack = nil
        try body()
        try store.writeAndWait { transaction in
          let task = try transaction.add("later", to: .inbox)
          try transaction.complete(task.id)
        }
      }
      #expect(takeBack == nil)
      #expect(report.faults == [])
    }
  }

  /// Between any two snapshots of a verification something is written.
  @Test func writesBetweenSnapshotsAreNoFaults() throws {
    try withStore { store in
      for number in 0..<10 { try store.writeAndWait { _ = try $0.add("task \(number)", to: .today) } }
      var callCount = 0
      let report = try store.verify { _ in
        callCount += 1
        try store.writeAndWait { transaction in
          let task = try transaction.add("between \(callCount)", to: .inbox)
          if callCount.isMultiple(of: 2) { try transaction.complete(task.id) }
        }
      }
      #expect(report.faults == [])
      #expect(callCount > 3)
    }
  }

  private static let claims: [any Error & Sendable] = [
    TallyError.missingRecord(of: "a task index"), LMDBError(.corrupted, operation: "get"),
    LMDBError(.databaseNotFound, operation: "open"), LMDBError(.undecodable, operation: "decode"),
  ]

  private func expectNoDamage(_ error: (any Error)?, sourceLocation: SourceLocation = #_sourceLocation) {
    let error = error as? TallyError
    #expect(error?.code == .storageFailed, sourceLocation: sourceLocation)
    let text = "\(error?.message ?? "damaged") \(error?.remedy ?? "")"
    for word in ["damaged", "inconsistent", "contradict", "backup"] {
      #expect(!text.contains(word), "\(text)", sourceLocation: sourceLocation)
    }
    #expect((error?.cause as? TallyError)?.code == .damagedStore, sourceLocation: sourceLocation)
  }

  @Test func aClaimThatASecondLookDoesNotRepeatIsNotMade() async throws {
    try await withStore { store in
      _ = try await store.write { try $0.add("task", to: .inbox) }
      for claim in Self.claims {
        expectNoDamage(#expect(throws: (any Error).self) { try store.read { _ in throw claim } })
        expectNoDamage(#expect(throws: (any Error).self) { try Self.fail(store, claim) })
        await withTaskGroup(of: (any Error)?.self) { group in
          // Several writes share a commit, and the error of one does not fail it.
          for number in 0..<6 {
            group.addTask {
              do {
                try await store.write { transaction in
                  if number.isMultiple(of: 2) { throw claim }
                  _ = try transaction.add("task \(number)", to: .inbox)
                }
                return nil
              } catch {
                return error
              }
            }
          }
          var errors: [any Error] = []
          for await error in group { if let error { errors.append(error) } }
          #expect(errors.count == 3)
          for error in errors { expectNoDamage(error) }
        }
      }
    }
  }

  @Test func aCheckThatCannotBeMadeDecidesNothing() throws {
    try withTemporaryDirectory { directory in
      let store = try TaskStore(at: directory.appending("tasks"), configuration: .testing())
      let environment = try store.connection.use(\.environment)
      try store.close()
      let error = SecondLook(environment: environment, layout: TaskLayout(.init())).explained(Self.claims[0])
      #expect((error as? TallyError)?.code == .storeClosed, "\(error)")
    }
  }

  /// What a body throws about another environment opens no file again.
  @Test func anErrorOfAnotherEnvironmentEndsTheRead() throws {
    try withStore { store in
      var runCount = 0
      #expect(throws: TallyError.self) {
        try store.read { _ in
          runCount += 1
          throw LMDBError(.closed, operation: "get")
        }
      }
      #expect(runCount == 1)
    }
  }

  /// A function of its own, because asynchronous code cannot write in this form.
  private static func fail(_ store: TaskStore, _ error: any Error) throws {
    try store.writeAndWait { _ in throw error }
  }

  @Test func damageIsClaimedAtEachRead() throws {
    try withTemporaryDirectory { directory in
      let path = directory.appending("store")
      let store = try TaskStore(at: path, configuration: .testing())
      let task = try store.writeAndWait { try $0.add("task", to: .today) }
      try store.close()
      let environment = try LMDBEnvironment(path: path)
      let tasks = try Database<[UInt8], [UInt8]>(opening: "tasks", in: environment)
      try environment.write { try tasks.removeAll(in: &$0) }
      try environment.close()
      let damaged = try TaskStore(at: path, configuration: .testing())
      for _ in 0..<3 {
        let error = #expect(throws: TallyError.self) { try damaged.read { _ = try $0.view(.today) } }
        #expect(error?.code == .damagedStore)
      }
      #expect(try damaged.read { try $0.task(task.id) } == nil)
      #expect(try !damaged.verify().isSound)
      try damaged.close()
    }
  }

  @Test func aStoreWhoseFirstPageIsLostIsDamaged() throws {
    try withTemporaryDirectory { directory in
      let path = directory.appending("store")
      let store = try TaskStore(at: path, configuration: .testing())
      try store.writeAndWait { _ = try $0.add("task", to: .today) }
      try store.close()
      let file = try FileDescriptor.open(path.appending("data.mdb"), .writeOnly)
      _ = try file.closeAfter { try file.writeAll(toAbsoluteOffset: 0, [UInt8](repeating: 0, count: 4_096)) }
      func code(_ body: () throws -> Void) -> TallyError.Code? {
        #expect(throws: TallyError.self) { try body() }?.code
      }
      #expect(code { _ = try TaskStore(at: path, configuration: .testing()) } == .damagedStore)
      #expect(code { _ = try TaskStore.verify(at: path, configuration: .testing()) } == .damagedStore)
      #expect(code { _ = try TaskStore.repair(at: path, configuration: .testing()) } == .damagedStore)
      #expect(code { _ = try TaskStore.compact(at: path, configuration: .testing()) } == .damagedStore)
    }
  }
}
