import ArgumentParser
import Foundation
import Tally

/// Which completions a command is about.
///
/// `stats` and `completed` share them, so that the same options show a number and its tasks.
struct CompletionOptions: ParsableArguments {
  @Option(help: ArgumentHelp("The first day.", valueName: "day"))
  var from: String?

  @Option(help: ArgumentHelp("The last day.", valueName: "day"))
  var to: String?

  @Option(
    help: ArgumentHelp(
      "Only what was completed in this list, by name or id, even if it was moved since.", valueName: "name")
  )
  var list: String?

  @Option(
    help: ArgumentHelp("When a day begins, for people who work past midnight. Default: 00:00.", valueName: "hh:mm")
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
    clock.beginningDays(atMinute: try dayStartInMinutes())
  }

  /// The library's options, except the list, which only the store knows.
  ///
  /// - Throws: ``CommandFailure``, or the library's error for a day that the calendar does not have.
  func statisticsOptions(_ clock: LocalClock) throws -> StatisticsOptions {
    let clock = try self.clock(clock)
    var options = StatisticsOptions()
    options.from = try from.map { try clock.day($0, of: "--from", weekdays: .latest) }
    options.to = try to.map { try clock.day($0, of: "--to", weekdays: .latest) }
    if let from = options.from, let to = options.to, from > to {
      throw CommandFailure.usage(
        "--from \(from.iso8601) comes after --to \(to.iso8601)", remedy: "Give the earlier day to --from")
    }
    options.dayStartInMinutes = try dayStartInMinutes()
    options.usesRecordedOffsets = asRecorded
    return options
  }

  /// The list's id; a deleted list can be named by its id, or by the end of it that `stats` shows.
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
          .notFound, code: "ambiguousList", "\(found.count) deleted lists end with \(name.quotedForMessage)",
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
    let end = name.lowercased()
    guard end.count >= UUID.shownEndLength else { return [] }
    let deleted = try transaction.statistics().byList.filter { $0.name == nil }.compactMap(\.listID)
    return deleted.filter { $0.text.hasSuffix(end) }
  }

  private func dayStartInMinutes() throws -> Int {
    guard let dayStart else { return 0 }
    guard let time = LocalClock.timeOfDay(dayStart) else {
      throw CommandFailure.usage(
        "'\(dayStart.escapedForDisplay())' is not a time of day",
        remedy: "Write the start of the day as HH:MM, as in --day-start 04:00")
    }
    return 60 * time.hour + time.minute
  }
}

extension StatisticsOptions {
  /// Whether the first or the last day is named.
  var hasNamedDays: Bool { from != nil || to != nil }
}
