internal import Foundation
internal import Tally

/// Reads the items of checklists; headings are lists, and everything else is passed over.
final class ChecklistSource: ForeignSource {
  private let context: FormatContext
  private var lines: LineReader
  private var identity: ContentIdentity
  private var heading: String?
  /// The items above the next one, with their indentation.
  private var ancestors: [(indentation: Int, id: UUID)] = []
  /// The line after the notes of an item.
  private var pending: Line?
  private var isAtStart = true

  init(_ input: consuming JSONInput, _ context: FormatContext) {
    self.context = context
    identity = ContentIdentity("Markdown", context)
    lines = LineReader(input, context)
  }

  var byteCount: Int64 { lines.byteCount }

  func nextTask() throws -> (TaskDocument, TextPosition)? {
    while let line = try pending.take() ?? lines.next() {
      defer { isAtStart = false }
      if let isEnd = Self.end(ofBlockBeginningWith: line.text, isAtStart: isAtStart) {
        context.remarks.add(isAtStart && line.text == "---" ? "front matter" : "code", line.text, at: line.position)
        while let next = try lines.next(), !isEnd(next.text.trimmed) {}
        continue
      }
      let read = ChecklistLine(line.text)
      if read.headingLevel != nil {
        let name = ChecklistRecord.listName(read.text)
        heading = name.isEmpty ? nil : name
        ancestors = []
      } else if let mark = read.mark, !read.text.trimmed.isEmpty {
        context.remarks.position = line.position
        var record = ChecklistRecord(mark: mark, text: read.text, under: heading)
        try readNotes(into: &record, under: read.indentation)
        do {
          return (try task(record, read.indentation), line.position)
        } catch let error as TallyError {
          throw error.placed(at: line.position)
        }
      } else if !read.text.trimmed.isEmpty {
        if read.indentation == 0 { ancestors = [] }
        context.remarks.add("text", read.text, at: line.position)
      }
    }
    return nil
  }

  /// A test for the end of a fenced code block or of front matter; `nil` if the line begins neither.
  private static func end(ofBlockBeginningWith line: String, isAtStart: Bool) -> ((String) -> Bool)? {
    if isAtStart, line == "---" { return { $0 == "---" || $0 == "..." } }
    let fence = line.trimmed.prefix { $0 == "`" || $0 == "~" }
    guard fence.count >= 3, let sign = fence.first, Set(fence).count == 1 else { return nil }
    return { $0.count >= fence.count && $0.allSatisfy { $0 == sign } }
  }

  /// Notes are the indented lines under an item, with empty lines between them, up to another item.
  private func readNotes(into record: inout ChecklistRecord, under indentation: Int) throws {
    var emptyCount = 0
    while let line = try lines.next() {
      let read = ChecklistLine(line.text)
      if read.text.trimmed.isEmpty {
        emptyCount += record.notes.isEmpty ? 0 : 1
        continue
      }
      guard !read.isItem, read.indentation > indentation else { return pending = line }
      record.notes += Array(repeating: "", count: emptyCount) + [Self.note(line.text, under: indentation)]
      emptyCount = 0
    }
  }

  /// A line of notes without the indentation of its item and the two blanks more.
  private static func note(_ line: String, under indentation: Int) -> String {
    var scalars = line.unicodeScalars[...]
    for _ in 0..<indentation + 2 where scalars.first == " " { scalars.removeFirst() }
    return String(scalars)
  }

  private func task(_ record: ChecklistRecord, _ indentation: Int) throws -> TaskDocument {
    ancestors.removeAll { $0.indentation >= indentation }
    var document = try record.importing(context)
    document[.parentID] = (ancestors.last?.id).map { .id($0) }
    identity.identify(&document, by: record.contents)
    if let id = document[.id]?.id { ancestors.append((indentation, id)) }
    return document
  }
}

/// Writes a checklist under a heading for each list, sub-tasks under their tasks.
struct ChecklistWriter: DocumentWriter {
  private let context: FormatContext
  private var tasks: [(task: TaskItem, list: TaskList?)] = []
  var bytes: [UInt8] = []

  init(_ context: FormatContext) {
    self.context = context
  }

  mutating func begin() {}

  mutating func write(_ task: TaskItem, in list: TaskList?, under parent: TaskItem?) { tasks.append((task, list)) }

  /// Tasks without a list come first, as no heading ends a list.
  mutating func end() {
    let subtasks = Dictionary(grouping: tasks.filter { $0.task.parentID != nil }) { $0.task.parentID }
    let roots = Dictionary(grouping: tasks.filter { $0.task.parentID == nil }) { $0.list }
    for list in roots.keys.sorted(by: {
      ($0?.sortOrder ?? .min, $0?.name ?? "") < ($1?.sortOrder ?? .min, $1?.name ?? "")
    }) {
      if let list { append(["", ChecklistRecord.heading(list.name), ""], indentation: 0) }
      for (task, _) in roots[list] ?? [] { write(task, list, subtasks, depth: 0) }
    }
    tasks = []
  }

  private mutating func write(
    _ task: TaskItem, _ list: TaskList?, _ subtasks: [UUID?: [(task: TaskItem, list: TaskList?)]], depth: Int
  ) {
    var plain = task
    // The indentation says it.
    plain.parentID = nil
    append(ChecklistRecord.exporting(plain, in: list?.name, context).lines, indentation: 2 * depth)
    for (subtask, _) in subtasks[task.id] ?? [] { write(subtask, list, subtasks, depth: depth + 1) }
  }

  private mutating func append(_ lines: [String], indentation: Int) {
    for line in lines where !(line.isEmpty && bytes.isEmpty) {
      if !line.isEmpty { bytes += [UInt8](repeating: UInt8(ascii: " "), count: indentation) }
      bytes += Array(line.utf8) + [UInt8(ascii: "\n")]
    }
  }
}
