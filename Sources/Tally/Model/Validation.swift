extension TaskItem {
  /// Checks the rules of every stored task.
  ///
  /// - Throws: `blankTitle` if the title is only Unicode white space, `inconsistentTask` unless `completedAt` is present
  ///   exactly for a completed task, `valueOutOfRange` for a sort order outside ``sortOrders``.
  public func validate() throws(TallyError) {
    guard title.holdsMoreThanWhiteSpace else {
      throw TallyError(.blankTitle, "The title holds nothing but white space", remedy: "Give the task a title")
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
      throw TallyError(.blankListName, "The name holds nothing but white space", remedy: "Give the list a name")
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
