import LMDB
import TallyEngine

/// The events of one series and scope, in order, to be added to the counters or subtracted from them.
struct CounterColumn {
  /// The series; zero for cycle times (from creation to completion).
  private let seriesRawValue: UInt8
  private let scope: CounterScope
  /// The numbers of quarter hours, or of buckets of cycle times, shifted left by one; the lowest bit means subtraction.
  private let events: [Int32]

  /// The changes of the slots of one block, in ascending order of the slots.
  struct BlockChanges: Sequence {
    fileprivate let firstSlot: Int64
    fileprivate let events: ArraySlice<Int32>

    func makeIterator() -> Iterator { Iterator(changes: self, position: events.startIndex) }

    struct Iterator: IteratorProtocol {
      fileprivate let changes: BlockChanges
      fileprivate var position: Int

      mutating func next() -> (slot: UInt16, delta: Int64)? {
        let events = changes.events
        guard position < events.endIndex else { return nil }
        let number = events[position] >> 1
        var delta: Int64 = 0
        while position < events.endIndex, events[position] >> 1 == number {
          delta += events[position] & 1 == 0 ? 1 : -1
          position += 1
        }
        return (UInt16(Int64(number) - changes.firstSlot), delta)
      }
    }
  }

  init(seriesRawValue: UInt8, scope: CounterScope, sorting events: [Int32]) {
    self.seriesRawValue = seriesRawValue
    self.scope = scope
    self.events = events.sorted()
  }

  /// Calls a closure with the events of each block.
  func forEachBlock(_ body: (BlockCountsKey, BlockChanges) throws(LMDBError) -> Void) throws(LMDBError) {
    var start = events.startIndex
    while start < events.endIndex {
      let block = CounterBlock.number(containing: Int64(events[start] >> 1))
      let nextBlock = CounterBlock.firstQuarter(of: block + 1)
      var end = start + 1
      while end < events.endIndex, Int64(events[end] >> 1) < nextBlock { end += 1 }
      let changes = BlockChanges(firstSlot: CounterBlock.firstQuarter(of: block), events: events[start..<end])
      if !changes.isNothing { try body(BlockCountsKey(seriesRawValue: seriesRawValue, scope, block: block), changes) }
      start = end
    }
  }

  /// The change of the series' total; `nil` if there is none, and for cycle times, whose total equals that of the
  /// completions.
  var totalChange: (key: TotalKey, delta: Int64)? {
    guard let series = CounterSeries(rawValue: seriesRawValue) else { return nil }
    let delta: Int64 = events.reduce(0) { $0 + ($1 & 1 == 0 ? 1 : -1) }
    return delta == 0 ? nil : (TotalKey(series, scope), delta)
  }
}

extension CounterColumn.BlockChanges {
  /// Whether additions and subtractions cancel out: most changes of a task leave most counters unchanged.
  fileprivate var isNothing: Bool { allSatisfy { $0.delta == 0 } }
}
