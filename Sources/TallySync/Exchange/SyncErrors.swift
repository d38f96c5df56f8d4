public import Tally

extension TallyError.Code {
  /// The store belongs to no space.
  public static let notSynchronising = TallyError.Code(named: "notSynchronising")
  /// The store belongs to a space already.
  public static let alreadySynchronises = TallyError.Code(named: "alreadySynchronises")
  /// The folder or hub of the space cannot be reached; nothing is lost.
  public static let syncUnreachable = TallyError.Code(named: "syncUnreachable")
  /// The hub of the space refuses a request of this store; nothing is lost.
  public static let syncRefused = TallyError.Code(named: "syncRefused")
  /// Another process synchronises the store.
  public static let syncBusy = TallyError.Code(named: "syncBusy")
  /// A passphrase is not that of the space.
  public static let wrongPassphrase = TallyError.Code(named: "wrongPassphrase")
  /// No conflict has the given number.
  public static let conflictNotFound = TallyError.Code(named: "conflictNotFound")
  /// Another device of the space has revoked this one; the store keeps everything.
  public static let deviceRevoked = TallyError.Code(named: "deviceRevoked")
  /// The space has a new key, which was not sealed for this device.
  public static let spaceKeyMissing = TallyError.Code(named: "spaceKeyMissing")
  /// No other replica of the space has the given id.
  public static let replicaNotFound = TallyError.Code(named: "replicaNotFound")
  /// The space has more replicas than a new key can be sealed for.
  public static let tooManyReplicas = TallyError.Code(named: "tooManyReplicas")
  /// Only an owner of the space at its hub may do this.
  public static let notAnOwner = TallyError.Code(named: "notAnOwner")
  /// A device cannot have this name.
  public static let invalidDeviceName = TallyError.Code(named: "invalidDeviceName")
  /// A folder or hub cannot be the place of the space, because it belongs to another space.
  public static let placeOfOtherSpace = TallyError.Code(named: "placeOfOtherSpace")
  /// The space is not encrypted, so it has no key that could change.
  public static let spaceNotEncrypted = TallyError.Code(named: "spaceNotEncrypted")
}

extension TallyError {
  static let notSynchronising = TallyError(
    .notSynchronising, "This store does not synchronise",
    remedy: "Set up a space in a folder, or join one with an invitation")

  static let alreadySynchronises = TallyError(
    .alreadySynchronises, "This store belongs to a space already", remedy: "Leave that space first")

  static let deviceRevoked = TallyError(
    .deviceRevoked, "This device was revoked",
    remedy: "It keeps all tasks and changes; to take part again, leave the space and join with a new invitation")

  static let spaceKeyMissing = TallyError(
    .spaceKeyMissing, "The space has a new key that this device did not get",
    remedy: "Synchronise other devices first; if that does not help, leave the space and join with a new invitation")

  static let tooManyReplicas = TallyError(
    .tooManyReplicas, "The space has too many devices for a new key",
    remedy: "Create a new space, and let the devices join that are still in use")

  static let spaceNotEncrypted = TallyError(
    .spaceNotEncrypted, "The space is not encrypted, so it has no key that could change",
    remedy: "Take the folder from the device, or create a new space with encryption")

  static let noRecoveryCode = TallyError(
    .spaceNotEncrypted, "The space is not encrypted, so it has no recovery code",
    remedy: "Let other devices join with an invitation")

  static let notAnOwner = TallyError(
    .notAnOwner, "Only an owner of the space at the hub has a recovery code, and this device is not known to be one",
    remedy:
      "Show the code on a device that is an owner, such as the one that set up the space; if an owner has just made "
      + "this device one, synchronise first")

  static let invalidDeviceName = TallyError(
    .invalidDeviceName, "The name of a device must not be blank, or longer than \(Card.maximumNameByteCount) bytes",
    remedy: "Give a short name on one line")

  static let placeOfOtherSpace = TallyError(
    .placeOfOtherSpace, "The folder holds another space, and not this one",
    remedy: "Name the folder that has this space, or an empty one")

  /// The folder in which a space should be created is missing, or is not a folder.
  static func noFolder(_ fault: FolderFault) -> TallyError {
    TallyError(
      .syncUnreachable, "The folder '\(fault.path)' cannot be used: \(fault.reason)",
      remedy: "Create the folder first, or mount its disk; the address of a hub begins with https://", cause: fault)
  }

  static func replicaNotFound(_ replica: ReplicaID) -> TallyError {
    TallyError(
      .replicaNotFound, "No other device of the space is \(replica)", remedy: "Copy the id from the list of members")
  }

  static let syncBusy = TallyError(
    .syncBusy, "Another process synchronises this store", remedy: "Let it finish, or stop it")

  /// The folder or hub cannot be reached, or refuses.
  static func unreachable(_ cause: any Error) -> TallyError {
    if let refusal = (cause as? any SyncTransportError)?.refusal { return refused(refusal) }
    if let fault = cause as? FolderFault, fault.kind == .notPermitted {
      return TallyError(
        .syncUnreachable, "This user may not use the folder of the space: \(fault.path): \(fault.reason)",
        remedy: fault.remedy, cause: fault)
    }
    return TallyError(
      .syncUnreachable, "The place of the space cannot be reached: \(String(describing: cause).withoutFullStop)",
      remedy: "Nothing is lost; synchronise again when it is there", cause: cause)
  }

  /// The system does not let this replica read its own files; `reason` is a sentence without a full stop.
  static func unreadableOwnFiles(_ reason: String) -> TallyError {
    TallyError(
      .syncUnreachable, "The files of this device cannot be read: \(reason)",
      remedy: "Check their owner, their permissions and the disk; nothing is lost")
  }

  /// The place is a hub, and the program has no client for HTTP.
  static let noConnector = TallyError(
    .syncUnreachable, "The place of the space is a hub, which this program cannot reach",
    remedy: "Use a program with the client of the hub")

  /// The folder or hub refuses.
  static func refused(_ refusal: SyncRefusal) -> TallyError {
    if refusal.isRevocation { return deviceRevoked }
    return TallyError(
      .syncRefused, "The place of the space refuses: \(refusal.reason.withoutFullStop)",
      remedy: "Nothing is lost; changes wait until it takes them. Ask an owner of the space, or who runs the place",
      cause: refusal)
  }

  /// The refusal by the place; `nil` for other errors.
  var refusal: SyncRefusal? { code == .syncRefused ? cause as? SyncRefusal : nil }

  static func conflictNotFound(_ id: UInt64) -> TallyError {
    TallyError(.conflictNotFound, "No conflict has the number \(id)", remedy: "List the conflicts to see their numbers")
  }
}
