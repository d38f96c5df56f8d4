import Foundation
import SystemPackage
import TallySystem

/// What is known about a descriptor as a terminal.
enum Terminal {
  /// Whether the descriptor is connected to a terminal.
  static func isTerminal(_ descriptor: FileDescriptor) -> Bool {
    SystemCalls.isTerminal(descriptor)
  }

  /// The columns of a line; `nil` if lines may be of any length, as in a pipe.
  ///
  /// `COLUMNS` comes first, so that a person or a test can override the width.
  static func width(of descriptor: FileDescriptor, environment: EnvironmentVariables) -> Int? {
    if let columns = (try? environment.value(of: "COLUMNS")).flatMap({ Int($0) }), columns > 0 { return columns }
    var size = winsize()
    // Unsafe because `ioctl` writes through the pointer; TIOCGWINSZ fills exactly a `winsize`.
    guard unsafe ioctl(descriptor.rawValue, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
    return Int(size.ws_col)
  }
}
