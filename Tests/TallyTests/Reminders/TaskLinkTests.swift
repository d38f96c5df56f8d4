import Foundation
import TallyTestSupport
import Testing

@testable import Tally

@Suite struct TaskLinkTests {
  private static let id = "01a1f000-0000-7000-8000-000000007f3a"

  @Test func theTwoFormsAreRead() throws {
    #expect(
      try TaskLink("tally://create-task?title=Buy%20milk%20%26%20%E6%B0%B4&list=Home+1")
        == .createTask(TaskLink.NewTask(title: "Buy milk & 水", list: "Home+1")))
    #expect(try TaskLink("TALLY://create-task/?title=x") == .createTask(TaskLink.NewTask(title: "x")))
    #expect(try TaskLink("tally://open-task?id=\(Self.id.uppercased())") == .openTask(id: try uuid()))
    #expect(try TaskLink("todo://open-task?id=\(Self.id)", scheme: "todo") == .openTask(id: try uuid()))
  }

  @Test(arguments: [
    "", "x", "tally", "tally:", "tally://", "http://create-task?title=x",
    "tally://create-task?title=x&due=soon", "tally://create-task?title=x&day=17:00", "tally://create-task?tag=x",
    "tally://create-task?title=x&day=today&day=today", "tally://create-task?title=x&due=",
    "tally://create-task?title", "tally://create-task?title=x&title=y", "tally://create-task?title=x&other=y",
    "tally://create-task?list=x", "tally://create-task?title=%FF", "tally://create-task?title=%zz",
    "tally://create-task?title=x y", "tally://create-task?title=x#y", "tally://create-task/more?title=x",
    "tally://me@create-task?title=x", "tally://create-task:80?title=x", "tally:create-task?title=x",
    "tally://delete-task?id=\(id)", "tally://open-task?id=7f3a", "tally://open-task?id=\(id)&id=\(id)",
    "tally://open-task?id=\(id)&title=x", "tally://open-task?id=", "javascript:alert(1)", "tally://open-task?id=é",
  ])
  func anythingElseIsRefused(link: String) {
    expect(.invalidLink) { _ = try TaskLink(link) }
  }

  @Test func aBlankTitleAndALongLinkAreRefused() {
    expect(.blankTitle) { _ = try TaskLink("tally://create-task?title=%20%09") }
    expect(.invalidTag) { _ = try TaskLink("tally://create-task?title=x&tag=a%2Cb") }
    expect(.invalidLink) {
      _ = try TaskLink("tally://create-task?title=" + String(repeating: "x", count: 1 << 16))
    }
  }

  @Test(arguments: ["plain", "a+b %20 & = # ? / \\ é 水", "a\0b\n", "👩‍👩‍👧"])
  func whatIsWrittenIsReadBack(title: String) throws {
    var task = TaskLink.NewTask(title: title, list: title)
    for link in [TaskLink.createTask(task), .createTask(TaskLink.NewTask()), .openTask(id: try uuid())] {
      #expect(try TaskLink(link.text(scheme: "my-app"), scheme: "my-app") == link)
    }
    (task.day, task.due, task.notes) = (.tomorrow, try DateExpression("friday 17:00"), title + "\n")
    task.tags = ["home", "tax 2026"]
    #expect(try TaskLink(TaskLink.createTask(task).text()) == .createTask(task))
  }

  @Test func aTaskToCreateHasAllThatALinkSays() throws {
    let link = "tally://create-task?due=2026-11-27&tag=b&title=x&notes=two%0Alines&day=in%203%20days&tag=a&list=Home"
    var task = TaskLink.NewTask(title: "x", list: "Home")
    (task.day, task.due) = (try DateExpression("+3d", as: .day), .day(try CalendarDay(iso8601: "2026-11-27")))
    (task.notes, task.tags) = ("two\nlines", ["a", "b"])
    #expect(try TaskLink(link) == .createTask(task))
    #expect(try TaskLink("tally://create-task") == .createTask(TaskLink.NewTask()))
  }

  private func uuid() throws -> UUID {
    try #require(UUID(uuidString: Self.id))
  }
}
