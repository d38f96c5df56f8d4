/// A line of a document in Markdown, as far as a checklist is concerned.
struct ChecklistLine {
  /// The blanks before it; a tab counts as four.
  let indentation: Int
  /// The mark between the brackets, for an item.
  private(set) var mark: Character?
  /// The text behind the mark or the signs of a heading, or the whole line.
  private(set) var text: String
  /// The depth of a heading.
  private(set) var headingLevel: Int?

  var isItem: Bool { mark != nil }

  init(_ line: String) {
    // As scalars, since a combining mark may follow a blank.
    let scalars = line.unicodeScalars
    indentation = scalars.prefix { $0 == " " || $0 == "\t" }.reduce(0) { $0 + ($1 == "\t" ? 4 : 1) }
    let body = Substring(scalars.drop { $0 == " " || $0 == "\t" })
    text = String(body)
    if let match = body.prefixMatch(
      of: /(?:[-*+]|[0-9]+[.)])[ ]+\[(.)\](?:[ ](.*))?$/.matchingSemantics(.unicodeScalar))
    {
      // Besides open, done and begun: cancelled, and what note-taking programs add.
      if " xX/-~<>!?*".contains(match.1) { (mark, text) = (Character(String(match.1)), String(match.2 ?? "")) }
    } else if indentation < 4,
      let match = body.prefixMatch(of: /(#{1,6})[ ]+(.*?)[ ]*#*$/.matchingSemantics(.unicodeScalar))
    {
      (headingLevel, text) = (match.1.count, String(match.2))
    }
  }
}
