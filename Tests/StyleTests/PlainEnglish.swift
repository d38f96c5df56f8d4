import Foundation

/// A phrase that makes a reader stop, and what to write instead.
struct PlainEnglish {
  /// A regular expression; case does not count.
  let phrase: String
  let instead: String
  /// How often it may stand in the repository: where it is the right word.
  let allowed: Int

  init(_ phrase: String, instead: String, allowed: Int = 0) {
    (self.phrase, self.instead, self.allowed) = (phrase, instead, allowed)
  }

  static let all: [PlainEnglish] = [
    PlainEnglish(#"\b(tells?|telling|told)\b"#, instead: "says, shows, reports, returns"),
    PlainEnglish(#"\bwhat (is|was|has)\b"#, instead: "the noun that is meant", allowed: 43),
    PlainEnglish(#"\bas (it|they) (was|were)\b"#, instead: "unchanged, the old one"),
    PlainEnglish(#"(?<!\bthere )\b(is|are|was|were) no\b"#, instead: "is not a, there is no", allowed: 2),
    PlainEnglish(#"\banew\b"#, instead: "again, from the records"),
    PlainEnglish(#"\bwhoever\b|\bwho asks\b"#, instead: "the caller, a reader, anyone who"),
    PlainEnglish(#"\bbut for\b"#, instead: "except"),
    PlainEnglish(#"\bso many\b"#, instead: "that many, the number"),
    PlainEnglish(#"\bsees? to it\b"#, instead: "ensures"),
    PlainEnglish(#"\b(takes?|taking|taken|took) (\w+ ){0,3}back\b"#, instead: "undo"),
    PlainEnglish(#"\bit makes\b|\bmakes? no\b"#, instead: "it does not, it creates"),
    PlainEnglish(#"\bnobody would miss\b"#, instead: "unnecessary"),
    PlainEnglish(#"\b(he|him|his|himself)\b"#, instead: "they, the reader"),
  ]

  /// Whether a file's words are ours: not inputs found by fuzzing, recorded output, or this table.
  static func covers(_ path: String) -> Bool {
    let name = path.split(separator: "/").last.map(String.init) ?? path
    let endings = [".swift", ".md", ".sh", ".py", ".c", ".h", ".supp", ".schema.json"]
    let isOurs = name == "Makefile" || path == ".ci/run" || endings.contains { name.hasSuffix($0) }
    return isOurs && !path.contains("/Corpora/") && !name.hasPrefix("PlainEnglish")
  }

  /// The places of the phrase, each with file, line and the text around it.
  func places(in text: String, of path: String) throws -> [String] {
    let expression = try NSRegularExpression(pattern: phrase, options: .caseInsensitive)
    return expression.matches(in: text, range: NSRange(text.startIndex..., in: text)).compactMap { match in
      guard let range = Range(match.range, in: text) else { return nil }
      let line = text[..<range.lowerBound].utf8.count { $0 == UInt8(ascii: "\n") } + 1
      let around = text[text.lineRange(for: range)].trimmingCharacters(in: .whitespacesAndNewlines)
      return "\(path):\(line): \(around)"
    }
  }
}
