/// The UTC offsets that a zone has had, and the rule that holds from then on.
struct TimeZoneTable: Equatable {
  /// The seconds since 1970 at which the offset changes, ascending.
  private let changes: [Int64]
  /// The offsets in seconds: the one before all changes, then the one from each change on.
  private let offsets: [Int64]
  /// What holds from `ruleStart` on; without one, the last offset does.
  private let rule: YearlyRule?
  /// The last second that the file lists, also where nothing changed then: until it the rule is not yet in force.
  private let ruleStart: Int64

  /// A table of changes in ascending order; those that change nothing, as where only a name did, are left out.
  init(firstOffset: Int64, changes: [(second: Int64, offset: Int64)], rule: YearlyRule?) {
    assert(zip(changes, changes.dropFirst()).allSatisfy { $0.second <= $1.second }, "changes out of order")
    var (seconds, offsets): ([Int64], [Int64]) = ([], [firstOffset])
    for change in changes where change.offset != offsets.last {
      seconds.append(change.second)
      offsets.append(change.offset)
    }
    (self.changes, self.offsets, self.rule) = (seconds, offsets, rule)
    ruleStart = changes.last?.second ?? .min
  }

  /// Local time minus UTC at a second since 1970, in seconds.
  func offset(atSecond second: Int64) -> Int64 {
    if second >= ruleStart, let rule { return rule.offset(atSecond: second) }
    return offsets[indexOfChange(afterSecond: second)]
  }

  /// The next second since 1970 at which the offset changes; `nil` if it stays.
  func change(afterSecond second: Int64) -> Int64? {
    let index = indexOfChange(afterSecond: second)
    return index < changes.count ? changes[index] : rule?.change(afterSecond: max(second, ruleStart))
  }

  /// The first change after a second, by bisection; the number of changes if there is none.
  private func indexOfChange(afterSecond second: Int64) -> Int {
    assert(offsets.count == changes.count + 1, "an offset before, and one from each change on")
    var (low, high) = (0, changes.count)
    while low < high {
      let middle = (low + high) / 2
      if changes[middle] <= second { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
