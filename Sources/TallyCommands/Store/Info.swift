import ArgumentParser
import Foundation
import SystemPackage
import Tally

/// `tally info`.
struct InfoCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    "info", "Show where the store is, how large it is and which processes read it.",
    discussion: """
      Lag is how many commits a reader's snapshot is behind; space freed since then cannot be reused.

      With --plain, prints one field per line: its name, a tab, its value.
      """)

  func run(in session: Session) throws {
    let information = try session.openStore(for: .reading).information()
    let report = InfoReport(information: information, path: session.storePath)
    try session.answer(report.facts, plain: .fields, text: report.text(painter: session.painter))
  }
}

/// The report of `tally info`.
struct InfoReport {
  let information: StoreInformation
  /// The path of the store.
  let path: FilePath

  /// Whether there is a store; if not, the information is that of an empty one elsewhere, whose sizes mean nothing.
  private var exists: Bool { information.directory == path.absolute }

  var facts: Facts {
    [
      "path": .text(path.string), "exists": .flag(exists), "format": .text(information.format),
      "storeID": .id(exists ? information.storeID : nil),
      "sequence": .integer(exists ? Int64(information.sequence) : 0),
      "tasks": .count(information.taskCount), "lists": .count(information.listCount),
      "completions": .count(information.completionCount),
      "values": .count(valueCount), "valuesSizeInBytes": .integer(valuesSizeInBytes),
      "sizeInBytes": .integer(exists ? information.sizeInBytes : 0),
      "usedMapSizeInBytes": .integer(exists ? information.usedMapSizeInBytes : 0),
      "mapSizeInBytes": .integer(exists ? information.mapSizeInBytes : 0),
      "logSizeInBytes": .integer(log?.sizeInBytes ?? 0),
      "logCommits": .integer(log.map { $0.commitCount.map(Int64.init) } ?? 0),
      "maximumReaders": .count(information.maximumReaderCount),
      .init("readers", onlyIn: .json): .array(
        readers.map {
          [
            "processID": .integer(Int64($0.processID)), "lagInCommits": .integer($0.lagInCommits.map(Int64.init)),
            "lagInSeconds": .integer($0.lagInSeconds.map(Int64.init)),
          ]
        }),
      .init("readers", onlyIn: .plain): .count(readers.count),
      .init("largestLagInCommits", onlyIn: .plain): .integer(readers.compactMap(\.lagInCommits).max().map(Int64.init)),
      .init("indexes", onlyIn: .json): .array(
        information.indexes.map {
          [
            "name": .text($0.name), "version": .integer(Int64($0.version)),
            "lagInCommits": .count($0.lagInCommits),
          ]
        }),
      .init("indexes", onlyIn: .plain): .count(information.indexes.count),
    ]
  }

  func text(painter: Painter) -> String {
    lines.map { label, value in painter.paint(label.padded(toWidth: 10), .detail) + value + "\n" }.joined()
  }
}

extension InfoReport {
  private var log: LogInformation? { exists ? information.log : nil }

  private var logLines: [(String, String)] {
    guard let log else { return [] }
    guard let count = log.commitCount else {
      return [("log", "missing: if data.mdb was copied without it, the last commits are missing, too")]
    }
    return [("log", "\(log.sizeInBytes.inBytes), with \(count.counted("commit")) that data.mdb lacks")]
  }

  private var readers: [ReaderInformation] { exists ? information.readers : [] }

  private var lines: [(String, String)] {
    guard exists else { return [("path", path.string.escapedForDisplay()), ("tasks", "none; there is no store yet")] }
    let share = Double(information.usedMapSizeInBytes) / Double(max(1, information.mapSizeInBytes)) * 100
    let percent = share < 0.1 ? "under 0.1" : String(format: "%.1f", share)
    return [
      ("path", path.string.escapedForDisplay()),
      ("format", information.format),
      ("id", information.storeID.text),
      ("commits", Int(information.sequence).grouped),
      ("tasks", information.taskCount.grouped),
      ("lists", information.listCount.grouped),
      ("done", information.completionCount.counted("completion")),
    ] + ownDataLines + [
      ("on disk", information.sizeInBytes.inBytes)
    ] + logLines + [
      ("map", "\(percent)% of \(information.mapSizeInBytes.inBytes) used"),
      ("readers", readersInWords),
    ]
  }

  /// The values and indexes of applications, if there are any.
  private var ownDataLines: [(String, String)] {
    var lines: [(String, String)] = []
    if valueCount > 0 {
      let namespaces = information.valueNamespaces.count.counted("namespace")
      lines.append(("values", "\(valueCount.grouped) in \(namespaces), \(valuesSizeInBytes.inBytes)"))
    }
    let indexes = information.indexes.map { index in
      let lag = index.lagInCommits > 0 ? ", \(index.lagInCommits.counted("commit")) behind" : ""
      return "\(index.name.escapedForDisplay()) version \(index.version)\(lag)"
    }
    if !indexes.isEmpty { lines.append(("indexes", indexes.joined(separator: "; "))) }
    return lines
  }

  private var valueCount: Int { information.valueNamespaces.reduce(0) { $0 + $1.count } }

  private var valuesSizeInBytes: Int64 { Int64(information.valueNamespaces.reduce(0) { $0 + $1.sizeInBytes }) }

  private var readersInWords: String {
    let processes = readers.map { reader in
      let lag = reader.lagInCommits.map { ", \($0.counted("commit")) behind" } ?? ""
      return "process \(reader.processID)\(lag)" + (reader.lagInSeconds.map { " for \($0.counted("second"))" } ?? "")
    }
    let slots = "\(readers.count) of \(information.maximumReaderCount) slots"
    return processes.isEmpty ? slots : "\(slots): \(processes.joined(separator: "; "))"
  }
}
