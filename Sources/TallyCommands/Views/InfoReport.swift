import Foundation
import SystemPackage
import Tally

/// What `info` tells, in its three forms.
struct InfoReport {
  private let information: StoreInformation
  private let path: String
  /// Whether there is a store; without one the information is that of an empty one elsewhere, whose sizes mean nothing.
  private let exists: Bool

  /// Makes the report on what was found for the store at a path.
  init(information: StoreInformation, path: FilePath) {
    self.information = information
    self.path = path.string
    exists = information.directory == path
  }

  var json: [UInt8] {
    TerminalSafeJSON.line { json in
      json.object { json in
        json.member("path", path)
        json.member("exists", exists)
        json.member("format", information.format)
        json.member("storeID", exists ? information.storeID : nil)
        json.member("sequence", exists ? Int64(information.sequence) : 0)
        json.member("tasks", information.taskCount)
        json.member("lists", information.listCount)
        json.member("completions", information.completionCount)
        json.member("sizeInBytes", exists ? information.sizeInBytes : 0)
        json.member("usedMapSizeInBytes", exists ? information.usedMapSizeInBytes : 0)
        json.member("mapSizeInBytes", exists ? information.mapSizeInBytes : 0)
        json.member("maximumReaders", information.maximumReaderCount)
        json.array("readers", of: readers) { json, reader in
          json.object { json in
            json.member("processID", Int(reader.processID))
            json.member("lagInCommits", reader.lagInCommits.map(Int64.init))
          }
        }
      }
    }
  }

  var records: String {
    let oldest = readers.compactMap(\.lagInCommits).max()
    let fields: [(String, String?)] = [
      ("path", path), ("exists", String(exists)), ("format", information.format),
      ("storeID", exists ? information.storeID.text : nil), ("sequence", exists ? String(information.sequence) : "0"),
      ("tasks", String(information.taskCount)), ("lists", String(information.listCount)),
      ("completions", String(information.completionCount)),
      ("sizeInBytes", exists ? String(information.sizeInBytes) : "0"),
      ("usedMapSizeInBytes", exists ? String(information.usedMapSizeInBytes) : "0"),
      ("mapSizeInBytes", exists ? String(information.mapSizeInBytes) : "0"),
      ("maximumReaders", String(information.maximumReaderCount)), ("readers", String(readers.count)),
      ("largestLagInCommits", oldest.map { String($0) }),
    ]
    return fields.map { PlainRecords.line([$0.0, $0.1]) }.joined()
  }

  func text(painter: Painter) -> String {
    lines.map { label, value in painter.paint(label.padded(toWidth: 10), .detail) + value + "\n" }.joined()
  }
}

extension InfoReport {
  private var readers: [ReaderInformation] { exists ? information.readers : [] }

  private var lines: [(String, String)] {
    guard exists else { return [("path", path.escapedForDisplay()), ("tasks", "none; there is no store yet")] }
    let share = Double(information.usedMapSizeInBytes) / Double(max(1, information.mapSizeInBytes)) * 100
    let percent = share < 0.1 ? "under 0.1" : String(format: "%.1f", share)
    return [
      ("path", path.escapedForDisplay()),
      ("format", information.format),
      ("id", information.storeID.text),
      ("commits", Int(information.sequence).grouped),
      ("tasks", information.taskCount.grouped),
      ("lists", information.listCount.grouped),
      ("done", information.completionCount.counted("completion")),
      ("on disk", information.sizeInBytes.inBytes),
      ("map", "\(percent)% of \(information.mapSizeInBytes.inBytes) used"),
      ("readers", readersInWords),
    ]
  }

  private var readersInWords: String {
    let processes = readers.map { reader in
      "process \(reader.processID)" + (reader.lagInCommits.map { ", \($0.counted("commit")) behind" } ?? "")
    }
    let slots = "\(readers.count) of \(information.maximumReaderCount) slots"
    return processes.isEmpty ? slots : "\(slots): \(processes.joined(separator: "; "))"
  }
}

extension Int64 {
  /// The size in the largest unit of 1,024 bytes and its powers that leaves a whole number before the point.
  var inBytes: String {
    var (value, unit) = (Double(self), 0)
    let units = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB"]
    while value >= 1_024, unit < units.count - 1 {
      value /= 1_024
      unit += 1
    }
    return (unit == 0 ? String(self) : String(format: "%.1f", value)) + " " + units[unit]
  }
}
