import Foundation
import Platform
import Testing

@Suite("A worker pool")
struct WorkerPoolTests {
  @Test("does everything submitted before it finishes")
  func everything() {
    let done = Shared(0)
    let pool = WorkerPool(threadCount: 3)
    for _ in 0..<500 {
      pool.submit { done.update { $0 += 1 } }
    }
    pool.finish()
    #expect(done.value == 500)
    pool.submit { done.update { $0 += 1 } }
    #expect(done.value == 500)
  }

  @Test("works on all pieces to their end, and gives the error of the first that failed")
  func pieces() throws {
    struct Failure: Error, Equatable { let number: Int }
    let done = Shared(0)
    let pool = WorkerPool(threadCount: 3)
    pool.forEach([Int]()) { _ in done.update { $0 += 1 } }
    let error = #expect(throws: Failure.self) {
      try pool.forEach(Array(0..<40)) { (number) throws(Failure) in
        done.update { $0 += 1 }
        if [7, 30].contains(number) { throw Failure(number: number) }
      }
    }
    #expect(error == Failure(number: 7))
    #expect(done.value == 40, "those behind a failure are waited for, too")
  }

  @Test("starts work in the order of submission")
  func order() {
    let started = Shared<[Int]>([])
    let pool = WorkerPool(threadCount: 1)
    for number in 0..<200 {
      pool.submit { started.update { $0.append(number) } }
    }
    pool.finish()
    #expect(started.value == Array(0..<200))
  }

  @Test("starts work of high priority before all that waits, each priority in its order")
  func priority() {
    let started = Shared<[Int]>([])
    let isFilled = BoundedQueue<Int>(capacity: 1)
    let pool = WorkerPool(threadCount: 1)
    // The only thread is busy until everything waits.
    pool.submit { _ = isFilled.receive() }
    for number in 0..<100 {
      pool.submit(priority: number % 3 == 0 ? .high : .normal) {
        started.update { $0.append(number) }
      }
    }
    isFilled.close()
    pool.finish()
    let (high, normal) = ((0..<100).filter { $0 % 3 == 0 }, (0..<100).filter { $0 % 3 != 0 })
    #expect(started.value == high + normal)
  }

  @Test("runs as many pieces at once as it has threads")
  func sideBySide() {
    // Each of two pieces needs the other to run.
    let first = BoundedQueue<Int>(capacity: 1)
    let second = BoundedQueue<Int>(capacity: 1)
    let met = Shared(0)
    let pool = WorkerPool(threadCount: 2)
    pool.submit {
      first.send(1)
      if second.receive() != nil { met.update { $0 += 1 } }
    }
    pool.submit {
      second.send(1)
      if first.receive() != nil { met.update { $0 += 1 } }
    }
    pool.finish()
    #expect(met.value == 2)
  }

  @Test("ends its threads when it is dropped")
  func dropped() throws {
    func threads() throws -> Int {
      try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")
        .filter {
          let name = try? String(contentsOfFile: "/proc/self/task/\($0)/comm", encoding: .utf8)
          return name?.hasPrefix("dropped-") == true
        }.count
    }
    var pool: WorkerPool? = WorkerPool(threadCount: 2, name: "dropped")
    // Each piece stays until both have started, so that both threads are at work.
    let started = BoundedQueue<Int>(capacity: 2)
    let isOver = BoundedQueue<Int>(capacity: 1)
    for _ in 0..<2 {
      pool?.submit {
        started.send(0)
        _ = isOver.receive()
      }
    }
    _ = started.receive()
    _ = started.receive()
    #expect(try threads() == 2)
    isOver.close()
    pool = nil
    #expect(try threads() == 0)
  }
}
