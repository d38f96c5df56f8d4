/// One record of a document, whatever its format.
package enum DocumentRecord {
  case list(ListDocument)
  case task(TaskDocument)
  case completion(Completion)
  case filter(SavedFilter)
  /// Something that was not understood, and that costs no record.
  case remark(DocumentRemark)
}

/// Reads the records of a document one after the other.
package protocol DocumentSource: ~Copyable, SendableMetatype {
  /// When the document was written; `nil` if it does not say, or has not said yet.
  var exportDate: Timestamp? { get }
  /// The bytes read so far.
  var byteCount: Int64 { get }
  /// Whether this is another program's document, of which only the invalid values are left out.
  var isForeign: Bool { get }

  /// The next record, and where it begins; `nil` at the end.
  ///
  /// - Throws: the error of the document, with its position. The source cannot be used afterwards.
  mutating func next() throws -> (record: DocumentRecord, position: TextPosition)?
}

extension DocumentSource where Self: ~Copyable {
  /// `false`, as for Tally's own documents: one invalid value refuses the whole document.
  package var isForeign: Bool { false }
}
