import TallySystem

extension JournalFile {
  /// The record that continues a place, with its changes; `nil` if it is missing or incomplete (R5).
  func record(
    at place: JournalPosition, _ header: JournalHeader
  ) throws -> (record: JournalRecord, payload: [UInt8], end: JournalPosition)? {
    let ring = UInt64(header.ringSizeInBytes)
    // A record that does not fit into the rest of the ring begins at its start.
    let wrapped = place.offset + (ring - place.offset % ring) % ring
    for offset in wrapped == place.offset ? [place.offset] : [place.offset, wrapped] {
      let physical = Int(offset % ring)
      guard let record = try head(at: physical), continues(place, header.epoch, record),
        record.payloadByteCount >= 0, record.payloadByteCount <= Int(ring) - physical - JournalRecord.byteCount
      else { continue }
      let payload = try bytes(
        count: record.payloadByteCount, at: Self.ringOffset + physical + JournalRecord.byteCount)
      guard isWhole(record, payload) else { continue }
      let end = JournalPosition(
        sequence: record.sequence, offset: offset + UInt64(record.ringByteCount), chain: record.checksum)
      return (record, payload, end)
    }
    return nil
  }

  /// The head of a record at a place in the ring.
  func head(at physical: Int) throws -> JournalRecord? {
    JournalRecord(try bytes(count: JournalRecord.byteCount, at: Self.ringOffset + physical))
  }

  private func continues(_ place: JournalPosition, _ epoch: UInt64, _ record: JournalRecord) -> Bool {
    guard record.sequence == place.sequence + 1 else { return false }
    return brokenRules.contains(.chain) || (record.epoch == epoch && record.chain == place.chain)
  }

  private func isWhole(_ record: JournalRecord, _ payload: [UInt8]) -> Bool {
    if brokenRules.contains(.checksum) { return true }
    // Read within the call only.
    return unsafe payload.withUnsafeBytes {
      unsafe record.computedChecksum(of: $0, ignoringChain: brokenRules.contains(.chain))
    } == record.checksum
  }
}
