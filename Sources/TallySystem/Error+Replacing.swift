extension Error {
  /// Runs a body, and makes an error of this type of the one that it throws.
  package static func replacing<R: ~Copyable>(
    _ replacement: (any Error) -> Self, _ body: () throws -> R
  ) throws(Self) -> R {
    do {
      return try body()
    } catch {
      throw replacement(error)
    }
  }
}
