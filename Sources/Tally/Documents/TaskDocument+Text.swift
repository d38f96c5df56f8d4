extension TaskDocument {
  /// What a record of another format says beside the fields of a task.
  package struct Surroundings {
    /// The name of the list; an inner `nil` for none, an outer one for nothing said.
    package var list: String??
    /// The time zone of the days in the record.
    package var zone: String?

    package init(list: String?? = nil, zone: String? = nil) {
      (self.list, self.zone) = (list, zone)
    }
  }

  /// Some fields of a task as one line of JSON, in the form of the lines of an export.
  package static func text(of task: TaskItem, _ fields: [TaskField], _ surroundings: Surroundings) -> String {
    var writer = JSONWriter(layout: .compact)
    writer.beginObject()
    if let list = surroundings.list { writer.entry("list", list.map { .text($0) }) }
    if let zone = surroundings.zone { writer.entry("zone", .text(zone)) }
    for field in fields {
      writer.key(field.name)
      writer.value(task[field])
    }
    writer.endObject()
    return String(decoding: writer.takeBytes(), as: UTF8.self)
  }

  /// Reads the form of ``text(of:_:_:)``.
  ///
  /// - Throws: the error of the text, with a place in it.
  package static func read(_ text: String) throws -> (document: TaskDocument, surroundings: Surroundings) {
    var reader = JSONReader(JSONInput(text: text))
    guard try reader.next() == .beginObject else { throw reader.fault("An object is expected here") }
    var surroundings = Surroundings()
    var first = try reader.next()
    while first == .key, let key = ["list", "zone"].first(where: { $0.utf8.elementsEqual(reader.text) }) {
      let value = try reader.next() == .string ? String(decoding: reader.text, as: UTF8.self) : nil
      if key == "list" { surroundings.list = .some(value) } else { surroundings.zone = value }
      first = try reader.next()
    }
    let document = try TaskDocument(fieldsFrom: &reader, after: first, isLenient: true)
    _ = try reader.next()
    return (document, surroundings)
  }

  /// The task as far as the document knows it; the id is the lowest one where the document has none.
  package var task: TaskItem { values }
}

extension JSONInput {
  /// The bytes of a text.
  package init(text: String) {
    var rest = Array(text.utf8)[...]
    self.init { buffer in
      let piece = rest.prefix(buffer.count)
      buffer.replaceSubrange(0..<piece.count, with: piece)
      rest = rest.dropFirst(piece.count)
      return piece.count
    }
  }
}
