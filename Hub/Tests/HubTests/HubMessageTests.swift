import Foundation
import HubWire
import TallySync
import Testing

/// What hubs and devices say to each other.
struct HubMessageTests {
  @Test func theAnswerToAnAppendIsTheJSONThatDevicesRead() throws {
    let head = HubMessage.Head(
      SegmentHead(number: .max, digest: Array(1...8)), of: ReplicaID(UUID()))
    let answers = [
      HubMessage.AppendAnswer(answer: "stored", position: 1), .init(answer: "known", position: .max),
      .init(answer: "fork"), .init(answer: "gap", head: head), .init(answer: "quota"), .init(answer: "denied"),
    ]
    for count in 0...answers.count {
      let message = HubMessage.AppendAnswers(answers: Array(answers.prefix(count)))
      #expect(try JSONDecoder().decode(HubMessage.AppendAnswers.self, from: Data(message.json.utf8)) == message)
    }
  }
}
