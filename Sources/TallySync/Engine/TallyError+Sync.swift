public import Tally

extension TallyError.Code {
  /// The store belongs to no space.
  public static let notSynchronising = TallyError.Code(named: "notSynchronising")
  /// The store belongs to a space already.
  public static let alreadySynchronises = TallyError.Code(named: "alreadySynchronises")
  /// The folder or hub of the space cannot be reached; nothing is lost.
  public static let syncUnreachable = TallyError.Code(named: "syncUnreachable")
  /// The hub of the space refuses what this store sends or asks; nothing is lost.
  public static let syncRefused = TallyError.Code(named: "syncRefused")
  /// Another process synchronises the store.
  public static let syncBusy = TallyError.Code(named: "syncBusy")
  /// A text is not an invitation or recovery code, or not one that is valid now.
  public static let invalidInvitation = TallyError.Code(named: "invalidInvitation")
  /// A passphrase is not that of the space.
  public static let wrongPassphrase = TallyError.Code(named: "wrongPassphrase")
  /// No value that lost a race has the given number.
  public static let conflictNotFound = TallyError.Code(named: "conflictNotFound")
}

extension TallyError {
  static let notSynchronising = TallyError(
    .notSynchronising, "This store does not synchronise",
    remedy: "Set up a space in a folder, or join one with an invitation")

  static let alreadySynchronises = TallyError(
    .alreadySynchronises, "This store belongs to a space already", remedy: "Leave that space first")

  static let syncBusy = TallyError(
    .syncBusy, "Another process synchronises this store", remedy: "Let it finish, or stop it")

  /// The folder or hub cannot be reached, or refuses.
  static func unreachable(_ cause: any Error) -> TallyError {
    if let refusal = (cause as? any SyncTransportError)?.refusal { return refused(refusal) }
    return TallyError(
      .syncUnreachable, "The place of the space cannot be reached: \(String(describing: cause).withoutFullStop)",
      remedy: "Nothing is lost; synchronise again when it is there", cause: cause)
  }

  /// The place is a hub, and the program has no client for HTTP.
  static let noConnector = TallyError(
    .syncUnreachable, "The place of the space is a hub, which this program cannot reach",
    remedy: "Use a program with the client of the hub")

  /// A text does not open the space; `reason` is a sentence.
  static func invalidInvitation(_ reason: String) -> TallyError {
    TallyError(
      .invalidInvitation, reason.withoutFullStop,
      remedy: "Copy the whole text again, or ask for a new invitation")
  }

  /// The folder or hub refuses.
  static func refused(_ refusal: SyncRefusal) -> TallyError {
    TallyError(
      .syncRefused, "The place of the space refuses: \(refusal.reason.withoutFullStop)",
      remedy: "Nothing is lost; changes wait until it takes them. Ask an owner of the space, or who runs the place",
      cause: refusal)
  }

  /// What the place has said; `nil` for other errors.
  var refusal: SyncRefusal? { code == .syncRefused ? cause as? SyncRefusal : nil }

  static func conflictNotFound(_ id: UInt64) -> TallyError {
    TallyError(
      .conflictNotFound, "No conflict has the number \(id)", remedy: "List the conflicts to see their numbers")
  }
}

extension String {
  fileprivate var withoutFullStop: String { hasSuffix(".") ? String(dropLast()) : self }
}
