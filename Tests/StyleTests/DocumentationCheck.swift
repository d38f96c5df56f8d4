import Foundation

/// Finds links, paths and commands in the documentation that do not exist.
struct DocumentationCheck {
  let pages: [MarkdownPage]
  /// Every file and folder.
  let paths: Set<String>
  let makeTargets: Set<String>

  func findings() -> [String] {
    pages.flatMap { page in
      page.links.compactMap { finding(forLink: $0, in: page) }
        + page.codeSpans.compactMap { finding(forPath: $0, in: page) }
        + (page.codeSpans + page.codeLines).compactMap { finding(forCommand: $0, in: page) }
    }
  }

  private func finding(forLink link: MarkdownPage.Promise, in page: MarkdownPage) -> String? {
    if link.text.contains("://") || link.text.hasPrefix("mailto:") { return nil }
    let parts = link.text.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    let target = parts[0].isEmpty ? page.path : resolve(parts[0], from: page.path)
    guard paths.contains(target) else {
      return "\(page.path):\(link.line): the link `\(link.text)` leads nowhere: correct or remove it"
    }
    guard parts.count == 2, let other = pages.first(where: { $0.path == target }) else { return nil }
    return other.anchors.contains(parts[1])
      ? nil : "\(page.path):\(link.line): \(target) has no heading `#\(parts[1])`: name one it has"
  }

  /// A code span counts as a path if it begins with a top-level folder, or names a source or a page.
  private func finding(forPath span: MarkdownPage.Promise, in page: MarkdownPage) -> String? {
    let path = span.text.hasSuffix("/") ? String(span.text.dropLast()) : span.text
    guard path.allSatisfy({ $0.isLetter || $0.isNumber || "_-+./".contains($0) }), !path.hasPrefix(".build") else {
      return nil
    }
    let first = path.split(separator: "/").first.map(String.init) ?? ""
    let isFromTop = path.contains("/") && paths.contains(first)
    let isBareName = !path.contains("/") && (path.hasSuffix(".swift") || path.hasSuffix(".md"))
    let isThere = paths.contains(path) || (isBareName && paths.contains { $0.hasSuffix("/\(path)") })
    return (isFromTop || isBareName) && !isThere
      ? "\(page.path):\(span.line): there is no `\(span.text)`: correct the path" : nil
  }

  private func finding(forCommand code: MarkdownPage.Promise, in page: MarkdownPage) -> String? {
    let words = code.text.split(separator: " ").drop { $0 == "$" }
    guard words.first == "make", words.count > 1, let target = words.dropFirst().first.map(String.init) else {
      return nil
    }
    return makeTargets.contains(target)
      ? nil : "\(page.path):\(code.line): the Makefile has no target `\(target)`: correct the command"
  }

  private func resolve(_ target: String, from page: String) -> String {
    var folders = page.split(separator: "/").dropLast().map(String.init)
    for part in target.split(separator: "/") where part != "." {
      if part == ".." { _ = folders.popLast() } else { folders.append(String(part)) }
    }
    return folders.joined(separator: "/")
  }

  /// The names before a colon at the start of a line; `:=` is an assignment.
  static func targets(ofMakefile text: String) -> Set<String> {
    Set(
      text.split(separator: "\n").compactMap { line in
        line.prefixMatch(of: /([a-z][a-z-]*):(?!=)/).map { String($0.output.1) }
      }
    )
  }
}
