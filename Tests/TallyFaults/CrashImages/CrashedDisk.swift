import TallyTestSupport

/// A data file as a power cut may leave it at some event of a log.
///
/// Flushed writes are there. Of later writes, any sectors may be there, each in any version that it has had: a disk
/// writes whenever and in whichever order it wants. A synchronous write counts as flushed when it has returned; the one
/// during which the power fails is there as a whole or not at all, which is the only assumption about the disk.
struct CrashedDisk {
  private let log: WriteLog
  /// Whether flushes and synchronous writes are ignored: the control, whose stores must break.
  private let forgetsFlushes: Bool

  private var position = 0
  private var flushed: [UInt8] = []
  /// The file's bytes as the process sees them.
  private var written: [UInt8] = []
  /// Each unflushed sector's versions, oldest first.
  private var versions: [Int: [[UInt8]]] = [:]
  private(set) var acknowledged: UInt64 = 0
  private(set) var begun: UInt64 = 0

  private static let sectorSizeInBytes = 512

  init(log: WriteLog, forgetsFlushes: Bool) {
    self.log = log
    self.forgetsFlushes = forgetsFlushes
  }

  /// Applies all events before an index.
  mutating func advance(to event: Int) {
    while position < event {
      apply(log.events[position])
      position += 1
    }
  }

  private mutating func apply(_ event: WriteLog.Event) {
    switch event {
    case .write(let offset, let bytes, let isSynchronous):
      Self.put(bytes, at: offset, in: &written)
      if isSynchronous && !forgetsFlushes {
        Self.put(bytes, at: offset, in: &flushed)
      } else {
        noteSectors(offset..<offset + bytes.count)
      }
    case .flush where !forgetsFlushes:
      flushed = written
      versions = [:]
    case .truncate(let length):
      Self.resize(&written, to: length)
      Self.resize(&flushed, to: length)
    case .flush, .naming: break
    case .begun(let number): begun = number
    case .acknowledged(let number): acknowledged = number
    }
  }

  private mutating func noteSectors(_ range: Range<Int>) {
    let size = Self.sectorSizeInBytes
    for sector in range.lowerBound / size...(range.upperBound - 1) / size {
      versions[sector, default: []].append(Array(written[sector * size..<min((sector + 1) * size, written.count)]))
    }
  }

  /// The file found after a power cut.
  func image(using generator: inout SeededGenerator) -> [UInt8] {
    var image = flushed
    let percentage = [0, 10, 50, 90, 100].randomElement(using: &generator) ?? 50
    let isNewest = generator.oneIn(2)
    for (sector, versions) in versions.sorted(by: { $0.key < $1.key })
    where Int.random(in: 0..<100, using: &generator) < percentage {
      let version = isNewest ? versions.last : versions.randomElement(using: &generator)
      Self.put(version ?? [], at: sector * Self.sectorSizeInBytes, in: &image)
    }
    if !forgetsFlushes, log.events.indices.contains(position), generator.oneIn(2),
      case .write(let offset, let bytes, isSynchronous: true) = log.events[position]
    {
      Self.put(bytes, at: offset, in: &image)
    }
    return image
  }

  private static func put(_ bytes: [UInt8], at offset: Int, in file: inout [UInt8]) {
    if file.count < offset + bytes.count { resize(&file, to: offset + bytes.count) }
    file.replaceSubrange(offset..<offset + bytes.count, with: bytes)
  }

  private static func resize(_ file: inout [UInt8], to length: Int) {
    file = length < file.count ? Array(file.prefix(length)) : file + [UInt8](repeating: 0, count: length - file.count)
  }
}
