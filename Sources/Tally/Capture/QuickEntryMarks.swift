/// What is known of each token of a sentence before anything is understood.
struct QuickEntryMarks {
  /// Whether a part may end before a token, or at the end: at a blank, or at punctuation that ends a word.
  private(set) var isEnd: [Bool]
  /// The token that closes the quotation which begins at a token; `nil` where none does, or where it is not closed.
  private(set) var closing: [Int?]

  init(_ tokens: [CaptureToken]) {
    isEnd = Array(repeating: true, count: tokens.count + 1)
    closing = Array(repeating: nil, count: tokens.count)
    var next: [String: Int] = [:]
    for index in tokens.indices.reversed() {
      let token = tokens[index]
      isEnd[index] = !token.isGlued || token.text == "#" || Self.endOfWord.contains(token.text) && isEnd[index + 1]
      if token.text == "\"" || token.text == "“" { closing[index] = next[token.text == "“" ? "”" : "\""] }
      if token.text == "\"" || token.text == "”" { next[token.text] = index }
    }
  }

  private static let endOfWord: Set = [".", ",", ";", ":", "!", "?", ")", "]", "…"]
}

/// The names of the lists that exist, by their first token: a sentence may name a list at each of its words.
struct KnownListNames {
  private var names: [String: [String]] = [:]

  init(_ names: [String]) {
    for name in names {
      guard let first = CaptureToken.all(of: name).first?.text else { continue }
      self.names[first, default: []].append(name)
    }
  }

  /// The names that may stand at a token.
  func names(at token: CaptureToken) -> [String] { names[token.text] ?? [] }
}
