import ArgumentParser

/// `--limit`.
struct LimitOption: ParsableArguments {
  // Unconditional: a negative number is a wrong value, not a missing one.
  @Option(
    name: .customLong("limit"), parsing: .unconditional,
    help: ArgumentHelp("Show at most this many.", valueName: "n"))
  var given: Int?

  /// The limit, to which one can be added: some commands look for one more to know whether there are more.
  var limit: Int? { given.map { min($0, .max - 1) } }

  func validate() throws {
    if let given, given < 1 { throw ValidationError("--limit must be at least 1.") }
  }
}

extension LimitOption: PlainOptions {
  /// Takes the option from plain arguments.
  mutating func take(from arguments: inout PlainArguments) {
    let text = arguments.takeValue(of: "--limit")
    let limit = text.flatMap { Int($0) }
    arguments.require((text == nil) == (limit == nil))
    arguments.require(limit ?? 1 >= 1)
    given = limit
  }
}
