/// The lines one function takes, from its keyword to its closing brace.
struct FunctionSpan: Equatable {
  let name: String
  let firstLine: Int
  let lineCount: Int

  /// Every function, initializer, subscript and computed property with a body, inner ones too.
  static func all(in tokens: [SourceToken]) -> [FunctionSpan] {
    tokens.indices.compactMap { index in
      guard let opening = openingBrace(ofDeclarationAt: index, in: tokens) else { return nil }
      let (first, last) = (tokens[index].line, tokens[closingBrace(of: opening, in: tokens)].line)
      return FunctionSpan(name: name(ofDeclarationAt: index, in: tokens), firstLine: first, lineCount: last - first + 1)
    }
  }

  private static func openingBrace(ofDeclarationAt index: Int, in tokens: [SourceToken]) -> Int? {
    let previous = index > 0 ? tokens[index - 1] : nil
    switch tokens[index].text {
    case "func", "deinit":
      return openingBrace(after: index, in: tokens) { _ in true }
    case "init", "subscript":
      // `.init(…)` and `self.init(…)` are calls.
      return previous?.isMark(".") == true ? nil : openingBrace(after: index, in: tokens) { _ in true }
    case "var":
      // A binding such as `if var x {` or `for var x in {` does not declare a property. A property's brace is
      // on the line on which its type ends, and no `=` comes before it.
      let isBinding = ["if", "guard", "while", "for", "case"].contains(previous?.text) || previous?.isMark(",") == true
      return isBinding
        ? nil : openingBrace(after: index, in: tokens) { !$0.isMark("=") && $0.line == tokens[index].line }
    default:
      return nil
    }
  }

  /// The first `{` outside parentheses, unless the declaration ends without a body before it, as in a protocol.
  private static func openingBrace(
    after index: Int,
    in tokens: [SourceToken],
    whileOn belongs: (SourceToken) -> Bool
  ) -> Int? {
    let nextDeclaration: Set<String> = [
      "func", "init", "deinit", "subscript", "var", "let", "static", "mutating", "associatedtype", "typealias",
      "struct",
      "class", "enum", "extension", "protocol", "import", "case",
    ]
    var depth = 0
    for next in (index + 1)..<max(index + 1, tokens.count) {
      let token = tokens[next]
      if token.isMark("(") || token.isMark("[") {
        depth += 1
      } else if token.isMark(")") || token.isMark("]") {
        depth -= 1
      } else if depth == 0 {
        if token.isMark("{"), belongs(token) { return next }
        let startsAnother = token.kind == .word && nextDeclaration.contains(token.text)
        if token.isMark("}") || startsAnother || !belongs(token) { return nil }
      }
      if depth < 0 { return nil }
    }
    return nil
  }

  private static func closingBrace(of opening: Int, in tokens: [SourceToken]) -> Int {
    var depth = 0
    for index in opening..<tokens.count {
      depth += tokens[index].isMark("{") ? 1 : tokens[index].isMark("}") ? -1 : 0
      if depth == 0 { return index }
    }
    return tokens.count - 1
  }

  private static func name(ofDeclarationAt index: Int, in tokens: [SourceToken]) -> String {
    let keyword = tokens[index].text
    return ["func", "var"].contains(keyword) && index + 1 < tokens.count ? tokens[index + 1].text : keyword
  }
}
