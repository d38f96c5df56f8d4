import Foundation
import TestSupport
import Testing

@testable import Tally

struct RecurrencePhraseTests {
  @Test(
    arguments: [
      ("FREQ=HOURLY", "every hour"), ("FREQ=HOURLY;INTERVAL=8;COUNT=9", "every 8 hours, 9 times"),
      ("FREQ=HOURLY;INTERVAL=6;BYDAY=MO,TU,WE,TH,FR,SA", "every 6 hours except Sunday"),
      ("FREQ=HOURLY;INTERVAL=4;BYMONTH=6;BYDAY=MO,FR", "every 4 hours on Monday and Friday in June"),
      ("FREQ=HOURLY;UNTIL=20261224;EXDATE=20261220", "every hour, until 24 December 2026, except 20 December 2026"),
      ("FREQ=DAILY", "every day"), ("FREQ=DAILY;INTERVAL=3", "every 3 days"),
      ("FREQ=DAILY;BYDAY=MO,TU", "every day if it is a Monday or a Tuesday"),
      ("FREQ=DAILY;BYMONTHDAY=1,-1;BYDAY=SU", "every day if it is the 1st or the last day and a Sunday"),
      ("FREQ=WEEKLY", "every week"), ("FREQ=WEEKLY;INTERVAL=2", "every 2 weeks"),
      ("FREQ=WEEKLY;BYDAY=MO,TH", "every Monday and Thursday"), ("FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR", "every weekday"),
      ("FREQ=WEEKLY;BYDAY=SU,WE,MO", "every Monday, Wednesday and Sunday"),
      (
        "FREQ=WEEKLY;INTERVAL=2;BYDAY=TH,MO;UNTIL=20261231",
        "every 2 weeks on Monday and Thursday, until 31 December 2026"
      ),
      ("FREQ=WEEKLY;INTERVAL=2;BYDAY=SU,MO;WKST=SU", "every 2 weeks on Monday and Sunday, with weeks from Sunday"),
      ("FREQ=MONTHLY", "every month"),
      ("FREQ=MONTHLY;BYMONTHDAY=31", "every month on the 31st, skipping shorter months"),
      ("FREQ=MONTHLY;BYMONTHDAY=28,29,30;BYSETPOS=-1", "every month on the 30th or else the last day"),
      ("FREQ=MONTHLY;BYMONTHDAY=1,28,29;BYSETPOS=1,-1", "every month on the 1st and the 29th or else the last day"),
      ("FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1", "every month on the last weekday"),
      ("FREQ=YEARLY;BYDAY=SA,SU;BYSETPOS=1,-1", "every year on the first weekend day and the last weekend day"),
      (
        "FREQ=MONTHLY;BYDAY=MO,FR;BYSETPOS=-1", "every month on each Monday and each Friday, but only the last of these"
      ),
      ("FREQ=YEARLY;BYMONTH=11;BYDAY=-1FR", "every year on the last Friday in November"),
      ("FREQ=YEARLY;BYMONTH=12;BYMONTHDAY=24,31", "every year on 24 December and 31 December"),
      ("FREQ=YEARLY;BYYEARDAY=-306,-108", "every year on 1 March and 15 September"),
      ("FREQ=YEARLY;BYYEARDAY=-306", "every year on the 306th to last day of the year"),
      ("FREQ=YEARLY;BYYEARDAY=1,100", "every year on the 1st day and the 100th day of the year"),
      ("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=-1", "every year on the last day of February"),
      ("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29", "every year on the 29th of each month in February"),
      ("FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO", "every year on each Monday in week 20"),
      ("FREQ=WEEKLY;BYMONTH=6;BYDAY=MO", "every Monday in June"),
      ("FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR,SA", "every day except Sunday"),
      ("FREQ=WEEKLY;BYMONTH=1,2,3,4,5,6,7,9,10,11,12;BYDAY=MO,TU,WE,TH,FR", "every weekday except in August"),
      (
        "FREQ=DAILY;UNTIL=20270101;EXDATE=20261224,20261231",
        "every day, until 1 January 2027, except 24 December 2026 and 31 December 2026"
      ),
      (
        "FREQ=MONTHLY;BYMONTHDAY=1,2,3,11,-1,-2",
        "every month on the 1st, the 2nd, the 3rd, the 11th, the 2nd to last day and the last day"
      ),
      ("FREQ=MONTHLY;BYDAY=-1FR,1MO", "every month on the first Monday and the last Friday"),
      ("FREQ=MONTHLY;INTERVAL=2;BYDAY=TU", "every 2 months on each Tuesday"),
      ("FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13;COUNT=1", "every month on the 13th if it is a Friday, 1 time"),
      ("FREQ=MONTHLY;BYDAY=-1FR;BYMONTHDAY=-7", "every month on the 7th to last day if it is the last Friday"),
      ("FREQ=YEARLY;COUNT=10", "every year, 10 times"), ("FREQ=YEARLY;BYDAY=20MO", "every year on the 20th Monday"),
      ("FREQ=YEARLY;BYMONTHDAY=15", "every year on the 15th of each month"),
      ("FREQ=YEARLY;BYDAY=-2SU", "every year on the second to last Sunday"),
      ("after 3 days", "3 days after completion"), ("after 1 week", "1 week after completion"),
    ] as [(String, String)])
  func rulesAreDescribedInEnglish(text: String, words: String) throws {
    let recurrence = try Recurrence(text: text)
    #expect(recurrence.words == words)
    #expect(try Recurrence(phrase: words) == recurrence)
  }

  @Test(
    arguments: [
      ("daily", "FREQ=DAILY"), ("Weekly", "FREQ=WEEKLY"), ("monthly", "FREQ=MONTHLY"), ("yearly", "FREQ=YEARLY"),
      ("annually", "FREQ=YEARLY"), ("quarterly", "FREQ=MONTHLY;INTERVAL=3"), ("fortnightly", "FREQ=WEEKLY;INTERVAL=2"),
      ("EVERY DAY", "FREQ=DAILY"), ("every other day", "FREQ=DAILY;INTERVAL=2"),
      ("every two weeks", "FREQ=WEEKLY;INTERVAL=2"),
      ("every 1 week", "FREQ=WEEKLY"), ("every weekday", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR"),
      ("weekdays", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR"), ("every weekend", "FREQ=WEEKLY;BYDAY=SA,SU"),
      ("every monday and thursday", "FREQ=WEEKLY;BYDAY=MO,TH"), ("every mon, wed, fri", "FREQ=WEEKLY;BYDAY=MO,WE,FR"),
      ("every tues, and thurs", "FREQ=WEEKLY;BYDAY=TU,TH"), ("every other friday", "FREQ=WEEKLY;INTERVAL=2;BYDAY=FR"),
      ("weekly on sat", "FREQ=WEEKLY;BYDAY=SA"), ("every week on mondays", "FREQ=WEEKLY;BYDAY=MO"),
      ("every month on the 31st", "FREQ=MONTHLY;BYMONTHDAY=-1"), ("every 31st", "FREQ=MONTHLY;BYMONTHDAY=-1"),
      ("every 1st and 30th", "FREQ=MONTHLY;BYMONTHDAY=1,28,29,30;BYSETPOS=1,-1"),
      ("every month on the 30th and 31st", "FREQ=MONTHLY;BYMONTHDAY=30,-1"),
      ("every day except sunday", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR,SA"),
      ("every day except weekends", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR"),
      ("every weekday except friday", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH"),
      ("every weekday but not in july and august", "FREQ=WEEKLY;BYMONTH=1,2,3,4,5,6,9,10,11,12;BYDAY=MO,TU,WE,TH,FR"),
      ("every weekday except 24 december 2026", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR;EXDATE=20261224"),
      ("every first and third monday", "FREQ=MONTHLY;BYDAY=1MO,3MO"),
      ("every 2nd and 4th tuesday", "FREQ=MONTHLY;BYDAY=2TU,4TU"),
      ("every month on the second, the fourth and the last friday", "FREQ=MONTHLY;BYDAY=2FR,4FR,-1FR"),
      ("every second and last sunday of march", "FREQ=YEARLY;BYMONTH=3;BYDAY=2SU,-1SU"),
      ("every day except 2026-12-24 and saturdays", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR,SU;EXDATE=20261224"),
      ("every month on the 1st except sunday", "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR,SA;BYMONTHDAY=1"),
      ("every 1 march and 15 september", "FREQ=YEARLY;BYYEARDAY=-306,-108"),
      ("every year on 24 december and 31 december", "FREQ=YEARLY;BYMONTH=12;BYMONTHDAY=24,31"),
      ("every 24th and 31st of december", "FREQ=YEARLY;BYMONTH=12;BYMONTHDAY=24,31"),
      ("every march 1 and june 1", "FREQ=YEARLY;BYMONTH=3,6;BYMONTHDAY=1"),
      ("every 29 february", "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=-1"),
      ("every last day of february and 30 june", "FREQ=YEARLY;BYYEARDAY=-307,-185"),
      ("every 2 years on 1 may", "FREQ=YEARLY;INTERVAL=2;BYMONTH=5;BYMONTHDAY=1"),
      ("every last friday of november", "FREQ=YEARLY;BYMONTH=11;BYDAY=-1FR"),
      ("every second sunday in may", "FREQ=YEARLY;BYMONTH=5;BYDAY=2SU"),
      ("every last weekday", "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1"),
      ("every first workday of the month", "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=1"),
      ("monthly on the last workday", "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1"),
      ("every last weekday in june and december", "FREQ=MONTHLY;BYMONTH=6,12;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1"),
      ("every last weekday of the year", "FREQ=YEARLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1"),
      ("every 3 months on the last day", "FREQ=MONTHLY;INTERVAL=3;BYMONTHDAY=-1"),
      ("every 100th day of the year", "FREQ=YEARLY;BYYEARDAY=100"), ("each monday", "FREQ=WEEKLY;BYDAY=MO"),
      ("every day in june, until 2027-06-30", "FREQ=DAILY;BYMONTH=6;UNTIL=20270630"),
      ("monthly on the first", "FREQ=MONTHLY;BYMONTHDAY=1"),
      ("every 15th", "FREQ=MONTHLY;BYMONTHDAY=15"), ("every 1st and 15th of the month", "FREQ=MONTHLY;BYMONTHDAY=1,15"),
      ("every last friday of the month", "FREQ=MONTHLY;BYDAY=-1FR"), ("every first monday", "FREQ=MONTHLY;BYDAY=1MO"),
      ("every second monday of the month", "FREQ=MONTHLY;BYDAY=2MO"),
      ("every 20th monday of the year", "FREQ=YEARLY;BYDAY=20MO"),
      ("every last day of the month", "FREQ=MONTHLY;BYMONTHDAY=-1"),
      ("every second last day", "FREQ=MONTHLY;BYMONTHDAY=-2"),
      ("every! 3 days", "after 3 days"), ("every! week", "after 1 week"), ("ev! 2 quarters", "after 6 months"),
      ("ev 3 days", "FREQ=DAILY;INTERVAL=3"), ("ev mon, fri", "FREQ=WEEKLY;BYDAY=MO,FR"),
      ("every workday", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR"), ("every quarter", "FREQ=MONTHLY;INTERVAL=3"),
      ("every other quarter", "FREQ=MONTHLY;INTERVAL=6"), ("every fortnight", "FREQ=WEEKLY;INTERVAL=2"),
      ("every 2 fortnights", "FREQ=WEEKLY;INTERVAL=4"), ("every 2, 15, 27", "FREQ=MONTHLY;BYMONTHDAY=2,15,27"),
      ("every 3rd day", "FREQ=DAILY;INTERVAL=3"), ("every 2nd week", "FREQ=WEEKLY;INTERVAL=2"),
      ("every third month until 2026-12-31", "FREQ=MONTHLY;INTERVAL=3;UNTIL=20261231"),
      ("every 3rd", "FREQ=MONTHLY;BYMONTHDAY=3"), ("every 3rd day of the month", "FREQ=MONTHLY;BYMONTHDAY=3"),
      ("every last day of the month", "FREQ=MONTHLY;BYMONTHDAY=-1"),
      ("every mon wed fri", "FREQ=WEEKLY;BYDAY=MO,WE,FR"),
      ("every 15th each month", "FREQ=MONTHLY;BYMONTHDAY=15"),
      ("every 3rd friday", "FREQ=MONTHLY;BYDAY=3FR"), ("every first of the month", "FREQ=MONTHLY;BYMONTHDAY=1"),
      ("every 3 days after completion", "after 3 days"), ("after 2 weeks", "after 2 weeks"),
      ("after a month", "after 1 month"),
      ("a week after completion", "after 1 week"), ("daily until 2026-12-31", "FREQ=DAILY;UNTIL=20261231"),
      ("daily until dec 31, 2026", "FREQ=DAILY;UNTIL=20261231"),
      ("daily until 31 Dec 2026", "FREQ=DAILY;UNTIL=20261231"),
      ("every week for 10 times", "FREQ=WEEKLY;COUNT=10"), ("every week, five times", "FREQ=WEEKLY;COUNT=5"),
      ("biweekly", "FREQ=WEEKLY;INTERVAL=2"), ("biweekly on friday", "FREQ=WEEKLY;INTERVAL=2;BYDAY=FR"),
      ("every other week", "FREQ=WEEKLY;INTERVAL=2"), ("bimonthly", "FREQ=MONTHLY;INTERVAL=2"),
      ("for 3 times every week", "FREQ=WEEKLY;COUNT=3"), ("3 times, daily", "FREQ=DAILY;COUNT=3"),
      ("for 3 times, daily", "FREQ=DAILY;COUNT=3"),
      ("until 2026-12-31 every monday", "FREQ=WEEKLY;BYDAY=MO;UNTIL=20261231"),
      ("except sundays, every day until 2026-12-31", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR,SA;UNTIL=20261231"),
      ("except 24 december 2026, every monday", "FREQ=WEEKLY;BYDAY=MO;EXDATE=20261224"),
      ("except every sunday and every monday every day", "FREQ=WEEKLY;BYDAY=TU,WE,TH,FR,SA"),
      ("every week until 2026-12-31 on monday", "FREQ=WEEKLY;BYDAY=MO;UNTIL=20261231"),
      ("every day, 3 times, if it is a monday", "FREQ=DAILY;BYDAY=MO;COUNT=3"),
      ("in june every weekday", "FREQ=WEEKLY;BYMONTH=6;BYDAY=MO,TU,WE,TH,FR"),
      ("after completion every 3 days", "after 3 days"), ("every 2 weeks when done", "after 2 weeks"),
      ("when done, every quarter", "after 3 months"), ("daily after completion", "after 1 day"),
    ] as [(String, String)])
  func phrasesOfPeopleAreRead(phrase: String, text: String) throws {
    #expect(try Recurrence(phrase: phrase).text == text)
  }

  @Test(
    arguments: [
      ("", "not a way to repeat"), ("sometimes", "not a way to repeat"), ("every", "not a way to repeat"),
      ("monday", "not a way to repeat"), ("every blue moon", "not a way to repeat"), ("every 3", "not a way to repeat"),
      ("every second monday", "every other week"), ("every third friday and first monday", "every other week"),
      ("every month on monday", "“on monday”"), ("every day on monday", "“on monday”"),
      ("every week on the 3rd", "“on the 3rd”"),
      ("every year on the 15th", "“on the 15th”"),
      ("every month on the 13th and each friday", "“on the 13th and each friday”"),
      ("every week on monday until", "“until”"), ("every week until 31 feb 2026", "“until 31 feb 2026”"),
      ("every week until 31 december", "“until 31 december”"), ("every week for 3 days", "“for 3 days”"),
      ("every 21th", "not a way to repeat"),
      ("every month on the last", "“on the last”"), ("every day at 9am", "“at 9am”"), ("every 0 days", "interval"),
      ("every 99999 days", "interval"), ("every week, 0 times", "COUNT"),
      ("every day if it is the first monday", "BYDAY"),
      ("every 90 minutes", "an hour"), ("after 8 hours", "completion"), ("every! 3 hours", "completion"),
      ("every 8 hours after completion", "completion"), ("every 6 hours on the 3rd", "“on the 3rd”"),
      ("every hour if it is a monday", "“if it is a monday”"), ("every second weekday", "every other week"),
      ("each other friday", "not a way"),
      ("every 31 april", "not a way"), ("every 30 february", "not a way"),
      ("every week except sunday", "“except sunday”"),
      ("every weekend except weekends", "“except weekends”"), ("every monday except mondays", "“except mondays”"),
      ("every last weekday except friday", "“except friday”"), ("every day except 24 december", "“except 24 december”"),
      ("every day except holidays", "“except holidays”"),
      ("every first monday of may and last friday of june", "“and last friday”"),
      ("every month on the 1st starting 2027-01-01", "“starting 2027-01-01”"),
      ("every other first monday", "not a way to repeat"),
      ("monday, after completion", "“monday”"), ("until easter every day", "“until easter”"),
      ("every day until easter, 3 times", "“until easter”"), ("for 3 times every blue moon", "“every blue moon”"),
      ("except sunday every week", "“except sunday”"), ("every day, 3 times, 4 times", "“4 times”"),
      ("every day until 2026-12-31 after completion", "“after completion”"),
      ("until 2026-12-31", "not a way to repeat"),
      ("3 times every week", "times within a day"), ("twice a day", "times within a day"),
      ("every month, two times per month", "times within a day"), ("5 times daily", "times within a day"),
      ("every day until 2026-12-31 for 10 times", "“for 10 times” is a second end"),
      ("every day, 3 times, until 2026-12-31", "“until 2026-12-31” is a second end"),
      ("until 2026-12-31 every week for 5 times", "“for 5 times” is a second end"),
      ("every day from monday", "“from monday”"), ("8 hours when done", "completion"),
      ("every day if it is the 1st if it is a monday", "“if it is a monday”"),
    ] as [(String, String)])
  func otherPhrasesAreRefused(phrase: String, named: String) {
    let error = #expect(throws: TallyError.self) { try Recurrence(phrase: phrase) }
    #expect(error?.code == .invalidRecurrence)
    #expect(error?.message.contains(named) == true, "\(error?.message ?? "")")
  }

  /// A written recurrence has the dates that need a day from which they are meant; now is 2026-11-21.
  @Test(
    arguments: [
      ("every weekday except 24 december", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR;EXDATE=20261224", nil),
      ("every day except 20 november", "FREQ=DAILY;EXDATE=20271120", nil),
      ("every month until 31 december", "FREQ=MONTHLY;UNTIL=20261231", nil),
      ("every week until friday", "FREQ=WEEKLY;UNTIL=20261127", nil),
      ("every monday starting 1 march", "FREQ=WEEKLY;BYDAY=MO", "2027-03-01"),
      ("every day starting tomorrow for 3 times", "FREQ=DAILY;COUNT=3", "2026-11-22"),
      ("every 3 days after completion starting monday", "after 3 days", "2026-11-23"),
      ("every 3 days from monday after completion", "after 3 days", "2026-11-23"),
      ("from 1 april to 10 april every day", "FREQ=DAILY;UNTIL=20270410", "2027-04-01"),
      ("every day from tomorrow to friday", "FREQ=DAILY;UNTIL=20261127", "2026-11-22"),
      ("until friday every day", "FREQ=DAILY;UNTIL=20261127", nil),
      ("until 10 april every day from 1 april", "FREQ=DAILY;UNTIL=20270410", "2027-04-01"),
      ("3 times, starting monday, every week", "FREQ=WEEKLY;COUNT=3", "2026-11-23"),
      ("except 24 december every day starting 20 december", "FREQ=DAILY;EXDATE=20261224", "2026-12-20"),
      ("FREQ=MONTHLY;BYMONTHDAY=31", "FREQ=MONTHLY;BYMONTHDAY=31", nil),
    ] as [(String, String, String?)])
  func aWrittenRecurrenceHasDatesOfTheNextYear(phrase: String, text: String, start: String?) throws {
    let written = try WrittenRecurrence(phrase, reference: Self.reference())
    #expect(written.recurrence.text == text)
    #expect(written.start?.iso8601 == start)
  }

  @Test(
    arguments: [
      ("every day until easter", "“until easter”", "until 2026-12-31"),
      ("from easter every day", "“from easter”", "from 2026"),
      ("every day from monday to friday", "“to friday”", "'every weekday'"),
      ("after 3 days until 2026-12-31", "“until 2026-12-31”", "Leave it out"),
      ("every day from 1 april to easter", "“to easter”", "to 2026-12-31"),
      ("every day at 9 until friday", "“at 9”", "due time"),
      ("every day until friday in berlin", "“in berlin”", "every 2 weeks"),
    ])
  func aWrittenRecurrenceNamesWhatIsNotUnderstood(phrase: String, unread: String, remedy: String) {
    let error = #expect(throws: TallyError.self) { try WrittenRecurrence(phrase, reference: Self.reference()) }
    #expect(error?.message.contains(unread) == true, "\(error?.message ?? "")")
    #expect(error?.remedy.contains(remedy) == true, "\(error?.remedy ?? "")")
  }

  private static func reference() throws -> DateReference {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = .gmt
    return DateReference(now: try Timestamp(iso8601: "2026-11-21T12:00:00Z"), calendar: calendar)
  }

  /// Words mean the last day of a month that is too short; a rule of RFC 5545 leaves it out.
  @Test(
    arguments: [
      ("every month", "2027-01-31", "FREQ=MONTHLY;BYMONTHDAY=-1"),
      ("every month", "2027-01-30", "FREQ=MONTHLY;BYMONTHDAY=28,29,30;BYSETPOS=-1"),
      ("every month", "2027-01-28", "FREQ=MONTHLY"),
      ("every 6 months", "2027-03-31", "FREQ=MONTHLY;INTERVAL=6;BYMONTHDAY=-1"),
      ("every year", "2028-02-29", "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=-1"), ("every year", "2027-03-31", "FREQ=YEARLY"),
      ("every 31 march", "2027-03-31", "FREQ=YEARLY"),
      ("every month for 3 times", "2027-01-31", "FREQ=MONTHLY;BYMONTHDAY=-1;COUNT=3"),
      ("every 31 march", "2027-03-30", "FREQ=YEARLY;BYMONTH=3;BYMONTHDAY=31"),
      ("every week", "2027-01-31", "FREQ=WEEKLY"),
      ("every month on the 15th", "2027-01-31", "FREQ=MONTHLY;BYMONTHDAY=15"),
      ("FREQ=MONTHLY", "2027-01-31", "FREQ=MONTHLY"),
      ("FREQ=YEARLY", "2028-02-29", "FREQ=YEARLY"),
    ] as [(String, String, String)])
  func wordsMeanTheLastDayOfAShortMonth(phrase: String, first: String, text: String) throws {
    let written = try WrittenRecurrence(phrase, reference: Self.reference())
    let recurrence = written.recurrence(beginningOn: try CalendarDay(iso8601: first))
    #expect(recurrence.text == text)
    #expect(try Recurrence(phrase: recurrence.words) == recurrence)
  }

  @Test func theWordsOfEveryRecurrenceAreReadBack() throws {
    var generator = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "theWordsOfEveryRecurrenceAreReadBack"))
    for _ in 0..<3_000 {
      let recurrence = try generator.recurrence()
      #expect((try? Recurrence(phrase: recurrence.words)) == recurrence, "\(recurrence.text): \(recurrence.words)")
    }
  }

  /// The clauses of a rule in any order, with its rule among them, mean the same wherever a rule is written.
  @Test func theClausesOfEveryRuleMayComeInAnyOrder() throws {
    var generator = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "theClausesOfEveryRuleMayComeInAnyOrder"))
    let reference = try Self.reference()
    let clause = /(, (?:(?:until|with weeks|but only|skipping|except) |\d+ times?\b)| after completion)/
    for _ in 0..<3_000 {
      let recurrence = try generator.recurrence()
      let whole = if case .afterCompletion = recurrence { "every \(recurrence.words)" } else { recurrence.words }
      let marked = whole.replacing(clause) { match in
        let words = match.1.trimmingPrefix(", ").trimmingPrefix(" ")
        // A number directly before the rule would be how often within its time.
        return "|\(words.first?.isNumber ?? false ? "for " : "")\(words)"
      }
      let words = marked.split(separator: "|").shuffled(using: &generator).joined(
        separator: generator.oneIn(2) ? ", " : " ")
      #expect((try? Recurrence(phrase: words)) == recurrence, "\(recurrence.text): \(words)")
      #expect((try? WrittenRecurrence(words, reference: reference).recurrence) == recurrence, "\(words)")
      // A rule without days takes time: 400 years are looked through.
      guard generator.oneIn(10), recurrence.firstDay(onOrAfter: reference.today) != nil else { continue }
      if case .rule(var rule) = recurrence {
        if case .until(let last) = rule.end, last < reference.today { continue }
        // A sentence is read part by part: without its clauses, too, the rule must give a day.
        rule.weekStart = 1
        guard Recurrence.rule(rule).firstDay(onOrAfter: reference.today) != nil else { continue }
      }
      let entry = QuickEntry.parse("Water plants " + words, reference: reference)
      let first = try #require(entry.scheduledDate, "\(words)")
      #expect(entry.recurrence == recurrence.inWords(beginningOn: first), "\(recurrence.text): \(words)")
      #expect(entry.title == "Water plants" && entry.leftovers.isEmpty, "\(words)")
    }
  }

  @Test(
    arguments: [
      ("every month on the 1st at 9am", 5, "FREQ=MONTHLY;BYMONTHDAY=1"), ("daily stand-up", 1, "FREQ=DAILY"),
      ("every week on Zoom", 2, "FREQ=WEEKLY"), ("every monday and buy milk", 2, "FREQ=WEEKLY;BYDAY=MO"),
      ("every monday , then rest", 2, "FREQ=WEEKLY;BYDAY=MO"), ("every week for Work", 2, "FREQ=WEEKLY"),
      ("every day until it works", 2, "FREQ=DAILY"), ("every month on the last train", 2, "FREQ=MONTHLY"),
      ("every 3 days after lunch", 3, "FREQ=DAILY;INTERVAL=3"), ("after 3 days of rain", 3, "after 3 days"),
    ] as [(String, Int, String)])
  func aSentenceMayGoOn(sentence: String, wordCount: Int, text: String) throws {
    let prefix = RecurrencePhrase.prefix(of: sentence.split(separator: " ").map(String.init))
    #expect(prefix.wordCount == wordCount)
    #expect(try prefix.reading?.recurrence().text == text)
  }

  @Test func aSentenceMayHoldNone() {
    for sentence in ["every", "call Ann", "every good boy", "after lunch"] {
      #expect(RecurrencePhrase.prefix(of: sentence.split(separator: " ").map(String.init)).reading == nil)
    }
  }
}
