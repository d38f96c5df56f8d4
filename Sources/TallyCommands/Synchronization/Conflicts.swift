import ArgumentParser
import Tally
import TallySync

/// `tally conflicts`: alone it shows them.
struct ConflictsCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    "conflicts", "Show conflicts between devices, and restore or dismiss the overwritten values.",
    usage: """

      restore <number> | --all
      dismiss <number> ... | --all
      """,
    discussion: """
      Two devices wrote the same field, and neither had the other's value yet: the later value stays, and the other one is \
      kept here for 90 days, or until somebody restores or dismisses it on any device. A value of a series is for the tasks \
      that it will still make; one that was written into a task and its series at once is restored in both.

      With --plain, a line has these columns: \(Conflict.columns.joined(separator: ", ")).
      """,
    subcommands: [RestoreConflictCommand.self, DismissConflictCommand.self])

  func run(in session: Session) throws {
    let store = try session.openStore(for: .changing)
    let conflicts = try session.wait { try await StoreSync(store).conflicts() }
    try session.answer("conflicts", conflicts.map(\.facts), columns: Conflict.columns) {
      let ids = conflicts.map { "\($0.id)" }.numberColumn
      let members = try session.wait { try await StoreSync(store).members() }
      for (id, conflict) in zip(ids, conflicts) {
        let name = try store.read { try $0.name(of: conflict) }.map {
          (conflict.isSeries ? "the series of " : "") + $0.escapedForDisplay()
        }
        let device = members.first { $0.replica == conflict.lostReplica }
        let author = device.map { " by \(members.label(of: $0).escapedForDisplay())" } ?? ""
        let lost = conflict.lost.isEmpty ? "(empty)" : conflict.lost.quotedForMessage
        try session.output.write(
          "  \(id)  \(name ?? "deleted")  "
            + session.painter.paint(
              "\(conflict.field) was \(lost)\(author), "
                + session.clock.relativeName(of: conflict.lostAt), .detail) + "\n")
      }
      if !conflicts.isEmpty {
        session.hint(
          "To keep one: \(session.line(running: "conflicts restore NUMBER")). "
            + "To forget it on every device: \(session.line(running: "conflicts dismiss NUMBER"))")
      }
    }
    if conflicts.isEmpty { session.hint("There are no conflicts.") }
  }
}

/// `tally conflicts restore NUMBER`.
struct RestoreConflictCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    "conflicts restore", "Restore the overwritten value of a conflict, or of all.",
    usage: """
      <number>
      --all
      """,
    discussion: """
      The other devices forget the value, too. With --all, of several values of one field the last one is written; the \
      others stay, and so do those of deleted tasks and those that this store refuses.
      """)

  @Argument(help: ArgumentHelp("The number of the conflict.", valueName: "number"))
  var id: UInt64?

  @Flag(help: "Restore all of them, in one change.")
  var all = false

  func validate() throws {
    if (id == nil) != all { throw ValidationError("Give the number of a conflict, or --all.") }
  }

  func run(in session: Session) throws {
    let store = try session.openStore(for: .changing)
    guard let id else { return try restoreAll(store, session) }
    let (conflict, isUndoable) = try session.runUndoable(in: store) {
      try await StoreSync(store).restoreConflict(id)
    }
    let name = try store.read { transaction in
      if conflict.isSeries || conflict.isList {
        let kind = conflict.isList ? "list" : "the series of"
        return try transaction.name(of: conflict).map { "\(kind) \($0.quotedForMessage)" }
      }
      return try transaction.task(conflict.objectID).map { try transaction.name($0).inWords }
    }
    try session.answer(["conflict": conflict.facts], plain: .records([("conflict", Conflict.columns)])) {
      let field = conflict.field == "savedFilter" ? "saved filter" : conflict.field
      session.say("Restored the \(field)\(name.map { " of \($0)" } ?? "").")
      if isUndoable { session.say(session.offer(.undo)) }
    }
  }

  private func restoreAll(_ store: TaskStore, _ session: Session) throws {
    let sync = StoreSync(store)
    let (restored, isUndoable) = try session.runUndoable(in: store) { try await sync.restoreAllConflicts() }
    let remaining = try session.wait { try await sync.conflicts() }
    try session.answer(
      ["restored": .array(restored.map(\.facts)), "kept": .array(remaining.map(\.facts))],
      plain: .records([("restored", Conflict.columns)])
    ) {
      session.say(restored.isEmpty ? "Nothing was restored." : "Restored \(restored.count.counted("value")).")
      if isUndoable { session.say(session.offer(.undo)) }
      if !remaining.isEmpty {
        session.report(
          "\(remaining.count.counted("value")) stayed: the task is deleted, this store refuses the value, or a later value of the same field was restored. For the reason: \(session.line(running: "conflicts restore NUMBER"))"
        )
      }
    }
  }
}

/// `tally conflicts dismiss NUMBER…`.
struct DismissConflictCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    "conflicts dismiss", "Dismiss conflicts, on every device.",
    usage: """
      <number> ...
      --all
      """,
    discussion:
      "The current values stay. The dismissed values are forgotten on every device; you cannot undo this. With --plain, a line has these columns: \(Conflict.columns.joined(separator: ", "))."
  )

  @Argument(help: ArgumentHelp("The numbers of the conflicts.", valueName: "number"))
  var ids: [UInt64] = []

  @Flag(help: "Dismiss all of them.")
  var all = false

  func validate() throws {
    if ids.isEmpty != all { throw ValidationError("Give the numbers of conflicts, or --all.") }
  }

  func run(in session: Session) throws {
    let dismissed = try session.inSpace { [ids, all] in try await $0.dismissConflicts(all ? nil : ids) }
    try session.answer("dismissed", dismissed.map(\.facts), columns: Conflict.columns) {
      session.say(
        dismissed.isEmpty
          ? "There are no conflicts." : "Dismissed \(dismissed.count.counted("value")), on every device.")
    }
  }
}
