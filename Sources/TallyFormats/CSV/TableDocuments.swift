internal import Tally

/// Reads a table of tasks, whose first row names the columns.
final class TableSource: ForeignSource {
  private let context: FormatContext
  private var rows: TableReader
  private var columns: [String]?
  private var identity = ContentIdentity("csv")

  init(_ input: consuming JSONInput, _ context: FormatContext) {
    self.context = context
    rows = TableReader(input)
  }

  var byteCount: Int64 { rows.byteCount }

  func nextTask() throws -> (TaskDocument, TextPosition)? {
    if columns == nil {
      guard let head = try rows.next() else { return nil }
      columns = try Self.columns(head)
    }
    guard let columns, let row = try rows.next() else { return nil }
    let position = row[0].position
    guard row.count <= columns.count else {
      throw TallyError.malformed("The row has more cells than the first row has columns", line: position.line)
    }
    var cells: [String: String] = [:]
    for (column, cell) in zip(columns, row) where !cell.text.isEmpty { cells[column] = TableText.text(cell.text) }
    do {
      var document = try TableRecord(cells: cells).importing(context)
      guard document.has(.text) else { throw TallyError.malformed("The task has no text", line: position.line) }
      identity.identify(&document, by: zip(columns, row).map { "\($0)=\($1.text)" }.joined(separator: "\u{1E}"))
      return (document, position)
    } catch let error as TallyError {
      throw error.placed(at: position)
    }
  }

  /// The names of the columns; those of Tally's own may be written in any case.
  private static func columns(_ head: [TableReader.Cell]) throws -> [String] {
    let own = TableRecord.columns + [TableRecord.extensionColumn, "title"]
    let columns = head.map { cell in
      let name = TableText.text(cell.text).trimmed
      return own.first { $0.lowercased() == name.lowercased() } ?? name
    }
    guard columns.contains("text") || columns.contains("title") else {
      throw TallyError.malformed("The first row has no column with the name text or title", line: head[0].position.line)
    }
    var seen: Set<String> = []
    for (column, cell) in zip(columns, head) where !seen.insert(column).inserted && !column.isEmpty {
      throw TallyError.malformed("A column appears twice", line: cell.position.line, column: cell.position.column)
    }
    return columns
  }
}

extension String {
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
