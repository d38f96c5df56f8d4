/// What is known about each token of a sentence before the sentence is read.
struct QuickEntryMarks {
  /// For each token, and for the end of the text, whether a part may end before it: at a blank, or at punctuation that ends
  /// a word.
  private(set) var isEnd: [Bool]
  /// For each token that opens a quotation, the token that closes it; `nil` for other tokens, and if nothing closes it.
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

/// The names of the existing lists by their first tokens, because any word of a sentence may begin the name of a list.
struct KnownListNames {
  private var names: [String: [String]] = [:]

  init(_ names: [String]) {
    for name in names {
      guard let first = CaptureToken.all(of: name).first?.text else { continue }
      self.names[first, default: []].append(name)
    }
  }

  /// The names that may begin at a token.
  func names(at token: CaptureToken) -> [String] { names[token.text] ?? [] }
}
