/// The place answers, and refuses what this store asks: nothing is lost, but asking again soon is of no use.
public struct SyncRefusal: Error, Hashable, Sendable {
  /// Why, as a sentence for people.
  public let reason: String
  /// After how many seconds the place wants to be asked again; `nil` if it does not say.
  public let retryInSeconds: Double?
  /// Whether it is because this device was revoked.
  public let isRevocation: Bool
  /// Whether this device may not do what it asks, as when another member writes as its replica.
  public let isDenial: Bool

  /// Takes the fields.
  ///
  /// - Parameters:
  ///   - reason: Why, as a sentence for people.
  ///   - retryInSeconds: After how many seconds the place wants to be asked again.
  ///   - isRevocation: Whether it is because this device was revoked.
  ///   - isDenial: Whether this device may not do what it asks.
  public init(
    _ reason: String, retryInSeconds: Double? = nil, isRevocation: Bool = false, isDenial: Bool = false
  ) {
    (self.reason, self.retryInSeconds) = (reason, retryInSeconds)
    (self.isRevocation, self.isDenial) = (isRevocation, isDenial)
  }
}

/// An error of a transport that may be a refusal; all others mean that the place cannot be reached.
public protocol SyncTransportError: Error {
  /// The refusal; `nil` if the place cannot be reached.
  var refusal: SyncRefusal? { get }
}

extension SyncRefusal: SyncTransportError {
  /// Itself.
  public var refusal: SyncRefusal? { self }
}
