import Foundation
import SystemPackage
import Testing

/// What `--repeat` and `quick` make of the same words.
struct RepeatTests {
  /// The first days differed in six of eleven phrases.
  @Test(
    arguments: [
      "every day", "every monday", "every other monday", "every 2 weeks on monday", "every 3 days after completion",
      "every month on the 1st", "every 2 months on the 1st", "every 3 months on the last friday", "every 25 november",
      "every year on 25 november", "every 6 months", "every last weekday of the month", "every weekday except friday",
      "every 1 march and 15 september", "every month starting 31 january", "every monday starting 2 march",
      "every other day until 31 december", "every friday for 3 times",
    ])
  func addAndQuickBeginOnTheSameDay(phrase: String) throws {
    try withProgram { program in
      #expect(try program.run(["add", "Review", "--repeat", phrase]).status == 0)
      #expect(try program.run(["quick", "Review \(phrase)"]).status == 0)
      let lines = try program.run(["all", "--json"]).output.split(separator: "\n").map(String.init)
      for key in ["\"scheduledDate\":", "\"recurrence\":", "\"title\":"] {
        let values = lines.flatMap { line in
          line.components(separatedBy: key).dropFirst().map { $0.prefix { $0 != "," } }
        }
        #expect(values.count == 2 && Set(values).count == 1 && values.first != "null", "\(key) \(values)")
      }
    }
  }

  /// Now is 2026-11-21.
  @Test(
    arguments: [
      ("every month", "2027-01-31", "Its days are Sun 31 Jan 2027, Sun 28 Feb 2027 and Wed 31 Mar 2027, and so on."),
      ("FREQ=MONTHLY", "2027-01-31", "Its days are Sun 31 Jan 2027, Wed 31 Mar 2027 and Mon 31 May 2027, and so on."),
      ("every 6 months", "2027-03-31", "Its days are Wed 31 Mar 2027, Thu 30 Sep 2027 and Fri 31 Mar 2028, and so on."),
      ("every year", "2028-02-29", "Its days are Tue 29 Feb 2028, Wed 28 Feb 2029 and Thu 28 Feb 2030, and so on."),
      ("every monday for 2 times", "2027-01-05", "Its days are Mon 11 Jan 2027 and Mon 18 Jan 2027."),
      ("every day for 3 times", "2027-01-05", "Its days are Tue 5 Jan 2027, Wed 6 Jan 2027 and Thu 7 Jan 2027.\n"),
      ("every day for 4 times", "2027-01-05", "Wed 6 Jan 2027 and Thu 7 Jan 2027, and so on."),
    ] as [(String, String, String)])
  func addSaysTheFirstDays(phrase: String, day: String, words: String) throws {
    try withProgram { program in
      let outcome = try program.run(["add", "Rent", "--on", day, "--repeat", phrase])
      #expect(outcome.errors.contains(words), "\(outcome.errors)")
    }
  }

  /// Now is 2026-11-21, 13:00.
  @Test func addAndEditSayTheFirstTimes() throws {
    try withProgram { program in
      var outcome = try program.run(["add", "Pills", "--due", "2026-12-01 9:00", "--repeat", "every 8 hours"])
      let times = "Its times are Tue 1 Dec 09:00, Tue 1 Dec 17:00 and Wed 2 Dec 01:00, and so on."
      #expect(outcome.errors.contains(times), "\(outcome.errors)")
      let id = try #require(try program.run(["all", "--json"]).output.firstMatch(of: /"id":"([^"]*)"/)).1
      outcome = try program.run(["edit", String(id), "--repeat", "every 6 hours"])
      #expect(outcome.errors.contains("Its times are Tue 1 Dec 09:00, Tue 1 Dec 15:00 and"), "\(outcome.errors)")
      outcome = try program.run(["done", String(id)])
      #expect(outcome.errors.contains("Tue 1 Dec 15:00"), "\(outcome.errors)")
    }
  }

  @Test func whatRepeatsByHoursNeedsATime() throws {
    try withProgram { program in
      let outcome = try program.run(["add", "Pills", "--repeat", "every 8 hours"])
      #expect(outcome.status == 64 && outcome.errors.contains("needs the time of the first one"), "\(outcome.errors)")
      let words = try program.run(["quick", "Pills every 8 hours"]).errors
      #expect(words.contains(/Its times are (today|tomorrow) \d\d:00, (today|tomorrow) \d\d:00 and/), "\(words)")
    }
  }

  /// A dry run refuses what the command refuses, with the same words, and leaves no store.
  @Test(
    arguments: [
      ["Water every day until 1 may from 1 june"], ["Water 1 june every day until 1 may"],
      ["Call", "--remind", "1 day before"],
      ["Water due 3 june every monday until 2 june"], [String(repeating: "a", count: 70_000)],
      ["Water every day except in december until 31 dec starting 1 dec"],
    ])
  func aDryRunRefusesWhatTheCommandRefuses(arguments: [String]) throws {
    try withProgram { program in
      for isThere in [false, true] {
        if isThere { #expect(try program.run(["add", "Feed"]).status == 0) }
        let outcome = try program.run(["quick"] + arguments)
        let rehearsal = try program.run(["quick"] + arguments + ["--dry-run"])
        #expect(outcome.status == 64 && rehearsal.status == 64)
        #expect(rehearsal.errors.hasSuffix(outcome.errors) && outcome.errors.hasPrefix("Error:"), "\(rehearsal.errors)")
        #expect(rehearsal.output.isEmpty && FileManager.default.fileExists(atPath: program.store.string) == isThere)
      }
      #expect(try program.run(["quick", "Water every day", "--dry-run"]).output.contains("repeats every day"))
      #expect(try program.run(["count"]).output == "1\n")
    }
  }

  @Test func aNumberOfTimesWithinAWeekIsNamed() throws {
    try withProgram { program in
      for phrase in ["3 times every week", "twice a day", "five times daily"] {
        let outcome = try program.run(["add", "Gym", "--repeat", phrase])
        #expect(
          outcome.status == 64 && outcome.errors.contains("'every monday, wednesday and friday'"), "\(outcome.errors)")
        let words = try program.run(["quick", "Gym \(phrase)"]).errors
        #expect(words.contains("Not understood: \(phrase) (kept in the title; to repeat several times"), "\(words)")
      }
      let words = try program.run(["quick", "Gym every day until 1 may for 10 times"]).errors
      #expect(words.contains("Not understood: for 10 times (kept in the title)"), "\(words)")
    }
  }

  @Test func whatCannotBeSaidIsAnError() throws {
    try withProgram { program in
      for phrase in ["after 8 hours", "every day except holidays", "every first monday of may and last friday of june"]
      {
        let outcome = try program.run(["add", "Rent", "--repeat", phrase])
        #expect(outcome.status == 64 && outcome.errors.contains("--repeat"), "\(outcome.errors)")
      }
      let outcome = try program.run(["quick", "Rent", "every", "day", "except", "holidays"])
      #expect(outcome.status == 0)
      #expect(outcome.errors.contains("Not understood: every day except holidays"), "\(outcome.errors)")
    }
  }
}
