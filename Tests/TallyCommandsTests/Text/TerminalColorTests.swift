import Testing

@testable import TallyCommands

@Suite struct TerminalColorTests {
  @Test(
    arguments: [
      ("FF0000", 31, 196), ("00ff00", 32, 46), ("0000FF", 34, 21), ("FFFF00", 33, 226), ("FF00FF", 35, 201),
      ("00FFFF", 36, 51), ("000000", 39, 16), ("FFFFFF", 39, 231), ("808080", 39, 244), ("7A1F2B", 31, 88),
    ] as [(String, Int, Int)])
  func coloursHaveTheirNearestNeighbours(hex: String, named: Int, index: Int) {
    let color = TerminalColor(hex: hex)
    #expect(color.namedCode == named)
    #expect(color.index == index)
  }

  /// Compares with a search of the whole palette.
  @Test func noColourOfThePaletteIsNearer() {
    let levels = [0, 95, 135, 175, 215, 255]
    let cube = levels.flatMap { red in levels.flatMap { green in levels.map { [red, green, $0] } } }
    let palette = cube + (0..<24).map { Array(repeating: 8 + 10 * $0, count: 3) }
    for red in stride(from: 0, through: 255, by: 15) {
      for green in stride(from: 0, through: 255, by: 17) {
        for blue in stride(from: 0, through: 255, by: 5) {
          let hex = String(1 << 24 | red << 16 | green << 8 | blue, radix: 16).dropFirst()
          let distances = palette.map { zip($0, [red, green, blue]).reduce(0) { $0 + ($1.0 - $1.1) * ($1.0 - $1.1) } }
          let chosen = TerminalColor(hex: String(hex)).index - 16
          #expect(distances[chosen] == distances.min())
        }
      }
    }
  }
}
