import Crypto
import HubStorage
import HubWire

/// A token: thirty-two random bytes, which only their holder has.
struct HubToken {
  let text: String

  init() {
    var generator = SystemRandomNumberGenerator()
    text = Hexadecimal.text(of: (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
  }

  init(_ text: String) { self.text = text }

  /// The hash of the token, which the hub stores.
  var hash: TokenHash? { TokenHash(bytes: Array(SHA256.hash(data: Array(text.utf8)))) }
}
