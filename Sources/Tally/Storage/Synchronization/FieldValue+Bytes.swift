import LMDB

extension FieldValue {
  /// The stored form, which replicas also use to send values.
  package var storedBytes: [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(ofByteCount: storedByteCount) { store(into: &$0) }
    return bytes
  }

  /// Decodes the stored form.
  ///
  /// - Throws: an error of the storage if the bytes are not a value of the kind.
  package init(_ kind: FieldKind, storedBytes: [UInt8]) throws {
    // The array outlives the decoding.
    try unsafe self.init(kind, stored: storedBytes.span.bytes)
  }
}
