/// The texts of a task that are searched, the most important first.
enum SearchedField: UInt8, CaseIterable, Sendable {
  case title, tags, notes
}

/// How well something was found in a task: in which text, and as how much of a word; the best comes first.
struct MatchQuality: Comparable, Hashable, Sendable {
  /// How much of a word was found.
  enum Extent: UInt8, Sendable {
    case whole, prefix, inside
  }

  private(set) var field: SearchedField
  private(set) var extent: Extent

  init(field: SearchedField, extent: Extent) {
    self.field = field
    self.extent = extent
  }

  /// A whole word of the title.
  static let best = MatchQuality(field: .title, extent: .whole)

  /// The quality as a number, of which the least is the best.
  var rank: UInt8 { field.rawValue * 3 + extent.rawValue }

  /// How many qualities there are.
  static let rankCount: UInt8 = 9

  /// The quality of a number that ``rank`` gave.
  init(rank: UInt8) {
    field = SearchedField(rawValue: rank / 3) ?? .notes
    extent = Extent(rawValue: rank % 3) ?? .inside
  }

  static func < (left: Self, right: Self) -> Bool {
    left.rank < right.rank
  }

  /// The quality of two terms together: the worse text and the worse extent.
  func combined(with other: Self) -> Self {
    MatchQuality(
      field: field.rawValue < other.field.rawValue ? other.field : field,
      extent: extent.rawValue < other.extent.rawValue ? other.extent : extent)
  }

  /// The better text and the better extent of two.
  func bound(with other: Self) -> Self {
    MatchQuality(
      field: field.rawValue < other.field.rawValue ? field : other.field,
      extent: extent.rawValue < other.extent.rawValue ? extent : other.extent)
  }
}
