/// The values of a chart's grid lines: a few round numbers.
struct ValueScale {
  let lowest: Int
  let highest: Int
  let step: Int

  /// A scale that begins at 0, or below the lowest value if that is so far from 0 that starting there would hide all
  /// change.
  init(lowest: Int = 0, highest: Int) {
    let bottom = 2 * lowest > highest ? lowest : 0
    var step = 1
    // 1, 2, 5, 10, 20, 50 and so on.
    while step * 4 < highest - bottom {
      let isFive = String(step).first == "2"
      step = isFive ? step / 2 * 5 : step * 2
    }
    self.step = step
    self.lowest = bottom / step * step
    self.highest = max(self.lowest + step, (highest + step - 1) / step * step)
  }

  /// The values of the lines, ascending.
  var values: [Int] { Array(stride(from: lowest, through: highest, by: step)) }

  /// Where a value lies between the lowest (0) and the highest (1).
  func position(of value: Int) -> Double {
    Double(value - lowest) / Double(highest - lowest)
  }
}
