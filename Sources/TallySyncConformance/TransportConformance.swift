public import TallySync

/// Checks that a place keeps what `SyncTransport` promises.
///
/// An implementation outside this package runs it in its own tests, with any library for tests:
///
///     let conformance = TransportConformance { space, replica in
///       try FolderTransport.create(at: folder, space: space)
///     }
///     #expect(await conformance.run() == [])
///
/// Each check has a place of its own. The bytes that it stores have the form of sealed envelopes with a correct chain of
/// hashes, but no key fits them.
public struct TransportConformance: Sendable {
  /// Connects a replica to the place of a space, and creates the place if it is not there.
  ///
  /// Two calls with the same space give two transports of one place. A space is sixteen bytes.
  public typealias MakeTransport =
    @Sendable (_ space: [UInt8], _ replica: ReplicaID) async throws -> any SyncTransport

  let makeTransport: MakeTransport
  let waitLimit: Duration

  /// Takes the way to connect.
  ///
  /// - Parameters:
  ///   - waitLimit: When a wait that should have ended counts as failed; generous, as machines for tests are busy.
  ///   - makeTransport: Connects a replica to the place of a space.
  public init(waitLimit: Duration = .seconds(60), makeTransport: @escaping MakeTransport) {
    (self.makeTransport, self.waitLimit) = (makeTransport, waitLimit)
  }

  /// The names of all checks, in the order in which they run.
  public static var checkNames: [String] { checks.map(\.name) }

  /// Runs the checks one after the other.
  ///
  /// - Returns: At most one failure per check; none if the place keeps its promises.
  public func run() async -> [ConformanceFailure] {
    var failures: [ConformanceFailure] = []
    for check in Self.checks {
      do {
        try await check.body(ConformancePlace(of: self))
      } catch let unmet as UnmetExpectation {
        failures.append(ConformanceFailure(check: check.name, expected: unmet.text))
      } catch {
        failures.append(ConformanceFailure(check: check.name, expected: "no error, not '\(error)'"))
      }
    }
    return failures
  }

  static let checks = appending + reading + cards + snapshots + deleting + waiting
}

/// A promise that a place does not keep.
public struct ConformanceFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The name of the check, a claim.
  public let check: String
  /// The promise, at the point where the check ended.
  public let expected: String

  /// Both in one line.
  public var description: String { "\(check): expected \(expected)" }
}

/// One check: a claim, and what proves it.
struct ConformanceCheck: Sendable {
  let name: String
  let body: @Sendable (ConformancePlace) async throws -> Void

  init(_ name: String, _ body: @escaping @Sendable (ConformancePlace) async throws -> Void) {
    (self.name, self.body) = (name, body)
  }
}

/// Ends a check.
struct UnmetExpectation: Error {
  let text: String
}

/// Ends the check unless a condition holds.
func require(_ condition: Bool, _ text: @autoclosure () -> String) throws(UnmetExpectation) {
  guard condition else { throw UnmetExpectation(text: text()) }
}

/// Ends the check unless two values are equal.
func require<Value: Equatable>(_ found: Value, is expected: Value, _ name: String) throws(UnmetExpectation) {
  try require(found == expected, "\(name) to be \(expected), not \(found)")
}
