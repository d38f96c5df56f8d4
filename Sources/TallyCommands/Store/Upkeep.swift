import ArgumentParser
import SystemPackage
import Tally
import TallySync

/// The commands that keep a store sound, in the order of the help.
enum UpkeepCommands {
  static let all: [LazyCommand] = [
    { BackupCommand.self }, { RestoreCommand.self }, { VerifyCommand.self }, { CompactCommand.self },
  ]
}

/// `tally verify`.
struct VerifyCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    "verify", "Check the store for inconsistencies.", usage: "[--repair]",
    discussion: """
      Compares every index, the history of completions and every counter with the tasks, and checks each page of the \
      file; in a store that synchronises, also what it keeps for that. Other processes can use the store meanwhile. \
      Exits with 65 if something disagrees.

      With --repair, rebuilds indexes and counters from the tasks and the history. No other process may have the store \
      open; the previous store is kept in a file whose path is printed. A task whose list is gone goes to the inbox; \
      a record that cannot be read is set aside. Exits with 65 if something still disagrees.

      With --plain, prints one fault per line with these columns: kind, table, id.
      """)

  @Flag(help: "Repair what disagrees, after keeping a copy of the store.")
  var repair = false

  func run(in session: Session) throws {
    if repair { return try repair(in: session) }
    var report = try session.withVerificationProgress { progress in
      try TaskStore.verify(at: session.storePath, configuration: session.configuration, progress: progress)
    }
    // The rows of synchronisation follow from the rest.
    if report.isSound { for fault in try session.readSpace({ try await $0.verify() }) ?? [] { report.add(fault) } }
    try session.print(VerificationText(report: report))
    if let words = try session.readSpace({ try await $0.unsentTexts() })?.unsentTextWords { session.report(words) }
    guard report.isSound else { throw CommandFailure(report) }
  }
}

extension VerifyCommand {
  private func repair(in session: Session) throws {
    var report = try session.maintain { try TaskStore.repair(at: $0, configuration: $1, progress: $2) }
    if report.after.isSound {
      for fault in try session.readSpace({ try await $0.repair() }) ?? [] { report.before.add(fault) }
    }
    try session.print(VerificationText(report: report.after, repair: report))
    let repairedCount = max(0, report.before.faultCount - report.after.faultCount)
    if repairedCount > 0 { session.say("Repaired \(repairedCount.counted("fault")).") }
    if let copy = report.safetyCopy?.string {
      if repairedCount == 0 { session.say("None of these faults can be repaired.") }
      // Not to be restored: it is damaged, and would be refused.
      session.say("Kept the previous store: \(copy.escapedForDisplay())")
    }
    if let log = report.unreadLog?.string {
      session.say("Kept a log that could not be read; its changes are missing now: \(log.escapedForDisplay())")
    }
    guard report.after.isSound else {
      throw CommandFailure(report.after, remedy: "Edit or delete the named records, or restore a backup")
    }
  }
}

extension Session {
  fileprivate func print(_ text: VerificationText) throws {
    try answer(text.facts, plain: .records([("faults", ["kind", "table", "id"])]), text: text.text)
  }
}

extension CommandFailure {
  /// The failure of a verification, named by its first fault.
  init(
    _ report: VerificationReport,
    remedy: String = "Run 'tally verify --repair', restore a backup, or keep an export of what can be read"
  ) {
    let first = report.faults.first.map(\.description) ?? ""
    let more = report.faultCount > 1 ? ", and \((report.faultCount - 1).counted("more fault"))" : ""
    self.init(
      .badData,
      code: TallyError.Code.damagedStore.description,
      "The store is inconsistent: \(first)\(more)",
      remedy: remedy
    )
  }
}

/// The words for the result of a verification.
struct VerificationText {
  let report: VerificationReport
  /// The repair that was run before, if any.
  var repair: RepairReport?

  /// The most faults shown to people.
  private static let shownFaultCount = 20

  var facts: Facts {
    let found: Facts = [
      "sound": .flag(report.isSound), "sequence": .integer(report.sequence.map { Int64($0) }),
      "tasks": .count(report.taskCount), "lists": .count(report.listCount),
      "completions": .count(report.completionCount), "setAside": .count(report.setAsideCount),
    ]
    let facts = found.adding(Self.faults(of: report))
    guard let repair else { return facts }
    let repaired = (["keptFile": .text(repair.safetyCopy?.string)] as Facts).adding(Self.faults(of: repair.before))
    return facts.adding(["repaired": repaired])
  }

  private static func faults(of report: VerificationReport) -> Facts {
    [
      "faultCount": .count(report.faultCount),
      "faults": .array(
        report.faults.map { ["kind": .text($0.kind.description), "table": .text($0.table), "id": .id($0.id)] }),
    ]
  }

  var text: String {
    let aside = report.setAsideCount == 0 ? "" : "; \(report.setAsideCount.counted("unreadable record")) set aside"
    guard !report.isSound else {
      let counts = [
        report.taskCount.counted("task"), report.listCount.counted("list"),
        report.completionCount.counted("completion"),
      ]
      return "Sound: \(counts.joined(separator: ", "))\(aside).\n"
    }
    let hiddenCount = report.faultCount - Self.shownFaultCount
    let more = hiddenCount > 0 ? "and \(hiddenCount.grouped) more\n" : ""
    return report.faults.prefix(Self.shownFaultCount).map { "\($0)\n" }.joined() + more
  }
}

/// `tally compact`.
struct CompactCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    "compact", "Return the space of deleted data to the disk.",
    discussion: """
      Replaces the store's file with a verified copy whose pages are full; until then the old file stays, so there must \
      be room for both. No other process may have the store open.

      With --plain, prints a line with these columns: bytesBefore, bytes.
      """)

  func run(in session: Session) throws {
    let summary = try session.maintain { try TaskStore.compact(at: $0, configuration: $1, progress: $2) }
    try session.answer(
      ["bytesBefore": .integer(summary.sizeBeforeInBytes), "bytes": .integer(summary.sizeInBytes)],
      plain: .record(["bytesBefore", "bytes"])
    ) {
      session.say("Compacted from \(summary.sizeBeforeInBytes.inBytes) to \(summary.sizeInBytes.inBytes).")
    }
  }
}

/// `tally backup FILE`.
struct BackupCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    "backup", "Copy the whole store into one file.", usage: "<file>",
    discussion: """
      Other processes can use the store meanwhile. The copy is verified before it replaces a file of that name; only \
      its owner may read it. Use 'tally restore' to restore it.

      With --plain, prints a line with these columns: \(columns.joined(separator: ", ")).

      EXAMPLES
        tally backup ~/backups/tasks.mdb
      """)

  private static let columns = ["file"] + BackupSummary.columns

  @Argument(help: ArgumentHelp("The file to write.", valueName: "file"), completion: .file())
  var file: String

  func run(in session: Session) throws {
    let store = try session.openStore(for: .copying)
    let summary = try Signals.deferringInterruption {
      try session.withVerificationProgress { try store.backup(to: FilePath(file), progress: $0) }
    }
    let facts = (["file": .text(file)] as Facts).adding(summary.facts)
    try session.answer(facts, plain: .record(Self.columns)) {
      try session.output.write(file.escapedForDisplay() + "\n")
      session.say("Backed up \(summary.inWords).")
      session.say(session.offer(.init(purpose: "To restore it", command: "restore \(file.shellQuoted)")))
    }
  }
}

extension BackupSummary {
  /// The columns of a record of `--plain`.
  static let columns = ["storeID", "sequence", "tasks", "lists", "completions", "bytes"]

  var facts: Facts {
    [
      "storeID": .id(storeID), "sequence": .integer(Int64(sequence)), "tasks": .count(taskCount),
      "lists": .count(listCount), "completions": .count(completionCount), "bytes": .integer(sizeInBytes),
    ]
  }

  /// Its contents, for a person.
  var inWords: String {
    "\(taskCount.counted("task")), \(listCount.counted("list")) and \(completionCount.counted("completion"))"
  }
}

/// `tally restore FILE`.
struct RestoreCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    "restore", "Replace the store with a backup.", usage: "<file>",
    discussion: """
      The file is verified first; a damaged file, or one that is not a backup, leaves the store untouched. The previous \
      store is kept beside the new one, in a file whose path is printed, and can be restored in turn. No other \
      process may have the store open.

      With --plain, prints a line with these columns: \(columns.joined(separator: ", ")).

      EXAMPLES
        tally restore ~/backups/tasks.mdb
      """)

  private static let columns = ["keptFile"] + BackupSummary.columns

  @Argument(help: ArgumentHelp("A file written by 'tally backup'.", valueName: "file"), completion: .file())
  var file: String

  func run(in session: Session) throws {
    let summary = try session.maintain {
      try TaskStore.restore(from: FilePath(file), to: $0, configuration: $1, progress: $2)
    }
    let copy = summary.safetyCopy?.string
    let facts = (["keptFile": .text(copy)] as Facts).adding(summary.restored.facts)
    try session.answer(facts, plain: .record(Self.columns)) {
      session.say("Restored \(summary.restored.inWords).")
      guard let copy else { return }
      session.say("Kept the previous store: \(copy.escapedForDisplay())")
      session.say(session.offer(.restore(file: copy)))
    }
  }
}
