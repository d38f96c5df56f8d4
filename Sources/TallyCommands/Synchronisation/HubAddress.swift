import ArgumentParser
import Foundation
import TallySync

/// `--insecure` of commands that name a hub.
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

/// Where a hub is.
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
