@testable import Stages
import Testing

@Suite struct TimeAxisTests {
  @Test(arguments: [
    (0.004, ["0.000 s", "0.001 s"]), (1.3, ["0.0 s", "0.1 s"]), (20.0, ["0:00", "0:02"]),
    (600.0, ["0:00", "1:00"]), (3600.0, ["0:00", "5:00"]), (90_000.0, ["0:00", "2:00:00"]),
    (1_000_000.0, ["0:00", "24:00:00"]),
  ])
  func `marks stand at times that people read well`(seconds: Double, beginning: [String]) {
    let axis = TimeAxis(seconds: seconds, width: 1500)
    #expect(Array(axis.marks.map(\.label).prefix(2)) == beginning)
    #expect((4...17).contains(axis.marks.count), "\(axis.marks.count)")
    #expect(axis.marks.allSatisfy { $0.seconds <= seconds * 1.000_001 })
  }

  @Test func `no time has one mark`() {
    #expect(TimeAxis(seconds: 0, width: 100).marks.map(\.label) == ["0:00"])
  }
}
