import AsyncAlgorithms
import Logging
import ServiceLifecycle
import Tally

/// The views that browsers show, each followed once.
actor Feeds: Service {
  /// How long a view is followed that no browser shows any more.
  static let idleTime: Duration = .seconds(60)

  private let store: TaskStore
  private let renderer: Renderer
  private let logger: Logger
  private var feeds: [TaskView: ViewFeed] = [:]

  init(_ store: TaskStore, _ renderer: Renderer, logger: Logger) {
    (self.store, self.renderer, self.logger) = (store, renderer, logger)
  }

  /// The feed of a view.
  ///
  /// - Throws: `listNotFound` for a list that does not exist, and what else reading the view throws.
  func feed(of view: TaskView) throws -> ViewFeed {
    if let feed = feeds[view] { return feed }
    let feed = try ViewFeed(view, of: store, renderer)
    feeds[view] = feed
    return feed
  }

  /// Follows the store, for commits of any process and for the clock, until the service stops.
  nonisolated func run() async throws {
    let commits = try store.changes().map { _ in }
    // A day ends, and a task becomes overdue, without a commit.
    let seconds = AsyncTimerSequence(interval: .seconds(1), clock: .continuous).map { _ in }
    for try await _ in merge(commits, seconds).cancelOnGracefulShutdown() { await catchUp() }
  }

  private func catchUp() async {
    for (view, feed) in feeds {
      do {
        if await feed.isUsed {
          try await feed.catchUp()
        } else if await feed.lastUse.duration(to: .now) > Self.idleTime {
          feeds[view] = nil
        }
      } catch {
        logger.error("A view could not be followed: \(error)")
        feeds[view] = nil
      }
    }
  }
}
