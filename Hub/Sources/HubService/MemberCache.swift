import HubStorage
import Synchronization

/// Members by their tokens, which saves a look-up for each append.
///
/// For appends alone: they look the member up again in the transaction that writes, so one that was revoked is refused all the same.
final class MemberCache: Sendable {
  private let members = Mutex<[TokenHash: HubMember]>([:])
  private static let most = 100_000

  subscript(token: TokenHash) -> HubMember? {
    get { members.withLock { $0[token] } }
    set {
      members.withLock { members in
        if members.count >= Self.most { members = [:] }
        members[token] = newValue
      }
    }
  }
}
