public import Tally

/// What a caller knows about a document of another program.
public struct FormatOptions: Hashable, Sendable {
  /// The name of the document, by which lines without ids are told from equal ones of other documents; `nil` to take the
  /// file's.
  public var source: String?
  /// How dates such as `3/4/2026` are read; `nil` leaves them out, and the account names them.
  public var dateOrder: DateOrder?
  /// The day on which tasks were completed that are done without a date; `nil` for one long ago, so that no day of the
  /// statistics has them.
  public var completedOn: CalendarDay?
  /// Whether to write only what the format itself has words for, without Tally's extension; reading it again loses the rest.
  public var isPlain: Bool

  /// Creates options; nothing is known without them.
  public init(
    source: String? = nil, dateOrder: DateOrder? = nil, completedOn: CalendarDay? = nil, isPlain: Bool = false
  ) {
    (self.source, self.dateOrder, self.completedOn, self.isPlain) = (source, dateOrder, completedOn, isPlain)
  }
}
