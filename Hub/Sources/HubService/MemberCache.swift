import HubStorage
import Synchronization

/// A cache of members by their tokens, which saves a look-up for each append.
///
/// Only appends may use it: they look the member up again in the transaction that writes, so a revoked one is refused.
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
