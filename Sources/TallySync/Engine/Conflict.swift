public import Foundation
public import Tally

/// A value that was overwritten: two replicas wrote the same field without knowing of each other's write.
public struct Conflict: Hashable, Sendable, Identifiable {
  /// The number of the conflict, which this store never uses again.
  public let id: UInt64
  /// The task or list.
  public let objectID: UUID
  /// Whether the object is a list.
  public let isList: Bool
  /// The field, as the export calls it.
  public let field: String
  /// The value that lost, as the field's text.
  public let lost: String
  /// The replica that wrote it.
  public let lostReplica: ReplicaID
  /// When it was written.
  public let lostAt: Timestamp
  /// The replica that wrote the value that won.
  public let winningReplica: ReplicaID
  /// When that was written.
  public let wonAt: Timestamp
  /// When this replica noticed.
  public let noticedAt: Timestamp
}
