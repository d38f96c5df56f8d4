import SystemPackage

extension FolderTransport {
  /// How many cards of this replica stay: while a new one is copied to other devices they need the old one.
  private static let keptCardCount = 2

  /// The newest card of each replica that is whole.
  ///
  /// - Returns: The sealed bytes, without the cards of replicas whose files cannot be read.
  /// - Throws: `FolderFault` if the folder cannot be reached.
  public func cards() async throws -> [ReplicaID: [UInt8]] {
    try await onQueue { transport in
      var cards: [ReplicaID: [UInt8]] = [:]
      for replica in try transport.listing.replicas(.replicas) {
        cards[replica] = try? transport.newestCard(of: replica)
      }
      return cards
    }
  }

  /// Stores a newer card of this replica, durably, and removes all but the one before it.
  ///
  /// - Parameters:
  ///   - card: The sealed bytes.
  ///   - replica: Whose it is.
  ///   - number: Counts the cards of the replica, from 1.
  /// - Throws: `FolderFault` if the folder cannot be reached or written, or the bytes are not a card.
  public func putCard(_ card: [UInt8], of replica: ReplicaID, number: UInt64) async throws {
    try await onQueue { transport in
      let directory = try transport.ownDirectory(.replicas, of: replica)
      let path = directory.appending(FolderName.card(number).text)
      guard (1...FolderName.greatestNumber).contains(number),
        SegmentFrame(card[...])?.isWhole(.card, by: replica, byteCount: card.count) == true
      else { throw FolderFault(kind: .invalid, path: path, reason: "the bytes are not a card of the replica") }
      // A second attempt may have sealed the same card again.
      try FolderFault.at(path) { try transport.disk.publish(card, as: path, isReplacing: true) }
      for old in try transport.cardFiles(of: replica).dropFirst(Self.keptCardCount) {
        // The next time is as good.
        try? transport.disk.remove(old.path)
      }
      transport.noteOwnChange(.replicas, of: replica)
    }
  }

  /// The newest card that is whole.
  private func newestCard(of replica: ReplicaID) throws -> [UInt8]? {
    for file in try cardFiles(of: replica) {
      do {
        if let card = try disk.envelope(.card, at: file.path, by: replica) { return card }
      } catch Errno.noSuchFileOrDirectory {
        // Its replica has removed it meanwhile: there is a newer one, which the next look finds.
      } catch {
        throw FolderFault(error as? Errno ?? .ioError, at: file.path)
      }
    }
    return nil
  }

  /// The cards of a replica, newest first.
  private func cardFiles(of replica: ReplicaID) throws -> [FolderEntry] {
    let entries = try listing.entries(.replicas, of: replica)
    let cards = entries.compactMap { entry -> (number: UInt64, entry: FolderEntry)? in
      if case .card(let number) = entry.name { (number, entry) } else { nil }
    }
    return cards.sorted { $0.number > $1.number }.map(\.entry)
  }
}
