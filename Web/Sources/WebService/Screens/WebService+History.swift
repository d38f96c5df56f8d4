import Foundation
import Hummingbird
import Tally

extension WebService {
  func addHistoryRoutes(to router: Router<BasicRequestContext>) {
    router.get("history") { [self] request, _ in
      let devices = try await DeviceNames(of: store)
      return try page("history", title: "History", for: request, following: .store) { transaction in
        let sentences = ChangeSentences(clock: transaction.dateReference)
        let changes = try transaction.history(limit: Self.shownChangeCount).map {
          try entry(for: $0, sentences, devices, in: transaction)
        }
        return ["changes": changes, "canRedo": try transaction.redoableChange != nil]
      }
    }
  }

  private static let shownChangeCount = 100

  private func entry(
    for change: HistoryChange, _ sentences: ChangeSentences, _ devices: DeviceNames,
    in transaction: borrowing StoreReadTransaction
  ) throws -> [String: Any] {
    let words = try sentences(change, in: transaction)
    var entry: [String: Any] = [
      "id": change.id.text, "when": sentences.clock.relativeName(of: change.date), "sentences": words,
      "first": words.first ?? "", "isUndone": change.isUndone,
      "canUndo": change.kind == .change && !change.isUndone,
    ]
    // The template would show an empty text, too.
    if let name = change.actionName, !name.isEmpty { entry["action"] = name }
    if let device = devices.author(of: change) { entry["device"] = device }
    return entry
  }
}
