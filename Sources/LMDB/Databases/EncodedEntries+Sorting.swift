extension EncodedEntries {
  /// Brings the entries into the order of their keys; those of equal keys stay in the order in which they came.
  ///
  /// Keys are compared only in short runs. The entries are distributed by the first byte in which they differ, then
  /// each part by its own first one; the next eight bytes are fetched from the key only where eight are equal.
  /// Comparing and moving whole keys, a dozen times each, took a quarter of the time of storing many records.
  @usableFromInline
  mutating func sort() {
    guard !isSorted else { return }
    isSorted = true
    var sorted = entries
    // Room for the same number of entries; the original is emptied first, so that there are never more than two arrays.
    var room = entries
    entries = []
    unsafe sorted.withUnsafeMutableBufferPointer { entries in
      unsafe room.withUnsafeMutableBufferPointer { room in
        // Both live as long as the closures, and no run reaches beyond them.
        let sorting = unsafe EntrySorting(keys: self, entries: entries, room: room)
        sorting.sort(0..<entries.count, byWordAt: 0)
      }
    }
    entries = sorted
    assert(areKeysAscending, "the order of keys is wrong")
  }
}

/// The sorting of some entries, while their memory is at hand.
@safe
private struct EntrySorting {
  /// At most this many are compared with each other.
  private static let shortRunCount = 16
  private static let wordByteCount = 8

  let keys: EncodedEntries
  // Both belong to the caller, who outlives this; every run lies within both.
  let entries: UnsafeMutableBufferPointer<EncodedEntries.Entry>
  let room: UnsafeMutableBufferPointer<EncodedEntries.Entry>

  /// Sorts a run whose keys are equal up to an offset.
  func sort(_ run: Range<Int>, byWordAt offset: Int) {
    // Within the run, as all indices below.
    for index in run { unsafe entries[index].word = keys.word(of: entries[index], at: offset) }
    sortByWord(run, at: offset)
  }

  /// Sorts a run whose words are those at an offset.
  private func sortByWord(_ run: Range<Int>, at offset: Int) {
    guard run.count > Self.shortRunCount else { return insert(run, at: offset) }
    assert(unsafe run.upperBound <= entries.count && entries.count == room.count, "a run outside the memory")
    var (differing, isAscending) = (UInt64(0), true)
    var last = unsafe entries[run.lowerBound].word
    for index in run {
      let word = unsafe entries[index].word
      differing |= word ^ last
      isAscending = isAscending && last <= word
      last = word
    }
    guard !isAscending else { return sortEqual(run, at: offset) }
    let shift = UInt64(differing.bitWidth - 1 - differing.leadingZeroBitCount) & ~7
    var start = run.lowerBound
    for end in distribute(run, byByteAt: shift) {
      if end - start > 1 { sortByWord(start..<end, at: offset) }
      start = end
    }
  }

  /// Sorts what is equal in a run of ascending words.
  private func sortEqual(_ run: Range<Int>, at offset: Int) {
    let next = offset + Self.wordByteCount
    var start = run.lowerBound
    while start < run.upperBound {
      var end = start + 1
      while end < run.upperBound, unsafe entries[end].word == entries[start].word { end += 1 }
      if end - start > 1 {
        if next < keys.longestKeyByteCount {
          sort(start..<end, byWordAt: next)
        } else {
          insert(start..<end, at: offset)
        }
      }
      start = end
    }
  }

  /// Distributes a run by one byte of the words; entries that are equal in it stay in their order.
  ///
  /// - Returns: where the entries of each byte end.
  private func distribute(_ run: Range<Int>, byByteAt shift: UInt64) -> [Int] {
    var next = Array(repeating: 0, count: 256)
    for index in run { next[unsafe Int(entries[index].word >> shift & 0xFF)] += 1 }
    var start = run.lowerBound
    for byte in next.indices { (next[byte], start) = (start, start + next[byte]) }
    assert(start == run.upperBound, "an entry is lost")
    for index in run {
      let entry = unsafe entries[index]
      let byte = Int(entry.word >> shift & 0xFF)
      unsafe room[next[byte]] = entry
      next[byte] += 1
    }
    for index in run { unsafe entries[index] = room[index] }
    return next
  }

  /// Sorts a short run by inserting one entry after the other.
  private func insert(_ run: Range<Int>, at offset: Int) {
    for index in run.dropFirst() {
      let entry = unsafe entries[index]
      var place = index
      while place > run.lowerBound, unsafe precedes(entry, entries[place - 1], at: offset) {
        unsafe entries[place] = entries[place - 1]
        place -= 1
      }
      unsafe entries[place] = entry
    }
  }

  /// Whether a key comes before another one that is equal up to an offset, whose words are at hand.
  private func precedes(_ left: EncodedEntries.Entry, _ right: EncodedEntries.Entry, at offset: Int) -> Bool {
    if left.word != right.word { return left.word < right.word }
    for next in stride(from: offset + Self.wordByteCount, to: keys.longestKeyByteCount, by: Self.wordByteCount) {
      let (leftWord, rightWord) = (keys.word(of: left, at: next), keys.word(of: right, at: next))
      if leftWord != rightWord { return leftWord < rightWord }
    }
    // What a shorter key lacks has counted as zeros.
    return left.keyByteCount < right.keyByteCount
  }
}
