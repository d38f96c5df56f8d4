import Foundation
import NIOCore
import Tally
import Testing

@testable import WebService

/// The events of a view, against the view.
struct EventTests {
  private struct Row: Decodable {
    let position: Int
    let origin: Int?
    let html: String
    /// The id in the row's markup.
    var id: String { html.firstMatch(of: /data-id="([^"]*)"/).map { String($0.output.1) } ?? "" }
  }

  private struct Change: Decodable {
    let count: Int
    let completed: Int
    let removals: [Int]
    let insertions: [Row]
    let moves: [Row]
    let updates: [Row]
  }

  /// The rows of a browser, changed by events as `rows.js` changes them.
  private struct Follower {
    var rows: [String]
    var version: String?
    var resetCount = 0

    mutating func apply(_ text: String) throws {
      for event in text.components(separatedBy: "\n\n") where !event.isEmpty {
        let lines = Dictionary(
          event.split(separator: "\n").map { line in
            let parts = line.split(separator: ":", maxSplits: 1)
            return (String(parts[0]), String(parts.last ?? "").trimmingCharacters(in: .whitespaces))
          }
        ) { _, last in last }
        version = lines["id"]
        if lines["event"] == "reset" { resetCount += 1 }
        guard lines["event"] == "change", let data = lines["data"] else { continue }
        let change = try JSONDecoder().decode(Change.self, from: Data(data.utf8))
        for position in (change.removals + change.moves.compactMap(\.origin)).sorted(by: >) {
          rows.remove(at: position)
        }
        for row in (change.insertions + change.moves).sorted(by: { $0.position < $1.position }) {
          rows.insert(row.id, at: row.position)
        }
        for row in change.updates { #expect(rows[row.position] == row.id) }
        #expect(rows.count == change.count)
      }
    }
  }

  @Test func rowsBuiltFromEventsEqualTheView() async throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    print("EventTests: seed \(seed)")
    let store = try TaskStore.temporary()
    let feed = try ViewFeed(.today, by: DayRules(), of: store, try Renderer())
    var follower = Follower(rows: [], version: await feed.version)
    var numbers = Numbers(state: seed)
    for step in 0..<300 {
      try await Self.change(store, using: &numbers)
      // Now and then a browser is away for a while.
      guard numbers.next() % 3 == 0 else { continue }
      try await feed.catchUp()
      let (events, version) = try await feed.events(after: follower.version)
      for event in events { try follower.apply(String(buffer: event)) }
      let expected = try store.read { try $0.view(.today).tasks.map(\.id.text) }
      #expect(follower.rows == expected && version == follower.version, "step \(step), seed \(seed)")
    }
    #expect(follower.resetCount == 0)
    #expect(try store.verify().isSound)
  }

  private static func change(_ store: TaskStore, using numbers: inout Numbers) async throws {
    let (kind, choice) = (numbers.next() % 8, Int(numbers.next() % 1_000))
    try await store.write { transaction in
      let tasks = try transaction.view(.today).tasks
      guard kind > 2, !tasks.isEmpty else { return _ = try transaction.add("task \(choice)", to: .today) }
      let (task, other) = (tasks[choice % tasks.count], tasks[choice / 7 % tasks.count])
      switch kind {
      case 3: try transaction.delete(task.id)
      case 4, 5: try transaction.advanceState(of: task.id)
      case 6: try transaction.update(task.id) { $0.title = "renamed \(choice)" }
      default: if task.id != other.id { try transaction.move(task.id, before: other.id) }
      }
    }
  }

  @Test func versionThatIsUnknownOrTooOldBeginsAgain() async throws {
    let store = try TaskStore.temporary()
    let feed = try ViewFeed(.inbox, by: DayRules(), of: store, try Renderer())
    let start = await feed.version
    for version in [nil, "", "x", "0.0", "\(start.prefix(8)).7", "\(start.prefix(8)).-1"] {
      let answer = try await feed.events(after: version)
      #expect(answer.events.count == 1 && String(buffer: answer.events[0]).contains("event: reset"))
    }
    #expect(try await feed.events(after: start).events.isEmpty)
    for number in 0...ViewFeed.keptEventCount {
      try await store.write { try $0.add("task \(number)") }
      try await feed.catchUp()
    }
    let answer = try await feed.events(after: start)
    #expect(answer.events.count == 1 && String(buffer: answer.events[0]).contains("event: reset"))
  }

  @Test func changeOfAListsNameOrOfTheDayDrawsAllRowsAgain() async throws {
    let store = try TaskStore.temporary()
    let list = try await store.write { transaction in
      let list = try transaction.addList(name: "Old")
      try transaction.add("x", to: .today) { $0.listID = list.id }
      return list
    }
    let feed = try ViewFeed(.today, by: DayRules(), of: store, try Renderer())
    let start = await feed.version
    try await store.write { _ = try $0.renameList(list.id, to: "New") }
    try await feed.catchUp()
    let events = try await feed.events(after: start).events
    #expect(events.map { String(buffer: $0).contains("event: reset") } == [true])
  }

  @Test func browserThatReconnectsGoesOnWhereItStopped() async throws {
    try await withWeb { web in
      let page = try await web.get("/today")
      let version = String(page.body.firstMatch(of: /data-version="([^"]*)"/)?.output.1 ?? "")
      for title in ["first", "second"] { try await web.store.write { _ = try $0.add(title, to: .today) } }
      func follow(after version: String, until last: String) async throws -> String {
        try await Connection.run(to: web.port) { connection in
          try await connection.write(
            "GET /events?view=inbox&after=0.0&view=today&after=\(version)&view=list/\(UUID().text)&after=0.0 HTTP/1.1\r\n"
              + "Host: \(web.host)\r\nCookie: \(web.cookie)\r\n\r\n")
          return await connection.read { $0.contains(last) }
        }
      }
      let both = try await follow(after: version, until: "second")
      // The view whose version is unknown begins again, that of no list is gone, and today's goes on.
      #expect(both.contains("first") && both.matches(of: /event: reset/).count == 1)
      #expect(both.contains("event: gone\ndata: {\"view\":\"list\\/"))
      let seen = String(both.matches(of: /id: (\S+)/).last?.output.1 ?? "")
      try await web.store.write { _ = try $0.add("third", to: .today) }
      let rest = try await follow(after: seen, until: "third")
      #expect(!rest.contains("first") && !rest.contains("second"))
    }
  }
}

/// Numbers that a seed determines: SplitMix64.
struct Numbers: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
