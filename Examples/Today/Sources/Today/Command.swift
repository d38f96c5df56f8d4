/// A line that a person types: a title to add a task, a number to advance that task to its next state, nothing to quit.
enum Command {
  case add(String)
  case advance(position: Int)

  /// Reads a line; `nil` means quit.
  init?(_ line: String) {
    guard !line.isEmpty else { return nil }
    self = Int(line).map { .advance(position: $0) } ?? .add(line)
  }
}
