/// The errors of a document, with their places.
extension JSONReader {
  /// A breach of JSON at a place; without one, at the latest token.
  package func fault(
    _ message: String, at position: TextPosition? = nil,
    remedy: String = "Correct the document there; nothing was imported"
  ) -> TallyError {
    TallyError(.malformedDocument, message, remedy: remedy, at: position ?? tokenPosition)
  }

  /// The input ends before the document does.
  func truncation() -> TallyError {
    let remedy = "The file may be cut off: get it whole and try again"
    return fault("The document ends too early", at: input.position, remedy: remedy)
  }
}
