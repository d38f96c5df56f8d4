/// The smallest elements of a sequence, up to a limit: a heap with the largest of them on top.
struct BoundedHeap<Element: Comparable> {
  private struct Reversed: Comparable {
    let element: Element

    static func < (left: Reversed, right: Reversed) -> Bool { right.element < left.element }
  }

  private var heap = MinimumHeap<Reversed>()
  private let limit: Int

  /// Creates a heap for up to `limit` elements, and at least one.
  init(limit: Int) {
    self.limit = max(1, limit)
  }

  /// Inserts an element if it is among the smallest, in place of the largest if the heap is full.
  mutating func insert(_ element: Element) {
    if heap.elements.count < limit {
      heap.insert(Reversed(element: element))
    } else if let largest = heap.first, element < largest.element {
      heap.replaceFirst(with: Reversed(element: element))
    }
  }

  /// The elements in ascending order.
  var sorted: [Element] { heap.elements.map(\.element).sorted() }
}

/// A heap that removes its least element first.
struct MinimumHeap<Element: Comparable> {
  /// The elements in heap order.
  private(set) var elements: [Element] = []

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

  /// Replaces the least element; the heap must not be empty.
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
