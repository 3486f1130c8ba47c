import Glibc
import Testing
import Threading

@Suite("Ordered results")
struct OrderedResultsTests {
  @Test("come in the order of submission, though later work ends earlier")
  func order() {
    let pool = WorkerPool(threadCount: 4)
    let results = OrderedResults<Int>(pool: pool, limit: 4)
    var taken: [Int] = []
    for number in 0..<40 {
      if results.isFull, let result = results.next() { taken.append(result) }
      results.submit {
        usleep(number % 4 == 0 ? 3000 : 0)
        return number
      }
      #expect(results.count <= 4)
    }
    while let result = results.next() { taken.append(result) }
    #expect(taken == Array(0..<40))
    #expect(results.next() == nil)
  }
}
