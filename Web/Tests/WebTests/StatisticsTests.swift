import Foundation
import Tally
import Testing

@testable import WebService

/// The statistics, and the tasks behind their bars.
struct StatisticsTests {
  /// The addresses in a part of a page, with the numbers before which they stand.
  private static func bars(_ page: String, of kind: String) -> [(count: Int, address: String)] {
    page.matches(of: /<a href="(\/done\?[^"]*)">(\d+)</).compactMap { match in
      let address = String(match.output.1).replacing("&amp;", with: "&")
      return address.contains("of=\(kind)") ? (Int(match.output.2) ?? 0, address) : nil
    }
  }

  private static func rowCount(_ page: String) -> Int { page.matches(of: /<li class="row/).count }

  @Test func everyBarLeadsToItsTasks() async throws {
    try await withWeb { web in
      let list = try await web.store.write { transaction in
        let list = try transaction.addList(name: "Work").id
        for number in 0..<12 {
          let task = try transaction.add("\(number)", to: number % 3 == 0 ? .list(list) : .today) { task in
            task.createdAt = task.createdAt.adding(seconds: -86_400 * Int64(number))
          }
          if number % 2 == 0 { try transaction.complete(task.id) }
        }
        return list
      }
      for query in ["", "?list=\(list.text)", "?by=week", "?filter=is%3Aopen"] {
        let page = try await web.get("/statistics\(query)")
        #expect(page.status == 200)
        for kind in ["created", "open"] {
          let bars = Self.bars(page.body, of: kind)
          #expect(!bars.isEmpty, "\(kind) \(query)")
          for bar in bars {
            let tasks = try await web.get(bar.address)
            #expect(Self.rowCount(tasks.body) == bar.count, "\(bar.address)")
          }
        }
      }
      let open = try await web.get("/done?of=open")
      #expect(open.body.contains("<h1>Open tasks</h1>") && Self.rowCount(open.body) == 6)
      for wrong in ["of=x", "weekday=8", "hour=24", "hour=x"] {
        #expect(try await web.get("/done?\(wrong)").status == 400, "\(wrong)")
      }
    }
  }

  @Test func heatMapHasTheDaysOfAYearAndLeadsToTheirTasks() async throws {
    try await withWeb { web in
      let (today, zone) = try web.store.read { ($0.today, $0.calendar.timeZone) }
      let ago = try today.adding(days: -100)
      try await web.store.write { transaction in
        for number in 0..<3 {
          let task = try transaction.add("\(number)")
          try transaction.complete(task.id, at: OffsetTimestamp(ago.instant(atMinute: 600, in: zone), in: zone))
        }
        try transaction.complete(try transaction.add("today").id)
      }
      let page = try await web.get("/statistics")
      let table = try #require(page.body.firstMatch(of: /<table class="heat"[^>]*>((.|\n)*?)<\/table>/)).output.1
      #expect(
        table.matches(of: /<th scope="row">/).count == 7 && table.matches(of: /<td class="level-/).count == 7 * 53)
      #expect(page.body.contains("4 tasks completed") && table.contains(": 3 tasks"))
      let links = table.matches(of: /class="level-(\d)"><a href="([^"]*)"/).map {
        (String($0.output.1), String($0.output.2).replacing("&amp;", with: "&"))
      }
      #expect(links.count == 2 && links.contains { $0.0 == "3" })
      let day = try #require(links.first { $0.1.contains(ago.iso8601.inAddress) })
      #expect(Self.rowCount(try await web.get(day.1).body) == 3)
    }
  }
}

/// Days that begin some hours after midnight, by the setting of a browser.
struct DayStartTests {
  /// 02:30 in Amsterdam, on Saturday 21 November.
  private static var configuration: TaskStore.Configuration {
    var configuration = TaskStore.Configuration()
    configuration.durability = .relaxed
    configuration.calendar = Calendar(identifier: .gregorian)
    configuration.calendar.timeZone = TimeZone(identifier: "Europe/Amsterdam") ?? .gmt
    configuration.calendar.firstWeekday = 2
    configuration.now = { Timestamp(clamping: Date(timeIntervalSince1970: 1_795_224_600)) }
    return configuration
  }

  private static let late = "Cookie: tally-day-start=240"

  @Test func settingIsKeptInTheBrowserAndShown() async throws {
    try await withWeb { web in
      let saved = try await web.post("/settings", [("day-start", "04:00"), ("week-start", "7")])
      #expect(saved.status == 303 && saved.headers["set-cookie"]?.hasPrefix("tally-day-start=240;") == true)
      #expect(try await web.get("/settings", [Self.late]).body.contains("value=\"04:00\""))
      for wrong in ["12:00", "4", "x", "-1:00", "03:60"] {
        #expect(try await web.post("/settings", [("day-start", wrong)]).status == 400, "\(wrong)")
      }
      let cleared = try await web.post("/settings", [("day-start", "")])
      #expect(cleared.headers["set-cookie"]?.contains("Max-Age=0") == true)
    }
  }

  @Test func nightBelongsToTheDayBeforeOnEveryScreen() async throws {
    try await withWeb(configuration: Self.configuration) { web in
      let friday = try CalendarDay(iso8601: "2026-11-20")
      let done = try await web.store.write { transaction in
        _ = try transaction.add("Friday’s task") { $0.scheduledDate = friday }
        _ = try transaction.add("due on Friday") { $0.dueDay = friday }
        let done = try transaction.add("done in the night") { $0.scheduledDate = friday }
        return try transaction.complete(done.id).id
      }
      let (early, late) = (try await web.get("/today"), try await web.get("/today", [Self.late]))
      // What was planned for Friday is left from yesterday on Saturday.
      #expect(early.body.contains("Friday’s task") && late.body.contains("Friday’s task"))
      #expect(early.body.contains("Not done yesterday") && !late.body.contains("Not done yesterday"))
      #expect(early.body.contains("overdue since") && !late.body.contains("overdue since"))
      #expect(early.body.contains("data-drop=\"day:2026-11-21\"") && late.body.contains("data-drop=\"day:2026-11-20\""))
      #expect(try await web.get("/overdue", [Self.late]).body.contains("due on Friday") == false)
      // A completion in the evening of the same day is of today.
      try await web.store.write { transaction in
        let evening = try Timestamp(iso8601: "2026-11-20T19:00:00Z")
        _ = try transaction.complete(
          try transaction.add("done in the evening").id, at: OffsetTimestamp(evening, in: transaction.calendar.timeZone)
        )
      }
      let (earlyDone, lateDone) = (
        try await web.get("/completed").body, try await web.get("/completed", [Self.late]).body
      )
      #expect(earlyDone.contains("done yesterday 20:00") && lateDone.contains("done today 20:00"))
      #expect(earlyDone.contains("done today 02:30") && lateDone.contains("done today 02:30"))
      let (earlyCounts, lateCounts) = (
        try await web.get("/statistics").body, try await web.get("/statistics", [Self.late]).body
      )
      #expect(earlyCounts.contains("<dt>Today</dt><dd>1</dd>") && lateCounts.contains("<dt>Today</dt><dd>2</dd>"))
      let behind = try await web.get("/done?from=2026-11-20&to=2026-11-20", [Self.late]).body
      #expect(behind.contains("done in the night") && behind.contains("done in the evening"))
      #expect(try await web.get("/done?weekday=6", [Self.late]).body.contains("done in the night") == false)
      // Written days, too.
      let form = [("text", "written"), ("place", "today")]
      #expect(try await web.post("/capture", form, [Self.late]).status == 303)
      #expect(try await web.post("/change", [("action", "tomorrow"), ("id", done.text)], [Self.late]).status == 303)
      let tasks = try web.store.read { try $0.view(.all).tasks }
      #expect(tasks.first { $0.title == "written" }?.scheduledDate == friday)
      #expect(try tasks.first { $0.id == done }?.scheduledDate == friday.adding(days: 1))
      let understood = try await web.get("/capture?text=\(RunningWeb.encoded("Call tomorrow"))", [Self.late]).body
      #expect(understood.contains("tomorrow"))
    }
  }

  @Test func weekOfABrowserCountsInWhatIsTyped() async throws {
    try await withWeb(configuration: Self.configuration) { web in
      let ids = try await web.store.write { transaction in
        [try transaction.add("a").id, try transaction.add("b").id]
      }
      for (id, cookies) in zip(ids, [[], ["Cookie: tally-week-start=7"]]) {
        let form = [("action", "plan"), ("day", "eow"), ("id", id.text)]
        #expect(try await web.post("/change", form, cookies).status == 303)
      }
      let days = try web.store.read { transaction in try ids.map { try transaction.task($0)?.scheduledDate?.iso8601 } }
      // Weeks from Monday on, then from Sunday on.
      #expect(days == ["2026-11-22", "2026-11-21"])
    }
  }
}
