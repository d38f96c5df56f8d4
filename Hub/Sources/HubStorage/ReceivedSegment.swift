import Crypto
import TallySync

/// A segment that a member has sent.
struct ReceivedSegment: Sendable {
  let number: UInt64
  let previousHash: [UInt8]
  let hash: [UInt8]
  let bytes: [UInt8]

  /// Reads the clear header, and hashes the bytes.
  init(_ bytes: [UInt8], of replica: ReplicaID, in space: SpaceID) throws(HubStoreError) {
    guard let frame = SegmentFrame(bytes[...]), frame.isSegment, frame.byteCount == bytes.count else {
      throw .malformed("The bytes are not one segment.")
    }
    guard frame.replica == replica, frame.space == space.bytes else {
      throw .malformed("The segment is another replica's or of another space.")
    }
    guard frame.number > 0, frame.number <= UInt64(Int64.max) else {
      throw .malformed("The number of the segment is out of range.")
    }
    (number, previousHash, self.bytes) = (frame.number, frame.previousHash, bytes)
    hash = Array(SHA256.hash(data: bytes))
  }
}
