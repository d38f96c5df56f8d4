extension TaskItem {
  /// The longest texts of one task together: well under the 2 GiB at which liblmdb 0.9 fails.
  static let maximumTextByteCount = 1 << 30

  /// Checks the rules of every stored task.
  ///
  /// - Throws: `blankTitle` if the title is only Unicode white space, `inconsistentTask` unless `completedAt` is present
  ///   exactly for a completed task, for a due date beside a due day and for a recurrence without a series,
  ///   `valueOutOfRange` for a sort order outside ``sortOrders`` or for a title and notes of more than a gibibyte,
  ///   `invalidTag`, `invalidAttribute`, or `invalidParent` for a task that is its own parent.
  public func validate() throws(TallyError) {
    guard title.holdsMoreThanWhiteSpace else {
      throw TallyError(.blankTitle, "The title is empty", remedy: "Give the task a title")
    }
    if completedAt != nil, !isCompleted {
      throw TallyError(
        .inconsistentTask, "The task has a completion time but is not completed",
        remedy: "Set the state to completed, or leave the completion time out")
    }
    if completedAt == nil, isCompleted {
      throw TallyError(
        .inconsistentTask, "The task is completed but has no completion time",
        remedy: "Say when it was completed, or give another state")
    }
    try Self.validate(sortOrder: sortOrder)
    guard title.utf8.count + (notes?.utf8.count ?? 0) <= maximumTextByteCount else {
      throw TallyError(
        .valueOutOfRange, "The title and notes together take more than a gibibyte", remedy: "Shorten them")
    }
    if extrasBox != nil { try validateExtras() }
  }

  private func validateExtras() throws(TallyError) {
    if dueDate != nil, dueDay != nil {
      throw TallyError(
        .inconsistentTask, "The task is due at an instant and on a day", remedy: "Give only one of the two")
    }
    if (recurrence == nil) != (series == nil) {
      throw TallyError(
        .inconsistentTask, "The task has a recurrence without a place in its series, or the other way round",
        remedy: "Give both, or neither")
    }
    if parentID == id {
      throw TallyError(.invalidParent, "The task is its own parent", remedy: "Give another parent, or none")
    }
    try tags.validate()
    try AttributeValue.validate(attributes)
  }

  static func validate(sortOrder: Int64) throws(TallyError) {
    guard sortOrders.contains(sortOrder) else {
      throw TallyError(
        .valueOutOfRange, "The sort order is not within 9007199254740991 either way", remedy: "Give a smaller number")
    }
  }
}

extension TaskList {
  /// Checks the rules of every stored list.
  ///
  /// - Throws: `blankListName` if the name is only Unicode white space, `invalidColor` unless the colour is six
  ///   hexadecimal digits, `valueOutOfRange` for a sort order outside ``TaskItem/sortOrders``.
  public func validate() throws(TallyError) {
    guard name.holdsMoreThanWhiteSpace else {
      throw TallyError(.blankListName, "The name is empty", remedy: "Give the list a name")
    }
    // `Character.isHexDigit` would let full-width digits through.
    guard colorHex.utf8.count == 6, colorHex.utf8.allSatisfy({ $0.hexDigitValue != nil }) else {
      throw TallyError(
        .invalidColor, "The colour is not six hexadecimal digits",
        remedy: "Write red, green and blue in hexadecimal, as in \(Self.defaultColorHex)")
    }
    try TaskItem.validate(sortOrder: sortOrder)
  }
}

extension String {
  /// Whether there is a scalar that Unicode does not count as white space; false for the empty text.
  ///
  /// Scalars and not characters, as a combining mark may sit on a space. NUL and the zero-width space are not white
  /// space by Unicode's property.
  fileprivate var holdsMoreThanWhiteSpace: Bool {
    // Nearly every text begins with a visible character of ASCII; looking up the properties of others is a search.
    if let first = utf8.first, (0x21...0x7E).contains(first) { return true }
    return unicodeScalars.contains { !$0.properties.isWhitespace }
  }
}
