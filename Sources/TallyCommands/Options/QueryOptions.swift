import ArgumentParser
import Tally

/// The order of found tasks, and how many to show.
struct QueryOptions: ParsableArguments {
  @Option(help: ArgumentHelp("How to sort the tasks. Default: place.", valueName: "order"))
  var sort: TaskOrder = .place

  @OptionGroup
  var limited: LimitOption

  var limit: Int? { limited.limit }

  /// The tasks of a filter as a view.
  func description(of filter: TaskFilter, title: String, emptyHint: String) -> ViewDescription {
    ViewDescription(view: TaskQuery(filter, by: sort).view, title: title, emptyHint: emptyHint, limit: limit)
  }
}

extension QueryOptions: PlainOptions {
  /// Takes the options from plain arguments.
  mutating func take(from arguments: inout PlainArguments) {
    let text = arguments.takeValue(of: "--sort")
    let order = text.flatMap { TaskOrder(argument: $0) }
    arguments.require((text == nil) == (order == nil))
    sort = order ?? .place
    limited = .taken(from: &arguments)
  }
}
