import Foundation

/// The lines of the standard input.
enum Input {
  /// Read on a thread of their own: waiting for a person would block one that Swift's tasks share.
  static var lines: AsyncStream<String> {
    AsyncStream { continuation in
      Thread.detachNewThread {
        while let line = readLine() { continuation.yield(line) }
        continuation.finish()
      }
    }
  }
}
