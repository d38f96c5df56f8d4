import Foundation

/// How many cases a test tries that could try any number.
///
/// `make test` tries few, so that it is quick; with `TALLY_LONG=1` there are many, as in `make test-long`. A variable of
/// its own sets the size of one kind of test.
public enum TestSize {
  /// Whether tests take their time; snapshots are recorded of all cases.
  public static let isLong = ["TALLY_LONG", "TALLY_RECORD"].contains {
    ProcessInfo.processInfo.environment[$0] == "1"
  }

  /// The number in a variable if that is set, else one of the others.
  public static func of(_ variable: String, quick: Int, long: Int) -> Int {
    ProcessInfo.processInfo.environment[variable].flatMap { Int($0) } ?? pick(quick: quick, long: long)
  }

  /// What the form of the run needs.
  public static func pick<Size>(quick: Size, long: Size) -> Size {
    isLong ? long : quick
  }
}
