internal import SystemPackage

/// The bytes of a document: the piece in memory, the source of the next one, and the place in lines and columns.
package struct JSONInput: ~Copyable {
  /// Puts the next bytes at the beginning of a buffer and returns their number; none at the end of the input.
  package typealias Source = (inout [UInt8]) throws -> Int

  /// A quarter of a megabyte would not be faster; a page would cost a call for every ten tasks.
  package static let pieceSizeInBytes = 1 << 16

  private let source: Source
  private var piece: [UInt8]
  private var index = 0
  private var count = 0
  private var isAtEnd = false
  private var isAtStart = true

  /// The bytes before `piece`.
  private(set) var byteCountBefore: Int64 = 0
  /// The line of the next byte, from 1.
  private(set) var line = 1
  /// The offset of the first byte of the line.
  private var lineStart: Int64 = 0
  /// The bytes of the line so far that begin no scalar: columns count scalars.
  private var continuationByteCount: Int64 = 0

  package init(pieceSizeInBytes: Int = JSONInput.pieceSizeInBytes, source: @escaping Source) {
    self.source = source
    piece = [UInt8](repeating: 0, count: max(4, pieceSizeInBytes))
  }

  /// The bytes read so far.
  package var consumedByteCount: Int64 { byteCountBefore + Int64(index) }

  /// The column of the next byte, from 1, in scalars.
  var column: Int { Int(consumedByteCount - lineStart - continuationByteCount) + 1 }

  /// The place of the next byte.
  package var position: TextPosition { TextPosition(line: line, column: column) }

  /// The next byte, which stays; `nil` at the end.
  @inline(__always)
  package mutating func peek() throws -> UInt8? {
    if index < count { return piece[index] }
    return try refill() ? piece[index] : nil
  }

  /// Skips the byte that was peeked at, which must not be a line feed.
  @inline(__always)
  package mutating func skipByte() {
    index += 1
  }

  /// Skips a byte within a scalar.
  package mutating func skipContinuationByte() {
    index += 1
    continuationByteCount += 1
  }

  /// Skips spaces, tabs and carriage returns, up to the end of the piece.
  mutating func skipBlanks() {
    while index < count, Self.isBlank(piece[index]) { index += 1 }
  }

  @inline(__always)
  private static func isBlank(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == UInt8(ascii: "\r")
  }

  /// Skips some bytes of ASCII if they come next; false, and nothing is skipped, if they do not, or not in this piece.
  mutating func skip(_ bytes: [UInt8]) -> Bool {
    guard count - index >= bytes.count else { return false }
    for offset in bytes.indices where piece[index + offset] != bytes[offset] { return false }
    index += bytes.count
    return true
  }

  /// Skips a line feed.
  package mutating func skipLineFeed() {
    index += 1
    beginLine()
  }

  /// Skips the end of a line: a line feed, a carriage return, as old spreadsheets write it, or both.
  ///
  /// - Returns: false, with nothing skipped, if no line ends here.
  package mutating func skipLineEnd() throws -> Bool {
    switch try peek() {
    case UInt8(ascii: "\n"): skipLineFeed()
    case UInt8(ascii: "\r"):
      index += 1
      if try peek() == UInt8(ascii: "\n") { skipLineFeed() } else { beginLine() }
    default: return false
    }
    return true
  }

  private mutating func beginLine() {
    line += 1
    lineStart = consumedByteCount
    continuationByteCount = 0
  }

  /// Moves the ASCII of a text up to a quote, a backslash, a control character or the end of the piece.
  mutating func takePlainText(into text: inout [UInt8]) {
    let start = index
    while index < count, Self.isPlain(piece[index]) { index += 1 }
    if index > start { text.append(contentsOf: piece[start..<index]) }
  }

  @inline(__always)
  private static func isPlain(_ byte: UInt8) -> Bool {
    byte >= 0x20 && byte < 0x80 && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
  }

  /// Gets the next piece; false at the end.
  private mutating func refill() throws -> Bool {
    while !isAtEnd {
      byteCountBefore += Int64(count)
      (index, count) = (0, 0)
      count = try source(&piece)
      isAtEnd = count == 0
      if isAtStart { try skipByteOrderMark() }
      // A piece may contain only the byte order mark.
      if index < count { return true }
    }
    return false
  }

  /// Skips a byte order mark, which may arrive in pieces.
  private mutating func skipByteOrderMark() throws {
    isAtStart = false
    let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    guard count > 0, piece[0] == mark[0] else { return }
    var head = Array(piece[..<count])
    while head.count < mark.count, !isAtEnd {
      let more = try source(&piece)
      isAtEnd = more == 0
      head += piece[..<more]
    }
    piece.replaceSubrange(0..<min(head.count, piece.count), with: head)
    count = head.count
    guard head.starts(with: mark) else { return }
    index = mark.count
    lineStart = Int64(mark.count)
  }
}

extension TallyError {
  /// A source of bytes failed.
  static func unreadableInput(_ cause: any Error) -> TallyError {
    let reason = (cause as? Errno).map { ": \($0)" } ?? ""
    return TallyError(
      .inputUnreadable, "The input cannot be read\(reason)",
      remedy: "Check that it is a file or pipe that you may read", cause: cause)
  }
}
