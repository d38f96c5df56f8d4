public import Foundation

/// A link into an application: `tally://create-task?title=…&list=…` or `tally://open-task?id=…`.
///
/// Links come from anywhere, so they are read strictly: exactly these forms, each parameter once, everything else
/// percent-encoded UTF-8 (a plus sign is a plus sign). Reading one changes nothing.
///
/// ```swift
/// switch try TaskLink("tally://open-task?id=01a1f000-0000-7000-8000-000000007f3a") {
/// case .createTask(let title, let list): offer(title, list)
/// case .openTask(let id): show(id)
/// }
/// ```
public enum TaskLink: Hashable, Sendable {
  /// Create a task with this title, in the list of this name or id if one is given.
  case createTask(title: String, list: String?)
  /// Show the task with this id.
  case openTask(id: UUID)

  /// The scheme of links, unless an application uses its own.
  public static let defaultScheme = "tally"
  /// Longer links are refused.
  public static let maximumSizeInBytes = 1 << 16

  /// Reads a link.
  ///
  /// - Parameters:
  ///   - text: the link.
  ///   - scheme: the scheme it must have, in upper or lower case.
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
    var parameters = try Self.parameters(of: parts.percentEncodedQueryItems ?? [])
    switch parts.host {
    case "create-task":
      guard let title = parameters.removeValue(forKey: "title") else { throw TallyError.invalidLink("it has no title") }
      try TaskItem(title: title, createdAt: .earliest).validate()
      self = .createTask(title: title, list: parameters.removeValue(forKey: "list"))
    case "open-task":
      guard let id = parameters.removeValue(forKey: "id").flatMap(UUID.init(uuidString:)) else {
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
    case .createTask(let title, let list):
      let list = list.map { "&list=\(Self.encoded($0))" } ?? ""
      return "\(scheme)://create-task?title=\(Self.encoded(title))\(list)"
    case .openTask(let id): return "\(scheme)://open-task?id=\(id.uuidString.lowercased())"
    }
  }

  private static func encoded(_ text: String) -> String {
    let unreserved = CharacterSet(charactersIn: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~")
    return text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? ""
  }

  private static func parameters(of items: [URLQueryItem]) throws -> [String: String] {
    var values: [String: String] = [:]
    for item in items {
      guard let name = item.name.removingPercentEncoding, let value = item.value?.removingPercentEncoding else {
        throw TallyError.invalidLink("a parameter is not UTF-8 text or has no value")
      }
      guard values.updateValue(value, forKey: name) == nil else {
        throw TallyError.invalidLink("a parameter occurs twice")
      }
    }
    return values
  }
}

extension TallyError {
  static func invalidLink(_ what: String) -> TallyError {
    TallyError(
      .invalidLink, "The link cannot be followed: \(what)",
      remedy: "Links are tally://create-task?title=TEXT&list=NAME and tally://open-task?id=UUID")
  }
}
