import ArgumentParser
import Tally

/// `tally completed`.
struct CompletedCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "completed",
    abstract: "Show completed tasks, newest first.",
    usage: "tally completed [--from <day>] [--to <day>] [--list <name>] [<options>]",
    discussion: """
      These are the tasks behind the numbers in 'tally stats'; the same options select the same work.

      Days are local, and both are included. Without --from or --to that end is open, while 'tally stats' then covers \
      the days of its series. A weekday is the latest one up to today. --list names the list in which the work was \
      done: a task moved since then is found under the list it was completed in, and shown with the list it is in \
      now. Completed tasks that have since been deleted still count in the statistics; only their number is reported, on \
      standard error.

      \(SharedHelp.taskRecord)

      EXAMPLES
        tally completed --from monday
        tally completed --from 2026-01-01 --to 2026-01-31 --json
      """
  )

  @OptionGroup
  var completions: CompletionOptions

  func run(in session: Session) throws {
    var options = try completions.statisticsOptions(session.clock)
    var (deletedCount, isNothingLeft) = (0, false)
    try session.show { transaction in
      options.listID = try completions.listID(in: transaction)
      deletedCount = try transaction.completionCountOfDeletedTasks(matching: options)
      isNothingLeft = try deletedCount > 0 && transaction.completionCount(matching: options) == deletedCount
      return ViewDescription(
        view: .completed(nil),
        title: "Completed",
        emptyHint: isNothingLeft
          ? "None of the tasks completed\(place(options))"
          : "\(nothing(options)) Complete a task: tally done HANDLE; add --at for the past",
        completions: options,
        hiding: [.completionDay]
      )
    }
    if deletedCount > 0 {
      let noun = isNothingLeft ? "completion" : "more completion"
      let verb = deletedCount == 1 ? "belongs to a deleted task" : "belong to deleted tasks"
      session.note("\(deletedCount.counted(noun)) \(verb)")
    }
  }

  private func nothing(_ options: StatisticsOptions) -> String {
    let place = place(options)
    return place.isEmpty ? "Nothing has been completed yet." : "Nothing was completed\(place)."
  }

  private func place(_ options: StatisticsOptions) -> String {
    if options.hasNamedDays { return " in that period" }
    return options.listID == nil ? "" : " in that list"
  }
}

extension LocalClock {
  /// The day on which the statistics count a completion.
  func day(of completion: OffsetTimestamp, countedBy options: StatisticsOptions) -> CalendarDay {
    var local = completion.instant.wholeSeconds - 60 * Int64(options.dayStartInMinutes)
    local +=
      options.usesRecordedOffsets
      ? 60 * Int64(completion.utcOffsetInMinutes) : timeZone.secondsFromGMT(at: completion.instant)
    return CalendarDay(clamping: floorDivide(local, by: 86_400))
  }
}
