import LMDB

extension FieldValue {
  /// The stored form, in which replicas send values, too.
  package var storedBytes: [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(ofByteCount: storedByteCount) { store(into: &$0) }
    return bytes
  }

  /// Reads the stored form.
  ///
  /// - Throws: an error of the storage for bytes that are not a value of the kind.
  package init(_ kind: FieldKind, storedBytes: [UInt8]) throws {
    // The array lives until the value is read.
    try unsafe self.init(kind, stored: storedBytes.span.bytes)
  }
}
