/// Buckets of durations: whole seconds up to 127, and less than 1.6% wide above.
///
/// As in HdrHistogram, a bucket is a power of two and the six binary digits after the first. The arithmetic is on
/// integers, so a duration falls into the same bucket on every machine. The middle of a bucket is at most 0.8% from the
/// exact value.
enum CycleTimeBucket {
  private static let digitCount = 6

  /// The bucket of a duration; a negative duration, which differing clocks can cause, counts as zero.
  static func number(ofSeconds duration: Int64) -> UInt16 {
    let seconds = UInt64(clamping: duration)
    guard seconds >= 1 << digitCount else { return UInt16(seconds) }
    let exponent = UInt64.bitWidth - 1 - seconds.leadingZeroBitCount
    let digits = (seconds >> UInt64(exponent - digitCount)) & (1 << UInt64(digitCount) - 1)
    return UInt16((exponent - digitCount + 1) << digitCount) | UInt16(digits)
  }

  /// The middle of a bucket, in seconds.
  static func middleInSeconds(of bucket: UInt16) -> Int64 {
    guard bucket >= 1 << digitCount else { return Int64(bucket) }
    let exponent = Int64(bucket >> UInt16(digitCount)) + Int64(digitCount) - 1
    let shift = exponent - Int64(digitCount)
    let digits = Int64(bucket & (1 << UInt16(digitCount) - 1)) | 1 << Int64(digitCount)
    return digits << shift + ((1 << shift) - 1) / 2
  }
}
