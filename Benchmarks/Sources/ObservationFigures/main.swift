// What observation costs, with the limits that it keeps; exceeding one ends with status 1.

import Foundation

let arguments = CommandLine.arguments
if arguments.count == 4, arguments[1] == "write", let count = Int(arguments[3]) {
  try await writeTimes(to: arguments[2], count: count)
} else {
  let isShort = arguments.contains("--smoke")
  let measurements: [() async throws -> Figure] = [
    { try await measureIdleObservers(count: 1_000, seconds: isShort ? 2 : 20) },
    { try await measureOwnWrites(count: isShort ? 20 : 500, otherObservers: 0) },
    { try await measureOwnWrites(count: isShort ? 5 : 100, otherObservers: 1_000) },
    { try await measureForeignWrites(count: isShort ? 20 : 300) },
    { try await measureDeletions(rowCount: isShort ? 10_000 : 100_000) },
    { try await measureScreenModel(rowCount: 10_000, changeCount: isShort ? 2_000 : 100_000) },
  ]
  var isExceeded = false
  for measure in measurements {
    let figure = try await measure()
    print(figure.line)
    isExceeded = isExceeded || !figure.isKept
  }
  exit(isExceeded ? 1 : 0)
}
