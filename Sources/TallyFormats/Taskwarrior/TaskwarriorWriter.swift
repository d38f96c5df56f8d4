internal import Tally

/// Writes an array of tasks, one on each line, as `task export` does.
struct TaskwarriorWriter: DocumentWriter {
  private let context: FormatContext
  private var isFirst = true
  var bytes: [UInt8] = []

  init(_ context: FormatContext) {
    self.context = context
  }

  mutating func begin() { bytes += Array("[\n".utf8) }

  mutating func write(_ task: TaskItem, in list: TaskList?, under parent: TaskItem?) {
    if !isFirst { bytes += Array(",\n".utf8) }
    isFirst = false
    let record = TaskwarriorRecord.exporting(task, in: list?.name, context)
    var writer = JSONWriter(layout: .compact)
    writer.beginObject()
    for (name, value) in record.values.sorted(by: { $0.key < $1.key }) {
      writer.key(name)
      switch value {
      case .text(let text): writer.value(.text(text))
      case .integer(let number): writer.value(.integer(number))
      case .real(let number): writer.value(real: number)
      case .json(let text): writer.value(json: text)
      }
    }
    writer.endObject()
    bytes += writer.takeBytes()
  }

  mutating func end() { bytes += Array((isFirst ? "]\n" : "\n]\n").utf8) }
}
