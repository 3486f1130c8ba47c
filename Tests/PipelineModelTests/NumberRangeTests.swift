@testable import PipelineModel
import TestSupport
import Testing

@Suite struct NumberRangeTests {
  private static let loudness = ParameterType.number(.lufs, -70...0)
  private static let peak = ParameterType.number(.decibelsTruePeak, -60...20)
  private static let time = ParameterType.number(.seconds, 0...360_000)
  private static let share = ParameterType.number(.percent, 0...100)
  private static let count = ParameterType.integer(0...1000)
  private static let all = [loudness, peak, time, share, count]

  private func resolve(_ node: DocumentNode, of element: ParameterType) -> (Value, [Problem]) {
    var resolver = ParameterResolver(owner: "assert")
    let parameter = ParameterDescriptor("it", .range(of: element), .required, "")
    let value = resolver.resolve(.mapping([("it", node)]), as: [parameter])
    guard case .group(let members) = value else { return (.null, resolver.problems) }
    return (members["it"] ?? .null, resolver.problems)
  }

  private func resolve(_ text: String, of element: ParameterType) -> (Value, [Problem]) {
    resolve(.scalar(text), of: element)
  }

  @Test(arguments: [
    ("-16 LUFS ± 0.5", loudness, NumberRange(minimum: -16.5, maximum: -15.5)),
    ("-16 LUFS ±0.5 LU", loudness, NumberRange(minimum: -16.5, maximum: -15.5)),
    ("-16 +- 0.5 dB", loudness, NumberRange(minimum: -16.5, maximum: -15.5)),
    ("-16 LUFS +/- 0.1 LUFS", loudness, NumberRange(minimum: -16.1, maximum: -15.9)),
    ("-17 LUFS .. -15 LUFS", loudness, NumberRange(minimum: -17, maximum: -15)),
    ("-17..-15", loudness, NumberRange(minimum: -17, maximum: -15)),
    ("-17 … -15 LUFS", loudness, NumberRange(minimum: -17, maximum: -15)),
    ("-17 ... -15", loudness, NumberRange(minimum: -17, maximum: -15)),
    (".. -1 dBTP", peak, NumberRange(maximum: -1)),
    ("-1 dBTP ± 0.2 dB", peak, NumberRange(minimum: -1.2, maximum: -0.8)),
    ("<= -1 dBTP", peak, NumberRange(maximum: -1)),
    ("≤ -1 dBTP", peak, NumberRange(maximum: -1)),
    ("-3 ..", peak, NumberRange(minimum: -3)),
    (">= -3 dBTP", peak, NumberRange(minimum: -3)),
    ("≥-3", peak, NumberRange(minimum: -3)),
    ("> -3", peak, NumberRange(exclusiveMinimum: -3)),
    ("1 s .. 4 h", time, NumberRange(minimum: 1, maximum: 14_400)),
    ("0 .. 4 h", time, NumberRange(minimum: 0, maximum: 14_400)),
    ("0:30 .. 1:02:30", time, NumberRange(minimum: 30, maximum: 3750)),
    ("1 min ± 5", time, NumberRange(minimum: -240, maximum: 360)),
    ("1 min ± 5 s", time, NumberRange(minimum: 55, maximum: 65)),
    ("< 30 %", share, NumberRange(exclusiveMaximum: 0.3)),
    ("12.3 % .. 45.6 %", share, NumberRange(minimum: 0.123, maximum: 0.456)),
    ("0", count, NumberRange(minimum: 0, maximum: 0)),
    ("1 .. 2", count, NumberRange(minimum: 1, maximum: 2)),
    ("8 ± 2", count, NumberRange(minimum: 6, maximum: 10)),
  ])
  func `a range is read in the unit that it is written with`(
    text: String, element: ParameterType, expected: NumberRange
  ) {
    let (value, problems) = resolve(text, of: element)
    #expect(problems.isEmpty, "\(problems.map(\.report))")
    #expect(NumberRange(value) == expected)
  }

  @Test(arguments: [
    (["-16 LUFS ± 0.5", "-16.5 LUFS .. -15.5 LUFS", "-16.5..-15.5"], loudness),
    (["-16 ± 0.1", "-16.1 .. -15.9 LUFS"], loudness),
    (["<= 30 %", ".. 30 %", "≤ 30"], share), (["90 s ..", "1.5 min ..", ">= 1:30"], time),
    (["30 % ± 0.1", "29.9 % .. 30.1 %"], share),
  ])
  func `equal ranges have one value however they are written, as keys require`(
    texts: [String], element: ParameterType
  ) {
    #expect(Set(texts.map { resolve($0, of: element).0.canonicalJSON }).count == 1)
  }

  @Test(arguments: [
    (NumberRange(minimum: -17, maximum: -15), loudness, "-17 LUFS .. -15 LUFS"),
    (NumberRange(minimum: 20), loudness, "20 LUFS .."),
    (NumberRange(maximum: -1), peak, ".. -1 dBTP"),
    (NumberRange(exclusiveMaximum: 0.3), share, "< 30 %"),
    (NumberRange(exclusiveMinimum: 1), time, "> 1 s"),
    (NumberRange(minimum: 0, maximum: 0), count, "0"),
  ])
  func `a range is shown as a pipeline writes it`(
    range: NumberRange, element: ParameterType, text: String
  ) {
    #expect(ParameterType.range(of: element).text(of: range.value) == text)
  }

  @Test func `what is shown of any range is read back as the same`() {
    var random = SeededRandom(seed: 7)
    for _ in 0..<2000 {
      guard let element = Self.all.randomElement(using: &random) else { return }
      let (limits, factor): (ClosedRange<Double>, Double) =
        switch element {
        case .number(let unit, let range): (range, unit.factor)
        default: (0...1000, 1)
        }
      var ends = (0..<2).map { _ in
        let end = Double.random(in: limits, using: &random)
        let shown = factor == 1 && limits.upperBound == 1000 ? end.rounded() : end
        // So many digits are written.
        return ((shown * 1000).rounded() / 1000 * factor * 1e9).rounded() / 1e9
      }
      ends.sort()
      let ranges = [
        NumberRange(minimum: ends[0], maximum: ends[1]), NumberRange(minimum: ends[0]),
        NumberRange(maximum: ends[1]), NumberRange(exclusiveMinimum: ends[0]),
        NumberRange(exclusiveMaximum: ends[1]), NumberRange(minimum: ends[0], maximum: ends[0]),
      ]
      for range in ranges {
        let text = range.text(of: element)
        let (value, problems) = resolve(text, of: element)
        if range.exactValue != nil, case .number(let unit, _) = element,
          [.level, .truePeak, .loudness].contains(unit.dimension)
        {
          // No level is ever exactly one number.
          #expect(problems.map(\.allowed) == ["a tolerance: \(text) ± 0.5"])
          continue
        }
        #expect(problems.isEmpty, "\(text): \(problems.map(\.report))")
        #expect(NumberRange(value) == range, "\(text)")
      }
    }
  }

  @Test(arguments: [
    ("", "it of assert is a range, not \"\""), ("..", "it of assert is a range, not \"..\""),
    ("±", "it of assert is a range, not \"±\""), ("± 3", "it of assert is a range, not \"± 3\""),
    ("<", "it of assert is a range, not \"<\""), ("loud", "it of assert is a number, not \"loud\""),
    ("-16 dB", "it of assert takes LUFS, not \"dB\""),
    ("-16 .. loud", "it of assert is a number, not \"loud\""),
    ("-3 .. -2 .. -1", "it of assert is one number, not \"-2 .. -1\""),
    ("< -1 > -2", "it of assert is one number, not \"-1 > -2\""),
    ("-80 LUFS .. 0", "it of assert is out of range at -80 LUFS"),
    ("-15 .. -17", "it of assert has no value: \"-15 .. -17\" ends below its beginning"),
    ("-16 ± loud", "the tolerance of it of assert is a number, not \"loud\""),
    ("-16 ± 5 %", "the tolerance of it of assert takes LUFS, LU, dB, not \"%\""),
    ("-16 ± -1", "the tolerance of it of assert is negative at \"-1\""),
    ("nan ..", "it of assert is a number, not \"nan\""),
  ])
  func `a malformed range is one problem in plain words`(text: String, message: String) {
    let (value, problems) = resolve(.scalar(text), of: Self.loudness)
    if text.isEmpty {
      // An empty scalar is YAML's null.
      #expect(problems.map(\.message) == ["assert needs it"])
    } else {
      #expect(problems.map(\.message) == [message])
    }
    #expect(value == .null)
    #expect(problems.allSatisfy { $0.allowed != nil })
  }

  @Test func `a range that is turned round is offered the right way`() {
    let (_, problems) = resolve("-15 .. -17 LUFS", of: Self.loudness)
    #expect(problems.map(\.suggestion) == ["-17 LUFS .. -15 LUFS"])
  }

  @Test func `a wrong unit is told with the nearest one`() {
    let (_, problems) = resolve("-16 LUF .. -15 LUFS", of: Self.loudness)
    #expect(problems.map(\.suggestion) == ["LUFS"])
  }

  @Test func `whole numbers have whole ends and tolerances`() {
    #expect(
      resolve("0.5", of: Self.count).1.map(\.message)
        == ["it of assert is a whole number, not \"0.5\""])
    #expect(
      resolve("5 ± 0.5", of: Self.count).1.map(\.message)
        == ["the tolerance of it of assert is a whole number, not \"0.5\""])
  }

  @Test func `a bare end beside one with a larger unit is not guessed at`() {
    let (value, problems) = resolve("1 .. 4 h", of: Self.time)
    #expect(value == .null)
    #expect(problems.map(\.message) == ["it of assert does not say the unit of 1"])
    #expect(problems.map(\.allowed) == ["1 h, 1 s"])
    #expect(resolve("1 .. 4 s", of: Self.time).1.isEmpty)
  }

  @Test func `each wrong number has its own place`() {
    let node = DocumentNode.scalar("-16 dB .. -15 Hz", line: 3, column: 15)
    let (_, problems) = resolve(node, of: Self.loudness)
    #expect(problems.map(\.location) == [Place(line: 3, column: 15), Place(line: 3, column: 25)])
    let quoted = DocumentNode(
      .scalar("> x", isQuoted: true), at: Place(line: 3, column: 15))
    #expect(resolve(quoted, of: Self.loudness).1.map(\.location) == [Place(line: 3, column: 18)])
  }

  @Test func `no text at all brings the reader down`() {
    var random = SeededRandom(seed: 11)
    let parts = [
      "..", "±", "<", "<=", ">", ">=", "≤", "…", "+-", "+/-", "-16", "3", "1:30", " ", "LUFS", "%",
      "e", ".", "-", "🙂", "\u{301}", "h",
    ]
    for _ in 0..<5000 {
      let text = (0..<Int.random(in: 1...6, using: &random))
        .map { _ in parts.randomElement(using: &random) ?? "" }.joined()
      for element in Self.all {
        let (value, problems) = resolve(text, of: element)
        #expect((value == .null) == !problems.isEmpty, "\(text)")
        guard problems.isEmpty, let range = NumberRange(value) else { continue }
        // What is understood at all is understood for good.
        #expect(
          NumberRange(resolve(range.text(of: element), of: element).0).map { $0 == range } ?? true,
          "\(text)")
      }
    }
  }

  @Test func `ends belong to a range unless it says otherwise`() {
    #expect(NumberRange(minimum: 1, maximum: 2).contains(1))
    #expect(NumberRange(minimum: 1, maximum: 2).contains(2))
    #expect(!NumberRange(minimum: 1, maximum: 2).contains(2.000_001))
    #expect(!NumberRange(exclusiveMaximum: 0.3).contains(0.3))
    #expect(NumberRange(exclusiveMaximum: 0.3).contains(0.299))
    #expect(!NumberRange(exclusiveMinimum: 0.3).contains(0.3))
    #expect(!NumberRange(minimum: 0).contains(.nan))
    #expect(NumberRange(minimum: 0).contains(.infinity))
  }
}
