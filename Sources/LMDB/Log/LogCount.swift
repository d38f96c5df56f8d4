/// The number of keys that the commits of a part of the tail have added to a table.
struct LogCount {
  /// The versions of all keys, in the order of their commits.
  var nodes: [LogNode] = []
  /// How many of them are counted, or older than what was ever asked for.
  private var countedCount = 0
  /// The commit after which the sums begin.
  private var from = UInt64.max
  /// The sum after each commit that has changed it.
  private var sums: [(commit: UInt64, sum: Int)] = []

  /// The change after a commit, up to another one.
  mutating func change(
    after row: UInt64, upTo commit: UInt64, _ wasThere: (LogNode) throws(LMDBError) -> Bool
  ) throws(LMDBError) -> Int {
    // What is not counted yet must be counted in a tree that lacks it.
    if row < from || countedCount < nodes.count && nodes[countedCount].commit <= row { begin(after: row) }
    while countedCount < nodes.count, nodes[countedCount].commit <= commit {
      let node = nodes[countedCount]
      // The part has the node, and with it the older version of its key, which follows it.
      let isNew = if let older = node.olderVersion { older.isRemoval } else { try !wasThere(node) }
      let change = (node.isRemoval ? 0 : 1) - (isNew ? 0 : 1)
      if change != 0 { add(change, at: node.commit) }
      countedCount += 1
    }
    return sum(at: commit) - sum(at: row)
  }

  /// Counts anew, for a snapshot that is older than all before, or whose tree has what was not counted.
  private mutating func begin(after row: UInt64) {
    (from, sums) = (row, [])
    countedCount = nodes.partitioningIndex { $0.commit > row }
  }

  private mutating func add(_ change: Int, at commit: UInt64) {
    let sum = (sums.last?.sum ?? 0) + change
    if sums.last?.commit == commit { sums[sums.count - 1].sum = sum } else { sums.append((commit, sum)) }
  }

  private func sum(at commit: UInt64) -> Int {
    let index = sums.partitioningIndex { $0.commit > commit }
    return index == 0 ? 0 : sums[index - 1].sum
  }
}

extension Array {
  /// The index of the first element that has a property which all later ones have, too.
  fileprivate func partitioningIndex(where hasProperty: (Element) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if hasProperty(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
