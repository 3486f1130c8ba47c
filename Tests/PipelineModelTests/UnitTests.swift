import PipelineModel
import Testing

@Suite struct UnitTests {
  @Test(arguments: [
    ("80 Hz", Unit.hertz, 80.0), ("3.2 kHz", .hertz, 3200), ("3.2kHz", .hertz, 3200),
    ("8 ms", .milliseconds, 0.008), ("8", .milliseconds, 0.008), ("1.5 s", .milliseconds, 1.5),
    ("-18 dB", .decibels, -18), ("-18dBFS", .decibels, -18), ("-16 LUFS", .lufs, -16),
    ("-1 dBTP", .decibelsTruePeak, -1), ("128 kbit/s", .kilobits, 128_000),
    ("40 %", .percent, 0.4), ("40", .percent, 0.4),
    ("128k", .kilobits, 128_000), ("3:1", .ratio, 3), ("3", .ratio, 3), ("1e3", .number, 1000),
    ("+6 dB", .decibels, 6), (".5 s", .seconds, 0.5), ("2 min", .seconds, 120),
    ("2:30", .seconds, 150), ("0:01.5", .milliseconds, 1.5), ("1:02:03", .seconds, 3723),
    ("-0:02", .seconds, -2), ("90:00", .seconds, 5400),
  ])
  func `a number takes the unit that it is written with`(
    text: String, unit: Unit, expected: Double
  ) throws {
    #expect(abs(try unit.parse(text) - expected) < 1e-12 * max(1, abs(expected)))
  }

  @Test(arguments: [
    ("5 kHz", Unit.decibels, "kHz"), ("-1 dB", .decibelsTruePeak, "dB"), ("8 m", .seconds, "m"),
    ("-16 dB", .lufs, "dB"), ("3 x", .number, "x"),
  ])
  func `a unit of another dimension is refused by name`(
    text: String, unit: Unit, symbol: String
  ) {
    #expect(throws: Unit.ParseFailure.wrongUnit(symbol)) { try unit.parse(text) }
  }

  @Test(arguments: ["", "loud", "dB", "--3", "nan", "inf", "0x10", "1e999", "٣"])
  func `what does not begin with a finite number is none`(text: String) {
    #expect(throws: Unit.ParseFailure.self) { try Unit.decibels.parse(text) }
  }

  @Test(arguments: ["1:", ":30", "1:60", "1:2:3:4", "1:-2", "1.5:00", "1:00 s", "1:60:00", "-:10"])
  func `what no clock shows is no time`(text: String) {
    #expect(throws: Unit.ParseFailure.notANumber) { try Unit.seconds.parse(text) }
  }

  @Test func `only times are written as clocks show them`() {
    #expect(throws: Unit.ParseFailure.wrongUnit(":30")) { try Unit.decibels.parse("2:30") }
  }

  @Test func `values are shown in the unit that they are declared in`() {
    #expect(Unit.milliseconds.format(0.008) == "8 ms")
    #expect(Unit.decibels.format(-0.5) == "-0.5 dB")
    #expect(Unit.ratio.format(3) == "3:1")
    #expect(Unit.number.format(0.7) == "0.7")
    // As it was written, and not as infinite.
    #expect(Unit.decibels.format(1e308) == "1e+308 dB")
  }
}
