package import Foundation
package import SystemPackage

/// A value with one text form, for JSON, an address or a settings file.
///
/// ```swift
/// let position = try ViewPosition(text: "…")     // as of an address's query
/// let json = try JSONEncoder().encode(TaskView.today)  // "today"
/// ```
///
/// Every such value is `Codable` as that text.
public protocol TextCodable: Codable {
  /// The text form of the value.
  var text: String { get }

  /// Creates the value from its text.
  ///
  /// - Throws: a `TallyError` for any other text.
  init(text: String) throws(TallyError)
}

extension TextCodable {
  /// Decodes the text; throws `DecodingError.dataCorrupted` for any other.
  public init(from decoder: any Decoder) throws {
    try self.init(textFrom: decoder)
  }

  /// Encodes the text.
  public func encode(to encoder: any Encoder) throws {
    try encodeText(to: encoder)
  }

  package init(textFrom decoder: any Decoder) throws {
    let text = try decoder.singleValueContainer().decode(String.self)
    do {
      try self.init(text: text)
    } catch {
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: error.description, underlyingError: error))
    }
  }

  package func encodeText(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }
}

extension TallyError {
  package static func invalidToken(_ kind: String) -> TallyError {
    TallyError(
      .invalidToken, "The text names no \(kind)", remedy: "Use a text that Tally has given, whole and unchanged")
  }
}

/// A UUID that is encoded in lower case, as in documents and in the output of commands; Foundation encodes it
/// in upper case.
package struct IDText: TextCodable {
  package let id: UUID

  package init(_ id: UUID) {
    self.id = id
  }

  package var text: String { id.uuidString.lowercased() }

  package init(text: String) throws(TallyError) {
    guard let id = UUID(text: Array(text.utf8)) else { throw .invalidToken("UUID") }
    self.id = id
  }
}

extension String {
  /// The names closest to this one, best first; none if no name is close enough for a typing error.
  package func nearNames(among names: [String], limit: Int = 3) -> [String] {
    let wanted = lowercased()
    // A third of the letters may be wrong, but always at least one.
    let tolerance = Swift.max(1, wanted.count / 3)
    let ranked = names.compactMap { name -> (name: String, distance: Int)? in
      let candidate = name.lowercased()
      // A prefix counts as one error, however long the name is.
      let distance = candidate.hasPrefix(wanted) && !wanted.isEmpty ? 1 : wanted.editDistance(to: candidate)
      return distance <= tolerance ? (name, distance) : nil
    }
    return ranked.sorted { ($0.distance, $0.name) < ($1.distance, $1.name) }.prefix(limit).map(\.name)
  }

  /// The smallest number of insertions, deletions, replacements and swaps of neighbours that turns this text
  /// into another (optimal string alignment).
  package func editDistance(to other: String) -> Int {
    let (source, target) = (Array(self), Array(other))
    var (beforeLast, last) = ([Int](), Array(0...target.count))
    for row in source.indices {
      var current = [row + 1]
      for column in target.indices {
        let replaced = last[column] + (source[row] == target[column] ? 0 : 1)
        var best = Swift.min(replaced, last[column + 1] + 1, current[column] + 1)
        if row > 0, column > 0, source[row] == target[column - 1], source[row - 1] == target[column] {
          best = Swift.min(best, beforeLast[column - 1] + 1)
        }
        current.append(best)
      }
      (beforeLast, last) = (last, current)
    }
    return last[target.count]
  }
}

extension FilePath {
  /// The absolute path, which stays the same when the process changes its current directory.
  package var absolute: FilePath {
    // An empty path names nothing; it must not turn into the current directory.
    isAbsolute || isEmpty ? self : FilePath(FileManager.default.currentDirectoryPath).pushing(self)
  }
}
