extension [String] {
  /// The texts as lines of a column, cut to at most `width` columns and filled up to the widest one.
  func column(ofWidthAtMost width: Int) -> [String] {
    let cut = map { $0.truncated(toWidth: width) }
    let widest = cut.map(\.displayWidth).max() ?? 0
    return cut.map { $0.padded(toWidth: widest) }
  }

  /// Numbers as lines of a column, with blanks before the shorter ones.
  var numberColumn: [String] {
    let widest = map(\.count).max() ?? 0
    return map { String(repeating: " ", count: widest - $0.count) + $0 }
  }
}
