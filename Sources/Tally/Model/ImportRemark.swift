/// What an import did not understand or could not keep as a field, of one kind.
///
/// ```swift
/// let summary = try store.importDocument(from: "export.json")
/// for remark in summary.account { print(remark.kind, remark.count, remark.example, remark.line ?? 0) }
/// ```
public struct ImportRemark: Hashable, Sendable {
  /// What was not understood, in one word, such as `recurrence`, `column`, `zone` or `date`.
  public let kind: String
  /// How often it came.
  public internal(set) var count: Int
  /// The first one, as the document has it, cut after 120 characters; of columns all of them, cut after 1,000.
  public let example: String
  /// The line of the first one, from 1; `nil` if it has none.
  public let line: Int?
}

/// What a reader did not understand, of one kind.
package struct DocumentRemark: Hashable, Sendable {
  /// The kind, as ``ImportRemark/kind``: one of a few words of the code, never a text of the document.
  package let kind: String
  /// What the document says in the first place.
  package private(set) var example: String
  private(set) var mostCharacters = 120
  /// How often it came.
  package var count = 1

  /// Creates a remark.
  package init(_ kind: String, _ example: String) {
    (self.kind, self.example) = (kind, example)
  }

  /// Lists another example of the kind.
  package mutating func list(_ example: String) {
    mostCharacters = 1_000
    if self.example.utf8.count < 4 * mostCharacters { self.example += ", " + example }
  }
}

extension [ImportRemark] {
  /// Counts a remark under its kind; the first of a kind is the example.
  mutating func add(_ remark: DocumentRemark, at line: Int?) {
    if let index = firstIndex(where: { $0.kind == remark.kind }) {
      self[index].count += remark.count
    } else {
      let example = remark.example.prefix(remark.mostCharacters)
      let isCut = example.endIndex != remark.example.endIndex
      append(ImportRemark(kind: remark.kind, count: remark.count, example: example + (isCut ? "…" : ""), line: line))
    }
  }
}

extension TallyError {
  /// A strict import found something that it does not understand.
  static func notUnderstood(_ remark: DocumentRemark) -> TallyError {
    TallyError(
      .malformedDocument, "The \(remark.kind) “\(remark.example)” is not understood",
      remedy: "Correct it, or import without --strict, which skips only this")
  }
}
