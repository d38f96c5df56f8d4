import Foundation
import SystemPackage
import Tally

/// A time zone under the name it was asked for.
///
/// Foundation has one zone for "UTC" and "GMT" and calls it GMT; what a person has written is what they get to read.
struct NamedTimeZone {
  let name: String
  let zone: TimeZone

  static let utc = NamedTimeZone(name: "UTC", zone: .gmt)

  /// The zone of an IANA name; `nil` where there is none.
  ///
  /// Foundation also takes offsets ("GMT+3") and abbreviations that mean other places to other people ("BST", which it
  /// holds to be Dhaka's): those are no names of zones, and the tz database does not have them.
  init?(iana name: String) {
    let database = TimeZoneDatabase.system
    guard database.contains(name) || !database.isThere && (name.contains("/") || name == "UTC"),
      let zone = TimeZone(identifier: name)
    else { return nil }
    self.init(name: name, zone: zone)
  }

  private init(name: String, zone: TimeZone) {
    self.name = name
    self.zone = zone
  }
}

extension NamedTimeZone {
  /// The zone that the system is set to, by the rules of the C library (tzset(3)): `TZ`, else `/etc/localtime`.
  ///
  /// Foundation's `TimeZone.current` was not taken: it knows names and links only, turns the sign of `UTC-3`, and takes
  /// all else for UTC, so that work would be noted down on the wrong day without a word.
  ///
  /// - Throws: ``CommandFailure`` for a setting that cannot be understood.
  static func system(environment: EnvironmentVariables) throws -> NamedTimeZone {
    guard let setting = try environment.value(of: "TZ") else {
      let file = FilePath("/etc/localtime")
      guard (try? file.stat()) != nil else { return .utc }
      guard let zone = zone(ofFile: file) else { throw failure("/etc/localtime is no zone of the tz database") }
      return zone
    }
    guard let zone = zone(ofSetting: setting.hasPrefix(":") ? String(setting.dropFirst()) : setting) else {
      let shown = setting.truncated(toWidth: 60).escapedForDisplay()
      throw failure("TZ is set to '\(shown)', which is no zone's name, no file and no fixed offset")
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
    CommandFailure(
      .usage, code: "unknownTimeZone", message, remedy: "Name the zone: --time-zone Europe/Istanbul, or TZ likewise")
  }
}
