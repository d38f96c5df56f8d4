import Foundation
import Tally
import Testing

/// What an application shows of an error.
@Suite struct TallyErrorTests {
  @Test func anAlertHasTheMessageAndTheRemedy() {
    let error: any Error = TallyError(
      .malformedDocument, "The document ends too early", remedy: "Export it again",
      at: TextPosition(line: 3, column: 7))
    #expect(error.localizedDescription == "The document ends too early (line 3, column 7).")
    #expect((error as NSError).localizedRecoverySuggestion == "Export it again.")
    #expect("\(error)" == "The document ends too early (line 3, column 7). Export it again.")
  }
}
