import Tally

extension Facts {
  /// The facts as one line of JSON.
  var json: [UInt8] {
    TerminalSafeJSON.line { $0.write(self) }
  }
}

extension JSONWriter {
  /// Writes a value of any kind.
  mutating func write(_ facts: Facts) {
    switch facts {
    // One form of times for programs: the offset of a completion is a member of its own.
    case .value(.offsetInstant(let instant)): value(.instant(instant.instant))
    case .value(let field): value(field)
    case .flag(let isTrue): value(isTrue)
    case .array(let elements, _):
      beginArray()
      for element in elements { write(element) }
      endArray()
    case .object:
      beginObject()
      write(membersOf: facts)
      endObject()
    }
  }

  /// Writes the members of an object that has begun.
  mutating func write(membersOf facts: Facts) {
    for (name, value) in facts.members where name.audience != .plain {
      key(name.text)
      write(value)
    }
  }
}
