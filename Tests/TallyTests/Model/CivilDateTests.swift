import TallyEngine
import Testing

@testable import Tally

/// The calendar's arithmetic, checked against counting one day at a time.
struct CivilDateTests {
  @Test func everyDayOfTheRangeAgreesWithCounting() {
    var expected = CivilDate(year: 1, month: 1, day: 1)
    var faults = 0
    for dayNumber in CivilDate.dayNumbers {
      if CivilDate(dayNumber: dayNumber) != expected || expected.dayNumber != dayNumber { faults += 1 }
      expected = successor(of: expected)
    }
    #expect(faults == 0)
    #expect(expected == CivilDate(year: 10_000, month: 1, day: 1))
  }

  @Test(
    arguments: [(1900, false), (2000, true), (2023, false), (2024, true), (2100, false), (4, true), (400, true)]
      as [(Int, Bool)])
  func leapDaysFollowTheGregorianRule(year: Int, isLeap: Bool) {
    #expect(CivilDate(year: year, month: 2, day: 29).exists == isLeap)
  }

  /// The next date as on a wall calendar, without the code under test; only the leap rule is written out again.
  private func successor(of date: CivilDate) -> CivilDate {
    let isLeap = date.year % 400 == 0 || (date.year % 4 == 0 && date.year % 100 != 0)
    let lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    if date.day < lengths[date.month - 1] { return CivilDate(year: date.year, month: date.month, day: date.day + 1) }
    if date.month < 12 { return CivilDate(year: date.year, month: date.month + 1, day: 1) }
    return CivilDate(year: date.year + 1, month: 1, day: 1)
  }
}
