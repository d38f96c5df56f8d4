import Foundation

/// The links, paths and commands of a page of documentation, each with its line.
struct MarkdownPage {
  typealias Promise = (line: Int, text: String)

  /// Relative to the repository.
  let path: String
  private(set) var links: [Promise] = []
  private(set) var codeSpans: [Promise] = []
  /// The lines of fenced blocks.
  private(set) var codeLines: [Promise] = []
  /// The headings' names as link targets.
  private(set) var anchors: Set<String> = []

  init(path: String, text: String) {
    self.path = path
    var fence: Substring?
    for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      let number = index + 1
      let trimmed = line.drop { $0 == " " }
      if let open = fence {
        if trimmed.hasPrefix(open) { fence = nil } else { codeLines.append((number, String(line))) }
      } else if trimmed.hasPrefix("```") || trimmed.hasPrefix("~~~") {
        fence = trimmed.prefix(3)
      } else {
        readProse(line, number: number)
      }
    }
  }

  /// The comments of a Swift file that have lines of their own, each on its line, as a page.
  init(path: String, commentsOf source: String) {
    let lines = source.split(separator: "\n", omittingEmptySubsequences: false).map { line in
      let text = line.drop { $0 == " " }
      return text.hasPrefix("//") ? String(text.drop { "/ ".contains($0) }) : ""
    }
    self.init(path: path, text: lines.joined(separator: "\n"))
  }

  private mutating func readProse(_ line: Substring, number: Int) {
    if line.hasPrefix("#") { anchors.insert(Self.anchor(of: line.drop { $0 == "#" })) }
    // Code spans first: a bracket inside one is not a link.
    var prose = ""
    for (index, part) in line.split(separator: "`", omittingEmptySubsequences: false).enumerated() {
      if index.isMultiple(of: 2) { prose += part } else { codeSpans.append((number, String(part))) }
    }
    for match in prose.matches(of: Self.link) { links.append((number, String(match.output.1))) }
  }

  /// The target of `[words](target)` or `[words](target "title")`.
  private static var link: Regex<(Substring, Substring)> { /\]\(([^)\s]+)[^)]*\)/ }

  /// As on code hosts: lower case, words joined by `-`, without punctuation.
  private static func anchor(of heading: Substring) -> String {
    String(heading).trimmingCharacters(in: .whitespaces).lowercased()
      .compactMap { $0 == " " ? "-" : $0.isLetter || $0.isNumber || $0 == "-" || $0 == "_" ? String($0) : nil }.joined()
  }
}
