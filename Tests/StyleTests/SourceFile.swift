import Foundation

/// A Swift file of the repository, read and split into tokens once for all rules.
struct SourceFile {
  /// Relative to the repository, with `/` between folders.
  let path: String
  let lineCount: Int
  /// Comments left out; the place of everything else is kept.
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
}

extension SourceFile {
  /// Every Swift file of the package and its manifests, build folders left out.
  static func inRepository() throws -> [SourceFile] {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    var files: [SourceFile] = []
    for folder in ["Sources", "Tests", "Benchmarks"] {
      let enumerator = FileManager.default.enumerator(atPath: root.appending(path: folder).path)
      let names = (enumerator?.compactMap { $0 as? String } ?? []).filter { $0.hasSuffix(".swift") }
      for name in names.sorted() where !name.split(separator: "/").contains(where: { $0.hasPrefix(".build") }) {
        let path = "\(folder)/\(name)"
        files.append(SourceFile(path: path, text: try String(contentsOf: root.appending(path: path), encoding: .utf8)))
      }
    }
    return files
  }
}
