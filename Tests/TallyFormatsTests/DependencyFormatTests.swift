import Foundation
import TallyFormats
import TallyTestSupport
import Testing

@testable import Tally

/// Tasks that depend on others, through every format that goes out.
struct DependencyFormatTests {
  private func withTasks(_ body: (TaskStore, [TaskItem]) throws -> Void) throws {
    try withStore { (store: TaskStore) throws in
      let tasks = try store.writeAndWait { transaction in
        let paint = try transaction.add("Buy paint")
        let dry = try transaction.add("Let the wood dry") { $0.state = .completed }
        return [
          paint, dry, try transaction.add("Paint the fence") { $0.dependsOn = [paint.id, dry.id, UUID.lowest] },
        ]
      }
      try body(store, tasks)
    }
  }

  @Test(arguments: DocumentFormat.allCases.filter(\.isExported))
  func theyComeBack(format: DocumentFormat) throws {
    try withTasks { store, tasks in
      let text = try store.exportedText(as: format)
      try withStore { (copy: TaskStore) throws in
        try copy.importText(text, as: format)
        let fence = try #require(try copy.read { try $0.task(tasks[2].id) })
        #expect(fence.dependsOn == tasks[2].dependsOn)
        #expect(try copy.read { try $0.blockers(of: fence.id).map(\.id) } == [tasks[0].id])
      }
    }
  }

  @Test func otherProgramsGetThemInTheirOwnWords() throws {
    try withTasks { store, tasks in
      let ids = tasks[2].dependsOn.map { $0.uuidString.lowercased() }
      let taskwarrior = try store.exportedText(as: .taskwarrior)
      #expect(taskwarrior.contains("\"depends\":[\(ids.map { "\"\($0)\"" }.joined(separator: ","))]"))
      let calendar = try store.exportedText(as: .ical).replacing("\r\n ", with: "")
      for id in ids { #expect(calendar.contains("RELATED-TO;RELTYPE=DEPENDS-ON:\(id)\r\n")) }
      #expect(try store.exportedText(as: .csv).contains(",\"\(ids.joined(separator: ","))\","))
      for format in [DocumentFormat.taskwarrior, .ical] {
        #expect(try !store.exportedText(as: format).contains("dependsOn"), "\(format) says it in its own words")
      }
    }
  }

  @Test func tablesOfTasksWithoutThemHaveNoColumn() throws {
    try withStore { (store: TaskStore) throws in
      try store.writeAndWait { _ = try $0.add("plain") }
      for format in DocumentFormat.allCases where format.isExported {
        #expect(try !store.exportedText(as: format).lowercased().contains("depends"), "\(format)")
      }
    }
  }

  /// The other task came from another program's calendar, with a UID that is none of Tally's.
  @Test func aCalendarNamesTheUIDOfTheOtherTask() throws {
    try withStore { (store: TaskStore) throws in
      let text = """
        BEGIN:VCALENDAR\r\nBEGIN:VTODO\r\nUID:one@example.org\r\nSUMMARY:one\r\nEND:VTODO\r\n\
        BEGIN:VTODO\r\nUID:two@example.org\r\nSUMMARY:two\r\n\
        RELATED-TO;RELTYPE=DEPENDS-ON:one@example.org\r\nEND:VTODO\r\nEND:VCALENDAR\r\n
        """
      try store.importText(text, as: .ical)
      let blocked = try store.read { try $0.view(.matching(.is(.blocked), by: .created)).tasks.map(\.title) }
      #expect(blocked == ["two"])
      #expect(try store.exportedText(as: .ical).contains("RELATED-TO;RELTYPE=DEPENDS-ON:one@example.org\r\n"))
    }
  }

  @Test func whatATaskCannotDependOnIsLeftOutAndNamed() throws {
    try withStore { (store: TaskStore) throws in
      let uuid = "00000000-0000-4000-8000-000000000001"
      let summary = try store.importText(
        ExampleTests.task("\"description\":\"a\",\"status\":\"pending\",\"depends\":[\"\(uuid)\"]"), as: .taskwarrior)
      #expect(summary.account.map(\.kind) == ["dependency"])
      #expect(try store.tasks.map(\.dependsOn) == [[]])
    }
  }
}
