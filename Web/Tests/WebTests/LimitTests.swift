import Foundation
import Logging
import SystemPackage
import Tally
import Testing

@testable import WebService

/// What the server keeps, and what it asks before it loses something.
struct LimitTests {
  private static let largeText = String(repeating: "x", count: 9 << 20)

  @Test func changeThatCannotBeUndoneIsAskedAbout() async throws {
    try await withWeb { web in
      let list = try await web.store.write { transaction in
        let list = try transaction.addList(name: "Large").id
        _ = try transaction.add("small")
        _ = try transaction.add(Self.largeText) { $0.listID = list }
        return list
      }
      let (path, form) = ("/lists/\(list.text)", [("action", "delete"), ("back", "/lists")])
      let question = try await web.post(path, form)
      #expect(question.status == 409 && question.body.contains("cannot be undone") && question.body.utf8.count < 20_000)
      #expect(
        question.body.contains("name=\"action\" value=\"delete\"") && question.body.contains("name=\"confirmed\""))
      let asked = try await web.post(path, form, ["Accept: application/json"])
      #expect(asked.status == 409 && asked.body.contains("\"question\""))
      #expect(try web.store.read { (try $0.taskCount, try $0.listCount) } == (2, 1))
      #expect(try web.store.read { try $0.undoableChange } != nil)
      let answer = try await web.post(path, form + [("confirmed", "yes")])
      #expect(answer.status == 303)
      #expect(try web.store.read { (try $0.taskCount, try $0.listCount) } == (1, 0))
      let page = try await web.get(answer.headers["location"] ?? "")
      #expect(page.body.contains("cannot be undone") && !page.body.contains("action=\"/undo\""))
    }
  }

  @Test func importThatCannotBeUndoneIsAskedAbout() async throws {
    try await withWeb { web in
      let id = try await web.store.write { try $0.add(Self.largeText).id }
      let text = "{\"id\":\"\(id.uuidString)\",\"text\":\"short\",\"updatedAt\":\"2100-01-01T00:00:00Z\"}"
      let form = [("text", text), ("format", "ndjson")]
      let question = try await web.post("/import-text", form)
      #expect(question.status == 200 && question.body.contains("too large to be undone"))
      #expect(question.body.contains("short") && !question.body.contains("id=\"confirm-import\" hidden"))
      let streamed = try await web.postDocument(text, "/import?format=ndjson")
      #expect(streamed.body.contains("\"question\""))
      #expect(try web.store.read { try $0.task(id)?.title } == Self.largeText)
      let confirmed = try await web.postDocument(text, "/import?format=ndjson&confirmed=yes")
      #expect(confirmed.body.contains("1 changed") && !confirmed.body.contains("\"change\""), "\(confirmed.body)")
      #expect(try web.store.read { try $0.task(id)?.title } == "short")
    }
  }

  @Test func viewsThatNobodyShowsAreKeptInASmallNumber() async throws {
    let store = try TaskStore.temporary()
    let feeds = Feeds(store, try Renderer(), logger: Logger(label: "test"))
    let used = try await feeds.feed(of: .today, by: DayRules())
    let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
    await used.listen(continuation)
    for number in 0..<100 {
      _ = try await feeds.feed(of: .matching(.title(contains: "\(number)"), by: .place), by: DayRules())
    }
    let kept = await feeds.feeds
    #expect(kept.count <= Feeds.largestIdleCount + 2 && kept[.init(view: .today, rules: DayRules())] === used)
    #expect(kept.keys.contains { $0.view == .matching(.title(contains: "99"), by: .place) })
    withExtendedLifetime(stream) {}
  }

  @Test(.timeLimit(.minutes(1))) func feedThatFailsEndsItsStreams() async throws {
    let store = try TaskStore.temporary()
    let feeds = Feeds(store, try Renderer(), logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    let feed = try await feeds.feed(of: .today, by: DayRules())
    let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
    await feed.listen(continuation)
    try store.close()
    await feeds.catchUp()
    for await _ in stream {}
    #expect(await feeds.feeds.isEmpty)
    // A stream that comes too late ends, too.
    let (late, lateContinuation) = AsyncStream.makeStream(of: Void.self)
    await feed.listen(lateContinuation)
    for await _ in late {}
  }

  @Test func answersThatNobodyReadsGiveBackTheirPlacesAndFiles() async throws {
    let limit = StreamLimit(1)
    var place = limit.enter()
    #expect(place != nil && limit.enter() == nil && limit.count == 1)
    place = nil
    #expect(limit.count == 0 && limit.enter() != nil)
    var file: TemporaryFile? = try TemporaryFile()
    // Without a name, nothing is left if the program ends.
    var status = stat()
    #expect(unsafe fstat(try #require(file).descriptor.rawValue, &status) == 0 && status.st_nlink == 0)
    weak let released = file
    file = nil
    #expect(released == nil)
  }

  @Test func filesOfKilledProgramsGoWithTheNextOne() async throws {
    try await withTemporaryDirectory { directory in
      let name = "tally-web-\(UUID().uuidString)"
      let kept = ["tally-web-x", "tally-web-\(UUID().uuidString)", "\(UUID().uuidString)"]
      for name in [name, kept[0], kept[2]] { try Data().write(to: URL(filePath: directory.appending(name).string)) }
      // With content it is somebody else's.
      try Data([1]).write(to: URL(filePath: directory.appending(kept[1]).string))
      let folder = "tally-web-\(UUID().uuidString)"
      try FileManager.default.createDirectory(
        atPath: directory.appending(folder).string, withIntermediateDirectories: false)
      _ = try TemporaryFile(in: directory)
      let left = try FileManager.default.contentsOfDirectory(atPath: directory.string)
      #expect(Set(left) == Set(kept + [folder]))
    }
  }

  /// Each may find the files of others between their creation and the removal of their names.
  @Test func filesThatAreMadeAtOnceLeaveNothing() async throws {
    try await withTemporaryDirectory { directory in
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<200 {
          group.addTask {
            let file = try TemporaryFile(in: directory)
            try file.append([UInt8(number)])
            #expect(try file.bytes(at: 0, count: 1) == [UInt8(number)])
          }
        }
        try await group.waitForAll()
      }
      #expect(try FileManager.default.contentsOfDirectory(atPath: directory.string) == [])
    }
  }

  @Test func aDirectoryThatIsMissingIsAnErrorOfTheSystem() async throws {
    try await withTemporaryDirectory { directory in
      #expect(throws: Errno.noSuchFileOrDirectory) { try TemporaryFile(in: directory.appending("none")) }
    }
  }

  /// Browsers that leave at once, whose answers may never be begun.
  @Test(.timeLimit(.minutes(2))) func browsersThatLeaveBeforeTheAnswerKeepNoPlace() async throws {
    try await withWeb(largestStreamCount: 4) { web in
      let lines = "Host: \(web.host)\r\nCookie: \(web.cookie)\r\n\r\n"
      for _ in 0..<200 {
        try await Connection.run(to: web.port) { connection in
          try await connection.write("GET /events?view=today&after= HTTP/1.1\r\n" + lines)
        }
      }
      while web.service.streams.count > 0 { await Task.yield() }
    }
  }

  @Test(arguments: [
    "from=1800-01-01&to=2026-11-21", "from=2000-01-01&to=2026-11-21&by=day", "from=0001-01-01&by=year",
    "from=1950-01-01&by=week",
  ])
  func statisticsOfTooManyDaysOrBarsAreRefused(query: String) async throws {
    try await withWeb { web in
      let refused = try await web.get("/statistics?\(query)")
      let shown = try await web.get("/statistics?from=1990-01-01&to=2026-11-21&by=month")
      #expect(refused.status == 400 && shown.status == 200)
    }
  }
}
