/// A text that cannot be guessed: 256 random bits, as hexadecimal digits.
package struct Secret: Sendable {
  /// The digits.
  package let text: String

  /// Creates a secret from the system's random numbers.
  package init() {
    var generator = SystemRandomNumberGenerator()
    text = (0..<4).map { _ in
      let digits = String(generator.next() as UInt64, radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }.joined()
  }

  /// Whether a text is this secret; the time of the comparison does not depend on where they differ.
  package func equals(_ other: String) -> Bool {
    let (own, given) = (Array(text.utf8), Array(other.utf8))
    guard own.count == given.count else { return false }
    return zip(own, given).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
  }
}
