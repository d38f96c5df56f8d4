import Foundation
import Tally
import TallyTestSupport
import Testing

/// What undo and redo say where no task is concerned, or nothing can be undone.
struct ReversalTests {
  /// The change of an application's value concerned no task, and was reported as no change at all.
  @Test func anUndoOfAValueOffersTheRedo() throws {
    try withProgram { program in
      let store = try TaskStore(at: program.store, configuration: .testing())
      try store.writeAndWait { try $0.setValue(1, forKey: "a", in: "app") }
      try store.close()
      #expect(try program.run(["undo", "--dry-run"]).errors.hasSuffix("Nothing was changed.\n"))
      #expect(try program.run(["undo", "--dry-run", "--json"]).output.contains(#""dryRun":true"#))
      let undo = try program.run(["undo"]).errors
      #expect(undo.hasSuffix("Changed 1 value.\nTo redo: tally redo\n"), "\(undo)")
    }
  }

  @Test func aHistoryThatWasCutSaysSo() throws {
    try withProgram { program in
      let store = try TaskStore(at: program.store, configuration: .testing())
      let task = try store.writeAndWait { try $0.add("a", to: .inbox) }
      try store.writeAndWait { try $0.complete(task.id) }
      let change = try #require(try store.read { try $0.undoableChange }).text
      try store.writeAndWait { try $0.delete(task.id) }
      try store.writeAndWait { _ = try $0.purgeCompletions(before: .latest) }
      try store.close()
      #expect(try program.run(["undo", change]).errors.contains("was a purge"))
      #expect(try program.run(["undo", "99.0"]).errors.contains("Change 99.0 cannot be undone"))
    }
  }
}
