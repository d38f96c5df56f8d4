import Foundation

// A `Date` is a binary number of seconds, finer than a microsecond near the present. Its text has as many digits as it
// needs to be read as the same date again: those of the shortest decimal number that stands for the binary one.

extension Date {
  /// The seconds from 1970 to 2001, from which a date counts.
  private static var secondsFrom1970To2001: Int64 { 978_307_200 }

  /// The dates of the years 1 to 9999, in seconds since 2001.
  private static var textRange: Range<Double> { -63_113_904_000..<252_423_993_600 }

  /// Appends the date in UTC, as in `2026-11-21T12:00:00.25Z`; returns false, with nothing appended, if its year is not
  /// one of 1 to 9999 or it is not a number.
  func appendText(to bytes: inout [UInt8]) -> Bool {
    let seconds = timeIntervalSinceReferenceDate
    guard Self.textRange.contains(seconds) else { return false }
    let whole = seconds.rounded(.down)
    let microseconds = (Int64(whole) + Self.secondsFrom1970To2001) * 1_000_000
    bytes.append(addingCapacity: Timestamp.textByteCount) { $0.appendDateAndTime(localMicroseconds: microseconds) }
    if whole != seconds {
      bytes.append(UInt8(ascii: "."))
      let digits = Self.fractionDigits(of: seconds.magnitude)
      // Before 2001 the fraction counts from the second before.
      bytes += seconds < 0 ? Self.complement(digits) : digits
    }
    bytes.append(UInt8(ascii: "Z"))
    return true
  }

  /// Reads an ISO 8601 instant with a fraction of any number of digits; `nil` if the text is not one.
  init?(interchange text: String) {
    let bytes = Array(text.utf8)
    let start = Self.fractionStart
    guard bytes.count > start, bytes[start - 1] == UInt8(ascii: ".") else {
      guard let instant = try? Timestamp(iso8601: text) else { return nil }
      self = instant.date
      return
    }
    let digits = bytes[start...].prefix(while: \.isDigit)
    guard !digits.isEmpty else { return nil }
    let rest = Array(bytes[..<(start - 1)] + bytes[(start + digits.count)...])
    guard let second = try? Timestamp(iso8601: rest.span) else { return nil }
    let seconds = floorDivide(second.microsecondsSince1970, by: 1_000_000) - Self.secondsFrom1970To2001
    guard let date = Self.seconds(seconds, digits) else { return nil }
    self.init(timeIntervalSinceReferenceDate: date)
  }

  /// Where a fraction begins in `YYYY-MM-DDTHH:MM:SS.`.
  private static var fractionStart: Int { 20 }

  /// A whole number of seconds and the digits after it, as the nearest binary number.
  private static func seconds(_ whole: Int64, _ digits: ArraySlice<UInt8>) -> Double? {
    let end = digits.lastIndex { $0 != UInt8(ascii: "0") }
    guard let end else { return Double(whole) }
    let fraction = Array(digits[...end])
    guard whole < 0 else { return Double("\(whole).\(String(decoding: fraction, as: UTF8.self))") }
    // The number is negative: its magnitude is less than that of the whole seconds.
    return Double("\(whole.magnitude - 1).\(String(decoding: complement(fraction), as: UTF8.self))").map { -$0 }
  }

  /// The digits after the point of the shortest decimal number that stands for a positive number with a fraction.
  private static func fractionDigits(of number: Double) -> [UInt8] {
    let text = Array(number.description.utf8)
    let mantissa = text.prefix { $0 != UInt8(ascii: "e") }
    guard mantissa.count < text.count else {
      return Array(mantissa[(mantissa.firstIndex(of: UInt8(ascii: ".")) ?? mantissa.endIndex)...].dropFirst())
    }
    // A number with a fraction has a negative exponent, if it has one.
    let exponent = Int(String(decoding: text[(mantissa.count + 1)...], as: UTF8.self)) ?? 0
    var digits = mantissa.filter(\.isDigit)
    while digits.last == UInt8(ascii: "0") { digits.removeLast() }
    return [UInt8](repeating: UInt8(ascii: "0"), count: -exponent - 1) + digits
  }

  /// The digits of one minus a fraction, whose last digit is not zero.
  private static func complement(_ digits: [UInt8]) -> [UInt8] {
    let (zero, nine) = (UInt8(ascii: "0"), UInt8(ascii: "9"))
    return digits.enumerated().map { $0 + 1 == digits.count ? zero + 10 - ($1 - zero) : zero + nine - $1 }
  }
}
