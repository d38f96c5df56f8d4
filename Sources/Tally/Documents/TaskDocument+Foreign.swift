internal import Foundation

extension TaskDocument {
  /// Removes values that a task cannot have.
  ///
  /// The rest of the task is imported.
  ///
  /// - Returns: What was left out.
  mutating func leaveOutInvalid() -> [DocumentRemark] {
    var remarks: [DocumentRemark] = []
    // A task needs a title: without one, it is imported as "Untitled".
    if !has(.text) || self[.text]?.text?.unicodeScalars.allSatisfy(\.properties.isWhitespace) ?? true {
      self[.text] = .text("Untitled")
      remarks.append(DocumentRemark("title", ""))
    }
    if case .tags(let tags)? = self[.tags] {
      let (allowed, others) = tags.allowed
      if allowed != tags { self[.tags] = allowed.isEmpty ? nil : .tags(allowed) }
      remarks += others.map { DocumentRemark("tag", $0) }
      if !others.isEmpty { keep(others.joined(separator: ","), as: "tags as imported") }
    }
    if self[.dueDate] != nil, case .day(let day)? = self[.dueDay] {
      remarks.append(DocumentRemark("date", day.iso8601))
      self[.dueDay] = nil
      keep(day.iso8601, as: "dueDay as imported")
    }
    if case .attributes(let attributes)? = self[.attributes] {
      let (allowed, others) = AttributeValue.allowed(attributes)
      if !others.isEmpty { self[.attributes] = allowed.isEmpty ? nil : .attributes(allowed) }
      remarks += others.map { DocumentRemark("attribute", $0) }
    }
    if case .integer(let order)? = self[.sortOrder], !TaskItem.sortOrders.contains(order) {
      remarks.append(DocumentRemark("order", "\(order)"))
      leaveOut(.sortOrder)
    }
    if let id, self[.parentID] == .id(id) {
      remarks.append(DocumentRemark("parent", id.uuidString.lowercased()))
      self[.parentID] = nil
    }
    return remarks
  }

  /// The attribute that keeps a missing parent, unless the format has one of its own.
  static func keptParent(_ id: UUID) -> (name: String, text: String) {
    ("parent as imported", id.uuidString.lowercased())
  }

  /// The text of an attribute with a missing parent added to it.
  static func attribute(_ value: AttributeValue?, keeping parent: String) -> String {
    guard case .text(let others)? = value, others != parent else { return parent }
    return others + "\n" + parent
  }

  /// Keeps a parent that was missing at an earlier import as an attribute again, so that the task does not change.
  ///
  /// - Returns: The parent, which may be here now; `nil` if it was not missing.
  mutating func takeMissingParent(as old: TaskItem?) -> UUID? {
    guard let old, old.parentID == nil, let parentID = self[.parentID]?.id else { return nil }
    let (name, text) = keptParent ?? Self.keptParent(parentID)
    var attributes: [String: AttributeValue] = [:]
    if case .attributes(let others)? = self[.attributes] { attributes = others }
    let kept = Self.attribute(attributes[name], keeping: text)
    guard old.attributes[name] == .text(kept) else { return nil }
    attributes[name] = .text(kept)
    self[.attributes] = .attributes(attributes)
    self[.parentID] = nil
    return parentID
  }

  /// Adds an attribute with a value that its field cannot have.
  private mutating func keep(_ text: String, as name: String) {
    var attributes: [String: AttributeValue] = [:]
    if case .attributes(let others)? = self[.attributes] { attributes = others }
    attributes[name] = .text(text)
    self[.attributes] = .attributes(attributes)
  }
}

extension TagSet {
  /// The tags that are valid after invalid characters are removed, and the tags that do not fit.
  package var allowed: (tags: TagSet, others: [String]) {
    var allowed = TagSet()
    var others: [String] = []
    for tag in self {
      for part in tag.split(separator: ",") {
        let scalars = part.unicodeScalars.filter { $0 != "#" }.map {
          $0.properties.generalCategory == .control ? " " : $0
        }
        let text = Self.trimmed(String(String.UnicodeScalarView(scalars)))
        guard !text.isEmpty, !allowed.contains(text) else { continue }
        let isAllowed = allowed.count < Self.maximumCount && (try? Self.validate(text)) != nil
        if isAllowed { allowed.insert(text) } else { others.append(text) }
      }
    }
    return (allowed, others)
  }
}

extension AttributeValue {
  /// The attributes that a task may have, and the names of the others.
  ///
  /// If the attributes are too large together, the largest are removed first.
  fileprivate static func allowed(
    _ attributes: [String: AttributeValue]
  ) -> ([String: AttributeValue], others: [String]) {
    var allowed = attributes.filter { (try? validate([$0.key: $0.value])) != nil }
    var others = attributes.keys.filter { allowed[$0] == nil }.sorted()
    let size = { (name: String) in FieldValue.attributes([name: allowed[name] ?? .text("")]).storedByteCount }
    for name in allowed.keys.sorted(by: { (size($0), $0) > (size($1), $1) }) where (try? validate(allowed)) == nil {
      allowed[name] = nil
      others.append(name)
    }
    return (allowed, others)
  }
}
