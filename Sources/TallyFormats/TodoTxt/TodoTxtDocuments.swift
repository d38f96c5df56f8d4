internal import Tally

/// Reads lines of todo.txt; empty ones are skipped.
final class TodoTxtSource: ForeignSource {
  private let context: FormatContext
  private var lines: LineReader
  private var identity: ContentIdentity

  init(_ input: consuming JSONInput, _ context: FormatContext) {
    self.context = context
    identity = ContentIdentity("todo.txt", context)
    lines = LineReader(input, context)
  }

  var byteCount: Int64 { lines.byteCount }

  func nextTask() throws -> (TaskDocument, TextPosition)? {
    while let line = try lines.next() {
      guard line.text.contains(where: { !$0.isWhitespace }) else { continue }
      context.remarks.position = line.position
      let record = TodoTxtRecord(line: line.text)
      do {
        var document = try record.importing(context)
        // A line of nothing but projects, contexts or keys is its own title.
        if document[.text]?.text?.isBlank == true { document[.text] = .text(line.text) }
        identity.identify(&document, by: record.contents)
        return (document, line.position)
      } catch let error as TallyError {
        throw error.placed(at: line.position)
      }
    }
    return nil
  }
}

/// Writes a line for each task.
struct TodoTxtWriter: DocumentWriter {
  private let context: FormatContext
  var bytes: [UInt8] = []

  init(_ context: FormatContext) {
    self.context = context
  }

  mutating func begin() {}

  mutating func write(_ task: TaskItem, in list: TaskList?, under parent: TaskItem?) {
    bytes += Array(TodoTxtRecord.exporting(task, in: list?.name, context).line.utf8)
    bytes.append(UInt8(ascii: "\n"))
  }

  mutating func end() {}
}
