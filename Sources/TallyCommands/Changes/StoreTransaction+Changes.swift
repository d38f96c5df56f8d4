import Tally

extension StoreTransaction where Base: ~Copyable {
  /// The change of one task; if nothing changed, only a message.
  func change(
    from before: TaskItem,
    to after: TaskItem,
    _ verb: String,
    _ suffix: String = ""
  ) throws -> ChangeReport {
    let named = try name(after)
    let subject = "\(named.handle) \(after.title.quotedForMessage)"
    var change = ChangeReport()
    if before == after {
      change.messages = ["No change: \(subject) is already like that."]
    } else {
      change.append(named, "\(verb) \(subject)\(suffix).")
    }
    return change
  }
}

extension ChangeReport {
  /// Adds another change that happened after this one.
  mutating func append(_ other: ChangeReport) {
    changed += other.changed
    deleted += other.deleted
    lists += other.lists
    messages += other.messages
  }
}
