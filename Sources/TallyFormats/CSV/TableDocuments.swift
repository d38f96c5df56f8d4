internal import Tally

/// Reads a table of tasks, whose first row names the columns.
final class TableSource: ForeignSource {
  private var context: FormatContext
  private var rows: TableReader
  private var columns: [String]?
  private var identity: ContentIdentity
  /// The first rows, which were read ahead for the order of their dates, in reverse.
  private var waiting: [[TableReader.Cell]] = []

  init(_ input: consuming JSONInput, _ context: FormatContext) {
    self.context = context
    identity = ContentIdentity("csv", context)
    rows = TableReader(input, context)
  }

  var byteCount: Int64 { rows.byteCount }

  func nextTask() throws -> (TaskDocument, TextPosition)? {
    if columns == nil {
      guard let head = try rows.next() else { return nil }
      columns = try columns(head)
      while waiting.count < Self.rowsReadAhead, rows.byteCount < Self.bytesReadAhead, let row = try rows.next() {
        waiting.append(row)
      }
      if !context.hasDateOrder, let order = dateOrder() { context.options.dateOrder = order }
      waiting.reverse()
    }
    guard let columns else { return nil }
    while let row = try waiting.popLast() ?? rows.next() {
      let position = row[0].position
      context.remarks.position = position
      var cells: [String: String] = [:]
      for (index, cell) in row.enumerated() where !cell.text.isEmpty {
        let isInTable = index < columns.count
        if !isInTable { context.remarks.add("cell", cell.text) }
        cells[isInTable ? columns[index] : Self.name(ofColumn: index)] = TableText.text(cell.text)
      }
      // A spreadsheet may have rows of separators alone.
      if cells.isEmpty { continue }
      var document = try TableRecord(cells: cells).importing(context)
      identity.identify(&document, by: zip(columns, row).map { "\($0)=\($1.text)" }.joined(separator: "\u{1E}"))
      return (document, position)
    }
    return nil
  }

  /// The order of days and months that the columns of dates show.
  private func dateOrder() -> DateOrder? {
    let columns = columns ?? []
    let dates = waiting.lazy.flatMap { row in
      zip(columns, row).compactMap { TableRecord.dateColumns.contains($0) ? $1.text : nil }
    }
    return WrittenDate.order(dates)
  }

  /// How many rows may decide whether days or months come first.
  private static let rowsReadAhead = 1_000
  /// How many bytes they may have: a cell may be long.
  private static let bytesReadAhead: Int64 = 4 << 20

  /// The names of the columns; those of Tally's own may be written in any case, others have usual names.
  ///
  /// A column that comes a second time, or has no name, gets a number.
  private func columns(_ head: [TableReader.Cell]) throws -> [String] {
    let names = head.map { TableText.text($0.text).trimmed }
    let own = TableRecord.columns + [TableRecord.extensionColumn, "title"]
    let ownOfHead = names.map { name in own.first { $0.lowercased() == name.lowercased() } }
    // Tally's own table, where every other column is an attribute.
    let isOwn = ownOfHead.contains(TableRecord.extensionColumn)
    let seen = Set(ownOfHead.compactMap(\.self))
    var taken: Set<String> = []
    let columns = names.enumerated().map { index, name -> String in
      let usual = ownOfHead[index] ?? (isOwn ? nil : Self.usualColumn(name, beside: seen))
      if let usual, taken.insert(usual).inserted { return usual }
      // The name of a column that comes a second time would hide the first.
      let own = !TableRecord.isColumn(name) || name.isEmpty || taken.contains(name) ? Self.name(ofColumn: index) : name
      taken.insert(own)
      return own
    }
    guard columns.contains("text") || columns.contains("title") else {
      let found = names.joined(separator: ", ").prefix(200)
      throw TallyError(
        .malformedDocument, "No column has the name of a title; the first row has \(found)",
        remedy: "Give the column of the titles the name “title” in the first row", at: head[0].position)
    }
    let known = Set(own).union(TableRecord.usualColumns)
    for (index, column) in columns.enumerated() where !isOwn && !known.contains(column) && !names[index].isEmpty {
      context.remarks.add("column", names[index], at: head[index].position, isListed: true)
    }
    return columns
  }

  /// The column of Tally's that a heading means, unless the table has that by its own name.
  private static func usualColumn(_ name: String, beside seen: Set<String>) -> String? {
    let column = TableHeading.column(name)
    let isThere = column.map { seen.contains($0) || $0 == "text" && seen.contains("title") } ?? false
    return isThere ? nil : column
  }

  private static func name(ofColumn index: Int) -> String { "column \(index + 1)" }
}

extension String {
  /// Whether there is nothing but white space; scalars count, as a combining mark may follow a blank.
  var isBlank: Bool { unicodeScalars.allSatisfy(\.properties.isWhitespace) }

  /// Without the white space around it.
  var trimmed: String {
    let end = lastIndex { !$0.isWhitespace }.map(index(after:)) ?? startIndex
    return String(self[..<end].drop { $0.isWhitespace })
  }
}

/// Writes a table of tasks: a row for the names of the columns, then one for each task.
struct TableWriter: DocumentWriter {
  private let context: FormatContext
  private var attributes: Set<String> = []
  private var columns: [String] = []
  var bytes: [UInt8] = []

  init(_ context: FormatContext) {
    self.context = context
  }

  mutating func prepare(_ task: TaskItem) {
    for (name, value) in task.attributes {
      if case .text = value, TableRecord.isColumn(name) { attributes.insert(name) }
    }
  }

  mutating func begin() {
    columns = TableRecord.columns + attributes.sorted() + [TableRecord.extensionColumn]
    append(columns)
  }

  mutating func write(_ task: TaskItem, in list: TaskList?, under parent: TaskItem?) {
    let record = TableRecord.exporting(task, in: list?.name, context)
    append(columns.map { record.cells[$0] ?? "" })
  }

  mutating func end() {}

  private mutating func append(_ row: [String]) {
    bytes += Array((row.map(TableText.cell).joined(separator: ",") + "\r\n").utf8)
  }
}
