import TallyEngine

/// A sequence of a store's changes or of values that change with it, such as ``TaskStore/changes(since:)`` returns.
///
/// It keeps its store open while somebody waits for the next element. It ends when the waiting Swift task is cancelled
/// or the store is closed; while the store is suspended, it waits.
public struct StoreObservation<Element: Sendable>: AsyncSequence, Sendable {
  /// Reads a snapshot and returns the next element if there is one; remembers what it has read.
  typealias Look = (inout StoreReadTransaction) throws -> Element?

  let store: TaskStore
  /// Whether the passing of time alone may produce an element.
  var followsTime = true
  let begin: @Sendable () -> Look

  /// Creates an iterator; each iterator remembers separately what it has delivered.
  public func makeAsyncIterator() -> Iterator {
    Iterator(store: store, followsTime: followsTime, look: begin())
  }

  /// The iterator, which waits for the next element.
  public struct Iterator: AsyncIteratorProtocol {
    let store: TaskStore
    let followsTime: Bool
    let look: Look

    /// Waits for the next element; returns `nil` after cancellation or the closing of the store.
    ///
    /// - Throws: as `read`.
    public mutating func next() async throws -> Element? {
      while !Task.isCancelled {
        // Read the counter before the store, so that no later commit is missed.
        let count = store.watch.count
        do {
          if let found = try store.read(look) { return found }
        } catch let error as TallyError where error.code == .storeClosed {
          return nil
        } catch let error as TallyError where error.code == .storeSuspended {
          // The observation continues when the store is resumed.
        }
        await store.watch.wait(after: count, followsTime: followsTime)
      }
      return nil
    }
  }
}
