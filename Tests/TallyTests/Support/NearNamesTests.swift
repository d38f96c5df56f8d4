import Testing

@testable import Tally

struct NearNamesTests {
  @Test(arguments: [("", "", 0), ("kitten", "sitting", 3), ("todya", "today", 1), ("abc", "", 3), ("", "ab", 2)])
  func distanceCountsTheFewestSlips(first: String, second: String, distance: Int) {
    #expect(first.editDistance(to: second) == distance)
    #expect(second.editDistance(to: first) == distance)
  }

  @Test func nearestNameComesFirstAndFarOnesNotAtAll() {
    #expect("wrok".nearNames(among: ["Work", "Home", "Workshop"]) == ["Work"])
    #expect("shoping".nearNames(among: ["Shopping", "Work"]) == ["Shopping"])
    #expect("xyz".nearNames(among: ["Work", "Home"]).isEmpty)
  }

  @Test func beginningOfANameIsNear() {
    #expect("work".nearNames(among: ["Workshop in May", "Home"]) == ["Workshop in May"])
  }
}
