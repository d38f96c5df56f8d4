import Crypto
import SystemPackage

extension FolderDisk {
  /// Reads the segments of a file.
  ///
  /// - Parameters:
  ///   - file: The file.
  ///   - replica: Whose it should be.
  /// - Returns: `nil` if the file has not, or not yet, exactly the segments that its name says.
  /// - Throws: `Errno` if it cannot be read.
  func segments(of file: SegmentFiles.File, by replica: ReplicaID) throws -> [[UInt8]]? {
    Self.segments(in: try read(file.entry.path), range: file.range, of: replica)
  }

  /// Splits the content of a file, and compares it with the file's name.
  ///
  /// The name has a part of the last segment's hash, and each segment has the hash of the one before it: so no byte can
  /// be wrong.
  static func segments(in bytes: [UInt8], range: FolderName.SegmentRange, of replica: ReplicaID) -> [[UInt8]]? {
    guard let envelopes = SegmentFrame.split(bytes), UInt64(envelopes.count) == range.count else { return nil }
    var expected = range.digest
    for (offset, envelope) in envelopes.enumerated().reversed() {
      let (frame, bytes) = (envelope.frame, envelope.bytes)
      guard frame.kind == .segment, frame.replica == replica, frame.number == range.first + UInt64(offset),
        Array(SHA256.hash(data: bytes)).starts(with: expected)
      else { return nil }
      expected = frame.previous.bytes
    }
    return envelopes.map(\.bytes)
  }

  /// Reads a file of one card or one part of a snapshot; `nil` if it is not whole.
  func envelope(_ kind: EnvelopeHeader.Kind, at path: FilePath, by replica: ReplicaID) throws -> [UInt8]? {
    let bytes = try read(path)
    return SegmentFrame(bytes[...])?.isWhole(kind, by: replica, byteCount: bytes.count) == true ? bytes : nil
  }
}

extension SegmentFrame {
  /// Whether a file of a length has just this envelope, of a kind and a replica.
  func isWhole(_ kind: EnvelopeHeader.Kind, by replica: ReplicaID, byteCount: Int) -> Bool {
    (self.kind, self.replica, self.byteCount) == (kind, replica, byteCount)
  }
}
