/// The id of one write among all writes to a store: its commit, and its position among the writes of that commit.
///
/// ```swift
/// let deletion = try store.writeAndWait { transaction in
///   try transaction.delete(id)
///   return try transaction.changeID
/// }
/// try store.writeAndWait { try $0.undo(deletion) }
/// ```
public struct ChangeID: Hashable, Comparable, Sendable {
  /// The commit.
  public let sequence: UInt64
  /// Its position among the commit's writes, from 0: writes that wait at the same time share a commit.
  public let position: Int

  /// The most writes in one commit that a key can hold.
  static let maximumPosition = Int(UInt16.max)

  /// Whether one write came before another.
  public static func < (left: ChangeID, right: ChangeID) -> Bool {
    (left.sequence, left.position) < (right.sequence, right.position)
  }
}

extension ChangeID: TextCodable {
  /// The commit and the position, as `42.0`.
  public var text: String { "\(sequence).\(position)" }

  /// Reads the commit and the position; throws `invalidToken` for any other text.
  public init(text: String) throws(TallyError) {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 2, let sequence = UInt64(parts[0]), let position = Int(parts[1]),
      (0...Self.maximumPosition).contains(position)
    else { throw .invalidToken("write") }
    self.init(sequence: sequence, position: position)
  }
}
