import BenchmarkData
import CRawLMDB
import Foundation
import Tally

// WorkFigures time|count [ROW]…  measures pieces of everyday work, one line of JSON each
// WorkFigures list               prints the names of all rows and their yardsticks
// WorkFigures today              opens the store and reads Today: what the row process-start starts

let pieces = changePieces() + readingPieces() + storePieces()

struct Figures: Encodable {
  let name: String
  /// The median of the work's time divided by the yardstick's, from pairs of neighbours.
  let relative: Double
  let microseconds: Double
  let yardstickMicroseconds: Double
  let yardstick: String
}

/// Times a piece of work and its yardstick in turn.
func time(_ piece: Piece, _ yardsticks: inout Yardsticks) throws -> Figures {
  let work = try piece.makeReady()
  var (ratios, times, others): ([Double], [Double], [Double]) = ([], [], [])
  try work.run(0)
  for sample in 0..<piece.sampleCount {
    let other = try yardsticks.time(piece.yardstick)
    let first = 1 + sample * piece.repetitionCount
    let time = try nanoseconds { for place in 0..<piece.repetitionCount { try work.run(first + place) } }
    let each = time / Double(piece.repetitionCount)
    ratios.append(each / other)
    times.append(each)
    others.append(other)
  }
  try work.close()
  return Figures(
    name: piece.name, relative: median(ratios), microseconds: median(times) / 1_000,
    yardstickMicroseconds: median(others) / 1_000, yardstick: piece.yardstick.rawValue)
}

func median(_ values: [Double]) -> Double {
  values.sorted()[values.count / 2]
}

/// Does a piece of work a few times between two marks, for a program that counts.
func count(_ piece: Piece) throws {
  let work = try piece.makeReady()
  // Ids are random, and a small change splits a page or not: more repetitions even that out.
  let repetitions = piece.sampleCount >= 40 ? 16 : 4
  // What is done only the first time is not counted.
  for number in 0..<repetitions { try work.run(number) }
  unsafe counting_begin(piece.name)
  for number in 0..<repetitions { try work.run(repetitions + number) }
  unsafe counting_end(piece.name)
  try work.close()
}

func chosenPieces(_ names: ArraySlice<String>, of pieces: [Piece]) throws -> [Piece] {
  for name in names where !pieces.contains(where: { $0.name == name }) {
    throw WrongAnswer(description: "no row is named \(name)")
  }
  return pieces.filter { names.isEmpty || names.contains($0.name) }
}

let arguments = CommandLine.arguments.dropFirst()
switch arguments.first {
case "time":
  try WorkData.set.makeIfMissing()
  var yardsticks = try Yardsticks()
  for piece in try chosenPieces(arguments.dropFirst(), of: pieces) {
    print(String(decoding: try JSONEncoder().encode(try time(piece, &yardsticks)), as: UTF8.self))
  }
  yardsticks.close()
case "count":
  try WorkData.set.makeIfMissing()
  for piece in try chosenPieces(arguments.dropFirst(), of: pieces) { try count(piece) }
case "list":
  for piece in pieces { print(piece.name, piece.yardstick.rawValue) }
case "today":
  try openAndReadToday()
default:
  throw WrongAnswer(description: "usage: WorkFigures time|count [ROW]… or WorkFigures list")
}
