import SystemPackage

/// The writes of a process to a store's data file, and its acknowledgements, in order, taken from a log of all files.
struct WriteLog {
  enum Event {
    case write(offset: Int, bytes: [UInt8], isSynchronous: Bool)
    case flush
    case truncate(length: Int)
    /// A file or directory got its name.
    case naming
    case begun(UInt64)
    case acknowledged(UInt64)
  }

  let events: [Event]
  /// The first event after which the store is in its place.
  let firstInPlace: Int

  init(_ file: FilePath) throws {
    var reading = Reading()
    events = try FileLog(file).events.compactMap { try reading.event($0) }
    guard let naming = events.firstIndex(where: { if case .naming = $0 { true } else { false } }) else {
      throw FileLog.Malformed()
    }
    firstInPlace = naming + 1
  }

  /// Picks out what concerns the data file and the file of acknowledgements, which are known by their inodes.
  private struct Reading {
    var dataFiles: Set<UInt64> = []
    var acknowledgements: Set<UInt64> = []

    mutating func event(_ event: FileLog.Event) throws -> Event? {
      switch event {
      case .entry(_, "data.mdb", let target, _): dataFiles.insert(target)
      case .entry(_, "acknowledged", let target, _): acknowledgements.insert(target)
      case .write(let file, let offset, let bytes, let isSynchronous) where dataFiles.contains(file):
        return .write(offset: offset, bytes: bytes, isSynchronous: isSynchronous)
      case .write(let file, _, let bytes, _) where acknowledgements.contains(file):
        let words = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isWhitespace)
        guard words.count == 2, let number = UInt64(words[1]) else { throw FileLog.Malformed() }
        return words[0] == "begun" ? .begun(number) : .acknowledged(number)
      case .flush(let file, _) where dataFiles.contains(file): return .flush
      case .resize(let file, let length) where dataFiles.contains(file): return .truncate(length: length)
      case .link, .move: return .naming
      default: break
      }
      return nil
    }
  }
}
