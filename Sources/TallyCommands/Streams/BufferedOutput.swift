import SystemPackage
import TallySystem

/// Buffered standard output that reports failures.
///
/// `print` would neither report a full disk nor write in large pieces.
final class BufferedOutput {
  private let descriptor: FileDescriptor
  private var buffer: [UInt8] = []
  private let capacityInBytes = 1 << 16

  init(_ descriptor: FileDescriptor) {
    self.descriptor = descriptor
  }

  /// Writes the text, now or with later output.
  func write(_ text: String) throws { try write(text.utf8) }

  /// Writes the bytes, now or with later output.
  ///
  /// - Throws: ``CommandFailure``.
  func write(_ bytes: some Sequence<UInt8>) throws {
    buffer.append(contentsOf: bytes)
    if buffer.count >= capacityInBytes { try flush() }
  }

  /// Passes everything written so far to the system; without this the end of the output is lost.
  ///
  /// - Throws: ``CommandFailure``.
  func flush() throws {
    defer { buffer.removeAll(keepingCapacity: true) }
    guard !buffer.isEmpty else { return }
    _ = try CommandFailure.replacing(CommandFailure.init(writing:)) { try descriptor.writeAll(buffer) }
  }
}
