/// How much of the history a write leaves.
///
/// An ordinary write leaves about a thousand parts and 8 MiB of images. An undo, a redo or a write of another replica
/// leaves twice as much, so that its own entry does not push out the change to be undone next.
struct HistoryBounds {
  /// The parts that remain when an ordinary write has removed the oldest; nearly every entry has one part.
  static let ordinaryPartCount = 1_000
  /// At least this many parts are removed at a time: each time costs pages at the other end of the table.
  static let slackPartCount = 64

  /// Whether the write was made in this store and is neither an undo nor a redo.
  let isOrdinary: Bool
  /// The parts that remain when the oldest have been removed.
  let keptPartCount: Int
  /// The most bytes of images.
  let maximumSizeInBytes: UInt64

  /// The bounds after a write with this entry.
  init(after entry: HistoryRecord) {
    isOrdinary = entry.origin == .local && entry.kind != .undo && entry.kind != .redo
    keptPartCount = isOrdinary ? Self.ordinaryPartCount : 2 * (Self.ordinaryPartCount + Self.slackPartCount)
    maximumSizeInBytes = UInt64((isOrdinary ? 1 : 2) * BeforeImages.maximumSizeInBytes)
  }

  /// The most parts.
  var maximumPartCount: Int { keptPartCount + Self.slackPartCount }
}
