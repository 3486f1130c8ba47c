import PipelineModel
import Platform
import Testing

@Suite struct KeyChangeTests {
  private let parameters = [
    ParameterDescriptor("threshold", .number(.decibels, -80...0), .required, ""),
    ParameterDescriptor("attack", .number(.milliseconds, 0...1000), .optional, ""),
    ParameterDescriptor(
      "formats", .list(of: .choice(["wav", "m4a"]), count: 1...4), .required, ""),
    ParameterDescriptor("name", .text(maximumLength: 99), .optional, ""),
    ParameterDescriptor("on", .flag, .optional, ""),
    ParameterDescriptor(
      "bands",
      .list(
        of: .group([
          ParameterDescriptor("type", .choice(["peak"]), .required, ""),
          ParameterDescriptor("frequency", .number(.hertz, 5...100_000), .required, ""),
          ParameterDescriptor("gain", .number(.decibels, -48...48), .optional, ""),
        ]), count: 1...64), .optional, ""),
  ]

  private func components(
    _ parameters: String = "{}", kind: String = "k", revision: Int = 1,
    inputs: [PortName: Digest] = [:], libraries: [String: String] = [:]
  ) -> KeyComponents {
    KeyComponents(
      kind: kind, revision: revision, parameters: parameters, inputs: inputs, libraries: libraries)
  }

  private func changes(_ old: String, _ new: String) -> [KeyChange] {
    components(new).changes(since: components(old), parameters: parameters)
  }

  @Test(
    "a value is told as it is typed",
    arguments: [
      (#"{"threshold":-18}"#, #"{"threshold":-20}"#, "threshold", "-18 dB", "-20 dB"),
      (#"{"attack":0.008}"#, #"{"attack":null}"#, "attack", "8 ms", "none"),
      (#"{"formats":["wav"]}"#, #"{"formats":["wav","m4a"]}"#, "formats", "[wav]", "[wav, m4a]"),
      (#"{"name":"a"}"#, #"{"name":"a b"}"#, "name", "a", #""a b""#),
      (#"{"on":true}"#, #"{"on":false}"#, "on", "true", "false"),
      (#"{"on":true}"#, #"{"on":1}"#, "on", "true", "1"),
      (#"{"gone":1}"#, #"{}"#, "gone", "1", "none"),
    ])
  func value(old: String, new: String, name: String, from: String, to: String) {
    #expect(changes(old, new) == [.parameter(name, from: from, to: to)])
    #expect(changes(new, old) == [.parameter(name, from: to, to: from)])
  }

  @Test("an element of a list is told by its number, and one that came or went as a whole")
  func bands() {
    let low = #"{"frequency":80,"gain":null,"type":"peak"}"#
    let high = #"{"frequency":9000,"gain":1.5,"type":"peak"}"#
    let higher = #"{"frequency":9500,"gain":1.5,"type":"peak"}"#
    #expect(
      changes(#"{"bands":[\#(low),\#(high)]}"#, #"{"bands":[\#(low),\#(higher)]}"#)
        == [.parameter("bands 2 frequency", from: "9000 Hz", to: "9500 Hz")])
    let added = KeyChange.parameter(
      "bands", from: nil, to: "{ type: peak, frequency: 9000 Hz, gain: 1.5 dB }")
    #expect(changes(#"{"bands":[\#(low)]}"#, #"{"bands":[\#(low),\#(high)]}"#) == [added])
    #expect(changes(#"{"bands":[\#(low)]}"#, #"{"bands":[\#(high),\#(low)]}"#) == [added])
    #expect(
      changes(#"{"bands":[\#(low),\#(high),\#(low)]}"#, #"{"bands":[\#(low),\#(low)]}"#)
        == [
          .parameter("bands", from: "{ type: peak, frequency: 9000 Hz, gain: 1.5 dB }", to: nil)
        ])
  }

  @Test("revision, inputs and libraries, in this order; another kind alone")
  func others() {
    let (a, b) = (SHA256.digest(of: "a"), SHA256.digest(of: "b"))
    let text = PortName("transcript")
    let old = components(inputs: [.sound: a], libraries: ["libavcodec": "59", "old": "1"])
    let new = components(
      revision: 2, inputs: [.sound: b, text: a], libraries: ["libavcodec": "60"])
    #expect(
      new.changes(since: old, parameters: parameters) == [
        .revision(from: 1, to: 2), .input(.sound, from: a, to: b), .input(text, from: nil, to: a),
        .library("libavcodec", from: "59", to: "60"), .library("old", from: "1", to: nil),
      ])
    #expect(old.changes(since: old, parameters: parameters) == [])
    #expect(
      components(#"{"threshold":1}"#, kind: "x").changes(since: old, parameters: parameters)
        == [.kind(from: "k", to: "x")])
  }

  @Test("canonical JSON comes back as the value it was written from")
  func roundTrip() {
    let value = Value.group([
      "a": .list([.null, .flag(false), .number(-0.125), .text("q\"\\\n\u{1}ü")]),
      "b": .group([:]), "c": .number(1), "d": .number(1e300),
    ])
    #expect(Value(json: value.canonicalJSON) == value)
    #expect(Value(json: "{") == nil)
  }
}
