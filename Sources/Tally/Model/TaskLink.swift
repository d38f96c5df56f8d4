public import Foundation
import TallyEngine

/// A link into an application: `tally://create-task?title=…` or `tally://open-task?id=…`.
///
/// Links come from anywhere, so they are parsed strictly: exactly these forms with the parameters of
/// ``NewTask``, each at most once except `tag`, all in percent-encoded UTF-8 (a plus sign is a plus sign).
/// Parsing a link changes nothing.
///
/// ```swift
/// switch try TaskLink("tally://open-task?id=01a1f000-0000-7000-8000-000000007f3a") {
/// case .createTask(let task): offer(task)
/// case .openTask(let id): show(id)
/// }
/// ```
public enum TaskLink: Hashable, Sendable {
  /// Create a task; if it has no title, let the person write one.
  case createTask(NewTask)
  /// Show the task with this id.
  case openTask(id: UUID)

  /// The contents of a link that creates a task.
  public struct NewTask: Hashable, Sendable {
    /// `title`: the title, not blank; `nil` only if the link has no parameters.
    public var title: String?
    /// `list`: the name or id of a list.
    public var list: String?
    /// `day`: the day for which the task is planned.
    public var day: DateExpression?
    /// `due`: the day or the instant at which the task is due.
    public var due: DateExpression?
    /// `notes`: the notes.
    public var notes: String?
    /// `tag`: the tags, each in a parameter of its own.
    public var tags = TagSet()

    /// Creates the contents of a link; the other parameters can be set afterwards.
    public init(title: String? = nil, list: String? = nil) {
      (self.title, self.list) = (title, list)
    }
  }

  /// The default scheme; an application may use its own.
  public static let defaultScheme = "tally"
  /// The maximum size of a link in bytes; longer links are refused.
  public static let maximumSizeInBytes = 1 << 16

  /// Parses a link.
  ///
  /// - Parameters:
  ///   - text: The link.
  ///   - scheme: The scheme that the link must have, in any case.
  /// - Throws: `invalidLink`.
  public init(_ text: String, scheme: String = defaultScheme) throws {
    guard text.utf8.count <= Self.maximumSizeInBytes else { throw TallyError.invalidLink("it is too long") }
    guard let parts = URLComponents(string: text, encodingInvalidCharacters: false) else {
      throw TallyError.invalidLink("it is not a URL")
    }
    guard parts.scheme?.lowercased() == scheme.lowercased() else { throw TallyError.invalidLink("its scheme differs") }
    guard parts.path.isEmpty || parts.path == "/", parts.user == nil, parts.password == nil, parts.port == nil,
      parts.fragment == nil
    else { throw TallyError.invalidLink("it has parts that no such link has") }
    var parameters = try LinkParameters(parts.percentEncodedQueryItems ?? [])
    switch parts.host {
    case "create-task": self = .createTask(try NewTask(&parameters))
    case "open-task":
      guard let id = try parameters.remove("id").flatMap(UUID.init(uuidString:)) else {
        throw TallyError.invalidLink("it has no id")
      }
      self = .openTask(id: id)
    default: throw TallyError.invalidLink("it is neither create-task nor open-task")
    }
    guard parameters.isEmpty else { throw TallyError.invalidLink("it has a parameter that no such link has") }
  }

  /// The link as text.
  public func text(scheme: String = defaultScheme) -> String {
    switch self {
    case .createTask(let task):
      let query = task.parameters.map { "\($0)=\(LinkParameters.encoded($1))" }.joined(separator: "&")
      return "\(scheme)://create-task" + (query.isEmpty ? "" : "?" + query)
    case .openTask(let id): return "\(scheme)://open-task?id=\(id.uuidString.lowercased())"
    }
  }
}

extension TaskLink.NewTask {
  /// Reads the parameters of a link that it knows, and removes them from the rest.
  fileprivate init(_ parameters: inout LinkParameters) throws {
    let isBare = parameters.isEmpty
    title = try parameters.remove("title")
    list = try parameters.remove("list")
    day = try parameters.removeDate("day", as: .day)
    due = try parameters.removeDate("due", as: .instant)
    notes = try parameters.remove("notes")
    tags = TagSet(parameters.removeAll("tag"))
    guard title != nil || isBare else { throw TallyError.invalidLink("it has no title") }
    // Checks the title and the tags by the rules of tasks.
    var task = TaskItem(title: title ?? "bare", createdAt: .earliest)
    task.tags = tags
    try task.validate()
  }

  /// The parameters of the link, in order.
  fileprivate var parameters: [(name: String, value: String)] {
    let single = [
      ("title", title), ("list", list), ("day", day?.description), ("due", due?.description), ("notes", notes),
    ]
    return single.compactMap { name, value in value.map { (name, $0) } } + tags.map { ("tag", $0) }
  }
}

extension TallyError {
  static func invalidLink(_ what: String) -> TallyError {
    TallyError(
      .invalidLink, "The link cannot be followed: \(what)",
      remedy: "Links are tally://create-task?title=TEXT (also list, day, due, notes, tag) and tally://open-task?id=UUID"
    )
  }
}

/// The parameters of a link that have not been read yet.
struct LinkParameters {
  private var values: [String: [String]] = [:]

  /// Decodes the query items of a link.
  ///
  /// - Throws: `invalidLink`.
  init(_ items: [URLQueryItem]) throws {
    for item in items {
      guard let name = item.name.removingPercentEncoding, let value = item.value?.removingPercentEncoding else {
        throw TallyError.invalidLink("a parameter is not UTF-8 text or has no value")
      }
      values[name, default: []].append(value)
    }
  }

  var isEmpty: Bool { values.isEmpty }

  /// Removes and returns the values of a parameter that may occur several times.
  mutating func removeAll(_ name: String) -> [String] { values.removeValue(forKey: name) ?? [] }

  /// Removes and returns the value of a parameter that may occur once.
  ///
  /// - Throws: `invalidLink`.
  mutating func remove(_ name: String) throws -> String? {
    let found = removeAll(name)
    guard found.count <= 1 else { throw TallyError.invalidLink("a parameter occurs twice") }
    return found.first
  }

  /// Removes a parameter and returns it as a day, or as a day or an instant.
  ///
  /// - Throws: `invalidLink`.
  mutating func removeDate(_ name: String, as kind: DateExpression.Kind) throws -> DateExpression? {
    guard let text = try remove(name) else { return nil }
    do {
      return try DateExpression(text, as: kind)
    } catch {
      throw TallyError.invalidLink("its \(name) is not a \(kind == .day ? "day" : "day or time")")
    }
  }

  /// A value in percent-encoding.
  static func encoded(_ text: String) -> String {
    let unreserved = CharacterSet(charactersIn: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~")
    return text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? ""
  }
}
