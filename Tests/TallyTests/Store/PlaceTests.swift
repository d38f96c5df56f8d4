import Foundation
import TallyTestSupport
import Testing

@testable import Tally

/// Places in which tasks are captured, as places to move them to; groups that move; sentences with a list.
struct PlaceTests {
  @Test func inboxTakesAwayListAndDayAndOtherPlacesSetWhatTheyName() throws {
    try withStore { store in
      let (list, today) = (try store.writeAndWait { try $0.addList(name: "Work").id }, try store.read { $0.today })
      let tomorrow = try today.adding(days: 1)
      let expected: [(CapturePlace, UUID?, CalendarDay?)] = [
        (.inbox, nil, nil), (.today, list, today), (.upcoming, list, tomorrow), (.list(list), list, tomorrow),
      ]
      for (place, newList, newDay) in expected {
        let moved = try store.writeAndWait { transaction in
          let task = try transaction.add("x", to: .upcoming) { $0.listID = list }
          return try transaction.move(task.id, to: place)
        }
        #expect(moved.listID == newList && moved.scheduledDate == newDay, "\(place)")
      }
      expect(.listNotFound) {
        try store.writeAndWait { transaction in
          let task = try transaction.add("x")
          try transaction.move(task.id, to: .list(UUID()))
        }
      }
    }
  }

  @Test func filterOfTheInboxFindsWhatTheViewShows() throws {
    try withStore { store in
      try store.writeAndWait { transaction in
        let list = try transaction.addList(name: "Work").id
        for place in [CapturePlace.inbox, .today, .list(list)] {
          let task = try transaction.add("x", to: place)
          try transaction.complete(try transaction.add("y", to: place).id)
          try transaction.start(task.id)
        }
        try transaction.add("both", to: .today) { $0.listID = list }
      }
      let (view, found) = try store.read { transaction in
        (try transaction.view(.inbox).tasks, try transaction.view(.matching(.inInbox, by: .place)).tasks)
      }
      #expect(view.count == 2 && Set(view) == Set(found))
    }
  }

  @Test func groupKeepsItsOrderBeforeAndBehindAnotherTask() throws {
    try withStore { store in
      let ids = try store.writeAndWait { transaction in
        try ["0", "1", "2", "3", "4"].map { try transaction.add($0, to: .today).id }
      }
      func titles() throws -> [String] { try store.read { try $0.view(.today).tasks.map(\.title) } }
      try store.writeAndWait { try $0.move([ids[4], ids[3]], before: ids[1]) }
      #expect(try titles() == ["0", "4", "3", "1", "2"])
      try store.writeAndWait { try $0.move([ids[0], ids[3]], after: ids[2]) }
      #expect(try titles() == ["4", "1", "2", "0", "3"])
      // The anchor is one of them.
      try store.writeAndWait { try $0.move([ids[3], ids[4]], after: ids[3]) }
      #expect(try titles() == ["1", "2", "0", "3", "4"])
      try store.writeAndWait { try $0.move([], before: ids[0]) }
      expect(.differentPlaces) {
        try store.writeAndWait { transaction in
          let other = try transaction.add("elsewhere")
          try transaction.move([ids[0]], after: other.id)
        }
      }
    }
  }

  @Test func sentenceGoesToItsListElseToThePlaceWhereItWasTyped() throws {
    try withStore { store in
      let (work, home) = try store.writeAndWait {
        (try $0.addList(name: "Work").id, try $0.addList(name: "Home").id)
      }
      func add(_ sentence: String, _ place: CapturePlace) throws -> TaskItem {
        try store.writeAndWait { transaction in
          let lists = try transaction.lists().map(\.name)
          let entry = QuickEntry.parse(sentence, reference: transaction.dateReference, lists: lists)
          return try transaction.add(entry, to: place) { $0.tags.insert("typed") }
        }
      }
      #expect(try add("Call list:Work", .list(home)).listID == work)
      #expect(try add("Call", .list(home)).listID == home)
      let later = try add("Call tomorrow #ann", .today)
      #expect(try later.scheduledDate == store.read { try $0.today.adding(days: 1) } && later.tags == ["ann", "typed"])
      var unknown = QuickEntry.parse("Call list:Work", reference: try store.read { $0.dateReference }, lists: ["Work"])
      #expect(unknown.listName == "Work")
      try store.writeAndWait { _ = try $0.deleteList(work) }
      expect(.listNotFound) { try store.writeAndWait { _ = try $0.add(unknown) } }
      unknown = QuickEntry.parse("Call", reference: try store.read { $0.dateReference }, lists: [])
      #expect(try store.writeAndWait { try $0.add(unknown) }.title == "Call")
    }
  }
}

/// Days that a transaction counts by other rules than the store.
struct CountedDaysTests {
  /// 01:00 in Istanbul.
  private static let night = TestClock(Timestamp(clampingSeconds: 1_795_212_000))

  @Test func aTransactionCountsDaysForThePersonWhoAsks() throws {
    try withStore(.testing(clock: Self.night)) { store in
      let calendar = store.configuration.calendar
      let (midnight, four) = try store.read { transaction in
        let before = transaction.today
        transaction.countDays(in: calendar, startingAtMinute: 240)
        return (before, transaction.today)
      }
      #expect(midnight.iso8601 == "2026-11-21" && four.iso8601 == "2026-11-20")
      let task = try store.writeAndWait { transaction in
        transaction.countDays(in: calendar, startingAtMinute: 240)
        return try transaction.add("late work", to: .today)
      }
      #expect(task.scheduledDate == four)
      #expect(try store.read { $0.today } == midnight)
      let shown = try store.read { transaction in
        transaction.countDays(in: calendar, startingAtMinute: 240)
        return try transaction.view(.today).tasks
      }
      #expect(shown == [task])
    }
  }

  /// Asynchronous writes share a transaction.
  @Test func rulesOfOneWriteDoNotReachTheNextOne() async throws {
    try await withStore(.testing(clock: Self.night)) { store in
      let calendar = store.configuration.calendar
      let days = try await withThrowingTaskGroup(of: (Bool, CalendarDay?).self) { group in
        for number in 0..<40 {
          group.addTask {
            let task = try await store.write { transaction in
              if number % 2 == 0 { transaction.countDays(in: calendar, startingAtMinute: 240) }
              return try transaction.add("\(number)", to: .today)
            }
            return (number % 2 == 0, task.scheduledDate)
          }
        }
        return try await group.reduce(into: [(Bool, CalendarDay?)]()) { $0.append($1) }
      }
      for (isLate, day) in days { #expect(day?.iso8601 == (isLate ? "2026-11-20" : "2026-11-21")) }
    }
  }

  @Test func nightsAreNamedByTheDayToWhichTheyBelong() throws {
    let clock = try Timestamp(iso8601: "2026-11-20T22:00:00Z")
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = try #require(TimeZone(identifier: "Europe/Istanbul"))
    let late = DateReference(now: clock, calendar: calendar, dayStartInMinutes: 240)
    let early = DateReference(now: clock, calendar: calendar)
    #expect(late.today.iso8601 == "2026-11-20" && early.today.iso8601 == "2026-11-21")
    #expect(late.relativeName(of: clock) == "today 01:00" && early.relativeName(of: clock) == "today 01:00")
    let evening = try Timestamp(iso8601: "2026-11-20T17:00:00Z")
    #expect(late.relativeName(of: evening) == "today 20:00" && early.relativeName(of: evening) == "yesterday 20:00")
    #expect(late.heading(of: late.today) == "Today · Fri 20 Nov")
    #expect(WallTime(at: clock, in: calendar.timeZone).clock == "01:00" && WallTime.clock(ofMinute: 630) == "10:30")
  }
}
