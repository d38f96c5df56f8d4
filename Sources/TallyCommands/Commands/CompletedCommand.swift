import ArgumentParser
import Tally

/// `tally completed`.
struct CompletedCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "completed",
    abstract: "Show completed tasks, newest first.",
    usage: """
      tally completed [<filter> ...] [--from <day>] [--to <day>] [--list <name>] [--tag <tag>] [--limit <n>] [<options>]
      """,
    discussion: """
      These are the tasks behind the numbers in 'tally stats'; the same options select the same work.

      Days are local, and both are included. Without --from or --to that end is open, while 'tally stats' then covers \
      the days of its series. A weekday is the latest one up to today. --list names the list in which the work was \
      done: a task moved since then is found under the list it was completed in, and shown with the list it is in \
      now. Completed tasks that have since been deleted still count in the statistics; only their number is reported, on \
      standard error.

      \(SharedHelp.completionFilter)

      \(SharedHelp.taskRecord)

      EXAMPLES
        tally completed --from monday
        tally completed +home --from 2026-01-01
        tally completed --from 2026-01-01 --to 2026-01-31 --json
      """
  )

  static let takesText = true

  @OptionGroup
  var completions: CompletionOptions

  @OptionGroup
  var limited: LimitOption

  static var manyWords: WritableKeyPath<Self, [String]>? { \.completions.filter.words }

  var countsWeeks: Bool { completions.filter.countsWeeks }

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
        emptyHint: isNothingLeft ? completions.deletedHint(options) : completions.emptyHint(options),
        completions: options,
        limit: limited.limit,
        hiding: [.completionDay]
      )
    }
    if deletedCount > 0 {
      let noun = isNothingLeft ? "completion" : "more completion"
      let verb = deletedCount == 1 ? "belongs to a deleted task" : "belong to deleted tasks"
      session.note("\(deletedCount.counted(noun)) \(verb)")
    }
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
