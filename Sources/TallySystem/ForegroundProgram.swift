package import SystemPackage

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A program that uses the terminal in place of this one, such as an editor.
///
/// Foundation's `Process` puts each program into a process group of its own. On a terminal that is a group in the
/// background, which the system stops as soon as it reads, and the wait for it would never end.
package enum ForegroundProgram {
  /// Runs a program in the group of this process and waits until it ends.
  ///
  /// Keys that interrupt are for the program meanwhile: this process ignores SIGINT and SIGQUIT.
  ///
  /// The corresponding C functions are `posix_spawn` and `waitpid`.
  ///
  /// - Parameters:
  ///   - executable: Its path.
  ///   - arguments: Its arguments, without its name.
  ///   - environment: Its variables.
  /// - Returns: its exit status, or 128 and the number of the signal that ended it.
  /// - Throws: `Errno` if it cannot be started.
  package static func run(
    _ executable: FilePath, _ arguments: [String], environment: [String: String]
  ) throws(Errno) -> Int32 {
    let (oldInterrupt, oldQuit) = (signal(SIGINT, SIG_IGN), signal(SIGQUIT, SIG_IGN))
    defer {
      signal(SIGINT, oldInterrupt)
      signal(SIGQUIT, oldQuit)
    }
    let variables = environment.map { "\($0)=\($1)" }
    let id = try start(executable, [executable.string] + arguments, variables)
    var status: CInt = 0
    // `waitpid` only writes into the local that it is given.
    while unsafe waitpid(id, &status, 0) < 0 {
      let error = Errno(rawValue: errno)
      guard error == .interrupted else { throw error }
    }
    let number = status & 0x7F
    return number == 0 ? status >> 8 & 0xFF : 128 + number
  }

  /// Replaces this process by a program; returns only by throwing.
  ///
  /// The corresponding C function is `execve`.
  ///
  /// - Parameters:
  ///   - executable: Its path.
  ///   - arguments: Its arguments, without its name.
  ///   - environment: Its variables.
  /// - Throws: `Errno` if it cannot be started.
  package static func replaceThisProcess(
    _ executable: FilePath, _ arguments: [String], environment: [String: String]
  ) throws(Errno) -> Never {
    // Handlers end with this program, but signals that it ignores stay ignored.
    for number in [SIGPIPE, SIGXFSZ] { signal(number, SIG_DFL) }
    // All strings outlive the call, which copies them.
    let error = unsafe withPointers(to: [executable.string] + arguments) { words in
      unsafe withPointers(to: environment.map { "\($0)=\($1)" }) { variables in
        unsafe executable.withPlatformString { path in
          _ = unsafe execve(path, words, variables)
          return Errno(rawValue: errno)
        }
      }
    }
    throw error
  }

  private static func start(_ executable: FilePath, _ words: [String], _ variables: [String]) throws(Errno) -> pid_t {
    #if canImport(Darwin)
      var attributes: posix_spawnattr_t?
    #else
      var attributes = posix_spawnattr_t()
    #endif
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    // A program inherits the ignored and blocked signals of its parent, but must get every signal.
    var (signals, none) = (sigset_t(), sigset_t())
    unsafe sigemptyset(&none)
    unsafe sigemptyset(&signals)
    for number in [SIGINT, SIGQUIT, SIGPIPE, SIGXFSZ] { unsafe sigaddset(&signals, number) }
    unsafe posix_spawnattr_setsigdefault(&attributes, &signals)
    unsafe posix_spawnattr_setsigmask(&attributes, &none)
    unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))
    var id: pid_t = 0
    // All strings outlive the call, which copies them into the new process.
    let result = unsafe withPointers(to: words) { words in
      unsafe withPointers(to: variables) { variables in
        unsafe executable.withPlatformString { path in
          unsafe posix_spawn(&id, path, nil, &attributes, words, variables)
        }
      }
    }
    guard result == 0 else { throw Errno(rawValue: result) }
    return id
  }

  /// Strings as a list for C, with a null pointer at the end.
  private static func withPointers<R>(
    to strings: [String], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> R
  ) -> R {
    // Copies, which are freed after the body.
    var pointers = unsafe strings.map { unsafe strdup($0) } + [nil]
    defer { unsafe pointers.forEach { unsafe free($0) } }
    return unsafe body(&pointers)
  }
}
