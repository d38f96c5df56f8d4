import Foundation
import Synchronization
public import Tally

/// A clock that stands still until a test moves it.
public final class TestClock: Sendable {
  private let instant: Mutex<Timestamp>

  /// Creates a clock that shows an instant.
  public init(_ instant: Timestamp) {
    self.instant = Mutex(instant)
  }

  /// The clock's time.
  public var now: Timestamp {
    get { instant.withLock { $0 } }
    set { instant.withLock { $0 = newValue } }
  }
}
