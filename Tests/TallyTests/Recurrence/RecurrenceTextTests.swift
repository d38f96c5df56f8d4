import Foundation
import TestSupport
import Testing

@testable import Tally

struct RecurrenceTextTests {
  @Test(
    arguments: [
      ("FREQ=DAILY", "FREQ=DAILY"), ("RRULE:FREQ=DAILY", "FREQ=DAILY"), (" rrule:freq=daily;interval=1 ", "FREQ=DAILY"),
      ("INTERVAL=2;BYDAY=TH,MO,TH;FREQ=WEEKLY", "FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,TH"),
      ("FREQ=MONTHLY;BYDAY=-1FR,+2MO,1FR,-2MO", "FREQ=MONTHLY;BYDAY=1FR,2MO,-2MO,-1FR"),
      ("FREQ=MONTHLY;BYMONTHDAY=-1,15,1,-2", "FREQ=MONTHLY;BYMONTHDAY=1,15,-2,-1"),
      ("FREQ=YEARLY;BYDAY=20MO;COUNT=10", "FREQ=YEARLY;BYDAY=20MO;COUNT=10"),
      ("FREQ=DAILY;UNTIL=20261231", "FREQ=DAILY;UNTIL=20261231"),
      ("FREQ=DAILY;UNTIL=20261231T235959", "FREQ=DAILY;UNTIL=20261231"),
      ("FREQ=DAILY;UNTIL=20261231T235959Z", "FREQ=DAILY;UNTIL=20261231"),
      ("FREQ=WEEKLY;INTERVAL=2;BYDAY=MO;WKST=SU", "FREQ=WEEKLY;INTERVAL=2;BYDAY=MO;WKST=SU"),
      ("FREQ=WEEKLY;INTERVAL=2;WKST=SU", "FREQ=WEEKLY;INTERVAL=2"),
      ("FREQ=WEEKLY;BYDAY=MO;WKST=SU", "FREQ=WEEKLY;BYDAY=MO"),
      ("FREQ=MONTHLY;INTERVAL=2;BYDAY=MO;WKST=SU", "FREQ=MONTHLY;INTERVAL=2;BYDAY=MO"),
      (
        "FREQ=YEARLY;BYSETPOS=-1,1;BYMONTH=12,3;BYDAY=MO;BYYEARDAY=-1,9;EXDATE=20261231,20261224,20261231",
        "FREQ=YEARLY;BYMONTH=3,12;BYYEARDAY=9,-1;BYDAY=MO;BYSETPOS=1,-1;EXDATE=20261224,20261231"
      ),
      ("FREQ=YEARLY;BYWEEKNO=20,-1;WKST=SU", "FREQ=YEARLY;BYWEEKNO=20,-1;WKST=SU"),
      ("FREQ=DAILY;EXDATE=20261224T235959Z", "FREQ=DAILY;EXDATE=20261224"),
      ("RRULE:FREQ=DAILY\nEXDATE:20261231,20261224", "FREQ=DAILY;EXDATE=20261224,20261231"),
      (
        "EXDATE;TZID=Asia/Tokyo:20261224T003000\r\nrrule:freq=daily;count=9\r\nexdate;value=date:20261226\r\n",
        "FREQ=DAILY;COUNT=9;EXDATE=20261224,20261226"
      ),
      ("FREQ=WEEKLY;BYDAY=MO,TU;BYSETPOS=1;WKST=SU", "FREQ=WEEKLY;BYDAY=MO,TU;BYSETPOS=1;WKST=SU"),
      ("after 3 days", "after 3 days"), ("AFTER 1 week", "after 1 week"), ("after 2 month", "after 2 months"),
      ("after a year", "after 1 year"),
    ] as [(String, String)])
  func theTextIsCanonical(text: String, canonical: String) throws {
    #expect(try Recurrence(text: text).text == canonical)
  }

  @Test func untilIsTheDayOfItsInstantInATimeZone() throws {
    let zone = try #require(TimeZone(identifier: "America/New_York"))
    let text = "FREQ=DAILY;UNTIL=19971224T000000Z"
    #expect(try Recurrence(text: text, timeZone: zone).text == "FREQ=DAILY;UNTIL=19971223")
    #expect(try Recurrence(text: text).text == "FREQ=DAILY;UNTIL=19971224")
    #expect(
      try Recurrence(text: "FREQ=DAILY;UNTIL=19971224T000000", timeZone: zone).text == "FREQ=DAILY;UNTIL=19971224")
  }

  @Test(
    arguments: [
      ("", "part"), ("DAILY", "part"), ("INTERVAL=2", "FREQ"), ("FREQ=HOURLY;BYMONTHDAY=1", "hours"),
      ("FREQ=HOURLY;BYSETPOS=1;BYDAY=MO", "hours"), ("FREQ=HOURLY;BYDAY=1MO", "BYDAY"),
      ("FREQ=HOURLY;BYHOUR=9", "BYHOUR"),
      ("FREQ=HOURLY;UNTIL=20261231T120000Z", "UNTIL"), ("FREQ=HOURLY;EXDATE=20261231T120000", "EXDATE"),
      ("FREQ=HOURLY;INTERVAL=10000", "interval"), ("FREQ=SECONDLY", "FREQ"), ("FREQ=", "FREQ"),
      ("FREQ=DAILY\nEXDATE:2026", "EXDATE"), ("DTSTART:20261224\nFREQ=DAILY", "part"),
      ("FREQ=DAILY;", "part"), ("FREQ=DAILY;;COUNT=2", "part"), ("FREQ=DAILY;FREQ=DAILY", "FREQ"),
      ("FREQ=DAILY;COUNT", "COUNT"), ("FREQ=DAILY;COUNT=0", "COUNT"), ("FREQ=DAILY;COUNT=-1", "COUNT"),
      ("FREQ=DAILY;COUNT=1000000", "COUNT"), ("FREQ=DAILY;COUNT=x", "COUNT"),
      ("FREQ=DAILY;COUNT=99999999999999", "COUNT"),
      ("FREQ=DAILY;INTERVAL=0", "interval"), ("FREQ=DAILY;INTERVAL=10000", "interval"),
      ("FREQ=DAILY;INTERVAL=1.5", "INTERVAL"), ("FREQ=DAILY;INTERVAL=", "INTERVAL"),
      ("FREQ=DAILY;COUNT=2;UNTIL=20261231", "both COUNT and UNTIL"), ("FREQ=DAILY;UNTIL=20260230", "UNTIL"),
      ("FREQ=DAILY;UNTIL=2026-12-31", "UNTIL"), ("FREQ=DAILY;UNTIL=20261231T250000Z", "UNTIL"),
      ("FREQ=DAILY;UNTIL=T20261231235959Z", "UNTIL"), ("FREQ=DAILY;UNTIL=2026123", "UNTIL"),
      ("FREQ=WEEKLY;BYDAY=XX", "BYDAY"), ("FREQ=WEEKLY;BYDAY=", "BYDAY"), ("FREQ=WEEKLY;BYDAY=MO,", "BYDAY"),
      ("FREQ=WEEKLY;BYDAY=1MO", "BYDAY"), ("FREQ=DAILY;BYDAY=-1MO", "BYDAY"), ("FREQ=MONTHLY;BYDAY=6MO", "BYDAY"),
      ("FREQ=YEARLY;BYDAY=54MO", "weekday"), ("FREQ=MONTHLY;BYDAY=0MO", "weekday"),
      ("FREQ=WEEKLY;BYMONTHDAY=1", "BYMONTHDAY"), ("FREQ=MONTHLY;BYMONTHDAY=0", "BYMONTHDAY"),
      ("FREQ=MONTHLY;BYMONTHDAY=32", "BYMONTHDAY"), ("FREQ=MONTHLY;BYMONTHDAY=1,,2", "BYMONTHDAY"),
      ("FREQ=WEEKLY;WKST=XX", "WKST"), ("FREQ=YEARLY;BYMONTH=13", "month"), ("FREQ=YEARLY;BYMONTH=0", "month"),
      ("FREQ=YEARLY;BYMONTH=-1", "month"), ("FREQ=YEARLY;BYMONTH=", "BYMONTH"), ("FREQ=MONTHLY;BYSETPOS=1", "BYSETPOS"),
      ("FREQ=MONTHLY;BYDAY=MO;BYSETPOS=0", "BYSETPOS"), ("FREQ=MONTHLY;BYDAY=MO;BYSETPOS=367", "BYSETPOS"),
      ("FREQ=MONTHLY;BYYEARDAY=1", "BYYEARDAY"), ("FREQ=YEARLY;BYYEARDAY=367", "BYYEARDAY"),
      ("FREQ=DAILY;BYWEEKNO=1", "BYWEEKNO"), ("FREQ=YEARLY;BYWEEKNO=54", "BYWEEKNO"),
      ("FREQ=YEARLY;BYWEEKNO=1;BYDAY=1MO", "BYWEEKNO"), ("FREQ=DAILY;EXDATE=2026", "EXDATE"),
      ("FREQ=DAILY;EXDATE=20261224,", "EXDATE"), ("FREQ=MINUTELY", "FREQ"),
      ("FREQ=DAILY;BYHOUR=9", "BYHOUR"), ("FREQ=DAILY;SECRET=9", "part"), ("after", "part"), ("after ", "part"),
      ("after 0 days", "interval"), ("after 10000 days", "interval"), ("after 3 hours", "completion"),
      ("after 3 days or so", "“or so”"), ("every day", "part"),
    ] as [(String, String)])
  func everythingElseIsRefusedByName(text: String, named: String) {
    let error = #expect(throws: TallyError.self) { try Recurrence(text: text) }
    #expect(error?.code == .invalidRecurrence)
    #expect(error?.message.contains(named) == true, "\(error?.message ?? "")")
    #expect(error?.description.contains("SECRET") == false)
  }

  @Test func valuesOutsideTheirRangesAreRefusedAndDoNotTrap() throws {
    let day = try RecurrenceInterval(1, .day)
    let attempts: [() throws -> Any] = [
      { try RecurrenceInterval(.min, .day) }, { try RecurrenceInterval(.max, .week) },
      { try RecurrenceWeekday(0) }, { try RecurrenceWeekday(8) }, { try RecurrenceWeekday(1, ordinal: .min) },
      { try RecurrenceWeekday(1, ordinal: 0) }, { try RecurrenceRule(every: day, onMonthDays: [.min]) },
      { try RecurrenceRule(every: day, weekStart: 0) }, { try RecurrenceRule(every: day, end: .count(.max)) },
    ]
    for attempt in attempts {
      let error = #expect(throws: TallyError.self) { try attempt() }
      #expect(error?.code == .invalidRecurrence)
    }
  }

  @Test func everyRecurrenceIsReadBackFromItsText() throws {
    var generator = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "everyRecurrenceIsReadBackFromItsText"))
    for _ in 0..<3_000 {
      let recurrence = try generator.recurrence()
      #expect(try Recurrence(text: recurrence.text) == recurrence, "\(recurrence.text)")
      #expect(try Recurrence(text: recurrence.text).text == recurrence.text)
      #expect(try Recurrence(phrase: recurrence.text) == recurrence)
    }
  }

  @Test func damagedTextsAreReadOrRefusedAndDoNotTrap() throws {
    var generator = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "damagedTextsAreReadOrRefusedAndDoNotTrap"))
    let insertions = Array("0189-+;,=TZMOafter é\u{301}\0")
    for _ in 0..<5_000 {
      let recurrence = try generator.recurrence()
      var text = Array(generator.oneIn(2) ? recurrence.text : recurrence.words)
      for _ in 0...Int.random(in: 0...3, using: &generator) {
        let place = Int.random(in: 0..<max(text.count, 1), using: &generator)
        if generator.oneIn(2), !text.isEmpty {
          text.remove(at: place)
        } else if let character = insertions.randomElement(using: &generator) {
          text.insert(character, at: place)
        }
      }
      guard let read = try? Recurrence(phrase: String(text)) else { continue }
      #expect(try Recurrence(text: read.text) == read, "\(String(text))")
    }
  }

  @Test func aRecurrenceIsCodedAsItsText() throws {
    let recurrence = try Recurrence(text: "FREQ=MONTHLY;BYDAY=-1FR")
    let json = try JSONEncoder().encode([recurrence])
    #expect(String(decoding: json, as: UTF8.self) == #"["FREQ=MONTHLY;BYDAY=-1FR"]"#)
    #expect(try JSONDecoder().decode([Recurrence].self, from: json) == [recurrence])
    #expect(throws: DecodingError.self) { try JSONDecoder().decode([Recurrence].self, from: Data(#"["x"]"#.utf8)) }
  }
}
