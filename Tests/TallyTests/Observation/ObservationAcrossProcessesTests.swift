import Foundation
import SystemPackage
import TallyTestSupport
import Testing

@testable import Tally

/// The commits of another process are seen, in order, and none is lost; `Scripts/check-example.py` measures how soon.
@Suite struct ObservationAcrossProcessesTests {
  private static let count = 400

  @Test func anotherProcessesCommitsAreSeenInOrderAndNoneIsLost() async throws {
    try await withStore { store in
      let (changes, start) = (try store.changes(), try store.read { try $0.sequence })
      let writer = try HelperProcess("add", store.directory, Self.count)
      var (seen, last) = (0, start)
      for try await set in changes {
        #expect(set.isComplete && set.previousSequence == last && set.sequence > last)
        #expect(set.tasks.inserted.count == Int(set.sequence - last), "a task each commit")
        #expect(set.tasks.updated.isEmpty && set.tasks.deleted.isEmpty)
        let titles = try store.read { transaction in
          try set.tasks.inserted.compactMap { try transaction.task($0).flatMap { Int($0.title) } }.sorted()
        }
        #expect(titles == Array(seen..<(seen + set.tasks.inserted.count)))
        (seen, last) = (seen + titles.count, set.sequence)
        if seen >= Self.count { break }
      }
      #expect(writer.lines() == ["done"])
      #expect(try store.read { try $0.sequence } == last)
    }
  }

  @Test func aViewFollowsAnotherProcessWithoutBeingReadAgain() async throws {
    try await withStore { store in
      let updates = store.observe(.inbox)
      let writer = try HelperProcess("add", store.directory, Self.count)
      var tasks: [TaskItem] = []
      for try await update in updates {
        switch update {
        case .snapshot(let view): tasks = view.tasks
        case .difference(let difference): tasks = difference.applied(to: tasks)
        }
        #expect(tasks.map(\.title) == (0..<tasks.count).map { "\($0)" })
        if tasks.count >= Self.count { break }
      }
      #expect(writer.lines() == ["done"])
      #expect(tasks == (try store.read { try $0.view(.inbox).tasks }))
      #expect(store.observationCounts.viewReadCount == 1)
    }
  }
}
