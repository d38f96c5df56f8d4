/// How much of the history remains after a write.
///
/// After an ordinary write, about a thousand parts and 8 MiB of images remain. After an undo, a redo or a write from
/// another replica twice as much remains, so that its own entry does not push out the change to be undone next.
package struct HistoryBounds {
  /// The parts that remain after an ordinary write has removed the oldest; nearly every entry has one part.
  package static let ordinaryPartCount = 1_000
  /// The fewest parts that are removed at a time: each removal writes pages at the other end of the table.
  package static let slackPartCount = 64

  /// Whether the write was made in this store and is neither an undo nor a redo.
  package let isOrdinary: Bool
  /// The parts that remain after the oldest have been removed.
  package let keptPartCount: Int
  /// The most bytes of images that remain.
  package let maximumSizeInBytes: UInt64

  /// The bounds after a write with this entry.
  package init(after entry: HistoryRecord) {
    isOrdinary = entry.origin == .local && entry.kind != .undo && entry.kind != .redo
    keptPartCount = isOrdinary ? Self.ordinaryPartCount : 2 * (Self.ordinaryPartCount + Self.slackPartCount)
    maximumSizeInBytes = UInt64((isOrdinary ? 1 : 2) * BeforeImages.maximumSizeInBytes)
  }

  /// The most parts before the oldest are removed.
  package var maximumPartCount: Int { keptPartCount + Self.slackPartCount }
}
