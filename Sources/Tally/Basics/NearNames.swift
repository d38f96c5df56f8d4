extension String {
  /// The names closest to this one, best first; none if nothing is close enough to be a typing error.
  package func nearNames(among names: [String], limit: Int = 3) -> [String] {
    let wanted = lowercased()
    // A third of the word may be wrong, and in short words one letter.
    let tolerance = Swift.max(1, wanted.count / 3)
    let ranked = names.compactMap { name -> (name: String, distance: Int)? in
      let candidate = name.lowercased()
      // The start of a long name counts as one error.
      let distance = candidate.hasPrefix(wanted) && !wanted.isEmpty ? 1 : wanted.editDistance(to: candidate)
      return distance <= tolerance ? (name, distance) : nil
    }
    return ranked.sorted { ($0.distance, $0.name) < ($1.distance, $1.name) }.prefix(limit).map(\.name)
  }

  /// The fewest insertions, deletions, replacements and swaps of neighbours that turn this text into another one
  /// (optimal string alignment).
  package func editDistance(to other: String) -> Int {
    let (source, target) = (Array(self), Array(other))
    var (beforeLast, last) = ([Int](), Array(0...target.count))
    for row in source.indices {
      var current = [row + 1]
      for column in target.indices {
        let replaced = last[column] + (source[row] == target[column] ? 0 : 1)
        var best = Swift.min(replaced, last[column + 1] + 1, current[column] + 1)
        if row > 0, column > 0, source[row] == target[column - 1], source[row - 1] == target[column] {
          best = Swift.min(best, beforeLast[column - 1] + 1)
        }
        current.append(best)
      }
      (beforeLast, last) = (last, current)
    }
    return last[target.count]
  }
}
