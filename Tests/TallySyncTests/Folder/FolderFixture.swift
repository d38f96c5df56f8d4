import Foundation
import SystemPackage
import TallyTestSupport

@testable import TallySync
@testable import TallySyncConformance

/// The folder of one space, and a replica that has written nothing.
struct FolderFixture {
  static let space = [UInt8](repeating: 0xA5, count: 16)

  let folder: FilePath
  let transport: FolderTransport
  var stream = SampleStream(in: space)

  init(in folder: FilePath) throws {
    self.folder = folder
    transport = try FolderTransport.create(at: folder, space: Self.space)
  }

  var space: FilePath { transport.listing.space }
  var directory: FilePath { transport.listing.directory(.replicas, of: stream.replica) }
  var replica: ReplicaID { stream.replica }

  /// Stores the next segments.
  mutating func store(_ count: Int, bodyByteCount: Int = 64) async throws -> [SampleStream.Segment] {
    let segments = (0..<count).map { _ in stream.next(bodyByteCount: bodyByteCount) }
    try await transport.store(segments)
    return segments
  }

  /// Writes the next segments as another program would, without the flushes that take most of the time.
  mutating func copy(_ count: Int, bodyByteCount: Int = 64) throws -> [SampleStream.Segment] {
    let segments = (0..<count).map { _ in stream.next(bodyByteCount: bodyByteCount) }
    try FileManager.default.createDirectory(atPath: directory.string, withIntermediateDirectories: true)
    for segment in segments { try write(segment.bytes, to: path(segment)) }
    return segments
  }

  /// The names of the replica's files, in order.
  func names() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: directory.string).sorted()
  }

  /// The file of one segment.
  func path(_ segment: SampleStream.Segment) -> FilePath { path([segment]) }

  /// The file that has some segments.
  func path(_ segments: [SampleStream.Segment]) -> FilePath {
    directory.appending(
      FolderName.segments(
        .init(
          first: segments[0].head.number, last: segments[segments.count - 1].head.number,
          digest: segments[segments.count - 1].head.digest)
      ).text)
  }

  /// Every segment that is given.
  func segments(after number: UInt64 = 0) async throws -> [[UInt8]] {
    try await transport.segments(of: replica, after: number, byteCount: .max)
  }

  func head() async throws -> SegmentHead? { try await transport.heads()[replica] }

  /// Another transport for the same folder, which stops or fails at a step.
  func transport(before: @escaping @Sendable (FolderDisk.Step) throws -> Void) -> FolderTransport {
    FolderTransport(at: folder, space: Self.space, disk: FolderDisk(before: before))
  }
}

/// Runs a test with a fixture in a directory of its own.
func withFolder(_ body: (inout FolderFixture) async throws -> Void) async throws {
  try await withTemporaryDirectory { directory in
    var fixture = try FolderFixture(in: directory)
    try await body(&fixture)
  }
}

func write(_ bytes: some Sequence<UInt8>, to path: FilePath) throws {
  try Data(bytes).write(to: URL(filePath: path.string))
}

/// The fault that a call throws; `nil` if it throws none or another error.
func folderFault(_ call: () async throws -> Void) async -> FolderFault? {
  do {
    try await call()
    return nil
  } catch {
    return error as? FolderFault
  }
}
