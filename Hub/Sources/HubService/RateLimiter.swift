import Foundation
import Synchronization

/// Counts requests, so that one member cannot keep a hub from answering others: a bucket of tokens each.
final class RateLimiter: Sendable {
  private struct Bucket {
    var tokens: Double
    var filledAt: ContinuousClock.Instant
  }

  private let burst: Double
  private let perSecond: Double
  private let buckets = Mutex<[UUID?: Bucket]>([:])
  /// Full buckets are forgotten when there are more than these.
  private static let mostBuckets = 100_000

  init(burst: Double, perSecond: Double) { (self.burst, self.perSecond) = (burst, perSecond) }

  /// Takes a token; requests without an id share a bucket.
  ///
  /// - Returns: After how many seconds there is one; `nil` if there was.
  func take(for id: UUID?, at now: ContinuousClock.Instant = .now) -> Double? {
    buckets.withLock { buckets in
      if buckets.count > Self.mostBuckets { buckets = buckets.filter { tokens(of: $0.value, at: now) < burst } }
      var bucket = buckets[id] ?? Bucket(tokens: burst, filledAt: now)
      (bucket.tokens, bucket.filledAt) = (tokens(of: bucket, at: now), now)
      defer { buckets[id] = bucket }
      guard bucket.tokens >= 1 else { return (1 - bucket.tokens) / perSecond }
      bucket.tokens -= 1
      return nil
    }
  }

  private func tokens(of bucket: Bucket, at now: ContinuousClock.Instant) -> Double {
    min(burst, bucket.tokens + perSecond * ((now - bucket.filledAt) / .seconds(1)))
  }
}
