import Foundation
import SystemPackage
import Tally

/// A time zone with the name it was given by.
///
/// Foundation has one zone for "UTC" and "GMT" and calls it GMT; people should see the name they wrote.
struct NamedTimeZone {
  let name: String
  let zone: TimeZone

  static let utc = NamedTimeZone(name: "UTC", zone: .gmt)
}

extension NamedTimeZone {
  /// The zone with an IANA name; `nil` if there is none.
  ///
  /// Foundation also accepts offsets ("GMT+3") and ambiguous abbreviations ("BST", which it takes for Dhaka's): those are
  /// not names of zones, and the tz database does not have them.
  init?(iana name: String) {
    let database = TimeZoneDatabase.system
    guard database.contains(name) || !database.isThere && (name.contains("/") || name == "UTC"),
      let zone = TimeZone(identifier: name)
    else { return nil }
    self.init(name: name, zone: zone)
  }

  /// The zone that the system is set to, by the rules of the C library (tzset(3)): `TZ`, else `/etc/localtime`.
  ///
  /// Not Foundation's `TimeZone.current`: it knows only names and links, inverts the sign of `UTC-3`, and takes everything
  /// else for UTC, which would silently put work on the wrong day.
  ///
  /// - Throws: ``CommandFailure`` for a setting that cannot be read.
  static func system(environment: EnvironmentVariables) throws -> NamedTimeZone {
    guard let setting = try environment.value(of: "TZ") else {
      let file = FilePath("/etc/localtime")
      guard (try? file.stat()) != nil else { return .utc }
      guard let zone = zone(ofFile: file) else { throw failure("/etc/localtime is not a zone of the tz database") }
      return zone
    }
    guard let zone = zone(ofSetting: setting.hasPrefix(":") ? String(setting.dropFirst()) : setting) else {
      let shown = setting.truncated(toWidth: 60).escapedForDisplay()
      throw failure("TZ is set to '\(shown)', which is not a zone name, a file or a fixed offset")
    }
    return zone
  }

  private static func zone(ofSetting text: String) -> NamedTimeZone? {
    if text.isEmpty { return .utc }
    if text.hasPrefix("/") { return zone(ofFile: FilePath(text)) }
    if let zone = NamedTimeZone(iana: text.hasPrefix("posix/") ? String(text.dropFirst(6)) : text) { return zone }
    return TimeZone(posix: text).map { $0.secondsFromGMT() == 0 ? .utc : NamedTimeZone(name: $0.identifier, zone: $0) }
  }

  private static func zone(ofFile file: FilePath) -> NamedTimeZone? {
    TimeZoneDatabase.system.name(ofFile: file).flatMap { NamedTimeZone(iana: $0) }
  }

  private static func failure(_ message: String) -> CommandFailure {
    .usage(
      message, code: "unknownTimeZone",
      remedy: "Name a zone, as in --time-zone Europe/Istanbul or TZ=Europe/Istanbul")
  }
}
