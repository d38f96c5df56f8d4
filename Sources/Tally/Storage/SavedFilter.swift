import Foundation
import LMDB
public import TallyEngine

/// A filter that is stored under a name.
///
/// Two names are the same if they are equal after Unicode case folding and normalization (NFC), as tags are.
public struct SavedFilter: Hashable, Sendable, Codable {
  /// The name, as it was written when the filter was last saved.
  public let name: String
  /// The filter's text, see <doc:Filters>.
  public let text: String
  /// When the filter was last saved.
  public let updatedAt: Timestamp

  /// The most characters of a name.
  public static let maximumNameLengthInCharacters = 64
  /// The most bytes of a name: one character may consist of many scalars.
  static let maximumNameLengthInBytes = 256

  private enum CodingKeys: String, CodingKey {
    case name, updatedAt
    case text = "filter"
  }

  /// Creates a value to be stored.
  ///
  /// - Throws: `invalidFilter` if the name is blank, is too long or has control characters, or if
  ///   ``TaskFilter/validate()`` refuses the filter.
  init(_ filter: TaskFilter, as name: String, updatedAt: Timestamp) throws(TallyError) {
    try filter.validate()
    self.name = try Self.checked(name)
    self.text = filter.text
    self.updatedAt = updatedAt
  }

  /// Decodes a stored value; `nil` if the bytes are not a saved filter.
  init?(stored bytes: [UInt8], under key: ValueKey) {
    guard let filter = try? StoredValue(key: key, bytes: bytes).decoded(as: SavedFilter.self) else { return nil }
    self = filter
  }

  /// The filter, parsed from its text.
  ///
  /// - Throws: `invalidFilter` if this version cannot parse the text, because a newer one has saved it.
  public var filter: TaskFilter {
    get throws(TallyError) { try TaskFilter(text: text) }
  }
}

extension SavedFilter {
  /// The namespace of the values that hold saved filters.
  static let namespace = ValueKey.reservedPrefix + "filters"

  /// The key of a name: equal names have equal keys.
  static func key(of name: String) -> String {
    TagSet.folded(TagSet.trimmed(name))
  }

  /// The name without surrounding white space, if it is valid.
  private static func checked(_ name: String) throws(TallyError) -> String {
    let name = TagSet.trimmed(name)
    guard !name.isEmpty else { throw invalidName("A filter's name is blank", remedy: "Give it 1 to 64 characters") }
    guard name.count <= maximumNameLengthInCharacters, key(of: name).utf8.count <= maximumNameLengthInBytes else {
      throw invalidName(
        "A filter's name has more than \(maximumNameLengthInCharacters) characters", remedy: "Shorten it")
    }
    guard !name.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
      throw invalidName("A filter's name has a control character", remedy: "Remove it")
    }
    return name
  }

  private static func invalidName(_ message: String, remedy: String) -> TallyError {
    TallyError(.invalidFilter, message, remedy: remedy)
  }
}
