import Foundation
import NIOCore
import Synchronization

/// Limits requests by a bucket of tokens for each key, so that no client keeps a hub from answering others.
final class RateLimiter<Key: Hashable & Sendable>: Sendable {
  private struct Bucket {
    var tokens: Double
    var filledAt: ContinuousClock.Instant
  }

  private let burst: Double
  private let perSecond: Double
  private let buckets = Mutex<[Key: Bucket]>([:])
  /// The number of buckets above which full ones are forgotten.
  private static var mostBuckets: Int { 100_000 }

  init(burst: Double, perSecond: Double) { (self.burst, self.perSecond) = (burst, perSecond) }

  /// Takes a token.
  ///
  /// - Returns: The seconds until there is a token; `nil` if there was one.
  func take(for key: Key, at now: ContinuousClock.Instant = .now) -> Double? {
    buckets.withLock { buckets in
      if buckets.count > Self.mostBuckets { buckets = buckets.filter { tokens(of: $0.value, at: now) < burst } }
      var bucket = buckets[key] ?? Bucket(tokens: burst, filledAt: now)
      (bucket.tokens, bucket.filledAt) = (tokens(of: bucket, at: now), now)
      defer { buckets[key] = bucket }
      guard bucket.tokens >= 1 else { return (1 - bucket.tokens) / perSecond }
      bucket.tokens -= 1
      return nil
    }
  }

  private func tokens(of bucket: Bucket, at now: ContinuousClock.Instant) -> Double {
    min(burst, bucket.tokens + perSecond * ((now - bucket.filledAt) / .seconds(1)))
  }
}

/// The address from which a request comes; a whole IPv6 network of 64 bits counts as one address.
struct ClientAddress: Hashable, Sendable {
  private let bytes: [UInt8]

  init(_ address: SocketAddress?) {
    switch address {
    case .v4(let address): bytes = withUnsafeBytes(of: address.address.sin_addr) { Array($0) }
    case .v6(let address):
      let all = withUnsafeBytes(of: address.address.sin6_addr) { Array($0) }
      // An IPv4 address on a socket that accepts both (RFC 4291, 2.5.5.2).
      let isMapped = all.prefix(10).allSatisfy { $0 == 0 } && all[10] == 0xFF && all[11] == 0xFF
      bytes = Array(isMapped ? all.suffix(4) : all.prefix(8))
    default: bytes = []
    }
  }
}
