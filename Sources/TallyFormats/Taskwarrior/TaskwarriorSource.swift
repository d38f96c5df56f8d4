internal import Tally

/// Reads what `task export` writes: an array of tasks, or a task on each line.
///
/// Deleted tasks are left out, and so are the templates of recurring ones, unless no task of theirs is in the document.
final class TaskwarriorSource: ForeignSource {
  private let context: FormatContext
  private var reader: JSONReader
  private var hasBegun = false
  /// Templates whose tasks may still come.
  private var templates: [(TaskwarriorRecord, TextPosition)] = []
  private var parents: Set<String> = []
  private var identity: ContentIdentity

  init(_ input: consuming JSONInput, _ context: FormatContext) {
    self.context = context
    identity = ContentIdentity("Taskwarrior", context)
    var input = input
    // A fault of the first bytes is found again by the reader.
    while let byte = try? input.peek(), byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\n") {
      if byte == UInt8(ascii: "\n") { input.skipLineFeed() } else { input.skipByte() }
    }
    let isArray = (try? input.peek()) == UInt8(ascii: "[")
    reader = JSONReader(input, framing: isArray ? .document : .lines)
  }

  var byteCount: Int64 { reader.input.consumedByteCount }

  func nextTask() throws -> (TaskDocument, TextPosition)? {
    while let (record, position) = try nextRecord() {
      if case .text(let parent)? = record.values["parent"] { parents.insert(parent) }
      switch record.values["status"]?.text {
      case "deleted":
        context.remarks.add("deleted task", record.values["description"]?.text ?? "", at: position)
        continue
      case "recurring": templates.append((record, position))
      default: return try (task(record, position), position)
      }
    }
    while let (record, position) = templates.popLast() {
      guard !parents.contains(record.values["uuid"]?.text ?? "") else { continue }
      return try (task(record, position), position)
    }
    return nil
  }

  private func task(_ record: TaskwarriorRecord, _ position: TextPosition) throws -> TaskDocument {
    do {
      context.remarks.position = position
      var record = record
      record.leaveOutFaulty(context)
      var document = try record.importing(context)
      identity.identify(&document, by: record.values["description"]?.text ?? "", record.values["entry"]?.text ?? "")
      if case .text(let text)? = record.values["recur"], record.exact == nil {
        document[.recurrence] = TaskwarriorRecurrence.recurrence(text).map { .recurrence($0) }
        if document[.recurrence] == nil { context.remarks.add("recurrence", text) }
      }
      return document
    } catch let error as TallyError {
      throw error.placed(at: position)
    }
  }

  private func nextRecord() throws -> (TaskwarriorRecord, TextPosition)? {
    if !hasBegun, reader.framing == .document { _ = try reader.next() }
    hasBegun = true
    while true {
      let token = try reader.next()
      if token == .beginObject { break }
      if token == .end { return nil }
      if token == .endArray, reader.framing == .document {
        _ = try reader.next()
        return nil
      }
      guard reader.framing == .document else { throw reader.fault("An object is expected here") }
      context.remarks.add("text", try reader.json(beginningWith: token), at: reader.tokenPosition)
    }
    let position = reader.tokenPosition
    var values: [String: TaskwarriorValue] = [:]
    while try reader.next() == .key {
      let name = String(decoding: reader.text, as: UTF8.self)
      let place = reader.tokenPosition
      guard values.updateValue(.integer(0), forKey: name) == nil else {
        throw reader.fault("A key appears twice in its object", at: place)
      }
      values[name] = try reader.readTaskwarriorValue()
    }
    return (TaskwarriorRecord(values: values), position)
  }
}
