import Glibc
import Platform
import Testing

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

  @Test("say whether the oldest one is there")
  func ready() {
    let pool = WorkerPool(threadCount: 2)
    let mayEnd = BoundedQueue<Int>(capacity: 1)
    let results = OrderedResults<Int>(pool: pool, limit: 2)
    #expect(!results.isNextReady)
    results.submit {
      _ = mayEnd.receive()
      return 1
    }
    results.submit { 2 }
    #expect(!results.isNextReady)
    mayEnd.close()
    pool.finish()
    #expect(results.isNextReady)
    #expect(results.next() == 1)
    #expect(results.isNextReady)
    #expect(results.next() == 2)
    #expect(!results.isNextReady)
  }

  @Test("are worked on with the priority that was asked for")
  func priority() {
    let started = Shared<[String]>([])
    let isFilled = BoundedQueue<Int>(capacity: 1)
    let pool = WorkerPool(threadCount: 1)
    pool.submit { _ = isFilled.receive() }
    let short = OrderedResults<Void>(pool: pool, limit: 1)
    let long = OrderedResults<Void>(pool: pool, limit: 1, priority: .high)
    short.submit { started.update { $0.append("short") } }
    long.submit { started.update { $0.append("long") } }
    isFilled.close()
    pool.finish()
    #expect(started.value == ["long", "short"])
  }
}
