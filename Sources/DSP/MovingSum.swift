/// The sum of the last so many whole numbers of a sequence. Whole numbers, because their running
/// sum is exact for ever: it neither drifts nor depends on where it began.
struct MovingSum: ~Copyable {
  private let ring: Scratch<Int>
  private var position = 0
  private var sum: Int

  /// Sums over `count` numbers; before the first, all were `value`.
  init(count: Int, repeating value: Int) {
    ring = Scratch(repeating: value, count: count)
    sum = value * count
  }

  /// Takes a number and gives the sum of the last `count`.
  @inline(__always)
  mutating func push(_ value: Int) -> Int {
    let oldest = unsafe ring.start[position]
    unsafe ring.start[position] = value
    position = position &+ 1 == ring.count ? 0 : position &+ 1
    sum = sum &+ value &- oldest
    return sum
  }

  /// The numbers in the window, oldest first.
  var values: [Int] {
    get { (0..<ring.count).map { ring[(position + $0) % ring.count] } }
    set {
      precondition(newValue.count == ring.count)
      position = 0
      sum = 0
      for (index, value) in newValue.enumerated() {
        ring[index] = value
        sum += value
      }
    }
  }
}
