import Foundation
import NIOCore
import Tally

/// One view that browsers show: its rows, and the events that change them.
///
/// The view is read once, however many browsers show it; then it is followed. Each event is rendered once, kept for a while,
/// and has a number, so that a browser that was away goes on where it stopped.
actor ViewFeed {
  /// A change of the view, as a browser receives it.
  struct Event: Sendable {
    let number: Int
    let bytes: ByteBuffer
  }

  /// Some rows, and the event after which they look like this.
  struct Window: Sendable {
    let tasks: [TaskItem]
    let frame: RowFrame
    let count: Int
    let completedCount: Int
    let version: String
  }

  static let keptEventCount = 256
  /// A larger difference costs a browser more than the rows that it shows.
  static let largestDifferenceInRows = 400

  nonisolated let view: TaskView
  private let store: TaskStore
  private let renderer: Renderer
  /// Numbers of another feed, or of an earlier run of the program, mean nothing here.
  private let epoch = Secret().text.prefix(8)
  private var observed: ObservedView
  private var frame: RowFrame
  private var number = 0
  private var events: [Event] = []
  private var listeners: [Int: AsyncStream<Void>.Continuation] = [:]
  private var listenerCount = 0
  private(set) var lastUse = ContinuousClock.now

  init(_ view: TaskView, of store: TaskStore, _ renderer: Renderer) throws {
    (self.view, self.store, self.renderer) = (view, store, renderer)
    (observed, frame) = try store.read { (try ObservedView(view, in: $0), try RowFrame($0)) }
  }
}

extension ViewFeed {
  /// Follows the view to the present, and notes an event if it has changed.
  func catchUp() throws {
    let (difference, newFrame) = try store.read { (try observed.follow($0), try RowFrame($0)) }
    let looksTheSame = newFrame.looksLike(frame)
    frame = newFrame
    if difference.isEmpty, looksTheSame { return }
    let isSmall =
      difference.insertions.count + difference.moves.count + difference.updates.count
      <= Self.largestDifferenceInRows
    number += 1
    let text = looksTheSame && isSmall ? try changeEvent(difference) : resetEvent
    events.append(Event(number: number, bytes: ByteBuffer(string: text)))
    if events.count > Self.keptEventCount { events.removeFirst(events.count - Self.keptEventCount) }
    for listener in listeners.values { listener.yield() }
  }

  /// The rows from a position on, as they are now.
  func window(from first: Int, count: Int) throws -> Window {
    lastUse = .now
    try catchUp()
    return Window(
      tasks: Array(observed.tasks.dropFirst(first).prefix(count)), frame: frame, count: observed.count,
      completedCount: observed.tasks.count(where: \.isCompleted), version: version)
  }

  /// The event after which the view looks as it does now.
  var version: String { "\(epoch).\(number)" }
}

extension ViewFeed {
  /// The events after a version; an event that says to begin again if they are not there any more.
  func events(after version: String?) -> (events: [ByteBuffer], version: String) {
    lastUse = .now
    guard let seen = number(of: version), seen >= number - events.count else {
      return ([ByteBuffer(string: resetEvent)], self.version)
    }
    return (events.suffix(number - seen).map(\.bytes), self.version)
  }

  /// The number of a version of this feed.
  private func number(of version: String?) -> Int? {
    guard let parts = version?.split(separator: "."), parts.count == 2, parts[0] == epoch, let number = Int(parts[1]),
      (0...self.number).contains(number)
    else { return nil }
    return number
  }

  /// Wakes its reader after each event; a slow reader is woken once for several.
  func listen() -> AsyncStream<Void> {
    let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    listenerCount += 1
    let id = listenerCount
    listeners[id] = continuation
    continuation.onTermination = { _ in Task { await self.stopListening(id) } }
    return stream
  }

  private func stopListening(_ id: Int) {
    listeners[id] = nil
    lastUse = .now
  }

  var isUsed: Bool { !listeners.isEmpty }
}

extension ViewFeed {
  /// The rows of a difference, with their positions.
  private struct Change: Encodable {
    struct Row: Encodable {
      let position: Int
      var origin: Int?
      let html: String
    }

    let count: Int
    let completed: Int
    let removals: [Int]
    let insertions: [Row]
    let moves: [Row]
    let updates: [Row]
  }

  private func changeEvent(_ difference: ViewDifference) throws -> String {
    let change = Change(
      count: observed.count, completed: observed.tasks.count(where: \.isCompleted), removals: difference.removals,
      insertions: try difference.insertions.map { .init(position: $0.position, html: try html($0.task)) },
      moves: try difference.moves.map { .init(position: $0.position, origin: $0.origin, html: try html($0.task)) },
      updates: try difference.updates.map { .init(position: $0.position, html: try html($0.task)) })
    return try event("change", change)
  }

  private func html(_ task: TaskItem) throws -> String {
    try renderer.html("row", frame.row(task, in: view))
  }

  /// A browser that gets it asks for the rows that it shows.
  private var resetEvent: String {
    "id: \(version)\nevent: reset\ndata: {\"count\":\(observed.count)}\n\n"
  }

  private func event(_ name: String, _ data: some Encodable) throws -> String {
    // JSON has no line breaks outside its texts, and those in texts are escaped: one line of an event.
    let json = String(decoding: try JSONEncoder().encode(data), as: UTF8.self)
    return "id: \(version)\nevent: \(name)\ndata: \(json)\n\n"
  }
}
