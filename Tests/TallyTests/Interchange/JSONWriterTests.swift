import Foundation
import TallyTestSupport
import Testing

@testable import Tally

struct JSONWriterTests {
  @Test func theLayoutIsFixed() {
    #expect(
      text(.pretty, write: Self.sample) == """
        {
          "a": 1,
          "empty": {},
          "none": [],
          "b": [
            "x",
            [
              true,
              null
            ],
            {
              "c": false
            }
          ]
        }
        """
    )
    #expect(text(.compact, write: Self.sample) == #"{"a":1,"empty":{},"none":[],"b":["x",[true,null],{"c":false}]}"#)
  }

  @Test func onlyWhatMustBeEscapedIsEscaped() {
    let written = text(.compact) { $0.value(.text("\"\\/\u{8}\t\n\u{C}\r\u{0}\u{1F}\u{7F}\u{2028}é水😀\u{FFFF}")) }
    #expect(written == "\"\\\"\\\\/\\b\\t\\n\\f\\r\\u0000\\u001f\u{7F}\u{2028}é水😀\u{FFFF}\"")
  }

  @Test(arguments: [0, 7, -7, 10, 99, 100, 9_007_199_254_740_991, Int64.max, .min])
  func integersAreWrittenInFull(number: Int64) {
    #expect(text(.compact) { $0.value(.integer(number)) } == "\(number)")
  }

  @Test func idsAreWrittenInLowerCase() {
    var generator = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "idsAreWritten"))
    for _ in 0..<100 {
      let id = generator.uuid()
      #expect(text(.compact) { $0.value(.id(id)) } == "\"\(id.uuidString.lowercased())\"")
    }
  }

  @Test func foundationReadsWhatIsWritten() throws {
    for title in Samples.nastyTexts {
      let written = text(.compact) { writer in
        writer.beginArray()
        writer.value(.text(title))
        writer.endArray()
      }
      let read = try JSONSerialization.jsonObject(with: Data(written.utf8)) as? [String]
      #expect(read?.first.map { Array($0.utf8) } == Array(title.utf8))
    }
  }

  private func text(_ layout: JSONWriter.Layout, write: (inout JSONWriter) -> Void) -> String {
    var writer = JSONWriter(layout: layout)
    write(&writer)
    return String(decoding: writer.takeBytes(), as: UTF8.self)
  }

  private static func sample(_ writer: inout JSONWriter) {
    writer.beginObject()
    writer.key("a")
    writer.value(.integer(1))
    writer.key("empty")
    writer.beginObject()
    writer.endObject()
    writer.key("none")
    writer.beginArray()
    writer.endArray()
    writer.key("b")
    writer.beginArray()
    writer.value(.text("x"))
    writer.beginArray()
    writer.value(true)
    writer.null()
    writer.endArray()
    writer.beginObject()
    writer.key("c")
    writer.value(false)
    writer.endObject()
    writer.endArray()
    writer.endObject()
  }
}

struct DocumentIDTests {
  @Test func idsAreReadInEitherCase() {
    var generator = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "idsAreReadInEitherCase"))
    for _ in 0..<100 {
      let id = generator.uuid()
      #expect(UUID(text: Array(id.uuidString.utf8)) == id)
      #expect(UUID(text: Array(id.uuidString.lowercased().utf8)) == id)
    }
  }

  @Test(arguments: [
    "", "00000000-0000-0000-0000-00000000000", "00000000-0000-0000-0000-0000000000000",
    "00000000000000000000000000000000",
    " 0000000-0000-0000-0000-000000000000", "0x000000-0000-0000-0000-000000000000",
    "+0000000-0000-0000-0000-000000000000",
    "-0000000-0000-0000-0000-000000000000", "000000000-000-0000-0000-000000000000",
    "00000000-0000-0000-0000-00000000000g",
    "{0000000-0000-0000-0000-00000000000}",
  ])
  func nothingElseIsAnID(text: String) {
    #expect(UUID(text: Array(text.utf8)) == nil)
  }
}
