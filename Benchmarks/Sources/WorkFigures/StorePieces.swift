import BenchmarkData
import Foundation
import SystemPackage
import Tally

/// Work on a whole store: opening, documents, copies.
func storePieces() -> [Piece] {
  [
    Piece(name: "open-and-today", yardstick: .processor, repetitionCount: 1, sampleCount: 20) {
      Piece.Work(run: { _ in try openAndReadToday() }, close: {})
    },
    Piece(name: "process-start", yardstick: .processor, repetitionCount: 1, sampleCount: 10) {
      let program = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
      return Piece.Work(
        run: { _ in
          let process = Process()
          process.executableURL = program
          process.arguments = ["today"]
          try process.run()
          process.waitUntilExit()
          try expectEqual(process.terminationStatus, 0, "the exit code")
        }, close: {})
    },
    .prepared("export-1000", samples: 20, { _ in try BenchmarkFolder.makeScratch("work-exported") }) {
      store, folder, number in
      let summary = try store.export(to: folder.appending("\(number).json"))
      try expectEqual(summary.taskCount, 1_000, "tasks exported")
    },
    Piece(name: "import-1000", yardstick: .disk, repetitionCount: 1, sampleCount: 10) {
      let folder = try BenchmarkFolder.makeScratch("work-imported")
      let document = folder.appending("tasks.json")
      let source = try WorkData.set.open()
      try source.export(to: document)
      try source.close()
      return Piece.Work(
        run: { number in
          let configuration = DataSet.configuration()
          let store = try TaskStore(at: folder.appending("store \(number)"), configuration: configuration)
          try expectEqual(try store.importDocument(from: document).tasks.added, 1_000, "tasks imported")
          try store.close()
        }, close: {})
    },
    .prepared("backup", samples: 15, { _ in try BenchmarkFolder.makeScratch("work-backup") }) { store, folder, number in
      _ = try store.backup(to: folder.appending("\(number).backup"))
    },
  ]
}

/// What a process of its own does in `process-start`.
func openAndReadToday() throws {
  let store = try WorkData.set.open()
  let count = try store.read { try $0.view(.today).tasks.count }
  try expectEqual(count, TaskGenerator.todayNumbers.count, "tasks of Today")
  try store.close()
}
