import Tally

/// Says what a write changed, in sentences: the words of `history`, of `undo` and of a task's sheet.
struct ChangeWords {
  let clock: LocalClock

  /// A sentence for each record that changed.
  ///
  /// - Parameters:
  ///   - change: the write.
  ///   - limit: the greatest number of sentences; one more then says how many records are left.
  ///   - transaction: where handles and the names of lists are looked up.
  /// - Returns: the sentences.
  /// - Throws: errors of the storage.
  func sentences<Base: ~Copyable>(
    of change: HistoryChange, limit: Int = .max, in transaction: borrowing StoreTransaction<Base>
  ) throws -> [String] {
    var sentences: [String] = []
    for difference in change.tasks.prefix(limit) { sentences.append(try sentence(of: difference, in: transaction)) }
    sentences += change.lists.map(sentence) + change.savedFilters.map(sentence)
    if !change.values.isEmpty { sentences.append("Changed \(change.values.count.counted("value")).") }
    // Any other undo that changed nothing is left out of the history.
    if change.kind == .undo, sentences.isEmpty { sentences.append("Too large to record: it cannot be redone.") }
    if change.kind == .cut { sentences.append("Too large to record: it and what came before cannot be undone.") }
    let count = sentences.count + max(0, change.tasks.count - limit)
    guard count > limit else { return sentences }
    return sentences.prefix(limit) + ["And \((count - limit).grouped) more."]
  }

  private func sentence(of difference: HistoryChange.Difference<TaskList>) -> String {
    let name = (difference.after ?? difference.before)?.name.quotedForMessage ?? ""
    guard let before = difference.before, let after = difference.after else {
      return "\(difference.after == nil ? "Deleted" : "Added") list \(name)."
    }
    let changes = [
      before.name == after.name ? nil : "name \(before.name.quotedForMessage) → \(after.name.quotedForMessage)",
      before.colorHex == after.colorHex ? nil : "colour \(before.colorHex) → \(after.colorHex)",
      before.sortOrder == after.sortOrder ? nil : "order",
    ].compactMap(\.self)
    return "Changed list \(name)\(Self.suffix(changes))."
  }

  private func sentence(of difference: HistoryChange.Difference<SavedFilter>) -> String {
    let name = (difference.after ?? difference.before)?.name.quotedForMessage ?? ""
    return "\(difference.after == nil ? "Deleted" : "Saved") filter \(name)."
  }

  private static func suffix(_ changes: [String]) -> String {
    changes.isEmpty ? "" : ": " + changes.joined(separator: "; ")
  }
}

extension ChangeWords {
  private func sentence<Base: ~Copyable>(
    of difference: HistoryChange.Difference<TaskItem>, in transaction: borrowing StoreTransaction<Base>
  ) throws -> String {
    guard let task = difference.task else { return "" }
    let subject = "\(Self.verb(of: difference)) \(try transaction.handle(of: task.id)) \(task.title.quotedForMessage)"
    guard let before = difference.before, let after = difference.after else { return subject + "." }
    return "\(subject)\(try suffix(from: before, to: after, in: transaction))."
  }

  /// The fields of a task that changed, behind its title: `: day none → Sat 28 Nov; notes`.
  func suffix<Base: ~Copyable>(
    from before: TaskItem, to after: TaskItem, in transaction: borrowing StoreTransaction<Base>
  ) throws -> String {
    var changes: [String] = []
    var fields = TaskField.all.filter { before[$0] != after[$0] }
    // A snooze is the reminder's change.
    if before.ownAttributes == after.ownAttributes { fields.removeAll { $0 == .attributes } }
    // One duty, in two fields.
    if fields.contains(.dueDate) { fields.removeAll { $0 == .dueDay } }
    // The verb says that it was completed or reopened.
    if before.state != after.state { fields.removeAll { $0 == .completedAt } }
    for field in fields {
      guard let label = Self.label(of: field) else { continue }
      let old = try value(of: field, of: before, in: transaction)
      let new = try value(of: field, of: after, in: transaction)
      changes.append(old == nil && new == nil ? label : "\(label) \(old ?? "none") → \(new ?? "none")")
    }
    // A place change sets the order, too.
    if changes.count > 1 { changes.removeAll { $0 == Self.label(of: .sortOrder) } }
    return Self.suffix(changes)
  }

  private static func verb(of difference: HistoryChange.Difference<TaskItem>) -> String {
    guard let after = difference.after else { return "Deleted" }
    guard let before = difference.before else { return "Added" }
    switch (before.state, after.state) {
    case let (old, new) where old == new: return "Changed"
    case (_, .completed): return "Completed"
    case (.completed, _): return "Reopened"
    case (_, .active): return "Started"
    case (_, .notStarted): return "Stopped"
    }
  }

  /// The name of a field in sentences; `nil` for one that follows from another.
  private static func label(of field: TaskField) -> String? {
    switch field {
    case .text: "title"
    case .notes: "notes"
    case .scheduledDate: "day"
    case .dueDate, .dueDay: "due"
    case .reminderDate: "reminder"
    case .listID: "list"
    case .sortOrder: "order"
    case .priority: "priority"
    case .tags: "tags"
    case .parentID: "part of"
    case .recurrence: "repeats"
    case .attributes: "attributes"
    case .completedAt: "completed"
    case .id, .state, .createdAt, .updatedAt, .series: nil
    }
  }

  /// The value of a field in words; `nil` for none, and where only the field's name is said.
  private func value<Base: ~Copyable>(
    of field: TaskField, of task: TaskItem, in transaction: borrowing StoreTransaction<Base>
  ) throws -> String? {
    switch field {
    case .text: task.title.quotedForMessage
    case .scheduledDate: task.scheduledDate.map(clock.name)
    case .dueDate, .dueDay: task.dueDay.map(clock.name) ?? task.dueDate.map(clock.name)
    case .reminderDate: task.reminderDate.map(clock.name)
    case .listID:
      try task.listID.map { id in try transaction.list(id)?.name.quotedForMessage ?? "list \(id.shownEnd)" }
    case .priority: task.priority == .none ? nil : task.priority.name
    case .tags: task.tags.isEmpty ? nil : task.tags.map { "#" + $0.escapedForDisplay() }.joined(separator: " ")
    case .parentID:
      try task.parentID.map { id in try transaction.task(id)?.title.quotedForMessage ?? "task \(id.shownEnd)" }
    case .recurrence: task.recurrence?.words
    case .completedAt: (task.completedAt?.instant).map(clock.knownName)
    case .notes, .sortOrder, .attributes, .id, .state, .createdAt, .updatedAt, .series: nil
    }
  }
}
