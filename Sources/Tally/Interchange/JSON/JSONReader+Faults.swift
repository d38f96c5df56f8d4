/// The errors of a document, with their places.
extension JSONReader {
  /// A breach of JSON at a place; without one, at the latest token.
  func fault(_ message: String, at position: TextPosition? = nil) -> TallyError {
    TallyError(
      .malformedDocument, message, remedy: "Correct the document there; nothing was imported",
      at: position ?? tokenPosition)
  }

  /// The input ends before the document does.
  func truncation() -> TallyError {
    TallyError(
      .malformedDocument,
      "The document ends too early",
      remedy: "The file may be cut off: get it whole and try again",
      at: input.position
    )
  }
}
