import Hummingbird
import Tally

/// The versions of the parts that a browser shows; `nil` for the others.
struct SeenVersions: Sendable {
  /// A view, and the version of its rows.
  struct View: Sendable {
    let view: TaskView
    let version: String?
  }

  /// A browser with more screens gets no stream.
  static let largestViewCount = 256

  let views: [View]
  private(set) var places: String?
  private(set) var agenda: String?
  private(set) var store: String?

  /// Reads the versions of an address; a browser that connects again names a newer one, the last that it got.
  init(_ query: Form, lastEventID: String?) throws {
    let (names, versions) = (query.all("view"), query.all("after"))
    guard names.count <= Self.largestViewCount, versions.count <= names.count else {
      throw HTTPError(.badRequest, message: "Each view has one version.")
    }
    views = try names.enumerated().map { index, name in
      let version = index < versions.count ? versions[index] : nil
      return View(view: try TaskView(text: name), version: names.count == 1 ? lastEventID ?? version : version)
    }
    (places, agenda) = (query["places"], query["agenda"])
    store = query["store"].map { names.isEmpty ? lastEventID ?? $0 : $0 }
  }

  /// The events for the parts that have changed since then.
  mutating func advance(to state: Surroundings.State) -> [String] {
    var events: [String] = []
    if let places, places != state.places {
      events.append("event: places\ndata: {}\n\n")
      self.places = state.places
    }
    if let agenda, let now = state.agenda, agenda != now {
      events.append("event: agenda\ndata: {}\n\n")
      self.agenda = now
    }
    if let store, store != state.store {
      // If the browser shows views, too, the last id must be that of a view.
      events.append((views.isEmpty ? "id: \(state.store)\n" : "") + "event: stale\ndata: {}\n\n")
      self.store = state.store
    }
    return events
  }
}
