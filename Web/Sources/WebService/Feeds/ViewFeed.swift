import Foundation
import NIOCore
import Tally

/// One view that browsers show: its rows, and the events that change them.
///
/// The view is read once, however many browsers show it; then it is followed. Each event is rendered once, kept for a
/// while, and has a number, so that a browser that was away continues where it stopped.
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
    /// The tasks that are shown below their parents.
    let nested: Set<UUID>
    let count: Int
    let completedCount: Int
    let version: String
  }

  static let keptEventCount = 256
  /// A larger difference costs a browser more than the rows that it shows.
  static let largestDifferenceInRows = 400

  nonisolated let view: TaskView
  private let rules: DayRules
  private let store: TaskStore
  private let renderer: Renderer
  /// It marks the numbers of this feed; those of another feed or of an earlier run of the program are not valid here.
  private let epoch = Secret().text.prefix(8)
  private var observed: ObservedView
  private var frame: RowFrame
  private var nested: Set<UUID>
  private var number = 0
  private var events: [Event] = []
  private var listeners = Listeners()
  private(set) var lastUse = ContinuousClock.now

  init(_ view: TaskView, by rules: DayRules, of store: TaskStore, _ renderer: Renderer) throws {
    (self.view, self.rules, self.store, self.renderer) = (view, rules, store, renderer)
    (observed, frame) = try store.read(by: rules) { transaction in
      var frame = try RowFrame(transaction)
      frame.families = try Families(in: transaction)
      return (try ObservedView(view, in: transaction), frame)
    }
    nested = Self.nested(observed, frame)
  }
}

extension ViewFeed {
  /// Brings the view up to date, and adds an event if it has changed.
  func catchUp() throws {
    var families = frame.families
    let (newFrame, changedFamilies, difference) = try store.read(by: rules) { transaction in
      // The view comes last, so that nothing has changed here if an earlier step fails.
      (try RowFrame(transaction), try families?.follow(transaction) ?? [], try observed.follow(transaction))
    }
    let looksTheSame = newFrame.looksLike(frame)
    frame = newFrame
    frame.families = families
    if difference.isEmpty, changedFamilies.isEmpty, looksTheSame { return }
    let updates = updates(difference, changedFamilies)
    if difference.isEmpty, updates.isEmpty, looksTheSame { return }
    let rowCount = difference.insertions.count + difference.moves.count + updates.count
    let isSmall = rowCount <= Self.largestDifferenceInRows
    // The rows have changed, whatever becomes of the event; a browser that lacks a number begins again.
    number += 1
    do {
      let text = looksTheSame && isSmall ? try changeEvent(difference, updates) : try resetEvent()
      events.append(Event(number: number, bytes: ByteBuffer(string: text)))
    } catch {
      events = []
      throw error
    }
    if events.count > Self.keptEventCount { events.removeFirst(events.count - Self.keptEventCount) }
    listeners.wake()
  }

  /// The rows that have to be drawn again where they are: those of changed tasks, of tasks whose sub-tasks have changed, and
  /// of sub-tasks that have come below their parents or have left them.
  private func updates(_ difference: ViewDifference, _ families: Set<UUID>) -> [(position: Int, task: TaskItem)] {
    let before = nested
    nested = Self.nested(observed, frame)
    let others = families.union(nested.symmetricDifference(before))
    let updates = difference.updates.map { (position: $0.position, task: $0.task) }
    guard !others.isEmpty else { return updates }
    let drawn = Set(
      (difference.insertions.map(\.task) + difference.moves.map(\.task)).map(\.id) + updates.map(\.task.id))
    let positions = observed.tasks.enumerated().filter { others.contains($1.id) && !drawn.contains($1.id) }
    return (updates + positions.map { (position: $0.offset, task: $0.element) }).sorted { $0.position < $1.position }
  }

  /// The tasks that are shown below their parents: those whose parent is in the view and, in a view by day, on the same
  /// day.
  private static func nested(_ observed: ObservedView, _ frame: RowFrame) -> Set<UUID> {
    guard frame.families?.isEmpty == false else { return [] }
    let subtasks = observed.tasks.filter { $0.parentID != nil }
    guard !subtasks.isEmpty else { return [] }
    let parents = Set(subtasks.compactMap(\.parentID))
    let shown = Dictionary(
      observed.tasks.filter { parents.contains($0.id) }.map { ($0.id, $0.scheduledDate) }
    ) { first, _ in first }
    return Set(
      subtasks.filter { task in
        guard let day = task.parentID.flatMap({ shown[$0] }) else { return false }
        return !observed.view.hasDaySections || day == task.scheduledDate
      }.map(\.id))
  }

  /// The rows from a position on, as they are now.
  func window(from first: Int, count: Int) throws -> Window {
    lastUse = .now
    try catchUp()
    return Window(
      tasks: Array(observed.tasks.dropFirst(first).prefix(count)), frame: frame, nested: nested, count: observed.count,
      completedCount: observed.tasks.count(where: \.isCompleted), version: version)
  }

  /// The event after which the view looks as it does now.
  var version: String { "\(epoch).\(number)" }
}

extension ViewFeed {
  /// The events after a version; an event that says to begin again if they are not there any more.
  func events(after version: String?) throws -> (events: [ByteBuffer], version: String) {
    lastUse = .now
    guard let seen = number(of: version), seen >= number - events.count else {
      return ([ByteBuffer(string: try resetEvent())], self.version)
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

  /// Wakes a stream after each event, until the stream ends; a slow one is woken once for several.
  func listen(_ continuation: Listeners.Continuation) {
    listeners.add(continuation) { id in Task { await self.stopListening(id) } }
  }

  private func stopListening(_ id: Int) {
    listeners.remove(id)
    lastUse = .now
  }

  /// Ends all streams of the view.
  func end() { listeners.end() }

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

    let view: String
    let count: Int
    let completed: Int
    let removals: [Int]
    let insertions: [Row]
    let moves: [Row]
    let updates: [Row]
  }

  private func changeEvent(
    _ difference: ViewDifference, _ updates: [(position: Int, task: TaskItem)]
  ) throws -> String {
    let change = Change(
      view: view.text, count: observed.count, completed: observed.tasks.count(where: \.isCompleted),
      removals: difference.removals,
      insertions: try difference.insertions.map { .init(position: $0.position, html: try html($0.task)) },
      moves: try difference.moves.map { .init(position: $0.position, origin: $0.origin, html: try html($0.task)) },
      updates: try updates.map { .init(position: $0.position, html: try html($0.task)) })
    return try event("change", change)
  }

  private func html(_ task: TaskItem) throws -> String {
    try renderer.html("row", frame.rowOrPlace(task, in: view, nested: nested))
  }

  private struct Reset: Encodable {
    let view: String
    let count: Int
  }

  /// A browser that gets it asks for the rows that it shows.
  private func resetEvent() throws -> String { try event("reset", Reset(view: view.text, count: observed.count)) }

  /// Says that a view cannot be followed, as its list does not exist any more.
  static func goneEvent(of view: TaskView) throws -> ByteBuffer {
    ByteBuffer(string: "event: gone\ndata: \(try json(["view": view.text]))\n\n")
  }

  private func event(_ name: String, _ data: some Encodable) throws -> String {
    "id: \(version)\nevent: \(name)\ndata: \(try Self.json(data))\n\n"
  }

  /// JSON has no line breaks outside its texts, and those in texts are escaped: one line of an event.
  private static func json(_ data: some Encodable) throws -> String {
    String(decoding: try JSONEncoder().encode(data), as: UTF8.self)
  }
}
