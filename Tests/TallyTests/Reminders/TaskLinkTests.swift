import Foundation
import TallyTestSupport
import Testing

@testable import Tally

@Suite struct TaskLinkTests {
  private static let id = "01a1f000-0000-7000-8000-000000007f3a"

  @Test func theTwoFormsAreRead() throws {
    #expect(
      try TaskLink("tally://create-task?title=Buy%20milk%20%26%20%E6%B0%B4&list=Home+1")
        == .createTask(title: "Buy milk & 水", list: "Home+1"))
    #expect(try TaskLink("TALLY://create-task/?title=x") == .createTask(title: "x", list: nil))
    #expect(try TaskLink("tally://open-task?id=\(Self.id.uppercased())") == .openTask(id: try uuid()))
    #expect(try TaskLink("todo://open-task?id=\(Self.id)", scheme: "todo") == .openTask(id: try uuid()))
  }

  @Test(arguments: [
    "", "x", "tally", "tally:", "tally://", "http://create-task?title=x", "tally://create-task",
    "tally://create-task?title", "tally://create-task?title=x&title=y", "tally://create-task?title=x&other=y",
    "tally://create-task?list=x", "tally://create-task?title=%FF", "tally://create-task?title=%zz",
    "tally://create-task?title=x y", "tally://create-task?title=x#y", "tally://create-task/more?title=x",
    "tally://me@create-task?title=x", "tally://create-task:80?title=x", "tally:create-task?title=x",
    "tally://delete-task?id=\(id)", "tally://open-task?id=7f3a", "tally://open-task?id=\(id)&id=\(id)",
    "tally://open-task?id=\(id)&title=x", "tally://open-task?id=", "javascript:alert(1)", "tally://open-task?id=é",
  ])
  func anythingElseIsRefused(link: String) {
    expectError(.invalidLink) { _ = try TaskLink(link) }
  }

  @Test func aBlankTitleAndALongLinkAreRefused() {
    expectError(.blankTitle) { _ = try TaskLink("tally://create-task?title=%20%09") }
    expectError(.invalidLink) {
      _ = try TaskLink("tally://create-task?title=" + String(repeating: "x", count: 1 << 16))
    }
  }

  @Test(arguments: ["plain", "a+b %20 & = # ? / \\ é 水", "a\0b\n", "👩‍👩‍👧"])
  func whatIsWrittenIsReadBack(title: String) throws {
    for link in [TaskLink.createTask(title: title, list: title), .openTask(id: try uuid())] {
      #expect(try TaskLink(link.text(scheme: "my-app"), scheme: "my-app") == link)
    }
  }

  private func uuid() throws -> UUID {
    try #require(UUID(uuidString: Self.id))
  }
}
