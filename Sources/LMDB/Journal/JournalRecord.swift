/// The head of a record, which holds the changes of one commit.
struct JournalRecord: Equatable {
  static let byteCount = 56
  private static let magic: UInt64 = 0x4A52_4543_4F52_4431

  /// The size of the changes.
  var payloadByteCount: Int
  /// One more than that of the record before it.
  var sequence: UInt64
  /// liblmdb's number of the commit.
  var transaction: UInt64
  var epoch: UInt64
  /// The checksum of the record before it.
  var chain: UInt64
  var checksum: UInt64 = 0

  /// How much of the ring it takes.
  var ringByteCount: Int { Self.ringByteCount(ofPayload: payloadByteCount) }

  static func ringByteCount(ofPayload count: Int) -> Int {
    let block = JournalFile.blockSizeInBytes
    return (byteCount + count + block - 1) / block * block
  }

  init(payloadByteCount: Int, sequence: UInt64, transaction: UInt64, epoch: UInt64, chain: UInt64) {
    self.payloadByteCount = payloadByteCount
    (self.sequence, self.transaction, self.epoch, self.chain) = (sequence, transaction, epoch, chain)
  }

  /// Reads a head, without a look at its payload; `nil` for other bytes.
  init?(_ bytes: [UInt8]) {
    let words = (0..<7).compactMap { bytes.number(at: $0 * 8, as: UInt64.self)?.littleEndian }
    guard words.count == 7, words[0] == Self.magic, let count = Int(exactly: words[1]), count < Int(UInt32.max) else {
      return nil
    }
    self.init(
      payloadByteCount: count, sequence: words[2], transaction: words[3], epoch: words[4], chain: words[5])
    checksum = words[6]
  }

  var encoded: [UInt8] {
    [Self.magic, UInt64(payloadByteCount), sequence, transaction, epoch, chain, checksum].flatMap(\.storedBytes)
  }

  /// The checksum of the head's other numbers and of a payload.
  func computedChecksum(of payload: UnsafeRawBufferPointer, ignoringChain: Bool = false) -> UInt64 {
    let head = [UInt64(payloadByteCount), sequence, transaction] + (ignoringChain ? [] : [epoch, chain])
    // The caller's bytes, read within the call.
    return unsafe JournalChecksum.of(payload, after: JournalChecksum.of(head, after: 5))
  }
}
