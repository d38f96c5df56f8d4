import Testing

/// A habit of this code that a machine can check, with what to do instead.
struct StyleRule: Sendable, CustomTestStringConvertible {
  /// A place that breaks the rule: the line and its text.
  typealias Place = (line: Int, what: String)

  let name: String
  let remedy: String
  /// Given a path relative to the repository.
  let appliesTo: @Sendable (String) -> Bool
  let places: @Sendable (SourceFile) -> [Place]

  var testDescription: String { name }

  /// One line per breach, each with file, line and remedy.
  func findings(in file: SourceFile) -> [String] {
    guard appliesTo(file.path) else { return [] }
    return places(file).map { "\(file.path):\($0.line): \($0.what): \(remedy)" }
  }
}
