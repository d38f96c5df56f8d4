/// The title that remains of a sentence.
struct QuickEntryTitle {
  /// The title; `nil` if nothing of use is left.
  let text: String?

  /// Removes parts of a sentence with the blanks around them, and backslashes without.
  init(_ sentence: String, removing parts: [Range<String.Index>], and escapes: [Range<String.Index>]) {
    var title = ""
    var place = sentence.startIndex
    var escapes = escapes[...]
    for part in parts {
      title.join(Self.text(of: sentence, in: place..<part.lowerBound, without: &escapes))
      place = part.upperBound
    }
    title.join(Self.text(of: sentence, in: place..<sentence.endIndex, without: &escapes))
    if parts.first.map({ sentence[..<$0.lowerBound].allSatisfy(\.isWhitespace) }) ?? false {
      title = String(title.drop { $0.isWhitespace || Self.separators.contains($0) })
    }
    if parts.last.map({ sentence[$0.upperBound...].allSatisfy(\.isWhitespace) }) ?? false {
      title.removeSeparators()
    }
    let isEmpty = title.allSatisfy { $0.isWhitespace || $0.isPunctuation }
    text = isEmpty && !parts.isEmpty ? nil : title.trimmed
  }

  /// The text of a range without the escapes in it; removes the escapes up to its end from the rest, which is in order.
  private static func text(
    of sentence: String, in range: Range<String.Index>, without escapes: inout ArraySlice<Range<String.Index>>
  ) -> String {
    var text = ""
    var place = range.lowerBound
    while let escape = escapes.first, escape.lowerBound < range.upperBound {
      escapes.removeFirst()
      guard range.contains(escape.lowerBound) else { continue }
      text += sentence[place..<escape.lowerBound]
      place = escape.upperBound
    }
    return text + sentence[place..<range.upperBound]
  }

  /// Punctuation that has nothing to separate at the end of a title.
  fileprivate static let separators: Set<Character> = [",", ";", ":", "-", "–", "—"]
}

extension String {
  /// Appends a piece with one blank between; none before punctuation that followed a part directly.
  fileprivate mutating func join(_ piece: String) {
    let trimmed = piece.trimmed
    guard let first = piece.first, !trimmed.isEmpty else { return }
    let isPunctuation = first.isPunctuation && first != "#"
    if isPunctuation { removeSeparators() }
    self += isEmpty || isPunctuation ? trimmed : " \(trimmed)"
  }

  /// Removes the punctuation at the end that has nothing more to separate.
  fileprivate mutating func removeSeparators() {
    while let last, last.isWhitespace || QuickEntryTitle.separators.contains(last) { removeLast() }
  }
}
