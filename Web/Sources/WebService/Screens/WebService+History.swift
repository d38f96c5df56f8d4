import Foundation
import Hummingbird
import Tally

extension WebService {
  func addHistoryRoutes(to router: Router<BasicRequestContext>) {
    router.get("history") { [self] request, _ in
      try page("history", title: "History", for: request, following: .store) { transaction in
        let sentences = ChangeSentences(clock: transaction.dateReference)
        let changes = try transaction.history(limit: Self.shownChangeCount).map { entry(for: $0, sentences) }
        return ["changes": changes, "canRedo": try transaction.redoableChange != nil]
      }
    }
  }

  private static let shownChangeCount = 100

  private func entry(for change: HistoryChange, _ sentences: ChangeSentences) -> [String: Any] {
    let words = sentences(change)
    return [
      "id": change.id.text, "when": sentences.clock.relativeName(of: change.date), "action": change.actionName ?? "",
      "sentences": words, "first": words.first ?? "", "isUndone": change.isUndone,
      "canUndo": change.kind == .change && !change.isUndone,
    ]
  }
}
