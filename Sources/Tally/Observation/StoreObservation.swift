/// The changes of a store, one value after the other, as ``TaskStore/changes(since:)`` and its like give it.
///
/// Keeps its store open as long as somebody waits on it. It ends when the Swift task that waits is cancelled, or the store
/// is closed; while the store is suspended it waits.
public struct StoreObservation<Element: Sendable>: AsyncSequence, Sendable {
  /// Looks at a snapshot and returns the news, if any; remembers what it has seen.
  typealias Look = (inout StoreReadTransaction) throws -> Element?

  let store: TaskStore
  /// Whether time alone may bring news.
  var followsTime = true
  let begin: @Sendable () -> Look

  /// Begins to wait; each iterator remembers on its own what it has seen.
  public func makeAsyncIterator() -> Iterator {
    Iterator(store: store, followsTime: followsTime, look: begin())
  }

  /// Waits for the next value.
  public struct Iterator: AsyncIteratorProtocol {
    let store: TaskStore
    let followsTime: Bool
    let look: Look

    /// The next value; `nil` after cancellation or the closing of the store.
    ///
    /// - Throws: as `read`.
    public mutating func next() async throws -> Element? {
      while !Task.isCancelled {
        // Before the look, so that no commit after it is missed.
        let count = store.watch.count
        do {
          if let found = try store.read(look) { return found }
        } catch let error as TallyError where error.code == .storeClosed {
          return nil
        } catch let error as TallyError where error.code == .storeSuspended {
          // Screens go on when the store is resumed.
        }
        await store.watch.wait(after: count, followsTime: followsTime)
      }
      return nil
    }
  }
}
