// An application's own index through its first building, a change of version, crashes in the middle of both, a
// verification and a repair: `OwnIndex FOLDER`, where FOLDER does not exist yet.

import Foundation
import SystemPackage
import Tally

/// Builds a version of the index in another process, and ends that in the middle, as a crash would.
func crash(building version: UInt32, in store: IndexedStore) throws {
  let child = Process()
  child.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
  child.arguments = [store.folder.path, "build", "\(version)"]
  let output = Pipe()
  child.standardOutput = output
  try child.run()
  let line = output.fileHandleForReading.readData(ofLength: 9)
  guard line == Data("building\n".utf8) else { throw Failure(description: "the child has not begun to build") }
  kill(child.processIdentifier, SIGKILL)
  child.waitUntilExit()
}

let arguments = CommandLine.arguments
let store = IndexedStore(folder: URL(filePath: arguments[1]))
if arguments.count > 3, let version = UInt32(arguments[3]) {
  try store.open([TicketIndex.stopping(version, after: IndexedStore.taskCount / 2)]) { _ in }
  throw Failure(description: "the index was built without a look at half of the tasks")
}

try store.fill()
try crash(building: 1, in: store)
try store.check(1)
print("built: version 1")
try crash(building: 2, in: store)
try store.check(2)
print("built: version 2")
// Another version again, whose building ends in a crash, and then the one before: nothing of either must be left.
try crash(building: 1, in: store)
try store.check(2)
let report = try TaskStore.repair(at: FilePath(store.folder.path))
guard report.after.isSound else { throw Failure(description: "\(report.after.faults)") }
try store.check(2)
print("repaired: version 2")
try store.open([TicketIndex.version(2)]) { opened in
  try opened.writeAndWait { _ = try $0.add("OPS-9999 Restart the router") }
}
try store.check(2)
print("changed: version 2")
