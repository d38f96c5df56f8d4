import ArgumentParser

/// How much of a view to show, and how.
struct ViewOptions: ParsableArguments {
  @Flag(help: "Show open tasks only.")
  var open = false

  @Flag(help: "Show sub-tasks below their parents, also those that the view does not hold.")
  var tree = false

  @OptionGroup
  var limited: LimitOption

  /// A view's description with these options.
  func applied(to description: ViewDescription) -> ViewDescription {
    var description = description
    description.isOpenOnly = open
    description.isTree = tree
    description.limit = limited.limit
    return description
  }
}

extension ViewOptions: PlainOptions {
  /// Takes the options from plain arguments.
  mutating func take(from arguments: inout PlainArguments) {
    open = arguments.takeFlag("--open")
    tree = arguments.takeFlag("--tree")
    limited = .taken(from: &arguments)
  }
}
