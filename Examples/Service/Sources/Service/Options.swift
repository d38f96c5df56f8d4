import SystemPackage

/// The command line.
struct Options {
  let store: FilePath
  /// 0 takes any free port.
  var port = 0
  /// Whether to verify the store instead of serving it.
  var verifies = false

  /// Reads the arguments; `nil` if they are wrong.
  init?(_ arguments: some Collection<String>) {
    guard let path = arguments.first, !path.hasPrefix("-") else { return nil }
    store = FilePath(path)
    var rest = arguments.dropFirst()
    while let option = rest.popFirst() {
      switch option {
      case "--verify": verifies = true
      case "--port":
        guard let port = rest.popFirst().flatMap(UInt16.init) else { return nil }
        self.port = Int(port)
      default: return nil
      }
    }
  }
}
