import Foundation

/// The place of a task among the results, best first: how well it matches, open before completed, newer first, id.
struct SearchRank: Comparable, Hashable, Sendable {
  var quality: MatchQuality
  var isCompleted: Bool
  var createdAt: Timestamp
  var id: UUID

  static func < (left: Self, right: Self) -> Bool {
    if left.quality != right.quality { return left.quality < right.quality }
    if left.isCompleted != right.isCompleted { return right.isCompleted }
    if left.createdAt != right.createdAt { return left.createdAt > right.createdAt }
    return left.id.precedes(right.id)
  }
}
