import Tally

extension StoreTransaction where Base: ~Copyable {
  /// The change of one task; if nothing changed, only a message.
  func change(from before: TaskItem, to after: TaskItem, _ verb: String, _ suffix: String = "") throws -> ChangeReport {
    let named = try name(after)
    let subject = "\(named.handle) \(after.title.quotedForMessage)"
    if before == after { return ChangeReport(messages: ["No change: \(subject) is already like that."]) }
    return ChangeReport(changed: [named], messages: ["\(verb) \(subject)\(suffix)."])
  }
}
