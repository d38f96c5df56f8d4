/// The steps of a heat map: ranges of counts, each of which gets a shade.
///
/// The steps are quantiles of the days that have any, so that one day of forty tasks does not make all others pale, as
/// steps of equal width would.
struct HeatSteps {
  /// The shades besides the one for none.
  static let shadeCount = 4

  /// The counts of each step, ascending; no more steps than there are different counts.
  let ranges: [ClosedRange<Int>]

  init(_ counts: some Sequence<Int>) {
    let sorted = counts.filter { $0 > 0 }.sorted()
    var ranges: [ClosedRange<Int>] = []
    for step in 1...Self.shadeCount {
      guard let last = sorted.last else { break }
      // The largest count in the first quarter, the first half and so on.
      let upper = step == Self.shadeCount ? last : sorted[(sorted.count * step - 1) / Self.shadeCount]
      let lower = ranges.last.map { $0.upperBound + 1 } ?? sorted[0]
      if lower <= upper { ranges.append(lower...upper) }
    }
    self.ranges = ranges
  }

  /// The shade of a count: 0 for none, else 1 to 4, spread over the steps.
  func shade(of count: Int) -> Int {
    guard let step = ranges.firstIndex(where: { $0.contains(count) }) else { return 0 }
    return shade(ofStep: step)
  }

  /// The shade of a step; the last one is always the darkest, so that few steps are easy to distinguish.
  func shade(ofStep step: Int) -> Int {
    ranges.count == 1 ? Self.shadeCount : 1 + step * (Self.shadeCount - 1) / (ranges.count - 1)
  }

  /// What each shade means, from none on.
  var legend: [(shade: Int, text: String)] {
    [(0, "none")]
      + ranges.enumerated().map { step, range in
        let text =
          range.lowerBound == range.upperBound
          ? range.lowerBound.grouped : "\(range.lowerBound.grouped)–\(range.upperBound.grouped)"
        return (shade(ofStep: step), text)
      }
  }
}
