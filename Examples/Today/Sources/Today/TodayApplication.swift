import Foundation
import SystemPackage
import Tally

/// Shows what is to be done today, and goes on showing it while this and other processes change it.
///
/// ```sh
/// swift run --package-path Examples/Today Today ~/.local/share/tally
/// ```
@main
struct TodayApplication {
  static func main() async throws {
    guard let path = CommandLine.arguments.dropFirst().first else {
      FileHandle.standardError.write(Data("usage: Today STORE\n".utf8))
      exit(64)
    }
    let store = try TaskStore(at: FilePath(path))
    let screen = Screen()
    let model = TodayModel(store: store, screen: screen)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await model.follow() }
      group.addTask {
        for await line in Input.lines {
          do {
            guard let command = Command(line) else { return }
            try await model.perform(command)
          } catch let error as TallyError {
            // What went wrong and what to do about it; the application goes on.
            await model.report(error)
          }
        }
      }
      // The input has ended, or the store has failed.
      try await group.next()
      group.cancelAll()
    }
    await screen.finish(model.summary)
    try store.close()
  }
}
