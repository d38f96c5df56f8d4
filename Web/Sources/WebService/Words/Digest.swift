extension String {
  /// A number that depends on every byte, to notice a change; it is no defence against forgery.
  var digest: String { String(utf8.fnv1a, radix: 16) }
}

extension Sequence<UInt8> {
  /// The hash FNV-1a.
  var fnv1a: UInt64 {
    reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01b3 }
  }
}
