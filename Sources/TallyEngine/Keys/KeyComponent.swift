public import Foundation

/// A value that can be a part of a key: the order of its bytes is its order, and the bytes say where they end.
///
/// An enumeration with raw values needs no code:
///
/// ```swift
/// enum Sport: String, Codable, KeyComponent { case run, ride, swim }
/// ```
///
/// Texts are compared byte for byte: two spellings of one text that Unicode considers equivalent are different keys.
public protocol KeyComponent: Hashable, Sendable {
  /// The type that a question takes: another one only for ``Descending``.
  associatedtype PlainKey: Hashable & Sendable = Self

  /// The component of a value in a question.
  static func keyComponent(of plain: PlainKey) -> Self

  /// The value, as questions take it.
  var plainKey: PlainKey { get }

  /// The number of bytes of every value; `nil` if it varies.
  static var keyByteCount: Int? { get }

  /// Appends the bytes.
  func appendKey(to key: inout [UInt8])

  /// Reads the bytes at an offset, and moves the offset to their end.
  ///
  /// - Throws: `damagedStore` if they are not the bytes of such a value.
  static func readKey(_ bytes: RawSpan, at offset: inout Int) throws(TallyError) -> Self
}

extension KeyComponent {
  /// The number of bytes varies, unless a type says otherwise.
  @inlinable public static var keyByteCount: Int? { nil }
}

extension KeyComponent {
  /// Whether two values have the same bytes: a date has more digits than its key.
  @inlinable func isSameKey(as other: Self) -> Bool {
    if self == other { return true }
    var (own, others): ([UInt8], [UInt8]) = ([], [])
    appendKey(to: &own)
    other.appendKey(to: &others)
    return own == others
  }
}

extension KeyComponent where PlainKey == Self {
  /// The same value.
  @inlinable
  public static func keyComponent(of plain: Self) -> Self { plain }

  /// The same value.
  @inlinable public var plainKey: Self { self }
}

/// A component in falling order.
///
/// ```swift
/// static let newest = index("newest") { Descending($0.start) }
/// ```
public struct Descending<Value: KeyComponent>: KeyComponent where Value.PlainKey == Value {
  /// The type that questions take.
  public typealias PlainKey = Value

  /// The value.
  public let value: Value

  /// Creates the component.
  @inlinable
  public init(_ value: Value) {
    self.value = value
  }

  /// The component of a value in a question.
  @inlinable
  public static func keyComponent(of plain: Value) -> Descending { Descending(plain) }

  /// The value.
  @inlinable public var plainKey: Value { value }

  /// The `keyByteCount` of the value.
  @inlinable public static var keyByteCount: Int? { Value.keyByteCount }

  /// Appends the bytes of the value, each bit flipped: no key is the beginning of another.
  @inlinable
  public func appendKey(to key: inout [UInt8]) {
    let start = key.count
    value.appendKey(to: &key)
    for index in start..<key.count { key[index] = ~key[index] }
  }

  /// Reads the flipped bytes of a value.
  public static func readKey(_ bytes: RawSpan, at offset: inout Int) throws(TallyError) -> Descending {
    let flipped = bytes.bytes(from: offset).map { ~$0 }
    var end = 0
    // Unsafe by signature only: bytes have no padding.
    let value = unsafe try Value.readKey(flipped.span.bytes, at: &end)
    offset += end
    return Descending(value)
  }
}

extension KeyComponent where Self: FixedWidthInteger {
  /// The number of bytes of the integer.
  @inlinable public static var keyByteCount: Int? { bitWidth / 8 }

  /// Appends the bytes, the most significant one first and with a flipped sign.
  @inlinable
  public func appendKey(to key: inout [UInt8]) {
    let flipped = Self.isSigned ? self ^ Self.min : self
    // Unsafe by signature only: an integer has no padding.
    unsafe withUnsafeBytes(of: flipped.bigEndian) { unsafe key.append(contentsOf: $0) }
  }

  /// Reads the bytes.
  public static func readKey(_ bytes: RawSpan, at offset: inout Int) throws(TallyError) -> Self {
    let end = offset + bitWidth / 8
    guard end <= bytes.byteCount else { throw .damagedKey }
    var number: Self = 0
    for index in offset..<end {
      number = number << 8 | Self(truncatingIfNeeded: bytes.load(bigEndianAt: index, as: UInt8.self))
    }
    offset = end
    return isSigned ? number ^ Self.min : number
  }
}

extension Int: KeyComponent {}
extension Int8: KeyComponent {}
extension Int16: KeyComponent {}
extension Int32: KeyComponent {}
extension Int64: KeyComponent {}
extension UInt: KeyComponent {}
extension UInt8: KeyComponent {}
extension UInt16: KeyComponent {}
extension UInt32: KeyComponent {}
extension UInt64: KeyComponent {}

extension Bool: KeyComponent {
  /// One byte.
  @inlinable public static var keyByteCount: Int? { 1 }

  /// Appends 0 or 1.
  @inlinable
  public func appendKey(to key: inout [UInt8]) { key.append(self ? 1 : 0) }

  /// Reads the byte.
  public static func readKey(_ bytes: RawSpan, at offset: inout Int) throws(TallyError) -> Bool {
    try UInt8.readKey(bytes, at: &offset) != 0
  }
}

extension Double: KeyComponent {
  /// Eight bytes.
  @inlinable public static var keyByteCount: Int? { 8 }

  /// Appends the bits, in an order that is that of the numbers; -0 is before 0, and NaN is last or first.
  @inlinable
  public func appendKey(to key: inout [UInt8]) {
    (bitPattern ^ (sign == .minus ? .max : 1 << 63)).appendKey(to: &key)
  }

  /// Reads the bits.
  public static func readKey(_ bytes: RawSpan, at offset: inout Int) throws(TallyError) -> Double {
    let bits = try UInt64.readKey(bytes, at: &offset)
    return Double(bitPattern: bits ^ (bits >> 63 == 0 ? .max : 1 << 63))
  }
}

extension UUID: KeyComponent {
  /// Sixteen bytes.
  @inlinable public static var keyByteCount: Int? { 16 }

  /// Appends the bytes in the order of RFC 9562.
  @inlinable
  public func appendKey(to key: inout [UInt8]) {
    // Sixteen plain bytes, read within the closure only.
    unsafe withUnsafeBytes(of: uuid) { unsafe key.append(contentsOf: $0) }
  }

  /// Reads the bytes.
  public static func readKey(_ bytes: RawSpan, at offset: inout Int) throws(TallyError) -> UUID {
    guard offset + 16 <= bytes.byteCount else { throw .damagedKey }
    defer { offset += 16 }
    return bytes.load(idAt: offset)
  }
}

extension Date: KeyComponent {
  /// Eight bytes.
  @inlinable public static var keyByteCount: Int? { 8 }

  /// Appends the whole microseconds since 1970, between the years 1 and 9999.
  public func appendKey(to key: inout [UInt8]) {
    Timestamp(clamping: self).microsecondsSince1970.appendKey(to: &key)
  }

  /// Reads the microseconds.
  public static func readKey(_ bytes: RawSpan, at offset: inout Int) throws(TallyError) -> Date {
    Timestamp(clamping: try Int64.readKey(bytes, at: &offset)).date
  }
}

extension Timestamp: KeyComponent {
  /// Eight bytes.
  public static var keyByteCount: Int? { 8 }

  /// Appends the microseconds since 1970.
  public func appendKey(to key: inout [UInt8]) { microsecondsSince1970.appendKey(to: &key) }

  /// Reads the microseconds.
  public static func readKey(_ bytes: RawSpan, at offset: inout Int) throws(TallyError) -> Timestamp {
    Timestamp(clamping: try Int64.readKey(bytes, at: &offset))
  }
}

extension CalendarDay: KeyComponent {
  /// Four bytes.
  public static var keyByteCount: Int? { 4 }

  /// Appends the number of the day.
  public func appendKey(to key: inout [UInt8]) { dayNumber.appendKey(to: &key) }

  /// Reads the number of the day.
  public static func readKey(_ bytes: RawSpan, at offset: inout Int) throws(TallyError) -> CalendarDay {
    guard let day = try? CalendarDay(dayNumber: try Int32.readKey(bytes, at: &offset)) else { throw .damagedKey }
    return day
  }
}

extension String: KeyComponent {
  /// Appends the bytes in UTF-8, each zero byte followed by 255, then two zero bytes.
  @inlinable
  public func appendKey(to key: inout [UInt8]) {
    var text = self
    let start = key.count
    // Read within the closure only.
    text.withUTF8 { unsafe key.append(contentsOf: $0) }
    escapeZeroBytes(of: &key, from: start)
  }

  /// Reads the bytes up to the two zero bytes.
  public static func readKey(_ bytes: RawSpan, at offset: inout Int) throws(TallyError) -> String {
    let text = try readBytes(bytes, at: &offset)
    guard let text = String(validating: text, as: UTF8.self) else { throw .damagedKey }
    return text
  }
}

extension Data: KeyComponent {
  /// Appends the bytes, each zero byte followed by 255, then two zero bytes.
  public func appendKey(to key: inout [UInt8]) {
    let start = key.count
    key.append(contentsOf: self)
    escapeZeroBytes(of: &key, from: start)
  }

  /// Reads the bytes up to the two zero bytes.
  public static func readKey(_ bytes: RawSpan, at offset: inout Int) throws(TallyError) -> Data {
    Data(try readBytes(bytes, at: &offset))
  }
}

/// Marks the zero bytes of a text as its own, and ends it with two more.
@usableFromInline
func escapeZeroBytes(of key: inout [UInt8], from start: Int) {
  // They are rare: only a text that has one pays for it.
  if key[start...].contains(0) {
    key.replaceSubrange(start..., with: key[start...].flatMap { $0 == 0 ? [0, 255] : [$0] })
  }
  key.append(0)
  key.append(0)
}

/// Reads bytes that `escapeZeroBytes` has ended.
private func readBytes(_ bytes: RawSpan, at offset: inout Int) throws(TallyError) -> [UInt8] {
  var found: [UInt8] = []
  while offset < bytes.byteCount {
    let byte: UInt8 = bytes.load(bigEndianAt: offset)
    offset += 1
    guard byte == 0 else {
      found.append(byte)
      continue
    }
    guard offset < bytes.byteCount else { break }
    let next: UInt8 = bytes.load(bigEndianAt: offset)
    offset += 1
    if next == 0 { return found }
    guard next == 255 else { break }
    found.append(0)
  }
  throw .damagedKey
}

extension Optional: KeyComponent where Wrapped: KeyComponent, Wrapped.PlainKey == Wrapped {
  /// Appends 0 for no value, or 1 and the bytes of the value: no value comes first.
  @inlinable
  public func appendKey(to key: inout [UInt8]) {
    guard let self else { return key.append(0) }
    key.append(1)
    self.appendKey(to: &key)
  }

  /// Reads the byte, and the value if there is one.
  public static func readKey(_ bytes: RawSpan, at offset: inout Int) throws(TallyError) -> Wrapped? {
    try Bool.readKey(bytes, at: &offset) ? try Wrapped.readKey(bytes, at: &offset) : nil
  }
}

extension KeyComponent where Self: RawRepresentable, RawValue: KeyComponent {
  /// The `keyByteCount` of the raw value.
  @inlinable public static var keyByteCount: Int? { RawValue.keyByteCount }

  /// Appends the bytes of the raw value.
  @inlinable
  public func appendKey(to key: inout [UInt8]) { rawValue.appendKey(to: &key) }

  /// Reads the raw value.
  public static func readKey(_ bytes: RawSpan, at offset: inout Int) throws(TallyError) -> Self {
    guard let value = Self(rawValue: try RawValue.readKey(bytes, at: &offset)) else { throw .damagedKey }
    return value
  }
}

extension TallyError {
  /// The error for the bytes of a key that no value has.
  package static var damagedKey: TallyError {
    TallyError(
      .damagedStore, "A key of an index cannot be read", remedy: "Run a repair, which builds the index again")
  }
}
