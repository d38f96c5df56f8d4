public import SystemPackage
public import Tally
import TallyEngine

/// Reads rows of comma-separated values (RFC 4180), one after the other.
///
/// The separator is the comma, semicolon or tab that comes first in the table: spreadsheets write semicolons in many
/// countries.
struct TableReader: ~Copyable {
  /// A cell, and where it begins.
  struct Cell {
    var text: String
    let position: TextPosition
  }

  private var input: JSONInput
  private var separator: UInt8?
  private let remarks: RemarkLog

  init(_ input: consuming JSONInput, _ context: FormatContext) {
    self.input = input
    remarks = context.remarks
  }

  var byteCount: Int64 { input.consumedByteCount }

  /// The next row that is not empty; `nil` at the end.
  ///
  /// Text behind a closing quote belongs to the cell, and a cell that is not UTF-8 is read as Windows code page 1252,
  /// each with a remark.
  ///
  /// - Throws: `malformedDocument` for a quote that is not closed.
  mutating func next() throws -> [Cell]? {
    while try input.peek() != nil {
      // The separator of the first row with several cells is that of the table.
      let row = try readRow(splitting: separator.map { [$0] } ?? Array(",;\t".utf8))
      if row.count > 1 || row.first?.text.isEmpty == false { return row }
    }
    return nil
  }

  private mutating func readRow(splitting separators: [UInt8]) throws -> [Cell] {
    var (row, separators): ([Cell], [UInt8]) = ([], separators)
    while true {
      row.append(try readCell(separators))
      guard !(try input.skipLineEnd()), let byte = try input.peek() else { return row }
      input.skipByte()
      separator = separator ?? byte
      separators = [byte]
    }
  }

  /// Reads a cell up to the next separator or the end of the line.
  private mutating func readCell(_ separators: [UInt8]) throws -> Cell {
    let position = input.position
    var bytes: [UInt8] = []
    if try input.peek() == UInt8(ascii: "\"") {
      try readQuoted(into: &bytes, position)
    } else {
      try readPlain(into: &bytes, separators)
    }
    let closedCount = bytes.count
    try readPlain(into: &bytes, separators)
    let (text, isUTF8) = DecodedText.text(bytes)
    if !isUTF8 { remarks.add("encoding", text, at: position) }
    if bytes.count > closedCount { remarks.add("quote", text, at: position) }
    return Cell(text: text, position: position)
  }

  /// Reads up to a separator or the end of the line.
  private mutating func readPlain(into bytes: inout [UInt8], _ separators: [UInt8]) throws {
    while let byte = try input.peek(), byte != UInt8(ascii: "\n"), byte != UInt8(ascii: "\r"),
      !separators.contains(byte)
    {
      skip(byte)
      bytes.append(byte)
    }
  }

  /// Reads a text in quotes, in which two quotes mean one.
  private mutating func readQuoted(into bytes: inout [UInt8], _ position: TextPosition) throws {
    input.skipByte()
    while let byte = try input.peek() {
      skip(byte)
      if byte == UInt8(ascii: "\"") {
        guard try input.peek() == UInt8(ascii: "\"") else { return }
        input.skipByte()
      }
      bytes.append(byte)
    }
    throw TallyError.malformed("A quote is not closed", line: position.line, column: position.column)
  }

  private mutating func skip(_ byte: UInt8) {
    switch byte {
    case UInt8(ascii: "\n"): input.skipLineFeed()
    case 0x80..<0xC0: input.skipContinuationByte()
    default: input.skipByte()
    }
  }
}

/// The text of cells in a file.
enum TableText {
  /// The characters with which a formula of a spreadsheet begins, and the mark that is put before them.
  private static let formulaStarts: Set<Unicode.Scalar> = ["=", "+", "-", "@", "\t", "\r", "'"]

  /// A cell that no spreadsheet computes: one that looks like a formula gets a `'` before it, as people write it there.
  static func cell(_ text: String) -> String {
    let isFormula =
      text.unicodeScalars.first.map(formulaStarts.contains) == true && (Int64(text) == nil || text.hasPrefix("+"))
    let safe = isFormula ? "'" + text : text
    let isPlain = safe.utf8.allSatisfy { byte in !",;\"\n\r\t".utf8.contains(byte) }
    guard !isPlain else { return safe }
    let doubled = safe.unicodeScalars.flatMap { $0 == "\"" ? [$0, $0] : [$0] }
    return "\"" + String(String.UnicodeScalarView(doubled)) + "\""
  }

  /// The text of a cell, without the mark.
  static func text(_ cell: String) -> String {
    let scalars = cell.unicodeScalars
    guard scalars.first == "'", let second = scalars.dropFirst().first, formulaStarts.contains(second) else {
      return cell
    }
    return String(String.UnicodeScalarView(scalars.dropFirst()))
  }
}

extension TaskStore {
  /// Writes a table of the tasks completed and created on each day, and of those open at its end, to a file.
  ///
  /// The columns are `day`, `completed`, `created` and `open` (RFC 4180).
  ///
  /// ```swift
  /// var options = StatisticsOptions()
  /// (options.from, options.to) = (first, last)
  /// try store.exportDailyCounts(to: "days.csv", options)
  /// ```
  ///
  /// - Parameters:
  ///   - file: The path of the file, which is replaced as a whole.
  ///   - options: The days, by default the last 30, and the time zone.
  /// - Returns: The number of days.
  /// - Throws: `outputNotCreated`, `diskFull`, and what `series(_:)` throws.
  /// - Complexity: linear in the number of days, a few microseconds for each.
  @discardableResult
  public func exportDailyCounts(to file: FilePath, _ options: StatisticsOptions = StatisticsOptions()) throws -> Int {
    let series = try read { try $0.series(options) }
    var text = "day,completed,created,open\r\n"
    for bucket in series.buckets {
      text += "\(bucket.start),\(bucket.completed),\(bucket.created),\(bucket.open)\r\n"
    }
    return try exportFile(file) { output in
      try output.writeAll(text.utf8)
      return series.buckets.count
    }
  }
}
