/// The segment files of one replica, by the numbers that are in their names.
struct SegmentFiles {
  /// A file, and the segments that its name says it has.
  struct File: Hashable {
    let range: FolderName.SegmentRange
    let entry: FolderEntry
  }

  /// In the order of their first segments, larger files first.
  let files: [File]

  /// Takes the files that have segments and are long enough for them.
  init(_ entries: [FolderEntry]) {
    files = entries.compactMap { entry in
      guard case .segments(let range) = entry.name, range.count <= entry.byteCount / Int64(SegmentFrame.leastByteCount)
      else { return nil }
      return File(range: range, entry: entry)
    }.sorted { Self.areInOrder($0.range, $1.range) }
  }

  /// The end of the run without gaps that the first file begins.
  ///
  /// A file after a gap counts when the missing ones have arrived. The first need not be number 1: old ones are deleted.
  var head: SegmentHead? {
    var head: SegmentHead?
    for range in files.map(\.range) {
      guard let end = head?.number else {
        head = range.head
        continue
      }
      guard range.first <= end + 1 else { break }
      if range.last > end { head = range.head }
    }
    return head
  }

  /// The files with a segment of a number.
  func files(with number: UInt64) -> [File] {
    files.prefix { $0.range.first <= number }.filter { $0.range.last >= number }
  }

  /// The runs of numbers after a given one that no file has, up to the last one that a file has or that is known to exist.
  func missing(after number: UInt64, upTo last: UInt64) -> [ClosedRange<UInt64>] {
    var (missing, next): ([ClosedRange<UInt64>], UInt64) = ([], number + 1)
    for range in files.map(\.range) where range.last >= next {
      if range.first > next { missing.append(next...range.first - 1) }
      next = range.last + 1
    }
    if next <= last { missing.append(next...last) }
    return missing
  }

  private static func areInOrder(_ left: FolderName.SegmentRange, _ right: FolderName.SegmentRange) -> Bool {
    if left.first != right.first { return left.first < right.first }
    if left.last != right.last { return left.last > right.last }
    // Two streams under one name: everybody takes the same.
    return left.digest.lexicographicallyPrecedes(right.digest)
  }
}
