import Tally

extension Session {
  /// Prints a view.
  ///
  /// Tasks are printed as they are read and not kept, so that a million of them need no memory.
  func show(_ describe: (borrowing StoreReadTransaction) throws -> ViewDescription) throws {
    try read { transaction in
      let description = try describe(transaction)
      switch options.format {
      case .json: try printJSON(description, transaction)
      case .plain: try printRecords(description, transaction)
      case .human: try printPage(description, transaction)
      }
    }
  }

  private func printPage(_ description: ViewDescription, _ transaction: borrowing StoreReadTransaction) throws {
    let counts = try transaction.counts(of: description)
    if counts.total == 0 { return hint(description.emptyHint) }
    var page = PrintedView(description: description, session: self, taskCount: try transaction.taskCount)
    try output.write(page.header(counts))
    try transaction.forEachNamedTask(of: description) { task, day in
      try output.write(page.text(of: task, on: day, counts.folds))
    }
    try output.write(page.end(counts))
  }

  private func printRecords(_ description: ViewDescription, _ transaction: borrowing StoreReadTransaction) throws {
    var columns: RecordColumns?
    try transaction.forEachNamedTask(of: description) { task, _ in
      let facts = task.facts
      let known = columns ?? RecordColumns(options.taskColumns ?? NamedTask.columns, in: facts)
      columns = known
      try output.write(known.record(of: facts))
    }
    if columns == nil { hint(description.emptyHint) }
  }

  private func printJSON(_ description: ViewDescription, _ transaction: borrowing StoreReadTransaction) throws {
    let counts = try transaction.counts(of: description)
    var json = JSONWriter(layout: .compact)
    json.beginObject()
    json.write(membersOf: headFacts(ofView: description.view.name, completedCount: counts.completed))
    if let list = description.list { json.write(membersOf: ["listID": .id(list.id), "list": .text(list.name)]) }
    json.beginArray("sections")
    var section: CalendarDay??
    func endSection() {
      if section == nil { return }
      json.endArray()
      json.endObject()
    }
    func beginSection(_ day: CalendarDay?) {
      endSection()
      section = .some(day)
      json.beginObject()
      json.key("day")
      json.value(day.map { .day($0) })
      json.beginArray("tasks")
    }
    // A section's day is known only with its first task; a view without days has one section even if it is empty.
    if !description.view.hasDaySections { beginSection(nil) }
    try transaction.forEachNamedTask(of: description) { task, day in
      if section != .some(day) { beginSection(day) }
      json.write(task.facts)
      if json.bytes.count >= Self.flushThresholdInBytes { try output.write(TerminalSafeJSON.bytes(json.takeBytes())) }
    }
    endSection()
    json.endArray()
    json.endObject()
    json.lineFeed()
    try output.write(TerminalSafeJSON.bytes(json.takeBytes()))
  }

  private static var flushThresholdInBytes: Int { 1 << 16 }
}
