import Foundation
import Tally
import Testing

/// A zone and the years of changes worth testing.
struct ZoneSample: CustomTestStringConvertible, Sendable {
  let identifier: String
  let years: ClosedRange<Int>

  var testDescription: String { "\(identifier) \(years.lowerBound)–\(years.upperBound)" }

  init(_ identifier: String, _ years: ClosedRange<Int>) {
    (self.identifier, self.years) = (identifier, years)
  }

  /// Half hours, odd seconds, skipped and doubled days, midnights that do not exist, and plain zones.
  static let all: [ZoneSample] = [
    .init("Australia/Lord_Howe", 2019...2021), .init("Pacific/Chatham", 2020...2021),
    .init("Asia/Kathmandu", 1985...1987), .init("Pacific/Apia", 2011...2012), .init("Pacific/Kwajalein", 1993...1993),
    .init("Pacific/Kiritimati", 1994...1995), .init("America/Sao_Paulo", 2017...2019),
    .init("Africa/Casablanca", 2018...2021), .init("Antarctica/Troll", 2014...2016),
    .init("Europe/Amsterdam", 1935...1938), .init("Africa/Monrovia", 1971...1973),
    .init("America/St_Johns", 2005...2011), .init("Europe/Istanbul", 2014...2017), .init("Asia/Tehran", 2020...2023),
    .init("America/New_York", 2024...2026), .init("Europe/Dublin", 1968...1973), .init("UTC", 2025...2026),
    .init("Europe/London", 1940...1948), .init("Asia/Kolkata", 1940...1946), .init("America/Caracas", 2007...2016),
    .init("Asia/Pyongyang", 2015...2018), .init("Pacific/Norfolk", 2014...2020), .init("Africa/Cairo", 2010...2024),
    .init("America/Havana", 2011...2013), .init("Asia/Beirut", 2022...2023), .init("Asia/Gaza", 2014...2016),
    .init("America/Asuncion", 2022...2024), .init("America/Santiago", 2014...2019),
    .init("Antarctica/Casey", 2009...2012), .init("Pacific/Honolulu", 1945...1948),
    .init("America/Anchorage", 1983...1984), .init("Pacific/Marquesas", 1912...1913), .init("Asia/Tokyo", 1948...1951),
    .init("Europe/Moscow", 2010...2014), .init("Asia/Riyadh", 1947...1950), .init("America/Juneau", 1867...1868),
    .init("Pacific/Niue", 1963...1965), .init("Pacific/Tongatapu", 2016...2017), .init("Europe/Lisbon", 1992...1996),
    .init("America/Phoenix", 2025...2026),
  ]

  /// The days, counted from 1970, that the years cover.
  var dayNumbers: ClosedRange<Int64> {
    Self.newYear(years.lowerBound)...(Self.newYear(years.upperBound + 1) - 1)
  }

  private static func newYear(_ year: Int) -> Int64 {
    Int64(((try? CalendarDay(year: year, month: 1, day: 1)) ?? .earliest).dayNumber)
  }

  /// The offsets of Amsterdam from 1931 to 1943: the second of each change, and the offset from there on.
  ///
  /// Foundation's data may have Brussels' times instead; the names of both are links in the smallest tz database.
  private static let amsterdam: [(second: Int64, offset: Int64)] = [
    (-1_219_184_372, 4_772), (-1_206_915_572, 1_172), (-1_186_957_172, 4_772), (-1_175_465_972, 1_172),
    (-1_156_025_972, 4_772), (-1_143_411_572, 1_172), (-1_124_489_972, 4_772), (-1_111_961_972, 1_172),
    (-1_092_953_972, 4_772), (-1_080_512_372, 1_172), (-1_061_331_572, 4_772), (-1_049_062_772, 1_172),
    (-1_029_190_772, 4_772), (-1_025_745_572, 4_800), (-1_017_613_200, 1_200), (-998_259_600, 4_800),
    (-986_163_600, 1_200), (-966_723_600, 4_800), (-954_109_200, 1_200), (-935_022_000, 7_200),
    (-857_257_200, 3_600),
  ]

  /// Local time minus UTC in seconds: Foundation's, or Amsterdam's own.
  func offset(in timeZone: TimeZone, atSecond second: Int64) -> Int64 {
    guard identifier != "Europe/Amsterdam" else {
      return Self.amsterdam.last { $0.second <= second }?.offset ?? 1_172
    }
    return Int64(timeZone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(second))))
  }

  /// The instants at which the offset changes, found by asking for every six hours and bisecting.
  func changesOfOffset(in timeZone: TimeZone) -> [Int64] {
    func offset(_ second: Int64) -> Int64 { self.offset(in: timeZone, atSecond: second) }
    let step: Int64 = 21_600
    var changes: [Int64] = []
    for start in stride(from: dayNumbers.lowerBound * 86_400, to: dayNumbers.upperBound * 86_400, by: Int(step))
    where offset(start) != offset(start + step) {
      var (low, high) = (start, start + step)
      while high - low > 1 {
        let middle = low + (high - low) / 2
        if offset(middle) == offset(start) { low = middle } else { high = middle }
      }
      changes.append(high * 1_000_000)
    }
    return changes
  }
}
