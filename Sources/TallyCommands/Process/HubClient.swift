import ArgumentParser
import Foundation
import Tally
public import TallySync

/// The access of commands to a hub.
///
/// The program `tally` builds no client for HTTP. It starts `tally-hub-client` instead, which has the same commands and this.
public protocol HubClient: SyncConnector {
  /// Creates a space at a hub.
  func setUp(
    _ sync: StoreSync, at address: String, as account: HubAccountChoice, deviceName: String, isEncrypted: Bool
  ) async throws -> SpaceSetup

  /// Makes an invitation for one device, which is valid for a number of seconds.
  func invite(_ sync: StoreSync, as role: InvitedRole, validInSeconds: Int64) async throws -> String

  /// Joins by such an invitation.
  func join(_ sync: StoreSync, by invitation: String, deviceName: String) async throws

  /// Continues with the space of a store at a hub: given the hub's address, creates it there; given an invitation, joins it.
  func move(_ sync: StoreSync, to place: String, as account: HubAccountChoice) async throws -> PlaceMove

  /// Joins as an owner, by the recovery code of a space at the hub.
  func restore(_ sync: StoreSync, at address: String, by code: String, deviceName: String) async throws

  /// Changes the role of a replica's device.
  func setRole(_ role: InvitedRole, of replica: ReplicaID, _ sync: StoreSync) async throws

  /// Refuses changes of a replica from now on, and requests of its device.
  func revoke(_ replica: ReplicaID, _ sync: StoreSync) async throws
}

/// The account to which a space belongs.
public enum HubAccountChoice: Sendable {
  /// An existing account, by its token.
  case token(String)
  /// A new one; the secret is the hub's, unless it is open to everybody.
  case new(secret: String?)
  /// None: the hub has this space already, at another address.
  case sameHub
}

/// The role of a device in a space at a hub.
public enum InvitedRole: String, CaseIterable, Sendable {
  /// It reads, writes, invites and revokes.
  case owner
  /// It reads and writes.
  case writer
  /// It reads.
  case reader
}

/// A refusal or a fault of a hub, which a ``HubClient`` throws besides errors of the library.
public struct HubFailure: Error {
  let isRefusal: Bool
  let message: String
  let remedy: String?

  /// Creates the failure that an answer of a hub describes.
  ///
  /// - Parameters:
  ///   - message: The problem, without a full stop.
  ///   - isRefusal: Whether asking again would not help.
  ///   - remedy: The remedy, without a full stop; `nil` for the usual one.
  public init(_ message: String, isRefusal: Bool, remedy: String? = nil) {
    (self.message, self.isRefusal, self.remedy) = (message, isRefusal, remedy)
  }
}

extension CommandFailure {
  init(_ failure: HubFailure) {
    if failure.isRefusal {
      self.init(
        .notFound, code: "hubRefused", failure.message,
        remedy: failure.remedy ?? "Ask an owner of the space, or who runs the hub; nothing was lost")
    } else {
      self.init(
        .busy, code: "syncUnreachable", failure.message, remedy: "Nothing is lost; try again when the hub is there")
    }
  }
}

/// The option `--insecure` of commands that name a hub.
struct InsecureOption: ParsableArguments {
  @Flag(help: "Reach a hub without TLS: others on the way read its tokens.")
  var insecure = false

  /// Refuses an address at which others on the way read requests, tokens included.
  ///
  /// - Parameter address: The address of a hub, or an invitation that begins with it.
  /// - Throws: `CommandFailure`.
  func check(_ address: String) throws {
    guard !insecure, SyncPlace(address).isHub, HubAddress(address).isExposed else { return }
    throw CommandFailure.usage(
      "The address begins with http://, so others on the way could read the tokens of the hub",
      remedy: "Use one that begins with https://, or add --insecure in a network that you trust")
  }
}

/// The address of a hub.
struct HubAddress {
  private let text: String

  init(_ text: String) { self.text = text.filter { !$0.isWhitespace } }

  /// Whether requests leave this machine without TLS.
  var isExposed: Bool {
    guard text.lowercased().hasPrefix("http://") else { return false }
    guard let host = URLComponents(string: text)?.host?.lowercased() else { return true }
    return !(host == "localhost" || host == "[::1]" || host == "::1" || Self.isLoopback(host))
  }

  /// Whether the text is one of the addresses 127.0.0.0 to 127.255.255.255.
  private static func isLoopback(_ host: String) -> Bool {
    let parts = host.split(separator: ".", omittingEmptySubsequences: false).map { UInt8($0) }
    return parts.count == 4 && parts[0] == 127 && !parts.contains(nil)
  }
}
