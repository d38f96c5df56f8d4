import Foundation

@testable import Tally

extension Completion {
  var listID: UUID? { classification.listID }

  init(taskID: UUID, completedAt: OffsetTimestamp, createdAt: Timestamp, listID: UUID?, isTaskDeleted: Bool) {
    self.init(
      taskID: taskID, completedAt: completedAt, createdAt: createdAt, classification: Classification(listID: listID),
      isTaskDeleted: isTaskDeleted)
  }
}
