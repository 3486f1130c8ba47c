import Platform
import Testing

@Suite("A bounded queue")
struct BoundedQueueTests {
  @Test("keeps the order and ends when closed")
  func order() {
    let queue = BoundedQueue<Int>(capacity: 3)
    let sender = BackgroundThread(name: "sender") {
      for number in 0..<1000 { queue.send(number) }
      queue.close()
    }
    var received: [Int] = []
    while let number = queue.receive() { received.append(number) }
    sender.join()
    #expect(received == Array(0..<1000))
    #expect(queue.receive() == nil)
  }

  @Test("never holds more than its capacity")
  func bound() {
    let queue = BoundedQueue<Int>(capacity: 4)
    let sent = Shared(0)
    let sender = BackgroundThread(name: "sender") {
      for number in 0..<100 {
        queue.send(number)
        sent.update { $0 += 1 }
      }
    }
    for received in 0..<100 {
      // Four in the queue, and perhaps one just sent for which the room has been made.
      #expect(sent.value <= received + 4)
      #expect(queue.receive() == received)
    }
    sender.join()
  }

  @Test("refuses what is sent after closing, and still gives what was there")
  func closed() {
    let queue = BoundedQueue<String>(capacity: 2)
    #expect(queue.send("kept"))
    queue.close()
    #expect(!queue.send("late"))
    #expect(queue.receive() == "kept")
    #expect(queue.receive() == nil)
  }

  @Test("frees a waiting sender and drops its content when cancelled")
  func cancelled() {
    let queue = BoundedQueue<Int>(capacity: 1)
    queue.send(1)
    let wasTaken = Shared(true)
    let sender = BackgroundThread(name: "sender") {
      let taken = queue.send(2)
      wasTaken.update { $0 = taken }
    }
    queue.cancel()
    sender.join()
    #expect(!wasTaken.value)
    #expect(queue.receive() == nil)
  }

  @Test("shares the elements among several receivers without losing one")
  func receivers() {
    let queue = BoundedQueue<Int>(capacity: 8)
    let total = Shared(0)
    let receivers = (0..<4).map { number in
      BackgroundThread(name: "receiver-\(number)") {
        while let element = queue.receive() {
          total.update { $0 += element }
        }
      }
    }
    for number in 1...2000 { queue.send(number) }
    queue.close()
    for receiver in receivers { receiver.join() }
    #expect(total.value == 2000 * 2001 / 2)
  }
}
