import Foundation
import Synchronization
public import Tally

/// A clock that stands still until a test moves it.
public final class TestClock: Sendable {
  private let instant: Mutex<Timestamp>

  /// Makes a clock that shows an instant.
  public init(_ instant: Timestamp) {
    self.instant = Mutex(instant)
  }

  /// What the clock shows.
  public var now: Timestamp {
    get { instant.withLock { $0 } }
    set { instant.withLock { $0 = newValue } }
  }
}
