import Foundation
import TallyEngine

/// The tags of a task, without duplicates, sorted by their folded texts.
///
/// Two texts are the same tag if they are equal after Unicode case folding and normalization (NFC). The set
/// keeps the first spelling. White space around a tag is removed.
///
/// ```swift
/// var tags: TagSet = ["Home", "tax 2026"]
/// tags.insert("HOME")           // false: it is there
/// Array(tags)                   // ["Home", "tax 2026"]
/// ```
public struct TagSet: Hashable, Sendable {
  /// Sorted by the folded texts, so that equal sets have equal bytes.
  private var tags: [String]

  /// The maximum number of tags of a task.
  public static let maximumCount = 64
  /// The maximum length of a tag in characters.
  public static let maximumLengthInCharacters = 64
  /// The maximum length of a tag in bytes, because a character can consist of many scalars.
  static let maximumLengthInBytes = 1_024

  /// Creates an empty set.
  public init() {
    tags = []
  }

  /// Creates a set of tags; of equal tags, the first is kept.
  public init(_ tags: some Sequence<String>) {
    self.init()
    for tag in tags { insert(tag) }
  }

  /// Creates a set from stored tags, which are sorted and without duplicates.
  init(stored tags: [String]) {
    self.tags = tags
  }

  /// Inserts a tag.
  ///
  /// The tag is not checked until ``TaskItem/validate()``.
  ///
  /// - Returns: false if the set already has the tag in any spelling.
  @discardableResult
  public mutating func insert(_ tag: String) -> Bool {
    let tag = Self.trimmed(tag)
    let folded = Self.folded(tag)
    // Tasks have few tags, and a binary search would fold nearly as many.
    for (index, other) in tags.enumerated() {
      let otherFolded = Self.folded(other)
      if otherFolded.utf8.elementsEqual(folded.utf8) { return false }
      if folded.utf8.lexicographicallyPrecedes(otherFolded.utf8) {
        tags.insert(tag, at: index)
        return true
      }
    }
    tags.append(tag)
    return true
  }

  /// Removes a tag, in any spelling.
  ///
  /// - Returns: false if the set does not have it.
  @discardableResult
  public mutating func remove(_ tag: String) -> Bool {
    guard let index = index(of: tag) else { return false }
    tags.remove(at: index)
    return true
  }

  /// Replaces a tag, if the set has it, with another one.
  mutating func replace(_ tag: String, with newTag: String) {
    if remove(tag) { insert(newTag) }
  }

  /// Whether the set has a tag, in any spelling.
  public func contains(_ tag: String) -> Bool {
    index(of: tag) != nil
  }

  private func index(of tag: String) -> Int? {
    let folded = Self.folded(Self.trimmed(tag))
    return tags.firstIndex { Self.folded($0).utf8.elementsEqual(folded.utf8) }
  }
}

extension TagSet: RandomAccessCollection {
  /// The position of the first tag.
  public var startIndex: Int { tags.startIndex }
  /// The position after the last tag.
  public var endIndex: Int { tags.endIndex }
  /// The tag at a position, in its first spelling.
  public subscript(position: Int) -> String { tags[position] }
}

extension TagSet: ExpressibleByArrayLiteral {
  /// Creates a set of tags; of equal tags, the first is kept.
  public init(arrayLiteral elements: String...) {
    self.init(elements)
  }
}

extension TagSet {
  /// A tag without the white space around it.
  static func trimmed(_ tag: String) -> String {
    tag.trimmingCharacters(in: .whitespacesAndNewlines)
  }

  /// The folded form of a tag: equal tags have equal bytes in it.
  ///
  /// Neither Foundation nor the standard library offers full case folding. Mapping to lower, upper and lower
  /// case again gives the same result for all letters with a case pair: "ẞ" becomes "ß", "SS", "ss" (Unicode,
  /// section 3.13, default caseless matching).
  static func folded(_ tag: String) -> String {
    if tag.utf8.allSatisfy({ $0 < 0x80 }) { return tag.lowercased() }
    return tag.decomposedStringWithCanonicalMapping.lowercased().uppercased().lowercased()
      .precomposedStringWithCanonicalMapping
  }

  /// Checks that the tags obey the model's rules.
  func validate() throws(TallyError) {
    guard count <= Self.maximumCount else {
      throw .invalidTag("The task has \(count) tags", remedy: "Keep at most \(Self.maximumCount)")
    }
    for tag in tags { try Self.validate(tag) }
  }

  /// Checks that a tag obeys the model's rules.
  static func validate(_ tag: String) throws(TallyError) {
    guard !tag.isEmpty else { throw .invalidTag("A tag is empty", remedy: "Give it 1 to 64 characters") }
    guard tag.utf8.count <= maximumLengthInBytes, tag.count <= maximumLengthInCharacters else {
      throw .invalidTag("A tag has more than 64 characters", remedy: "Shorten it")
    }
    let isForbidden = tag.unicodeScalars.contains {
      $0 == "#" || $0 == "," || $0.properties.generalCategory == .control
    }
    if isForbidden {
      throw .invalidTag("A tag has a #, a comma or a control character", remedy: "Leave these characters out")
    }
  }
}

extension TallyError {
  fileprivate static func invalidTag(_ message: String, remedy: String) -> TallyError {
    TallyError(.invalidTag, message, remedy: remedy)
  }
}

extension TagSet {
  /// The size of the stored tags in bytes.
  var storedByteCount: Int { reduce(0) { $0 + 2 + $1.utf8.count } }
}
