// The README's example begins and ends at the marks; a test compares the two and runs this one.
// README begins
import SystemPackage
import Tally

func planTheDay(in directory: FilePath) throws -> [String] {
  let store = try TaskStore(at: directory)  // makes the directory if it is not there

  // Everything in one closure is written together or, if it throws, not at all.
  // When `write` has returned, it is on the disk.
  let fence = try store.write { transaction in
    let garden = try transaction.addList(name: "Garden")
    try transaction.add("Water the plants", to: .today)
    let fence = TaskDraft(title: "Repair the fence", scheduledDate: transaction.today, listID: garden.id)
    return try transaction.add(fence)
  }
  try store.write { try $0.complete(fence.id) }

  // A read sees one consistent snapshot, and never waits for a writer.
  let today = try store.read { try $0.view(.today) }
  try store.close()
  return today.tasks.map { "\($0.title): \($0.state)" }
}
// README ends
