import Foundation
import Testing

/// On which day a new series begins, and in which zone its times are.
///
/// Now is Saturday, 2026-11-21, 15:00 in Istanbul.
struct FirstDayTests {
  /// What is written on the options is where the series begins; the words of the rule say no more than the earliest day.
  @Test(
    arguments: [
      (["--on", "2027-05-01", "--repeat", "every day from 1 april"], ["to Sat 1 May 2027"]),
      (["--on", "2027-04-01", "--repeat", "every day from 1 april"], ["to Thu 1 Apr 2027"]),
      (["--on", "2027-05-01", "--repeat", "every monday from 1 april"], ["to Mon 3 May 2027"]),
      (["--due", "2027-05-01", "--repeat", "every day from 1 april"], ["due Sat 1 May 2027"]),
      (["--due", "2027-05-01 9:00", "--repeat", "every 2 days from 1 april"], ["due Sat 1 May 2027 09:00"]),
      (["--remind", "2027-05-01 9:00", "--repeat", "every day from 1 april"], ["reminder Sat 1 May 2027 09:00"]),
      (
        ["--on", "2027-05-01", "--due", "2027-05-03", "--repeat", "every day from 1 april"],
        ["to Sat 1 May 2027", "due Mon 3 May 2027"]
      ),
      (
        ["--on", "2027-05-01", "--remind", "2027-05-01 9:00", "--repeat", "every monday"],
        ["to Mon 3 May 2027", "reminder Mon 3 May 2027 09:00"]
      ),
      (
        ["--on", "2027-05-01", "--due", "9:00", "--remind", "8:00", "--repeat", "every day from 1 april"],
        ["to Sat 1 May 2027", "due Sat 1 May 2027 09:00", "reminder Sat 1 May 2027 08:00"]
      ),
      (["--due", "9:00", "--repeat", "every day from 1 april"], ["due Thu 1 Apr 2027 09:00"]),
      (["--remind", "9:00", "--repeat", "every day from 1 april"], ["to Thu 1 Apr", "reminder Thu 1 Apr 2027 09:00"]),
      (["--due", "9:00", "--repeat", "every wednesday"], ["due Wed 25 Nov 09:00"]),
      (["--remind", "17:00", "--repeat", "every saturday"], ["reminder today 17:00"]),
      (["--remind", "9:00", "--repeat", "every saturday"], ["reminder Sat 28 Nov 09:00"]),
      (
        ["--due", "2027-05-01", "--remind", "1 day before", "--remind", "7:30", "--repeat", "every week"],
        ["reminders Fri 30 Apr 2027 09:00 and Sat 1 May 2027 07:30"]
      ),
    ] as [([String], [String])])
  func aNewSeriesBeginsOnTheDayOfItsOptions(options: [String], words: [String]) throws {
    try withProgram { program in
      let outcome = try program.run(["add", "Water"] + options)
      #expect(outcome.status == 0)
      for word in words { #expect(outcome.errors.contains(word), "\(outcome.errors)") }
    }
  }

  @Test(
    arguments: [
      ["--on", "2027-03-01"], ["--due", "2027-03-01"], ["--due", "2027-03-31 23:59"], ["--remind", "2027-03-01 9:00"],
      ["--on", "2027-03-01", "--due", "2027-05-01"], ["--today"],
    ])
  func aDayBeforeTheFirstOneOfTheRuleIsRefused(options: [String]) throws {
    try withProgram { program in
      let outcome = try program.run(["add", "Water", "--repeat", "every day from 1 april"] + options)
      #expect(outcome.status == 64 && outcome.errors.contains("begins on 2027-04-01"), "\(outcome.errors)")
      #expect(try program.run(["all", "--plain"]).output.isEmpty)
      let id = try Self.add(["Feed"], program)
      let edit = try program.run(["edit", id, "--repeat", "every day from 1 april"] + options)
      #expect(edit.status == 64 && edit.errors.contains("begins on 2027-04-01"), "\(edit.errors)")
    }
  }

  /// A rule with a first day moves a task that is there already, and what the same command sets stays where it is.
  @Test(
    arguments: [
      (["--repeat", "every day from 1 april"], ["1 Dec → Thu 1 Apr 2027", "due Thu 3 Dec → Sat 3 Apr"]),
      (["--on", "2027-05-01", "--repeat", "every day from 1 april"], ["day Tue 1 Dec → Sat 1 May 2027"]),
      (
        ["--remind", "2027-04-05 8:00", "--repeat", "every day from 1 april"],
        ["1 Dec → Thu 1 Apr 2027", "Mon 5 Apr 2027 08:00"]
      ),
      (["--due", "8:00", "--repeat", "every day from 1 april"], ["→ Thu 1 Apr 2027", "→ Sat 3 Apr 2027 08:00"]),
    ] as [([String], [String])])
  func anEditedTaskBeginsOnTheDayOfItsOptions(options: [String], words: [String]) throws {
    try withProgram { program in
      let id = try Self.add(["Water", "--on", "2026-12-01", "--due", "2026-12-03"], program)
      let outcome = try program.run(["edit", id] + options)
      for word in words { #expect(outcome.errors.contains(word), "\(outcome.errors)") }
    }
  }

  /// Times are those of the zone of the series, also those that clocks skip where the person is.
  @Test(
    arguments: [
      // Istanbul has no summer time any more; Berlin's clocks skip 02:30 on that day.
      ("Europe/Berlin", ["--due", "2027-03-28 02:30"], "America/New_York", "2027-03-28T06:30:00Z", "02:30"),
      ("Europe/Berlin", ["--remind", "2027-03-28 02:30"], "Asia/Tokyo", "2027-03-27T17:30:00Z", "02:30"),
      ("Europe/Istanbul", ["--due", "2026-12-04 23:30"], "America/New_York", "2026-12-05T04:30:00Z", "23:30"),
      ("Asia/Tokyo", ["--due", "2026-12-05 00:15"], "America/Los_Angeles", "2026-12-05T08:15:00Z", "00:15"),
      ("Europe/Istanbul", ["--due", "2026-12-05T09:00:00Z"], "America/New_York", "2026-12-05T09:00:00Z", "04:00"),
      ("Europe/Istanbul", ["--on", "2026-12-05", "--due", "9:00"], "Asia/Tokyo", "2026-12-05T00:00:00Z", "09:00"),
    ])
  func theTimesOfASeriesAreThoseOfItsZone(
    person: String, options: [String], zone: String, instant: String, time: String
  ) throws {
    for rule in ["every week", "every 8 hours", "every day"] {
      try withProgram { program in
        let clock = ["--now", "2026-11-21T12:00:00Z", "--time-zone", person]
        let whole = options + ["--repeat", rule, "--zone", zone]
        var output = try program.runBare(clock + ["add", "Call", "--json"] + whole).output
        #expect(output.contains("\"\(instant)\"") && output.contains("\"time\":\"\(time)\""), "\(rule): \(output)")
        // The same of a task that is there already, with and without a series.
        for first in [[], ["--repeat", "every week"]] {
          output = try program.runBare(clock + ["add", "Feed", "--due", "2026-12-09 10:00", "--json"] + first).output
          let id = String(try #require(output.firstMatch(of: /"id":"([^"]*)"/)).1)
          output = try program.runBare(clock + ["edit", id, "--json"] + whole).output
          output = try program.runBare(clock + ["show", id, "--json"]).output
          #expect(output.contains("\"\(instant)\""), "\(rule): \(output)")
        }
      }
    }
  }

  /// Of the zone and a time, the zone comes first: the time is one of it, or of the person's again.
  @Test func anEditSetsTheZoneBeforeTheTime() throws {
    try withProgram { program in
      let id = try Self.add(["Call", "--due", "2026-12-05 9:00", "--repeat", "every day"], program)
      let rows = [
        (["--zone", "Asia/Tokyo", "--series", "--due", "11:00"], "→ Sat 5 Dec 05:00, from now on"),
        (["--zone", "none", "--series", "--due", "2026-12-06 8:00"], "→ Sun 6 Dec 08:00, from now on"),
        (["--zone", "Europe/Berlin"], "due Sun 6 Dec 08:00 → Sun 6 Dec 10:00, from now on"),
        (["--zone", "America/New_York", "--due", "2026-12-06 10:00"], "→ Sun 6 Dec 18:00, this time only"),
      ]
      for (options, words) in rows {
        let outcome = try program.run(["edit", id] + options)
        #expect(outcome.errors.contains(words), "\(options): \(outcome.errors)")
      }
    }
  }

  /// The id of a new task.
  private static func add(_ arguments: [String], _ program: Program) throws -> String {
    let output = try program.run(["add", "--json"] + arguments).output
    return String(try #require(output.firstMatch(of: /"id":"([^"]*)"/)).1)
  }
}
