public import Foundation

/// A commit of one store, from which a follower of the store can continue even after a restart.
///
/// Its ``text`` can be stored in a file, or given to a client of a server.
public struct StorePosition: Hashable, Sendable {
  /// The identity of the store, which a restored backup has, too, and a new store does not.
  public let storeID: UUID
  /// The sequence of the commit.
  public let sequence: UInt64

  package init(storeID: UUID, sequence: UInt64) {
    (self.storeID, self.sequence) = (storeID, sequence)
  }
}

extension StorePosition: TextCodable {
  /// The store and the commit as text, for example `7f3a….42`.
  public var text: String { "\(IDText(storeID).text).\(sequence)" }

  /// Parses the store and the commit; throws `invalidToken` for any other text.
  public init(text: String) throws(TallyError) {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 2, let sequence = UInt64(parts[1]) else { throw .invalidToken("state of a store") }
    self.init(storeID: try IDText(text: parts[0]).id, sequence: sequence)
  }
}
