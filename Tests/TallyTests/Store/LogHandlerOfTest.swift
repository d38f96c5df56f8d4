import Logging

/// Hands each logged message over as a line.
struct LogHandlerOfTest: LogHandler {
  let take: @Sendable (String) -> Void
  var logLevel = Logger.Level.trace
  var metadata: Logger.Metadata = [:]

  init(_ take: @escaping @Sendable (String) -> Void) {
    self.take = take
  }

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    take("\(event.level) \(event.message) \(event.metadata ?? [:])")
  }
}

extension Logger {
  /// A logger that hands its messages over.
  static func ofTest(_ take: @escaping @Sendable (String) -> Void) -> Logger {
    Logger(label: "test", factory: { _ in LogHandlerOfTest(take) })
  }
}
