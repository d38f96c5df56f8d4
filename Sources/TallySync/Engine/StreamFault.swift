/// Why a segment does not continue a stream.
enum StreamFault: Error, CaseIterable, CustomStringConvertible {
  case otherNumber
  case notWhole
  case unknownReplica
  case brokenChain
  case revoked
  case lacksNewKey

  /// Whether a person must do something first: looking again changes nothing.
  var needsAPerson: Bool {
    switch self {
    case .revoked, .lacksNewKey: true
    case .otherNumber, .notWhole, .unknownReplica, .brokenChain: false
    }
  }

  /// A sentence for people.
  var description: String {
    switch self {
    case .otherNumber: "A segment has another number than its place in the stream."
    case .notWhole: "The next segment has not arrived completely, or is damaged."
    case .unknownReplica: "The card of the device has not arrived, so its changes cannot be verified."
    case .brokenChain: "A segment does not follow the one before it: the stream was changed."
    case .revoked: "The device was revoked: what it wrote afterwards is not taken."
    case .lacksNewKey: "The device has joined with an old key: invite it again."
    }
  }
}
