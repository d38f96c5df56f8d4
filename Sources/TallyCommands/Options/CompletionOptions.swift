import ArgumentParser
import Foundation
import Tally

/// The options that select completions.
///
/// `stats` and `completed` share them, so that the same options show a number and its tasks.
struct CompletionOptions: ParsableArguments {
  @OptionGroup var filter: FilterOptions

  // Unconditional: a word that begins with a dash is a wrong day, not a missing one.
  @Option(parsing: .unconditional, help: ArgumentHelp("The first day.", valueName: "day"))
  var from: String?

  @Option(parsing: .unconditional, help: ArgumentHelp("The last day.", valueName: "day"))
  var to: String?

  @Option(
    help: ArgumentHelp(
      "Only tasks completed in this list, by name or id, even if they were moved since.", valueName: "name")
  )
  var list: String?

  @Option(help: ArgumentHelp("Only completions with this tag.", valueName: "tag"))
  var tag: String?

  @Option(
    help: ArgumentHelp(
      "When a day begins, for people who work past midnight. Default: the setting, else 00:00.", valueName: "hh:mm")
  )
  var dayStart: String?

  @Flag(help: "Count days in the time zone where the work was done, so that travel changes nothing.")
  var asRecorded = false
}

extension CompletionOptions {
  /// The clock whose days are those of the options.
  ///
  /// - Throws: ``CommandFailure`` for a start of day that is not a time.
  func clock(_ clock: LocalClock) throws -> LocalClock {
    guard let dayStart else { return clock }
    guard let minutes = LocalClock.minutes(ofTime: dayStart) else {
      throw CommandFailure.usage(
        "'\(dayStart.escapedForDisplay())' is not a time of day",
        remedy: "Write the start of the day as HH:MM, as in --day-start 04:00")
    }
    return clock.beginningDays(atMinute: minutes)
  }

  /// The library's options, except the list, which only the store knows.
  ///
  /// - Throws: ``CommandFailure``, or the library's error for a day that the calendar does not have.
  func statisticsOptions(_ clock: LocalClock) throws -> StatisticsOptions {
    let clock = try self.clock(clock)
    var options = StatisticsOptions()
    options.from = try from.map { try clock.day($0, of: "--from", looking: .backward) }
    options.to = try to.map { try clock.day($0, of: "--to", looking: .backward) }
    if let from = options.from, let to = options.to, from > to {
      throw CommandFailure.usage(
        "--from \(from.iso8601) comes after --to \(to.iso8601)", remedy: "Give the earlier day to --from")
    }
    let filter = try filter.filter
    options.filter = tag.map { filter && .tag($0.withoutNumberSign) } ?? filter
    options.dayStartInMinutes = clock.dayStartInMinutes
    options.usesRecordedOffsets = asRecorded
    return options
  }

  /// The list's id; a deleted list can be named by its last name, its id, or the end of the id.
  ///
  /// - Throws: ``CommandFailure`` if there is no such list or more than one.
  func listID<Base: ~Copyable>(in transaction: borrowing StoreTransaction<Base>) throws -> UUID? {
    guard let name = list else { return nil }
    do {
      return try transaction.list(named: name).id
    } catch let failure as CommandFailure where failure.code == "listNotFound" {
      let found = try deletedLists(named: name, in: transaction)
      guard found.count < 2 else {
        throw CommandFailure(
          .notFound, code: "ambiguousList", "\(found.count) deleted lists match \(name.quotedForMessage)",
          remedy: "Use a whole id: \(found.prefix(5).map(\.text).joined(separator: ", "))")
      }
      guard let id = found.first else { throw failure }
      return id
    }
  }

  /// The deleted lists for which something is still counted.
  private func deletedLists<Base: ~Copyable>(
    named name: String, in transaction: borrowing StoreTransaction<Base>
  ) throws -> [UUID] {
    if let id = UUID(uuidString: name) {
      var options = StatisticsOptions()
      options.listID = id
      // Throws for a list in which nothing was ever completed or created.
      return (try? transaction.completionCount(matching: options)) == nil ? [] : [id]
    }
    let lower = name.lowercased()
    let isEnd = lower.count >= UUID.shownEndLength
    let deleted = try transaction.statistics().byList.filter(\.isDeleted)
    let named = deleted.filter { $0.name?.lowercased() == lower }
    return (named.isEmpty ? deleted.filter { isEnd && $0.listID?.text.hasSuffix(lower) == true } : named)
      .compactMap(\.listID)
  }
}

extension CompletionOptions {
  /// Says that none of the selected tasks was completed, and how to complete one.
  func emptyHint(_ options: StatisticsOptions) -> String {
    let verb = options.hasNamedDays ? "was completed in that period" : "has been completed yet"
    return "Nothing\(scope(options)) \(verb). Complete a task: tally done HANDLE; add --at for the past"
  }

  /// Says that all that was completed is gone.
  func deletedHint(_ options: StatisticsOptions) -> String {
    let scope = scope(options)
    return options.hasNamedDays
      ? "All tasks\(scope) completed in that period have been deleted."
      : "All completed tasks\(scope) have been deleted."
  }

  /// The list and the filter behind a noun: ` in “Work” matching “#home”`.
  private func scope(_ options: StatisticsOptions) -> String {
    (list.map { " in \($0.quotedForMessage)" } ?? "")
      + (options.filterText.map { " matching \($0.quotedForMessage)" } ?? "")
  }
}

extension StatisticsOptions {
  /// Whether the first or the last day is named.
  var hasNamedDays: Bool { from != nil || to != nil }

  /// The text of the filter; `nil` for none.
  var filterText: String? { filter == .all ? nil : filter.text }
}
