/// The tasks of a segment that have a term, in ascending order, each with the best text that has it.
///
/// Stored as one number for each task, in groups of seven bits, the lowest first: the distance from the task before,
/// times four, plus the text.
enum PostingList {
  /// Appends the stored form of one posting.
  static func append(_ task: Int, _ field: SearchedField, after previous: Int?, to bytes: inout [UInt8]) {
    assert(task > previous ?? -1, "postings are out of order")
    var number = UInt64(task - (previous ?? -1)) << 2 | UInt64(field.rawValue)
    while number >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: number) | 0x80)
      number >>= 7
    }
    bytes.append(UInt8(truncatingIfNeeded: number))
  }

  /// Reads a list on demand; several lists may be in the same bytes.
  struct Reader {
    private var offset: Int
    private let end: Int
    /// The task that was read last; -1 before the first.
    private(set) var task = -1
    /// The best text of that task that has the term.
    private(set) var field = SearchedField.title
    /// Whether the bytes read so far are postings.
    private(set) var isSound = true

    /// Reads a range of some bytes, which the caller has checked.
    init(_ range: Range<Int>) { (offset, end) = (range.lowerBound, range.upperBound) }

    /// Advances to the next posting.
    ///
    /// - Returns: false at the end of the list, and if the bytes are not a posting for that many tasks.
    @inline(__always)
    mutating func next(in bytes: RawSpan, of taskCount: Int) -> Bool {
      guard offset < end else { return false }
      var number = 0
      var shift = 0
      var byte: UInt8
      repeat {
        guard offset < end, shift <= 35 else { return fail() }
        // The offset has been checked; a byte has no alignment.
        byte = unsafe bytes.unsafeLoad(fromUncheckedByteOffset: offset, as: UInt8.self)
        number |= Int(byte & 0x7F) << shift
        shift += 7
        offset += 1
      } while byte >= 0x80
      task += number >> 2
      guard number >> 2 > 0, task < taskCount, let field = SearchedField(rawValue: UInt8(number & 3)) else {
        return fail()
      }
      self.field = field
      return true
    }

    private mutating func fail() -> Bool {
      (isSound, offset) = (false, end)
      return false
    }
  }

  /// Calls `body` with each posting.
  ///
  /// - Returns: false if the bytes are not a list of postings of that many tasks.
  @inline(__always)
  static func forEach(in bytes: RawSpan, of taskCount: Int, _ body: (Int, SearchedField) -> Void) -> Bool {
    var reader = Reader(0..<bytes.byteCount)
    while reader.next(in: bytes, of: taskCount) { body(reader.task, reader.field) }
    return reader.isSound
  }
}
