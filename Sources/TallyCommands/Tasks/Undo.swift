import ArgumentParser
import Foundation
import Tally

/// `tally undo [N|CHANGE]`.
struct UndoCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    "undo", "Undo the last change, the last N, or one of them.", usage: "[<n>|<change>] [--dry-run]",
    discussion: """
      Undoes the last change to the store, from any program: tasks, lists, their order and the statistics return to \
      their previous state. Run it again to undo the change before that; 'tally redo' reverses an undo. About a thousand \
      changes are kept; 'tally history' lists them with their numbers.

      EXAMPLES
        tally undo
        tally undo 3
        tally undo 42.0
      """)

  @Argument(help: ArgumentHelp("How many changes, or the number of one, see 'tally history'.", valueName: "n"))
  var what: String?

  @Flag(help: "Report what would be undone, and change nothing.")
  var dryRun = false

  func validate(with global: GlobalOptions) throws { _ = try Reversal.Extent(what) }

  func run(in session: Session) throws {
    let reversal = Reversal(
      verb: dryRun ? "Would undo" : "Undid", participle: "undone", remedy: .redo, clock: session.clock)
    let extent = try Reversal.Extent(what)
    try session.write(isDryRun: dryRun) { transaction in
      var report = try reversal.report(on: extent, in: &transaction) { try $0.undo() }
      report.details = ["dryRun": .flag(dryRun)]
      return report
    }
  }
}

/// `tally redo [N]`.
struct RedoCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    "redo", "Redo the last undone change, or the last N.", usage: "[<n>]",
    discussion: "Works until something else is changed.")

  @Argument(help: ArgumentHelp("How many changes.", valueName: "n"))
  var what: String?

  func validate(with global: GlobalOptions) throws { _ = try Reversal.Extent(what) }

  func run(in session: Session) throws {
    let reversal = Reversal(
      verb: "Redid", participle: "redone", remedy: .undo, clock: session.clock)
    let extent = try Reversal.Extent(what)
    guard case .last = extent else {
      throw CommandFailure.usage("'tally redo' takes a number of changes", remedy: "Give a number as in 'tally redo 2'")
    }
    try session.write { try reversal.report(on: extent, in: &$0) { try $0.redo() } }
  }
}

/// An undo or a redo of one write or several, in one transaction.
struct Reversal {
  /// The writes to undo or redo.
  enum Extent {
    case last(Int)
    case one(ChangeID)

    /// Reads a number of writes, or the id of one.
    init(_ text: String?) throws {
      guard let text else {
        self = .last(1)
        return
      }
      if let change = try? ChangeID(text: text) {
        self = .one(change)
      } else if let count = Int(text), count >= 1 {
        self = .last(count)
      } else {
        throw ValidationError(
          "'\(text.truncated(toWidth: 60).escapedForDisplay())' is neither a number of changes nor the number of one, "
            + "such as 42.0; see 'tally history'.")
      }
    }
  }

  let verb: String
  /// The state of a reversed write: undone or redone.
  let participle: String
  let remedy: ChangeReport.Remedy
  let clock: LocalClock

  /// The greatest number of sentences about one write.
  private static let shownSentenceCount = 10

  /// Reverses the writes and reports the changes of each; if one of them cannot be reversed, none is.
  func report(
    on extent: Extent, in transaction: inout StoreWriteTransaction,
    _ reverseLast: (inout StoreWriteTransaction) throws -> UndoResult
  ) throws -> ChangeReport {
    // Each result is described before the next reversal, which may delete a list that the description names. A description
    // reads the history up to the change, which is not worth it for messages that are not shown.
    var (results, messages) = ([UndoResult](), [String]())
    func add(_ result: UndoResult) throws {
      results.append(result)
      let isShown = messages.count < ChangeReport.shownMessageCount
      messages += isShown ? try sentences(of: result, in: transaction) : ["\(verb) \(result.change.text)."]
    }
    switch extent {
    case .one(let change): try add(Self.undo(change, in: &transaction))
    case .last(let count):
      for number in 0..<count {
        try add(Self.naming(number, participle) { try reverseLast(&transaction) })
      }
    }
    var report = try ChangeReport(results, in: transaction)
    report.remedy = remedy.repeated(results.count)
    report.messages = messages
    return report
  }

  private static func undo(_ change: ChangeID, in transaction: inout StoreWriteTransaction) throws -> UndoResult {
    do {
      return try transaction.undo(change)
    } catch let error as TallyError where error.message == TallyError.nothingToUndo.message {
      throw CommandFailure(
        ExitStatus(for: error), code: error.code.description, "Change \(change.text) cannot be undone",
        remedy: "It has been undone, is an undo itself, is not kept any more, or does not exist; see 'tally history'")
    }
  }

  /// Says how many writes can be reversed where there are fewer than wanted.
  private static func naming<R>(_ count: Int, _ participle: String, _ body: () throws -> R) throws -> R {
    do {
      return try body()
    } catch let error as TallyError where count > 0 && [.nothingToUndo, .nothingToRedo].contains(error.code) {
      throw CommandFailure(
        ExitStatus(for: error), code: error.code.description, "Only \(count.counted("change")) can be \(participle)",
        remedy: "Nothing was \(participle); see the last changes: tally history")
    }
  }

  private func sentences(
    of result: UndoResult, in transaction: borrowing StoreWriteTransaction
  ) throws -> [String] {
    // An undo or a redo is said in the words of the change that it was about.
    var change = try transaction.historyChange(result.change)
    while let target = change?.target, let older = try transaction.historyChange(target) { change = older }
    let name = change?.actionName?.quotedForMessage ?? "the change"
    let words = ChangeWords(clock: clock)
    let heading = "\(verb) \(name) (\(clock.relativeName(of: result.date)))"
    let changed =
      if let change {
        ["\(heading):"]
          + (try words.sentences(of: change, limit: Self.shownSentenceCount, in: transaction)).map { "  " + $0 }
      } else {
        // After a large reversal the history has no room for the entry that was reversed.
        ["\(heading): \(Self.summary(of: result))."]
      }
    let unchanged = result.keptFields.values.reduce(into: Set()) { $0.formUnion($1) }.sorted()
    let remark =
      unchanged.isEmpty
      ? [] : ["Kept, because another device has changed them since: \(unchanged.joined(separator: ", "))."]
    return changed + remark
  }

  /// How many objects a reversal has changed and deleted.
  private static func summary(of result: UndoResult) -> String {
    let changed = result.tasks.count + result.lists.count + result.savedFilters.count
    let deleted = result.deletedTasks.count + result.deletedLists.count + result.deletedFilters.count
    return "\(changed.grouped) changed, \(deleted.grouped) deleted"
  }
}

extension ChangeReport {
  /// Creates the report of several undos or redos together.
  fileprivate init(_ results: [UndoResult], in transaction: borrowing StoreWriteTransaction) throws {
    let tasks = results.flatMap { $0.tasks + $0.deletedTasks }.map(\.id).uniqued()
    let listIDs = results.flatMap { $0.lists + $0.deletedLists }.map(\.id).uniqued()
    let names = results.flatMap { $0.savedFilters + $0.deletedFilters }.map(\.name).uniqued()
    hasChangedValues = results.contains { !$0.values.isEmpty }
    for id in tasks {
      if let task = try transaction.task(id) { changed.append(try transaction.name(task)) } else { deleted.append(id) }
    }
    for id in listIDs {
      if let list = try transaction.list(id) { lists.append(list) } else { deleted.append(id) }
    }
    for name in names {
      if let filter = try transaction.savedFilter(named: name) {
        filters.append(filter)
      } else {
        deletedFilters.append(name)
      }
    }
  }
}

extension Sequence where Element: Hashable {
  /// The elements, each once, in the order in which they come first.
  func uniqued() -> [Element] {
    var seen: Set<Element> = []
    return filter { seen.insert($0).inserted }
  }
}
