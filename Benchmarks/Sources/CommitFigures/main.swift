// What durable and relaxed commits cost with a journal and without: the slowest ones, the growth of the file, recovery.

import Foundation
import SystemPackage
import Tally

let arguments = CommandLine.arguments
if arguments.count == 4, arguments[1] == "write", let count = Int(arguments[3]) {
  // The second process of the measurement by turns.
  let store = try openStore(at: FilePath(arguments[2]), .journal)
  _ = try creates(count, in: store)
  try store.close()
} else {
  let isShort = arguments.contains("--smoke")
  let count = arguments.dropFirst().compactMap { Int($0) }.first ?? (isShort ? 400 : 40_000)
  let folder = FilePath(ProcessInfo.processInfo.environment["TALLY_BENCH_FOLDER"] ?? ".build/bench")
    .appending("commit-figures")
  try? FileManager.default.removeItem(atPath: folder.string)
  try FileManager.default.createDirectory(atPath: folder.string, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(atPath: folder.string) }
  try measureCreates(count, in: folder, taskCount: isShort ? 500 : 100_000)
  try measureOverwriting(isShort ? 300 : 20_000, in: folder)
  try measureRecovery(in: folder)
  try measureTurns(isShort ? 100 : 5_000, in: folder)
}
