import Foundation

/// A time zone under the name it was asked for.
///
/// Foundation has one zone for "UTC" and "GMT" and calls it GMT; what a person has written is what they get to read.
struct NamedTimeZone {
  let name: String
  let zone: TimeZone

  /// The names of the tz database that are no region's, as its files `backward`, `etcetera` and regional ones have them.
  private static let namesWithoutRegion: Set<String> = [
    "CET", "CST6CDT", "Cuba", "EET", "EST", "EST5EDT", "Egypt", "Eire", "Factory", "GB", "GB-Eire", "GMT", "GMT+0",
    "GMT-0", "GMT0", "Greenwich", "HST", "Hongkong", "Iceland", "Iran", "Israel", "Jamaica", "Japan", "Kwajalein",
    "Libya", "MET", "MST", "MST7MDT", "NZ", "NZ-CHAT", "Navajo", "PRC", "PST8PDT", "Poland", "Portugal", "ROC", "ROK",
    "Singapore", "Turkey", "UCT", "UTC", "Universal", "W-SU", "WET", "Zulu",
  ]

  /// The zone of an IANA name; `nil` where there is none.
  ///
  /// Foundation also takes offsets ("GMT+3") and abbreviations that mean other places to other people ("BST", which it
  /// holds to be Dhaka's): those are no names of zones.
  init?(iana name: String) {
    guard name.contains("/") || Self.namesWithoutRegion.contains(name), let zone = TimeZone(identifier: name) else {
      return nil
    }
    self.name = name
    self.zone = zone
  }

  /// The zone that the system is set to.
  static var current: NamedTimeZone {
    let zone = TimeZone.current
    return NamedTimeZone(name: zone.identifier == "GMT" ? "UTC" : zone.identifier, zone: zone)
  }

  private init(name: String, zone: TimeZone) {
    self.name = name
    self.zone = zone
  }
}
