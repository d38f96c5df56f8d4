import AsyncAlgorithms
import Logging
import ServiceLifecycle
import Tally

/// The views that browsers show, each followed once, and their surroundings.
actor Feeds: Service {
  /// A view, and the rules for days by which it is read.
  struct Key: Hashable {
    let view: TaskView
    let rules: DayRules
  }

  /// How long a view is still followed when no browser shows it any more.
  static let idleTime: Duration = .seconds(60)
  /// How many such views are kept; each holds its tasks in memory.
  static let largestIdleCount = 8

  private let store: TaskStore
  private let renderer: Renderer
  private let logger: Logger
  private(set) var feeds: [Key: ViewFeed] = [:]
  private var surroundings: [DayRules: Surroundings] = [:]

  init(_ store: TaskStore, _ renderer: Renderer, logger: Logger) {
    (self.store, self.renderer, self.logger) = (store, renderer, logger)
  }

  /// The feed of a view.
  ///
  /// - Throws: `listNotFound` for a list that does not exist, and the other errors of reading the view.
  func feed(of view: TaskView, by rules: DayRules) async throws -> ViewFeed {
    let key = Key(view: view, rules: rules)
    if let feed = feeds[key] { return feed }
    let feed = try ViewFeed(view, by: rules, of: store, renderer)
    feeds[key] = feed
    await dropIdleFeeds(except: key)
    return feed
  }

  /// The counts, the agenda and the progress of the store, by some rules for days.
  func surroundings(by rules: DayRules) -> Surroundings {
    if let known = surroundings[rules] { return known }
    let new = Surroundings(store, by: rules, logger: logger)
    surroundings[rules] = new
    return new
  }

  /// Follows the store, for commits of any process and for the clock, until the service stops.
  nonisolated func run() async throws {
    let commits = try store.changes().map { _ in true }
    // A day ends, and a task becomes overdue, without a commit.
    let seconds = AsyncTimerSequence(interval: .seconds(1), clock: .continuous).map { _ in false }
    for try await isCommit in merge(commits, seconds).cancelOnGracefulShutdown() {
      await catchUp()
      await wakeSurroundings(afterCommit: isCommit)
    }
  }

  /// Brings the feeds that browsers show up to date.
  ///
  /// A feed that fails ends: its browsers connect again, and get a new feed or the error.
  func catchUp() async {
    for (key, feed) in feeds {
      do {
        if await feed.isUsed { try await feed.catchUp() }
      } catch {
        logger.error("A view could not be followed: \(error)")
        await feed.end()
        feeds[key] = nil
      }
    }
    await dropIdleFeeds()
  }

  private func wakeSurroundings(afterCommit isCommit: Bool) async {
    for (rules, around) in surroundings {
      if await around.isUsed {
        await around.noteNews(ofCommit: isCommit)
      } else {
        surroundings[rules] = nil
        await around.end()
      }
    }
  }

  /// Forgets the feeds that nobody has used for a while, and the oldest of too many.
  private func dropIdleFeeds(except newest: Key? = nil) async {
    var idle: [(key: Key, lastUse: ContinuousClock.Instant)] = []
    for (key, feed) in feeds where key != newest {
      if await !feed.isUsed { idle.append((key, await feed.lastUse)) }
    }
    idle.sort { $0.lastUse > $1.lastUse }
    let kept = idle.prefix(Self.largestIdleCount).prefix { $0.lastUse.duration(to: .now) <= Self.idleTime }
    for (key, _) in idle.dropFirst(kept.count) {
      // A browser that came meanwhile connects again.
      await feeds.removeValue(forKey: key)?.end()
    }
  }
}
