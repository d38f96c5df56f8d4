/// The smallest of some elements, up to a limit: a heap with the largest of them on top.
struct BoundedHeap<Element: Comparable> {
  private var elements: [Element] = []
  private let limit: Int

  /// Creates a heap for at least one element.
  init(limit: Int) {
    self.limit = max(1, limit)
  }

  /// Whether an element would be kept.
  func accepts(_ element: Element) -> Bool {
    elements.count < limit || element < elements[0]
  }

  /// Adds an element if it is among the smallest, and gives up the largest.
  mutating func insert(_ element: Element) {
    guard elements.count == limit else {
      elements.append(element)
      return siftUp(from: elements.count - 1)
    }
    guard element < elements[0] else { return }
    elements[0] = element
    siftDown()
  }

  /// The elements in ascending order.
  var sorted: [Element] { elements.sorted() }

  private mutating func siftUp(from index: Int) {
    var index = index
    while index > 0, elements[(index - 1) / 2] < elements[index] {
      elements.swapAt(index, (index - 1) / 2)
      index = (index - 1) / 2
    }
  }

  private mutating func siftDown() {
    var index = 0
    while true {
      let left = 2 * index + 1
      guard left < elements.count else { return }
      let larger = left + 1 < elements.count && elements[left] < elements[left + 1] ? left + 1 : left
      guard elements[index] < elements[larger] else { return }
      elements.swapAt(index, larger)
      index = larger
    }
  }
}

/// A heap from which the least element is taken first.
struct MinimumHeap<Element: Comparable> {
  private var elements: [Element] = []

  /// The least element.
  var first: Element? { elements.first }

  /// Adds an element.
  mutating func insert(_ element: Element) {
    elements.append(element)
    var child = elements.count - 1
    while child > 0, elements[child] < elements[(child - 1) / 2] {
      elements.swapAt(child, (child - 1) / 2)
      child = (child - 1) / 2
    }
  }

  /// Removes the least element; `nil` if there is none.
  mutating func removeFirst() -> Element? {
    guard let last = elements.popLast() else { return nil }
    guard let first = elements.first else { return last }
    replaceFirst(with: last)
    return first
  }

  /// Puts another element in the place of the least one; the heap has one.
  mutating func replaceFirst(with element: Element) {
    elements[0] = element
    var parent = 0
    while true {
      var least = parent
      for child in 2 * parent + 1...2 * parent + 2
      where child < elements.count && elements[child] < elements[least] {
        least = child
      }
      guard least != parent else { return }
      elements.swapAt(parent, least)
      parent = least
    }
  }
}
