import Foundation
import Synchronization
import SystemPackage
import TallySystem
import Testing

@testable import Tally

@Suite struct OutputBehindTests {
  /// Blocks that differ from each other, of different sizes.
  private static let blocks = (0..<40).map { number in
    [UInt8](repeating: UInt8(number), count: 1 + number * 997 % OutputBehind.blockSizeInBytes)
  }

  private func write(_ blocks: [[UInt8]], to output: OutputBehind) throws {
    for block in blocks {
      var bytes = block
      try output.write(&bytes)
      #expect(bytes.isEmpty)
    }
    try output.finish()
  }

  @Test(arguments: [0, 1, 2, 5, 40], [true, false])
  func writesBlocksInTheirOrder(count: Int, hasThread: Bool) throws {
    let item = try TemporaryItem(.file, in: FilePath(NSTemporaryDirectory()))
    let file = try FileDescriptor.open(item.path, .writeOnly)
    let output = hasThread ? OutputBehind(to: file) : OutputBehind(to: file) { _ in }
    try write(Array(Self.blocks.prefix(count)), to: output)
    try file.close()
    #expect(try Data(contentsOf: URL(filePath: item.path.string)) == Data(Self.blocks.prefix(count).joined()))
  }

  @Test func aShortExportNeedsNoThread() throws {
    let (reader, writer) = try FileDescriptor.pipe()
    try write([[1, 2, 3]], to: OutputBehind(to: writer) { _ in Issue.record("a thread was asked for") })
    try writer.close()
    #expect(try FileHandle(fileDescriptor: reader.rawValue, closeOnDealloc: true).readToEnd() == Data([1, 2, 3]))
  }

  /// A full disk, here a device that is always full.
  @Test(.enabled(if: FileManager.default.fileExists(atPath: "/dev/full")), arguments: [1, 2, 5, 40])
  func anErrorIsThrown(count: Int) throws {
    let file = try FileDescriptor.open(FilePath("/dev/full"), .writeOnly)
    let output = OutputBehind(to: file)
    #expect(throws: Errno.noSpace) { try write(Array(Self.blocks.prefix(count)), to: output) }
    #expect(throws: Errno.noSpace) { try output.finish() }
    try file.close()
  }

  /// A thread that begins after the end leaves the file alone, which others may have by then.
  @Test func aThreadThatBeginsLateWritesNothing() throws {
    let late = Mutex<[@Sendable () -> Void]>([])
    let (reader, writer) = try FileDescriptor.pipe()
    let output = OutputBehind(to: writer) { body in late.withLock { $0.append(body) } }
    for block in [[1], [2], [3]] as [[UInt8]] {
      var bytes = block
      try output.write(&bytes)
    }
    output.stop()
    for body in late.withLock({ $0 }) { body() }
    try writer.close()
    #expect(try FileHandle(fileDescriptor: reader.rawValue, closeOnDealloc: true).readToEnd() == nil)
  }
}
