import Foundation
import TallyTestSupport
import Testing

@testable import Tally
@testable import TallyEngine

/// The reader against RFC 8259, in pieces of every size.
struct JSONReaderTests {
  @Test(
    arguments: [
      ("{}", "{ } ."), ("[]", "[ ] ."), (" \t\r\n[ ] ", "[ ] ."), ("null", "null ."), ("true", "true ."),
      ("false", "false ."), ("\"\"", "\"\" ."), ("0", "0 ."), ("-0", "0 ."), ("-1", "-1 ."),
      ("9223372036854775807", "9223372036854775807 ."), ("-9223372036854775808", "-9223372036854775808 ."),
      ("9223372036854775808", "9.223372036854776e+18 ."), ("1.5", "1.5 ."), ("1.0", "1.0 ."), ("1e2", "100.0 ."),
      ("1E+2", "100.0 ."), ("-1.25e-2", "-0.0125 ."), ("1e-400", "0.0 ."),
      ("{\"a\":1,\"b\":[true,null,{\"c\":\"d\"}]}", "{ a: 1 b: [ true null { c: \"d\" } ] } ."),
      ("{ \"a\" : 1 , \"a\" : 2 }", "{ a: 1 a: 2 } ."),
      ("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\"\\/\u{8}\u{C}\n\r\t\" ."), ("\"\\u0041\\u00e9\\u6C34\"", "\"Aé水\" ."),
      ("\"\\uD83D\\uDE00\"", "\"😀\" ."), ("\"\\uFFFF\\u0000\"", "\"\u{FFFF}\u{0}\" ."),
      ("\"é水😀\u{7F}\"", "\"é水😀\u{7F}\" ."),
      ("\u{FEFF}[1]", "[ 1 ] ."), ("\"\u{FEFF}\"", "\"\u{FEFF}\" ."),
    ] as [(String, String)])
  func documentsGiveTheirTokens(text: String, tokens: String) throws {
    for pieceSize in [1, 2, 3, 7, 65_536] {
      let read = try readAll(Array(text.utf8), pieceSize: pieceSize)
      #expect(Array(read.utf8) == Array(tokens.utf8), "pieces of \(pieceSize)")
    }
  }

  @Test(
    arguments: [
      ("", 1, 1), (" ", 1, 2), ("{", 1, 2), ("[1", 1, 3), ("[1,", 1, 4), ("{\"a\"", 1, 5), ("{\"a\":", 1, 6),
      ("\"a", 1, 3),
      ("tru", 1, 4), ("[\n1,\n", 3, 1), ("\"\\", 1, 3), ("\"\\u00", 1, 6), ("\u{FEFF}", 1, 1), ("\"\\uD83D\\u", 1, 10),
      ("\u{FEFF}{", 1, 2),
    ] as [(String, Int, Int)])
  func truncatedDocumentsSaySo(text: String, line: Int, column: Int) {
    expectFault(Array(text.utf8), "ends too early", at: line, column)
  }

  @Test(
    arguments: [
      ("x", "value is expected", 1, 1), ("[1,]", "value is expected", 1, 4), ("[,1]", "value is expected", 1, 2),
      ("{,}", "key in quotes", 1, 2), ("{\"a\":1,}", "key in quotes", 1, 8), ("{a:1}", "key in quotes", 1, 2),
      ("{1:1}", "key in quotes", 1, 2), ("{\"a\" 1}", "colon", 1, 6), ("{\"a\",1}", "colon", 1, 5),
      ("{\"a\":}", "value is expected", 1, 6), ("[1 2]", "comma or ]", 1, 4), ("[1}", "comma or ]", 1, 3),
      ("{\"a\":1]", "comma or }", 1, 7), ("{\"a\":1 \"b\":2}", "comma or }", 1, 8), ("]", "value is expected", 1, 1),
      ("[]x", "after the end", 1, 3), ("[]\n[]", "after the end", 2, 1), ("1 2", "after the end", 1, 3),
      ("nul]", "value is expected", 1, 1), ("True", "value is expected", 1, 1), ("NaN", "value is expected", 1, 1),
      ("'a'", "value is expected", 1, 1), ("/**/1", "value is expected", 1, 1), ("01", "number", 1, 1),
      ("-", "number", 1, 1), ("-.5", "number", 1, 1), ("-e5", "number", 1, 1),
      ("+1", "value is expected", 1, 1), ("1.", "number", 1, 1), (".5", "value is expected", 1, 1),
      ("1e", "number", 1, 1),
      ("1e+", "number", 1, 1), ("1.2.3", "number", 1, 1), ("--1", "number", 1, 1), ("[1e400]", "too large", 1, 2),
      ("\"\u{1}\"", "control character", 1, 2), ("\"a\nb\"", "control character", 1, 3),
      ("\"\t\"", "control character", 1, 2),
      ("\"\\x\"", "no such escape", 1, 2), ("\"\\u12G4\"", "four hexadecimal", 1, 2),
      ("\"é\\uD83D\"", "surrogate", 1, 3),
      ("\"\\uD83Dx\"", "surrogate", 1, 2), ("\"\\uD83D\\n\"", "surrogate", 1, 2), ("\"\\uDE00\"", "surrogate", 1, 2),
      ("\"\\uD83D\\uD83D\"", "surrogate", 1, 2), ("[\"水水\",\n \"é\", x]", "value is expected", 2, 7),
      ("[\r\n1,\r\nx]", "value is expected", 3, 1), ("\u{FEFF}x", "value is expected", 1, 1),
      ("[\u{FEFF}]", "value is expected", 1, 2),
      ("[1,\u{A0}2]", "value is expected", 1, 4),
    ] as [(String, String, Int, Int)])
  func breachesOfTheGrammarHaveTheirPlace(text: String, message: String, line: Int, column: Int) {
    expectFault(Array(text.utf8), message, at: line, column)
  }

  @Test(
    arguments: [
      [0x80], [0xBF], [0xC0, 0x80], [0xC1, 0xBF], [0xE0, 0x80, 0x80], [0xE0, 0x9F, 0xBF], [0xED, 0xA0, 0x80],
      [0xED, 0xBF, 0xBF], [0xF0, 0x8F, 0xBF, 0xBF], [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xFF], [0xFE],
      [0xC3, 0x28], [0xE2, 0x28, 0xA1], [0xE2, 0x82, 0x28], [0xF0, 0x90, 0x28, 0xBC], [0xF0, 0x90, 0x8C, 0x28],
    ] as [[UInt8]]
  )
  func bytesThatAreNoUTF8AreRefused(bytes: [UInt8]) {
    expectFault([0x5B, 0x22, 0x61] + bytes + [0x22, 0x5D], "not UTF-8", at: 1, 4)
  }

  @Test func everyScalarIsReadAsItStandsAndEscaped() throws {
    for first in stride(from: UInt32(0x20), to: 0x110000, by: 251) {
      let scalars = (first..<first + 251).compactMap(Unicode.Scalar.init).filter { $0 != "\"" && $0 != "\\" }
      let text = scalars.reduce(into: "") { $0.unicodeScalars.append($1) }
      let escaped = text.utf16.map { "\\u" + String(0x1_0000 + UInt32($0), radix: 16).dropFirst() }.joined()
      #expect(try readAll(Array("\"\(text)\"".utf8), pieceSize: 64) == "\"\(text)\" .", "from \(first)")
      #expect(try readAll(Array("\"\(escaped)\"".utf8), pieceSize: 64) == "\"\(text)\" .", "from \(first)")
    }
  }

  @Test func nestingHasALimitThatDoesNotCostTheStack() throws {
    let limit = JSONReader.depthLimit
    let deepest = String(repeating: "[", count: limit) + String(repeating: "]", count: limit)
    #expect(try readAll(Array(deepest.utf8), pieceSize: 100).hasSuffix("."))
    let tooDeep = String(repeating: "[", count: 1_000_000)
    expectFault(Array(tooDeep.utf8), "nested too deeply", at: 1, limit + 1)
  }

  @Test func numbersHaveALimitOfLength() throws {
    let longest = Array("0.".utf8) + Array(repeating: UInt8(ascii: "1"), count: 998)
    #expect(try readAll(longest, pieceSize: 7) == "0.1111111111111111 .")
    expectFault(longest + [UInt8(ascii: "1")], "too many digits", at: 1, 1)
    expectFault(Array(repeating: UInt8(ascii: "1"), count: 100_000), "too many digits", at: 1, 1)
  }

  @Test(
    arguments: [
      ("", "."), ("\n\r\n  \n", "."), ("{}", "{ } ."), ("{}\n", "{ } ."), ("{}\r\n\r\n[1]\r\n", "{ } [ 1 ] ."),
      ("1\n2\n3", "1 2 3 ."), ("\u{FEFF}{}\n{}", "{ } { } ."),
    ] as [(String, String)])
  func linesEachHoldOneValueOrNone(text: String, tokens: String) throws {
    #expect(try readAll(Array(text.utf8), pieceSize: 2, framing: .lines) == tokens)
  }

  @Test(
    arguments: [
      ("{} {}", "after the end", 1, 4), ("1\n{}{}", "after the end", 2, 3), ("{\n}", "ends inside", 1, 2),
      ("{}\n[1,\n2]", "ends inside", 2, 4), ("{}\n{\"a\":", "ends too early", 2, 6),
      ("{\"a\": \"\n\"}", "control character", 1, 8),
    ] as [(String, String, Int, Int)])
  func breachesOfTheLinesHaveTheirPlace(text: String, message: String, line: Int, column: Int) {
    expectFault(Array(text.utf8), message, at: line, column, framing: .lines)
  }

  @Test func skippingGoesOverAWholeValue() throws {
    var reader = JSONReader(pieces(Array("[{\"a\":[{},[]],\"b\":{}},1]".utf8), of: 3))
    #expect(try reader.next() == .beginArray)
    try reader.skipValue(beginningWith: try reader.next())
    #expect(try reader.next() == .integer(1))
    try reader.skipValue(beginningWith: .integer(1))
    #expect(try reader.next() == .endArray)
  }

  @Test func mutatedBytesNeverDoMoreThanThrow() throws {
    var generator = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "mutatedBytes"))
    let document = Array("{\"a\":[1,-2.5e3,\"é水😀\\uD83D\\uDE00\\n\"],\"b\":{\"c\":null,\"d\":[true,false]}}".utf8)
    for _ in 0..<20_000 {
      var bytes = document
      for _ in 0..<Int.random(in: 1...3, using: &generator) {
        bytes[Int.random(in: 0..<bytes.count, using: &generator)] = .random(in: 0...255, using: &generator)
      }
      do {
        _ = try readAll(bytes, pieceSize: 5)
      } catch let error as TallyError {
        #expect(error.code == .malformedDocument)
        #expect(error.position?.line ?? 0 >= 1)
      }
    }
  }
}

extension JSONReaderTests {
  private func expectFault(
    _ bytes: [UInt8],
    _ message: String,
    at line: Int,
    _ column: Int,
    framing: JSONReader.Framing = .document,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    for pieceSize in [1, 3, 65_536] {
      let error = #expect(throws: TallyError.self, sourceLocation: sourceLocation) {
        try readAll(bytes, pieceSize: pieceSize, framing: framing)
      }
      #expect(error?.code == .malformedDocument, sourceLocation: sourceLocation)
      #expect(error?.message.contains(message) == true, "\(error?.message ?? "")", sourceLocation: sourceLocation)
      #expect(error?.position == TextPosition(line: line, column: column), sourceLocation: sourceLocation)
    }
  }

  private func pieces(_ bytes: [UInt8], of size: Int) -> JSONInput {
    var rest = bytes[...]
    return JSONInput { buffer in
      let piece = rest.prefix(size)
      rest = rest.dropFirst(size)
      buffer.replaceSubrange(0..<min(piece.count, buffer.count), with: piece)
      return piece.count
    }
  }

  /// Keys in the usual order and `null` are compared in place, which a piece's end cuts off.
  @Test func recordsAreTheSameInPiecesOfEverySize() throws {
    let text = """
      {"schemaVersion": 2, "tasks": [
        {"id": "0193a000-0000-7000-8000-000000000001", "text": "a", "notes": null, "state": "notStarted",
         "scheduledDate" : null , "dueDate":null,"dueDay":null,\t"sortOrder": 7},
        {"text":"b","notes":null,"id":"0193a000-0000-7000-8000-000000000002"}, {"text":"null","tags":[],"notes":"n"}
      ], "lists": []}
      """
    let whole = try records(of: text, pieceSize: 65_536)
    #expect(whole.count == 3)
    for pieceSize in 4...80 { #expect(try records(of: text, pieceSize: pieceSize) == whole, "pieces of \(pieceSize)") }
  }

  @Test(
    arguments: [
      (#"{"text":"a","text":"b"}"#, "appears twice", 13), (#"{"text":"a",}"#, "key in quotes", 13),
      (#"{"text":"a","notes":nul}"#, "value is expected", 21), (#"{"text":"a","notes" null}"#, "colon", 21),
      (#"{"text":"a" "notes":null}"#, "comma or }", 13), (#"{"text":"a","notes":null1}"#, "comma or }", 25),
      (#"{"text":"a","notes":null"#, "ends too early", 25), (#"{"text":null}"#, "is not a text", 9),
    ] as [(String, String, Int)])
  func faultsOfRecordsHaveTheirPlaces(text: String, message: String, column: Int) throws {
    for pieceSize in [4, 5, 9, 65_536] {
      #expect {
        try records(of: text, as: .ndjson, pieceSize: pieceSize)
      } throws: {
        let error = try #require($0 as? TallyError)
        return error.message.contains(message) && error.position == TextPosition(line: 1, column: column)
      }
    }
  }

  private func records(
    of text: String, as format: InterchangeFormat = .json, pieceSize: Int
  ) throws -> [String] {
    var source = JSONDocumentSource(pieces(Array(text.utf8), of: pieceSize), format: format, isLenient: false)
    var records: [String] = []
    while let (record, position) = try source.next() { records.append("\(position) \(record)") }
    return records
  }

  /// All tokens as text: keys end in a colon, texts are in quotes, a full stop is the end.
  private func readAll(_ bytes: [UInt8], pieceSize: Int, framing: JSONReader.Framing = .document) throws -> String {
    var reader = JSONReader(pieces(bytes, of: pieceSize), framing: framing)
    var words: [String] = []
    while words.last != "." {
      let token = try reader.next()
      let text = String(decoding: reader.text, as: UTF8.self)
      switch token {
      case .beginObject: words.append("{")
      case .endObject: words.append("}")
      case .beginArray: words.append("[")
      case .endArray: words.append("]")
      case .key: words.append("\(text):")
      case .string: words.append("\"\(text)\"")
      case .integer(let value): words.append("\(value)")
      case .double(let value): words.append("\(value)")
      case .boolean(let value): words.append("\(value)")
      case .null: words.append("null")
      case .end: words.append(".")
      }
    }
    return words.joined(separator: " ")
  }
}
