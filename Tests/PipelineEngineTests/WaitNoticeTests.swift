@testable import PipelineEngine
import PipelineModel
import Testing

@Suite struct WaitNewsTests {
  private let unnamed = WorkOwner(processNumber: 0, isStopped: false)
  private let named = WorkOwner(processNumber: 4711, isStopped: false)

  @Test func `an owner whose name is written down a restartPoint later is told once, by name`() {
    var news = WaitNotice()
    #expect(news.take(unnamed) == nil)
    #expect(news.take(named) == named)
    #expect(news.take(named) == nil)
    #expect(news.take(unnamed) == nil)
    #expect(news.take(unnamed) == nil)
    #expect(news.take(named) == nil)
  }

  @Test func `an owner that stays without a name is told, and again once it has one`() {
    var news = WaitNotice()
    #expect(news.take(unnamed) == nil)
    #expect(news.take(unnamed) == unnamed)
    #expect(news.take(unnamed) == nil)
    #expect(news.take(named) == named)
  }

  @Test func `an owner that is stopped, and another one, are news`() {
    var news = WaitNotice()
    let stopped = WorkOwner(processNumber: 4711, isStopped: true)
    let other = WorkOwner(processNumber: 4712, isStopped: false)
    #expect(news.take(named) == named)
    #expect(news.take(stopped) == stopped)
    #expect(news.take(other) == other)
  }
}
