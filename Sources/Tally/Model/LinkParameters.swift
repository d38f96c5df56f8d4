import Foundation

/// The parameters of a link that have not been taken yet.
struct LinkParameters {
  private var values: [String: [String]] = [:]

  /// Decodes the items of a link's query.
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

  /// Takes a parameter that may be given several times.
  mutating func takeAll(_ name: String) -> [String] { values.removeValue(forKey: name) ?? [] }

  /// Takes a parameter that may be given once.
  ///
  /// - Throws: `invalidLink`.
  mutating func take(_ name: String) throws -> String? {
    let found = takeAll(name)
    guard found.count <= 1 else { throw TallyError.invalidLink("a parameter occurs twice") }
    return found.first
  }

  /// Takes a day, or a day or an instant.
  ///
  /// - Throws: `invalidLink`.
  mutating func takeDate(_ name: String, as kind: DateExpression.Kind) throws -> DateExpression? {
    guard let text = try take(name) else { return nil }
    do {
      return try DateExpression(text, as: kind)
    } catch {
      throw TallyError.invalidLink("its \(name) is not a \(kind == .day ? "day" : "day or time")")
    }
  }

  /// A value as a link has it.
  static func encoded(_ text: String) -> String {
    let unreserved = CharacterSet(charactersIn: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~")
    return text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? ""
  }
}
