import Foundation
import HubWire
public import TallySync

/// Connects stores to hubs.
///
///     let sync = StoreSync(store, connector: HubConnector())
///     let setup = try await sync.setUp(atHub: "https://hub.example", account: token, deviceName: "laptop")
///     // On the other device:
///     try await StoreSync(otherStore, connector: HubConnector()).join(hubInvitation: setup.invitation, deviceName: "phone")
public struct HubConnector: SyncConnector {
  /// Creates a connector.
  public init() {}

  /// Connects to a hub, which need not answer yet.
  ///
  /// - Parameters:
  ///   - place: Its address and the token of a member of the space.
  ///   - space: The space.
  /// - Returns: A transport.
  /// - Throws: ``HubFault/noToken``.
  public func transport(to place: SyncPlace, space: SpaceID) throws -> any SyncTransport {
    guard let token = place.token else { throw HubFault.noToken }
    return HubTransport(at: place.address, space: space, token: token)
  }
}

extension StoreSync {
  /// Creates a space at a hub, with all that the store has.
  ///
  /// - Parameters:
  ///   - url: The address of the hub.
  ///   - account: The token of an account; without one, an account is created.
  ///   - secret: What the hub asks for to create one, unless it is open to everybody: its secret, or a JWT of the user.
  ///   - deviceName: The name of this device for people.
  ///   - isEncrypted: Whether to encrypt everything; otherwise the hub can read it.
  /// - Returns: The texts with which others join; the invitation is for one device.
  /// - Throws: ``HubFault``; as `setUp(_:at:deviceName:isEncrypted:)`.
  public func setUp(
    atHub url: String, account: String? = nil, secret: String? = nil, deviceName: String, isEncrypted: Bool = true
  ) async throws -> SpaceSetup {
    guard try await !isSetUp else { throw HubFault.alreadySynchronises }
    let access = HubAccess(at: url)
    let token = if let account { account } else { try await access.createAccount(secret: secret).token }
    let space = SpaceID()
    let member = try await access.createSpace(space, account: token)
    // The invitation comes before the change of the store, so that an error leaves the store without a space.
    let invitation = try await access.invite(
      to: space, role: .writer, validInSeconds: HubInvitation.defaultValidityInSeconds, token: member)
    let setup = try await setUp(
      space, at: SyncPlace(url, token: member), deviceName: deviceName, isEncrypted: isEncrypted)
    return SpaceSetup(
      space: setup.space, replica: setup.replica,
      invitation: HubInvitation(hub: url, membership: invitation, space: setup.invitation).text,
      recoveryCode: setup.recoveryCode)
  }

  /// A text with which one other device joins the space at its hub; secret.
  ///
  /// - Parameters:
  ///   - role: What the device may do.
  ///   - duration: How long it is valid, in whole seconds.
  /// - Returns: The text.
  /// - Throws: ``HubFault``; `TallyError` with `notSynchronising`.
  public func inviteToHub(
    as role: HubMemberRole = .writer, for duration: Duration = .seconds(86_400)
  ) async throws -> String {
    let place = try await place()
    guard let token = place.token else { throw HubFault.noToken }
    let membership = try await HubAccess(at: place.address).invite(
      to: try await status().space, role: role, validInSeconds: Int(duration.components.seconds), token: token)
    return HubInvitation(hub: place.address, membership: membership, space: try await invite(for: duration)).text
  }

  /// Joins a space at a hub.
  ///
  /// Tasks that the store has are added to those of the space. The invitation is used up.
  ///
  /// - Parameters:
  ///   - text: The result of ``inviteToHub(as:for:)`` or ``setUp(atHub:account:secret:deviceName:isEncrypted:)``.
  ///   - deviceName: How this device is called, for people.
  /// - Returns: Who this store is in the space.
  /// - Throws: ``HubFault``; `TallyError` with `invalidInvitation`, `alreadySynchronises` or `syncUnreachable`.
  @discardableResult
  public func join(hubInvitation text: String, deviceName: String) async throws -> ReplicaID {
    guard try await !isSetUp else { throw HubFault.alreadySynchronises }
    guard let invitation = HubInvitation(text), let space = SpaceID(invitation: invitation.space) else {
      throw HubFault.noInvitation
    }
    let token = try await HubAccess(at: invitation.hub).join(invitation.membership, to: space)
    return try await join(invitation.space, at: SyncPlace(invitation.hub, token: token), deviceName: deviceName)
  }

  /// Continues with the space of this store at a hub, and creates the space there; other devices move with an invitation.
  ///
  /// A device that has been at the hub with this space returns as the same member. After an error the same call
  /// continues.
  ///
  /// - Parameters:
  ///   - url: The address of the hub.
  ///   - account: The token of an account; without one, an account is created.
  ///   - secret: What the hub asks for to create one, unless it is open to everybody: its secret, or a JWT of the user.
  /// - Returns: What was done.
  /// - Throws: ``HubFault``; as `move(to:)`.
  @discardableResult
  public func move(toHub url: String, account: String? = nil, secret: String? = nil) async throws -> PlaceMove {
    try await move(toHub: url, of: try await status().space) { access, token, space in
      let account = if let account { account } else { try await access.createAccount(secret: secret).token }
      return try await access.createSpace(space, account: account, as: token)
    }
  }

  /// Continues with the space at a hub, as the member that this device was there, or else as a new one.
  private func move(
    toHub url: String, of space: SpaceID,
    becomingMember becomeMember: (_ access: HubAccess, _ token: String, _ space: SpaceID) async throws -> String
  ) async throws -> PlaceMove {
    let access = HubAccess(at: url)
    var (token, isNew) = try await tokenForMove(toHub: url)
    if !isNew { isNew = try await !access.knows(token, in: space) }
    if isNew {
      token = try await becomeMember(access, token, space)
      try await storeToken(token, ofHub: url)
    }
    return try await move(to: SyncPlace(url, token: token))
  }

  /// Continues with the space of this store at the same hub, whose address has changed.
  ///
  /// The hub at the new address gets the token of this device, so it must be the same hub.
  ///
  /// - Parameter url: The new address.
  /// - Returns: What was done.
  /// - Throws: ``HubFault``; as `move(to:)`.
  @discardableResult
  public func move(toNewAddress url: String) async throws -> PlaceMove {
    guard let token = try await place().token else { throw HubFault.noToken }
    return try await move(to: SyncPlace(url, token: token))
  }

  /// Continues with the space of this store at a hub to which another device has moved it.
  ///
  /// - Parameter text: The invitation of that device. A hub that already knows this device does not use it: the device keeps
  ///   its role, and the invitation stays valid until it expires.
  /// - Returns: What was done.
  /// - Throws: ``HubFault``; as `move(to:)`.
  @discardableResult
  public func move(hubInvitation text: String) async throws -> PlaceMove {
    guard let invitation = HubInvitation(text), let space = SpaceID(invitation: invitation.space) else {
      throw HubFault.noInvitation
    }
    guard try await status().space == space else { throw HubFault.otherSpace }
    return try await move(toHub: invitation.hub, of: space) { access, token, space in
      try await access.join(invitation.membership, to: space, as: token)
    }
  }

  /// Joins a space at a hub as an owner by its recovery code, for a user who has lost all devices that were owners.
  ///
  /// Tasks that the store has are added to those of the space. Revoke the lost device next.
  ///
  /// - Parameters:
  ///   - url: The address of the hub.
  ///   - code: The recovery code.
  ///   - deviceName: How this device is called, for people.
  /// - Returns: Who this store is in the space.
  /// - Throws: ``HubFault``; `TallyError` with `invalidInvitation`, `alreadySynchronises` or `syncUnreachable`.
  @discardableResult
  public func restore(atHub url: String, recoveryCode code: String, deviceName: String) async throws -> ReplicaID {
    guard try await !isSetUp else { throw HubFault.alreadySynchronises }
    let token = SyncPlace.newToken()
    let member = try await HubAccess(at: url).restore(by: code, as: token)
    guard let space = SpaceID(member.space) else { throw HubFault.unexpected }
    return try await join(recoveryCode: code, to: space, at: SyncPlace(url, token: token), deviceName: deviceName)
  }

  /// Changes what another device may do at the hub.
  ///
  /// A space with two owners still has one when the other is lost.
  ///
  /// - Parameters:
  ///   - role: The new role.
  ///   - replica: Its replica.
  /// - Throws: ``HubFault``; `TallyError` with `notSynchronising`.
  public func setRole(_ role: HubMemberRole, of replica: ReplicaID) async throws {
    let (place, space) = (try await place(), try await status().space)
    guard let token = place.token else { throw HubFault.noToken }
    try await HubAccess(at: place.address).setRole(role, of: replica, in: space, token: token)
  }

  /// Revokes a replica: the hub accepts no further changes of it, and no request of its device.
  ///
  /// - Parameter replica: The replica.
  /// - Throws: ``HubFault``; `TallyError` with `notSynchronising`.
  public func revokeAtHub(_ replica: ReplicaID) async throws {
    let (place, status) = (try await place(), try await status())
    guard let token = place.token else { throw HubFault.noToken }
    let transport = HubTransport(at: place.address, space: status.space, token: token)
    let number = try await transport.heads()[replica]?.number ?? 0
    try await HubAccess(at: place.address).revoke(replica, behind: number, in: status.space, token: token)
  }
}
