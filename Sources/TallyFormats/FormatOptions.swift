public import Tally

/// What a caller knows about a document of another program.
public struct FormatOptions: Hashable, Sendable {
  /// The name of the document, by which lines without ids are told from equal ones of other documents; `nil` to take the
  /// file's.
  public var source: String?
  /// How dates such as `3/4/2026` are read; `nil` to find it out from the document.
  public var dateOrder: DateOrder?
  /// How they are read if the document does not show it, such as by the locale's order; `nil` leaves them out, and the account
  /// names them.
  public var usualDateOrder: DateOrder?
  /// The completion day of done tasks without a date; `nil` for 1 January 1970.
  public var completedOn: CalendarDay?
  /// Whether to write only what the format itself has words for, without Tally's extension; reading it again loses the rest.
  public var isPlain: Bool

  /// Creates options; nothing is known without them.
  public init(
    source: String? = nil, dateOrder: DateOrder? = nil, usualDateOrder: DateOrder? = nil,
    completedOn: CalendarDay? = nil, isPlain: Bool = false
  ) {
    (self.source, self.dateOrder, self.usualDateOrder) = (source, dateOrder, usualDateOrder)
    (self.completedOn, self.isPlain) = (completedOn, isPlain)
  }
}
