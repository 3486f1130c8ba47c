@testable import Audio
import Testing

@Suite struct MovingSumTests {
  @Test(arguments: [1, 2, 9])
  func `sums the last numbers, and goes on after being taken apart`(count: Int) {
    var sum = MovingSum(count: count, repeating: 5)
    var numbers = Array(repeating: 5, count: count)
    for number in [3, -8, 1 << 40, 0, 7, 7, 2, 100, -1, 4, 9] {
      numbers.append(number)
      #expect(sum.push(number) == numbers.suffix(count).reduce(0, +))
      #expect(sum.values == Array(numbers.suffix(count)))
      var other = MovingSum(count: count, repeating: 0)
      other.values = sum.values
      #expect(other.push(11) == numbers.suffix(count - 1).reduce(11, +))
    }
  }
}
