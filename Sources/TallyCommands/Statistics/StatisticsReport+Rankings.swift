import Tally

extension StatisticsReport {
  /// A list, a tag or a priority, with the completions in it; the name is not escaped.
  typealias RankedGroup = (name: String, completed: Int)

  /// The lists with completions, most first, with a name for every one.
  var rankedLists: [RankedGroup] {
    statistics.byList.enumerated()
      .sorted { ($1.element.completed, $0.offset) < ($0.element.completed, $1.offset) }
      .map { _, count in
        let missing = count.listID.map { "deleted list \($0.shownEnd)" } ?? "no list"
        let name = count.isDeleted ? count.name.map { "\($0) (deleted)" } : count.name
        return (name ?? missing, count.completed)
      }
  }

  /// The tags with completions, most first.
  var rankedTags: [RankedGroup] { statistics.byTag.map { ($0.tag, $0.completed) } }

  /// The priorities with completions, the highest first.
  var rankedPriorities: [RankedGroup] { statistics.byPriority.map { ($0.priority.name, $0.completed) } }
}
