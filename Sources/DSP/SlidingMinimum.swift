/// The least of the last so many values of a sequence whose values are mostly 1 and never more.
///
/// Values below 1 are kept in a wedge: only those that no later, lower value makes superfluous, so
/// that the first is the least. Each value enters and leaves once; a step costs O(1) on average.
struct SlidingMinimum: ~Copyable {
  /// A value of the wedge and when it came.
  struct Entry: BitwiseCopyable {
    var index: Int
    var value: Float
  }

  private let window: Int
  private let wedge: Scratch<Entry>
  private var first = 0
  private var count = 0

  /// Looks back over `window` values, the newest included; before the first, all were 1.
  init(window: Int) {
    self.window = window
    wedge = Scratch(repeating: Entry(index: 0, value: 1), count: window)
  }

  /// Whether all values of the window are 1.
  var isAtRest: Bool { count == 0 }

  /// Takes the value number `index` and gives the least of the window that ends with it.
  @inline(__always)
  mutating func push(_ value: Float, index: Int) -> Float {
    let entries = unsafe wedge.start
    if count > 0, unsafe entries[first].index <= index &- window {
      first = first &+ 1 == window ? 0 : first &+ 1
      count &-= 1
    }
    if value < 1 {
      while count > 0, unsafe entries[place(count &- 1)].value >= value { count &-= 1 }
      unsafe entries[place(count)] = Entry(index: index, value: value)
      count &+= 1
    }
    return count == 0 ? 1 : unsafe entries[first].value
  }

  @inline(__always)
  private func place(_ offset: Int) -> Int {
    let place = first &+ offset
    return place >= window ? place &- window : place
  }

  /// The wedge, oldest entry first.
  var entries: [Entry] {
    get { (0..<count).map { wedge[place($0)] } }
    set {
      precondition(newValue.count <= window)
      (first, count) = (0, newValue.count)
      for (index, entry) in newValue.enumerated() { wedge[index] = entry }
    }
  }
}
