import SystemPackage
import TallySystem

/// Buffered standard output that reports failures.
///
/// `print` would neither report a full disk nor write in large pieces.
final class BufferedOutput {
  private let descriptor: FileDescriptor
  private var buffer: [UInt8] = []
  private let capacityInBytes = 1 << 16
  /// Why output was lost; every later call fails with it, too.
  private var failure: CommandFailure?
  /// Whether texts are written in ASCII; bytes never change.
  var isASCII = false

  init(_ descriptor: FileDescriptor) {
    self.descriptor = descriptor
  }

  /// Writes the text, now or with later output.
  func write(_ text: String) throws { try write((isASCII ? text.inASCII : text).utf8) }

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
    if let failure { throw failure }
    defer { buffer.removeAll(keepingCapacity: true) }
    guard !buffer.isEmpty else { return }
    do {
      _ = try CommandFailure.replacing(CommandFailure.init(writing:)) { try descriptor.writeAll(buffer) }
    } catch {
      failure = error
      throw error
    }
  }
}
