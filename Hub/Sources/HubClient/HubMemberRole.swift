/// The role of a device in a space at a hub.
public enum HubMemberRole: String, CaseIterable, Sendable {
  /// It reads, writes, invites and revokes.
  case owner
  /// It reads and writes.
  case writer
  /// It reads.
  case reader
}
