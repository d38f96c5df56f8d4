/// Why a text is not an ISO 8601 day or instant.
///
/// Each raw value is the fault as one sentence, without a full stop and without any of the text. Smaller than a
/// `TallyError`, which the parser's callers convert it to: functions that can throw it cost nothing extra in an import
/// without faults.
enum ISO8601Fault: String, Error {
  case malformedDay = "The day is not written as YYYY-MM-DD"
  case impossibleDay = "The text names a day that the calendar does not have"
  case yearOutOfRange = "The year is not between 0001 and 9999"
  case missingTime = "The instant has a day but no time"
  case malformedTime = "The time of day is not written as HH:MM:SS"
  case impossibleTime = "The time of day is beyond 23:59:59"
  case leapSecond = "The time of day is a leap second, which cannot be stored"
  case malformedFraction = "The fraction of a second does not have 1 to 9 digits"
  case missingOffset = "The instant does not say its offset from UTC"
  case malformedOffset = "The offset from UTC is not written as Z, +HH:MM or -HH:MM"
  case impossibleOffset = "The offset from UTC is beyond 23:59"
  case trailingText = "There is more text after the end of the value"
  case outOfRange = "The instant is not between the years 0001 and 9999"

  /// The error of a calendar day.
  var dayError: TallyError { error(.invalidDay, remedy: "Write a day as YYYY-MM-DD, as in 2026-11-21") }

  /// The error of an instant.
  var instantError: TallyError {
    error(.invalidInstant, remedy: "Write an instant as in 2026-11-21T12:00:00Z or 2026-11-21T15:00:00+03:00")
  }

  private func error(_ code: TallyError.Code, remedy: String) -> TallyError {
    TallyError(self == .yearOutOfRange || self == .outOfRange ? .valueOutOfRange : code, rawValue, remedy: remedy)
  }
}
