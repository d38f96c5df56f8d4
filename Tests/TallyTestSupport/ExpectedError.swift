public import Tally
public import Testing

/// Expects that a closure throws the library's error with a code.
public func expect(
  _ code: TallyError.Code, _ location: SourceLocation = #_sourceLocation, _ body: () throws -> Void
) {
  #expect(sourceLocation: location) {
    try body()
  } throws: {
    ($0 as? TallyError)?.code == code
  }
}
