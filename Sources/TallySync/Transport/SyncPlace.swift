/// Where a space is.
public struct SyncPlace: Hashable, Sendable {
  /// The path of a folder, or the address of a hub, which begins with `https://` or `http://`.
  public let address: String
  /// What a hub knows this device by; `nil` for a folder.
  public let token: String?

  /// Takes an address.
  ///
  /// - Parameters:
  ///   - address: The path of a folder, or the address of a hub.
  ///   - token: What the hub knows this device by.
  public init(_ address: String, token: String? = nil) {
    (self.address, self.token) = (address, token)
  }

  /// A new token: the hexadecimal digits of 32 random bytes.
  public static func newToken() -> String {
    var generator = SystemRandomNumberGenerator()
    return HexDigits.text(of: (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
  }

  /// Whether the address is that of a hub.
  public var isHub: Bool {
    let scheme = address.prefix { $0 != "/" }.lowercased()
    return address.contains("://") && (scheme == "https:" || scheme == "http:")
  }
}

extension SyncPlace: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The address: the token is secret.
  public var description: String { address }

  /// The address.
  public var debugDescription: String { address }

  /// The address alone.
  public var customMirror: Mirror { Mirror(self, children: ["address": address]) }
}

/// Connects stores to places that are not folders.
///
/// `TallySync` itself reaches folders only, so that an application without a hub builds no client for HTTP.
public protocol SyncConnector: Sendable {
  /// Connects to a place, which need not answer yet.
  ///
  /// - Parameters:
  ///   - place: The place, which is not a folder.
  ///   - space: The space there.
  /// - Returns: A transport.
  /// - Throws: Any error, if there is no such place.
  func transport(to place: SyncPlace, space: SpaceID) throws -> any SyncTransport
}
