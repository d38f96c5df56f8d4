import Foundation
import Tally
import Testing

@testable import WebService

/// The events of the surroundings of rows.
struct SurroundingsTests {
  /// The address of a page's stream.
  private func stream(of path: String, in web: RunningWeb) async throws -> String {
    let page = try await web.get(path)
    let address = try #require(page.body.firstMatch(of: /data-events="([^"]*)"/)).output.1
    return String(address).replacing("&amp;", with: "&")
  }

  /// What a stream brings until it has some text.
  private func events(
    of address: String, in web: RunningWeb, until last: String,
    after change: @escaping @Sendable () async throws -> Void
  ) async throws -> String {
    try await Connection.run(to: web.port) { connection in
      try await connection.write("GET \(address) HTTP/1.1\r\nHost: \(web.host)\r\nCookie: \(web.cookie)\r\n\r\n")
      let task = Task { try await change() }
      let text = await connection.read { $0.contains(last) }
      try await task.value
      return text
    }
  }

  @Test(.timeLimit(.minutes(1))) func countsAndAgendaFollowTheStoreWhateverThePageShows() async throws {
    try await withWeb { web in
      let today = try await stream(of: "/today", in: web)
      // Neither is in the view of today.
      let place = try await events(of: today, in: web, until: "event: places") {
        try await web.store.write { _ = try $0.addList(name: "New") }
      }
      #expect(!place.contains("event: agenda") && !place.contains("event: stale"))
      let agenda = try await events(of: try await stream(of: "/today", in: web), in: web, until: "event: agenda") {
        try await web.store.write { transaction in
          let day = try transaction.today.adding(days: -3)
          _ = try transaction.add("late") { $0.dueDay = day }
        }
      }
      #expect(!agenda.contains("event: change"))
    }
  }

  @Test(
    .timeLimit(.minutes(1)),
    arguments: ["/statistics", "/history", "/search?q=x", "/tags", "/lists", "/filters", "/sync"])
  func screenWithoutAViewHearsOfAnyChange(path: String) async throws {
    try await withWeb { web in
      let address = try await stream(of: path, in: web)
      let text = try await events(of: address, in: web, until: "event: stale") {
        let id = try await web.store.write { try $0.add("x").id }
        try await web.store.write { _ = try $0.update(id) { $0.notes = "y" } }
      }
      // Going on from there, nothing is new until the next change.
      let id = try #require(text.matches(of: /id: (\S+)\nevent: stale/).last?.output.1)
      let parts = address.split(separator: "store=")
      let next =
        "\(parts[0])store=\(String(id).inAddress)&"
        + (parts.last?.split(separator: "&").dropFirst().joined(separator: "&") ?? "")
      let quiet = try await events(of: next, in: web, until: "event: stale") {
        try await web.store.write { _ = try $0.add("z") }
      }
      #expect(quiet.matches(of: /event: stale/).count == 1)
    }
  }

  @Test(.timeLimit(.minutes(1))) func changeBetweenThePageAndItsStreamIsNotMissed() async throws {
    try await withWeb { web in
      let id = try await web.store.write { try $0.add("x", to: .today).id }
      for (path, event) in [("/tasks/\(id.text)", "stale"), ("/today", "places"), ("/settings", "places")] {
        let address = try await stream(of: path, in: web)
        try await web.store.write { _ = try $0.addList(name: path) }
        let text = try await events(of: address, in: web, until: "event: \(event)") {}
        #expect(text.contains("event: \(event)"))
      }
    }
  }

  @Test func versionsDifferOnlyWhereTheContentsDo() async throws {
    let store = try TaskStore.temporary()
    let id = try await store.write { try $0.add("x", to: .today).id }
    func versions() throws -> (String, String, String) {
      try store.read { (try Places($0).version, try AgendaContent($0).version, try Surroundings.version($0)) }
    }
    let first = try versions()
    #expect(try versions() == first)
    try await store.write { _ = try $0.update(id) { $0.notes = "y" } }
    let second = try versions()
    #expect(second.0 == first.0 && second.1 == first.1 && second.2 != first.2)
    try await store.write { _ = try $0.complete(id) }
    #expect(try versions().0 != first.0)
  }

  @Test(.timeLimit(.minutes(1))) func oneStreamFollowsSeveralViewsAndSaysWhichAreGone() async throws {
    try await withWeb { web in
      let (list, other) = try await web.store.write {
        (try $0.addList(name: "A").id, try $0.addList(name: "B").id)
      }
      try await web.store.write { _ = try $0.deleteList(other) }
      let address = "/events?view=today&after=&view=list/\(list.text)&after=&view=list/\(other.text)&after="
      let text = try await Connection.run(to: web.port) { connection in
        try await connection.write("GET \(address) HTTP/1.1\r\nHost: \(web.host)\r\nCookie: \(web.cookie)\r\n\r\n")
        let (begun, continuation) = AsyncStream.makeStream(of: Void.self)
        let change = Task {
          for await _ in begun { break }
          try await web.store.write { _ = try $0.add("inserted") { $0.listID = list } }
        }
        let text = await connection.read { text in
          // Both views begin with a reset.
          if text.matches(of: /event: reset/).count == 2 { continuation.finish() }
          return text.contains("inserted")
        }
        try await change.value
        return text
      }
      #expect(text.contains("event: gone\ndata: {\"view\":\"list\\/\(other.text)\"}"))
      #expect(text.contains("event: reset"))
      #expect(try await web.get("/events?view=today&after=1&after=2").status == 400)
    }
  }
}
