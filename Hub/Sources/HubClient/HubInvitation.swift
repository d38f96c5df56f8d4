import TallySync

/// An invitation to a space at a hub, as one address: `https://hub.example/#MEMBERSHIP.SPACE`.
///
/// The part after `#` is secret. Only the membership is sent to the hub, a token that it accepts once; the rest is the
/// key of the space.
package struct HubInvitation: Equatable {
  let hub: String
  let membership: String
  let space: String

  static let defaultValidityInSeconds = 86_400

  init(hub: String, membership: String, space: String) {
    (self.hub, self.membership, self.space) = (hub, membership, space)
  }

  /// Reads an invitation; `nil` for any other text.
  package init?(_ text: String) {
    let text = String(text.filter { !$0.isWhitespace })
    guard let mark = text.firstIndex(of: "#"), SyncPlace(text).isHub else { return nil }
    let parts = text[mark...].dropFirst().split(separator: ".", maxSplits: 1)
    guard parts.count == 2 else { return nil }
    var hub = text[..<mark]
    while hub.last == "/" { hub = hub.dropLast() }
    self.init(hub: String(hub), membership: String(parts[0]), space: String(parts[1]))
  }

  var text: String { "\(hub)/#\(membership).\(space)" }
}
