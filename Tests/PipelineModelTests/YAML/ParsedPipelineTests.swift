@testable import PipelineModel
import Testing

@Suite("A pipeline file")
struct ParsedPipelineTests {
  static let voiceNote = """
    # A whole pipeline, with most of what the language has.
    pipeline: voice-note
    summary: Clean a voice note, align its words, prove it and export it.

    inputs:
      note: sound                     # required
      transcript: transcript?         # optional

    vars:
      target: -16 LUFS
      fast: { value: false, summary: Skip the slow parts., overridable: true }

    stages:
      - decode: { from: $note }
      - eq:
          bands:
            - { type: highpass,   frequency: 80 Hz }
            - { type: peak,       frequency: 3.2 kHz, gain: 3 dB, q: 0.9 }
      - gate:     { threshold: -45 dB, attack: 2 ms }
        when: not $fast
        retry: 3
        timeout: 10 min
      - gain: -3 dB
      - normalize: { loudness: $target, true-peak: -1 dBTP }
        id: master
        keep: true
      - align:  { transcript: $transcript }
        from: { sound: master.sound }
      - measure
      - export: { formats: [wav, m4a, alac] }
        from: [master, measure.measurement]
      - proof: {}
      - ledger:

    """

  @Test("without mistakes is read in full")
  func whole() throws {
    let parsed = ParsedPipeline(Self.voiceNote)
    #expect(parsed.problems == [])
    let definition = try #require(parsed.definition)
    #expect(definition.name == "voice-note")
    #expect(
      definition.summary == "Clean a voice note, align its words, prove it and export it.")
    #expect(definition.inputs.map(\.name) == ["note", "transcript"])
    #expect(definition.inputs.map(\.kind) == [.sound, .transcript])
    #expect(definition.inputs.map(\.isOptional) == [false, true])
    #expect(definition.inputs[1].location == Place(line: 7, column: 3))
    #expect(definition.variables.map(\.name) == ["target", "fast"])
    #expect(definition.variables.map(\.value.outline) == ["-16 LUFS", "false"])
    #expect(definition.variables.map(\.isOverridable) == [false, true])
    #expect(definition.variables[1].summary == "Skip the slow parts.")
    #expect(
      definition.steps.map(\.kind.value) == [
        "decode", "eq", "gate", "gain", "normalize", "align", "measure", "export", "proof",
        "ledger",
      ])
  }

  @Test("gives each step its parameters and its reserved keys")
  func steps() throws {
    let steps = try #require(ParsedPipeline(Self.voiceNote).definition).steps
    let decode = steps[0]
    #expect(decode.parameters.outline == "{}")
    #expect(decode.from == .ordered([Located("$note", at: Place(line: 14, column: 21))]))
    #expect(decode.kind.location == Place(line: 14, column: 5))
    #expect(decode.id == nil && !decode.keep && decode.attempts == nil && decode.timeout == nil)
    #expect(
      steps[1].parameters.outline
        == "{bands: [{type: highpass, frequency: 80 Hz}, "
        + "{type: peak, frequency: 3.2 kHz, gain: 3 dB, q: 0.9}]}")
    let gate = steps[2]
    #expect(gate.condition?.value == "not $fast")
    #expect(gate.condition?.location == Place(line: 20, column: 11))
    #expect(gate.attempts == 3 && gate.timeout == 600)
    #expect(steps[3].parameters.outline == "-3 dB")
    #expect(steps[4].id?.value == "master" && steps[4].keep)
    #expect(
      steps[5].from
        == .named(["sound": Located("master.sound", at: Place(line: 28, column: 20))]))
    #expect(steps[5].parameters.outline == "{transcript: $transcript}")
    #expect(steps[6].parameters.isNull && steps[6].kind.value == "measure")
    guard case .ordered(let sources) = steps[7].from else {
      Issue.record("not a list of sources")
      return
    }
    #expect(sources.map(\.value) == ["master", "measure.measurement"])
    #expect(steps[9].parameters.isNull)
  }

  @Test("is reported with every mistake at once, in its order")
  func everything() {
    let parsed = ParsedPipeline(
      """
      pipelin: x
      inputs: { note: sond }
      inputs: {}
      stages:
        - decode: { from: $note }
          keep: yes
        - gate: {}
          form: decode
        - {}
      """)
    #expect(
      parsed.problems.map(\.finding) == [
        "1:1 \"pipelin\" is not a part of a pipeline",
        "2:17 \"sond\" is not a kind of input",
        "3:1 \"inputs\" stands twice in this mapping",
        "6:11 keep is \"yes\"",
        "8:5 \"form\" is not a key of a stage",
        "9:5 this item has no stage kind",
      ])
    #expect(parsed.definition?.steps.map(\.kind.value) == ["decode", "gate"])
  }

  @Test("with broken YAML has no definition and one problem")
  func broken() {
    let parsed = ParsedPipeline("pipeline: x\nstages:\n\t- decode\n")
    #expect(parsed.definition == nil)
    #expect(parsed.problems.map { $0.location?.line } == [3])
  }

  // Whatever a slip of the keyboard makes of a pipeline, there is an answer to it.
  @Test("survives three thousand mutations", arguments: 0..<6)
  func mutations(seed: UInt64) {
    var random = SplitMix(seed: seed)
    let original = Array(Self.voiceNote.utf8)
    var sound = 0
    for _ in 0..<500 {
      var bytes = original
      for _ in 0..<Int.random(in: 1...4, using: &random) { random.mutate(&bytes) }
      let parsed = ParsedPipeline(bytes)
      sound += parsed.problems.isEmpty ? 1 : 0
      #expect(parsed.definition != nil || !parsed.problems.isEmpty)
      let lines = SourceLines(bytes).lines
      for problem in parsed.problems {
        guard let location = problem.location, lines.indices.contains(location.line - 1),
          (1...lines[location.line - 1].count + 1).contains(location.column)
        else {
          Issue.record("\(problem.report) lies outside \(String(decoding: bytes, as: UTF8.self))")
          continue
        }
      }
      let text = String(decoding: bytes, as: UTF8.self)
      #expect(
        SourceExcerpt(text, path: "x.yaml").render(parsed.problems).isEmpty
          == parsed.problems.isEmpty)
    }
    // Else the mutations would be too wild, or too tame, to reach anything.
    #expect((20..<480).contains(sound), "\(sound) of 500 have no problem")
  }
}

/// A seeded generator (SplitMix64), so that a failure can be repeated.
private struct SplitMix: RandomNumberGenerator {
  private var state: UInt64
  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  /// Inserts, deletes, replaces, doubles or moves a piece.
  mutating func mutate(_ bytes: inout [UInt8]) {
    let snippets = ["\t", "\n", ": ", "- ", "{", "]", "\"", "&a ", "*a", "!", "$", "\u{FEFF}", "é"]
    let place = Int.random(in: 0...bytes.count, using: &self)
    let piece = place..<min(bytes.count, place + Int.random(in: 1...12, using: &self))
    switch Int.random(in: 0..<6, using: &self) {
    case 0: bytes.insert(UInt8.random(in: 0...255, using: &self), at: place)
    case 1:
      bytes.insert(contentsOf: Array((snippets.randomElement(using: &self) ?? "").utf8), at: place)
    case 2: bytes.removeSubrange(piece)
    case 3: bytes.insert(contentsOf: bytes[piece], at: place)
    case 4 where !piece.isEmpty: bytes[piece.lowerBound] = UInt8.random(in: 32...126, using: &self)
    default:
      let moved = Array(bytes[piece])
      bytes.removeSubrange(piece)
      bytes.insert(contentsOf: moved, at: Int.random(in: 0...bytes.count, using: &self))
    }
  }
}
