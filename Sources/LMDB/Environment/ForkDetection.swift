import Synchronization
import TallySystem

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Notices that this process is the child of a fork.
///
/// An environment must not be used in a child: its reader slots and locks belong to the parent. Reading the process
/// id would be a system call each time, so a handler of `fork` counts generations instead; comparing one
/// costs a load. A child made by the bare system call escapes it, as it escapes everything else in its libraries.
enum ForkDetection {
  /// The counter, at an address that is never freed, so that an owner of it needs no lazy initialisation check.
  static let generation: ForkGeneration = {
    let generation = ForkGeneration()
    // The registry is held across the fork: its lock must be free, and its state whole, in the child.
    pthread_atfork(
      { EnvironmentRegistry.open.lock() },
      { EnvironmentRegistry.open.unlock() },
      {
        ForkDetection.generation.advance()
        EnvironmentRegistry.open.unlock()
        // This is the child's only thread.
        EnvironmentRegistry.closeLockFilesInChild()
      }
    )
    return generation
  }()
}

/// The number of forks between the first process and this one.
@safe
struct ForkGeneration: Sendable {
  // Allocated once for the life of the process, and atomic.
  nonisolated(unsafe) private let counter: UnsafeMutablePointer<Atomic<UInt32>>

  init() {
    // Never freed: the address stays valid for ever.
    unsafe counter = .allocate(capacity: 1)
    unsafe counter.initialize(to: Atomic(0))
  }

  // Initialised above and never freed.
  var current: UInt32 { unsafe counter.pointee.load(ordering: .relaxed) }

  func advance() {
    // As for `current`.
    unsafe counter.pointee.wrappingAdd(1, ordering: .relaxed)
  }
}
