import Synchronization
import Testing
@testable import spool

@Suite("How much has been read is drawn now and then") struct ReadingMeterTests {
  /// A time that passes as the test wants, and what was drawn.
  private final class Screen: Sendable {
    let time = Mutex(100.0)
    let drawn = Mutex<[String]>([])

    func meter(isShown: Bool = true) -> ReadingMeter {
      ReadingMeter(
        isShown: isShown, now: { self.time.withLock { $0 } },
        draw: { text in self.drawn.withLock { $0.append(text) } })
    }

    /// Shows a thousand steps of ten seconds.
    func count(_ meter: ReadingMeter) -> [String] {
      for done in 0..<1_000 {
        meter.show(done, of: 1_000, named: "receipt")
        time.withLock { $0 += 0.01 }
      }
      return drawn.withLock { $0 }
    }
  }

  @Test("ten times a second, with what is left, and the line is taken away")
  func drawing() {
    let screen = Screen()
    let meter = screen.meter()
    let lines = screen.count(meter)
    #expect((90...101).contains(lines.count))
    #expect(lines.last?.contains("of 1000 receipts") == true, "\(lines.last ?? "nothing")")
    #expect(lines[lines.count / 2].hasSuffix("left"))
    meter.clear()
    #expect(screen.drawn.withLock { $0.last } == "\r\u{1B}[K")
  }

  @Test("nothing where it is not to be shown")
  func hidden() {
    let screen = Screen()
    let meter = screen.meter(isShown: false)
    #expect(screen.count(meter).isEmpty)
    meter.clear()
    #expect(screen.drawn.withLock { $0.isEmpty })
  }
}
