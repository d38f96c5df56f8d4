import Foundation

/// A Swift file of the repository, read and split into tokens once for all rules.
struct SourceFile {
  /// Relative to the repository, with `/` between folders.
  let path: String
  let lineCount: Int
  /// Without comments; all other tokens keep their places.
  let tokens: [SourceToken]
  let comments: [SourceToken]
  let problem: (line: Int, reason: String)?

  init(path: String, text: String) {
    let lexer = SwiftLexer(reading: text)
    self.path = path
    lineCount = text.split(separator: "\n", omittingEmptySubsequences: false).count - (text.hasSuffix("\n") ? 1 : 0)
    tokens = lexer.tokens.filter { $0.kind != .comment }
    comments = lexer.tokens.filter { $0.kind == .comment }
    problem = lexer.problem
  }

  /// Every Swift file of the package.
  static func inRepository() throws -> [SourceFile] {
    try Repository.paths().filter { $0.hasSuffix(".swift") }.map {
      SourceFile(path: $0, text: try Repository.text(of: $0))
    }
  }
}
