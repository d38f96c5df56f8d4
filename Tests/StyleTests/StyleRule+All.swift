extension StyleRule {
  static let longestFunctionInLines = 70
  static let longestFileInLines = 600

  static let all: [StyleRule] = [
    readable, functionLength, fileLength, forceTry, forceCast, fatalErrorCall, printCall, callsOfLMDB,
    calendarInStorage,
    leftovers,
  ]

  /// Not a habit but the precondition of the other rules.
  static let readable = StyleRule(
    name: "the checker can read the file",
    remedy: "write it so that brackets and quotes pair up for a simple reader (a raw regular expression: `Regex(…)`)",
    appliesTo: { _ in true },
    places: { file in file.problem.map { [($0.line, $0.reason)] } ?? [] }
  )

  static let functionLength = StyleRule(
    name: "functions fit a screen",
    remedy: "keep the control flow here and move a pure step into a function (\(longestFunctionInLines) lines at most)",
    appliesTo: { _ in true },
    places: { file in
      FunctionSpan.all(in: file.tokens).filter { $0.lineCount > longestFunctionInLines }
        .map { ($0.firstLine, "`\($0.name)` has \($0.lineCount) lines") }
    }
  )

  static let fileLength = StyleRule(
    name: "a file is one noun",
    remedy: "move a noun of the domain into a file of its own (\(longestFileInLines) lines at most)",
    appliesTo: { _ in true },
    places: { file in
      file.lineCount > longestFileInLines ? [(file.lineCount, "the file has \(file.lineCount) lines")] : []
    }
  )

  static let forceTry = StyleRule(
    name: "no forced try",
    remedy: "let the function throw, or catch the error and explain it",
    appliesTo: { _ in true },
    places: { forced("try", in: $0) }
  )

  static let forceCast = StyleRule(
    name: "no forced cast",
    remedy: "use `as?` and give the other case an error of its own",
    appliesTo: { _ in true },
    places: { forced("as", in: $0) }
  )

  static let fatalErrorCall = StyleRule(
    name: "no fatalError",
    remedy: "throw a typed error with a remedy; state a programmer's error with `precondition`",
    appliesTo: { _ in true },
    places: { calls(of: ["fatalError"], in: $0) }
  )

  static let printCall = StyleRule(
    name: "libraries do not print",
    remedy: "return the value, log it, or write through the commands' output type",
    appliesTo: { $0.hasPrefix("Sources/") },
    places: { calls(of: ["print", "debugPrint", "dump"], in: $0) }
  )

  static let callsOfLMDB = StyleRule(
    name: "the C library is called in one folder",
    remedy: "call the typed binding in Sources/LMDB, or extend it there",
    appliesTo: { !$0.hasPrefix("Sources/LMDB/") },
    places: { file in
      file.tokens.filter { $0.kind == .word && ($0.text.hasPrefix("mdb_") || $0.text == "CLMDB") }
        .map { ($0.line, "`\($0.text)` outside the binding") }
    }
  )

  static let calendarInStorage = StyleRule(
    name: "storage knows no calendar",
    remedy: "turn days into `CalendarDay` and instants into `Timestamp` in Model, before they reach Storage",
    appliesTo: { $0.hasPrefix("Sources/Tally/Storage/") },
    places: { file in
      file.tokens.filter { ["Calendar", "TimeZone", "DateComponents", "DateFormatter"].contains($0.text) }
        .map { ($0.line, "`\($0.text)` in Storage") }
    }
  )

  static let leftovers = StyleRule(
    name: "no leftovers",
    remedy: "do it now, or open an issue and remove the mark",
    appliesTo: { _ in true },
    places: { file in
      file.comments.compactMap { comment in
        let marks: Set = ["TO" + "DO", "FIX" + "ME", "XX" + "X"]
        let words = comment.text.split { !$0.isLetter }.map(String.init)
        return words.first(where: marks.contains).map { (comment.line, "`\($0)` in a comment") }
      }
    }
  )
}

extension StyleRule {
  /// Places where a keyword is directly followed by `!`.
  private static func forced(_ keyword: String, in file: SourceFile) -> [Place] {
    zip(file.tokens, file.tokens.dropFirst())
      .filter { $0.isWord(keyword) && $1.isMark("!") && !$1.followsSpace }
      .map { ($0.0.line, "`\(keyword)!`") }
  }

  /// Places where a free function is called; methods and declarations of the same name are ignored.
  private static func calls(of names: Set<String>, in file: SourceFile) -> [Place] {
    file.tokens.indices.dropLast().compactMap { index in
      let token = file.tokens[index]
      guard names.contains(token.text), file.tokens[index + 1].isMark("(") else { return nil }
      let before = file.tokens[..<index].suffix(2).map(\.text)
      let isMethodOrDeclaration = [".", "func"].contains(before.last) && before != ["Swift", "."]
      return isMethodOrDeclaration ? nil : (token.line, "`\(token.text)(`")
    }
  }
}
