// WriterProcess tally|sqlite STORE durable|relaxed LIST  opens a store, says "ready", and creates as many tasks in the list
//   as each line of its input says, one by one with a pause after each, with "done" after each line
//
// A process of its own beside a benchmark, for stores that several processes use.

import BenchmarkData
import Foundation
import GRDB
import SQLitePeer
import SystemPackage
import Tally

let arguments = CommandLine.arguments
guard arguments.count == 5, let list = UUID(uuidString: arguments[4]) else {
  throw WrongAnswer(description: "usage: WriterProcess tally|sqlite STORE durable|relaxed LIST")
}
let (path, isDurable) = (FilePath(arguments[2]), arguments[3] == "durable")

/// As a program that does something else between its commits.
let pauseInMicroseconds: UInt32 = 300

func say(_ line: String) {
  FileHandle.standardOutput.write(Data("\(line)\n".utf8))
}

func serve(_ create: (Int) throws -> Void) throws {
  say("ready")
  var number = 0
  while let line = readLine(), let count = Int(line) {
    for _ in 0..<count {
      try create(number)
      number += 1
      usleep(pauseInMicroseconds)
    }
    say("done")
  }
}

if arguments[1] == "tally" {
  let store = try TaskStore(at: path, configuration: DataSet.configuration(durability: isDurable ? .durable : .relaxed))
  try serve { number in _ = try store.writeAndWait { try $0.add("Water the plants \(number)", to: .list(list)) } }
  try store.close()
} else {
  let store = try SQLiteTaskStore(at: path, synchronous: isDurable ? .full : .normal)
  try serve { number in
    try store.pool.write {
      try SQLiteTaskStore.add("Water the plants \(number)", toList: list, at: TaskGenerator.now, in: $0)
    }
  }
  try store.close()
}
