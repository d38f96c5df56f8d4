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
