import PipelineModel
import TestSupport
import Testing

@Suite struct PlanTests {
  private func plan(
    _ definition: PipelineDefinition, inputs: [String: String] = ["note": "/a.wav"],
    overrides: [String: DocumentNode] = [:]
  ) throws -> Plan {
    try Plan(
      definition, catalog: SampleStages.catalog, inputs: inputs, overrides: overrides)
  }

  private func problems(
    _ definition: PipelineDefinition, overrides: [String: DocumentNode] = [:]
  ) -> [Problem] {
    Plan.problems(in: definition, catalog: SampleStages.catalog, overrides: overrides)
  }

  @Test func `a shorthand list chains its steps and numbers repeated kinds`() throws {
    let plan = try plan(.sample([.step("open"), .step("change"), .step("change"), .step("write")]))
    #expect(plan.steps.map(\.id.name) == ["open", "change", "change-2", "write"])
    #expect(plan.steps[0].sources[PortName("recording")] == .input("note"))
    #expect(plan.steps[2].sources[.sound] == .step(StepID("change"), .sound))
  }

  @Test func `a step takes what it needs from the nearest step that gives it`() throws {
    let plan = try plan(.sample([.step("open"), .step("count"), .step("write")]))
    #expect(plan.steps[2].sources[.sound] == .step(StepID("open"), .sound))
  }

  @Test func `an id is kept free for the step that names it`() throws {
    let plan = try plan(
      .sample([.step("open"), .step("change"), .step("change", id: "change"), .step("write")]))
    #expect(plan.steps.map(\.id.name) == ["open", "change-2", "change", "write"])
  }

  @Test func `many steps of a kind are numbered around those that have names`() throws {
    let steps =
      [StepDefinition.step("open")]
      + (0..<3).map { _ in .step("change") } + [.step("change", id: "change-3"), .step("change")]
    let plan = try plan(.sample(steps + [.step("write")]))
    #expect(
      plan.steps.map(\.id.name) == [
        "open", "change", "change-2", "change-4", "change-3", "change-5", "write",
      ])
  }

  @Test func `steps branch by name`() throws {
    let plan = try plan(
      .sample([
        .step("open"), .step("change", id: "master"), .step("write", from: .from("master")),
        .step("count", from: .from("open")),
      ]))
    #expect(plan.steps[2].sources[.sound] == .step(StepID("master"), .sound))
    #expect(plan.steps[3].sources[.sound] == .step(StepID("open"), .sound))
  }

  @Test func `a list of files fills a list of sources, behind what else is named`() throws {
    let plan = try plan(
      .sample(
        [
          .step("open", from: .from("$note")), .step("change"),
          .step("blend", from: .from("change", "$layers")),
        ],
        list: "layers"),
      inputs: ["note": "/a.wav", "layers.1": "/b.wav", "layers.2": "/c.wav"])
    #expect(
      plan.steps[2].orderedSources.map(\.source) == [
        .step(StepID("change"), .sound), .input("layers.1"), .input("layers.2"),
      ])
    #expect(plan.steps[2].orderedSources.map(\.place.name) == ["tracks.1", "tracks.2", "tracks.3"])
    #expect(plan.recordings(of: StepID("blend")) == ["layers.1", "layers.2", "note"])
    #expect(plan.inputKinds["layers.2"] == .sound)
  }

  @Test func `a list is not what takes one file, and one file must be there`() {
    let list = PipelineDefinition.sample(
      [.step("open", from: .from("$layers")), .step("blend", from: .from("$note"))], list: "layers")
    #expect(
      problems(list).map(\.message) == [
        "recording of open takes one file, and $layers is a list"
      ])
    #expect(throws: PlanError.self) { try plan(list) }
  }

  @Test func `every problem of a pipeline is reported at once`() {
    let problems = problems(
      .sample([
        .step("opne", line: 4), .step("change", when: "note", line: 5),
        .step("write", from: .from("mastr"), line: 6),
        .step("write", from: .from("$nope"), line: 7),
        .step("change", from: .from("$note"), line: 8),
        .step("change", parameters: .scalar("13 dB"), line: 9),
      ]))
    #expect(
      Set(problems.map(\.message)) == [
        "there is no stage kind \"opne\"",
        "the condition \"note\" cannot be understood",
        "there is no step \"mastr\" above",
        "there is no input or variable \"$nope\"",
        "change takes decoded sound, and $note is a recording",
        "change brings bad luck at 13 dB",
      ])
    #expect(problems.first { $0.message.contains("opne") }?.suggestion == "open")
  }

  @Test func `a step cannot read one that stands below`() {
    let problems = problems(
      .sample([
        .step("open"), .step("change", from: .from("master")), .step("change", id: "master"),
      ]))
    #expect(problems.map(\.message).first?.contains("stands below") == true)
  }

  @Test func `an input that was not given is a problem, an optional one is not`() throws {
    let definition = PipelineDefinition.sample(
      [.step("open"), .step("join", parameters: .mapping([("transcript", .scalar("$words"))]))],
      optional: [("words", .transcript)])
    #expect(throws: PlanError.self) { try plan(definition, inputs: [:]) }
    #expect(try plan(definition).steps[1].sources.count == 1)
    let both = try plan(definition, inputs: ["note": "/a.wav", "words": "/a.txt"])
    #expect(both.steps[1].sources[PortName("transcript")] == .input("words"))
  }

  @Test func `a step that reads only a transcript has the recording that the transcript is of`()
    throws
  {
    let definition = PipelineDefinition.sample(
      [
        .step("caption", from: .from("$words")), .step("open", from: .from("$note")),
        .step("join", parameters: .mapping([("transcript", .scalar("$words"))])),
      ],
      optional: [("words", .transcript)], list: "layers")
    let plan = try plan(
      definition, inputs: ["note": "/a.wav", "layers.1": "/0.wav", "words": "/b.srt"])
    #expect(plan.recordings(of: StepID("caption")) == ["note", "words"])
    #expect(plan.recordings(of: StepID("join")) == ["note", "words"])
    #expect(plan.recordings(of: StepID("open")) == ["note"])
  }

  @Test func `transcripts without a recording name what is made of them`() throws {
    let location = SourceLocation(line: 2, column: 3)
    let definition = PipelineDefinition(
      name: "captions", summary: nil,
      inputs: [
        InputDefinition(name: "note", kind: .sound, isOptional: true, location: location),
        InputDefinition(name: "words", kind: .transcript, isOptional: false, location: location),
      ],
      variables: [], steps: [.step("caption", from: .from("$words"))])
    let alone = try plan(definition, inputs: ["words": "/b.srt"])
    #expect(alone.recordings(of: StepID("caption")) == ["words"])
    let both = try plan(definition, inputs: ["words": "/b.srt", "note": "/a.wav"])
    #expect(both.recordings(of: StepID("caption")) == ["note", "words"])
  }

  @Test func `a step whose condition does not hold is bypassed`() throws {
    let definition = PipelineDefinition.sample(
      [.step("open"), .step("change", when: "$words"), .step("write")],
      optional: [("words", .transcript)])
    let plan = try plan(definition)
    #expect(plan.steps.map(\.id.name) == ["open", "write"])
    #expect(plan.skipped.map(\.id.name) == ["change"])
    #expect(plan.steps[1].sources[.sound] == .step(StepID("open"), .sound))
  }

  /// A pipeline that blends two sounds only if there are words.
  private func blending(_ sounds: String...) -> PipelineDefinition {
    .sample(
      [
        .step("open", from: .from("$note")),
        .step(
          "blend", id: "mix",
          from: .ordered(sounds.map { Located($0, at: SourceLocation(line: 3, column: 5)) }),
          when: "$words"),
        .step("change", from: .from("mix")), .step("write"),
      ],
      optional: [("words", .transcript), ("guest", .sound)])
  }

  @Test func `the sound that is left passes where a step of several is skipped`() throws {
    let definition = blending("open", "$guest")
    #expect(problems(definition) == [])
    for inputs in [["note": "/a.wav"], ["note": "/a.wav", "guest": "/b.wav"]] {
      let plan = try plan(definition, inputs: inputs)
      #expect(plan.steps.map(\.id.name) == ["open", "change", "write"])
      #expect(plan.steps[1].sources[.sound] == .step(StepID("open"), .sound))
    }
  }

  @Test func `which of several sounds passes is not guessed, and recordings are not decoded`()
    throws
  {
    let several = blending("open", "$guest", "open")
    #expect(
      problems(several).map(\.message) == [
        "mix is skipped, and which sound passes to change in its place cannot be told: open, $guest, "
          + "open"
      ])
    let raw = blending("$note", "$guest")
    #expect(
      problems(raw).map(\.message) == [
        "mix is skipped, and which sound passes to change in its place cannot be told: $note, $guest"
      ])
    let error = #expect(throws: PlanError.self) { try plan(raw) }
    #expect(
      error?.problems.map(\.message) == [
        "mix is skipped, and $note, which passes to change in its place, is not decoded"
      ])
    #expect(throws: Never.self) {
      try plan(raw, inputs: ["note": "/a.wav", "guest": "/b.wav", "words": "/a.txt"])
    }
  }

  /// A change below two recordings, of which the second is opened under a condition.
  private func replacing(when condition: String?, _ between: StepDefinition...)
    -> PipelineDefinition
  {
    .sample(
      [.step("open", from: .from("$guest"))] + between
        + [.step("open", id: "other", from: .from("$spare"), when: condition)]
        + [.step("change"), .step("write")],
      optional: [("guest", .sound), ("spare", .sound), ("words", .transcript)])
  }

  @Test func `a step below two alternatives takes the one that runs`() throws {
    let definition = replacing(when: "not $guest")
    #expect(problems(definition) == [])
    for (given, source) in [
      (["guest"], "open"), (["spare"], "other"), (["guest", "spare"], "open"),
    ] {
      let files = Dictionary(uniqueKeysWithValues: (["note"] + given).map { ($0, "/\($0).wav") })
      let plan = try plan(definition, inputs: files)
      #expect(plan.steps.map(\.id.name) == [source, "change", "write"])
      #expect(plan.steps[1].sources[.sound] == .step(StepID(source), .sound))
    }
    let changed = replacing(when: "not $guest", .step("change", id: "first"))
    #expect(problems(changed) == [])
    #expect(
      try plan(changed, inputs: ["note": "/a.wav", "guest": "/b.wav"]).steps[2].sources[.sound]
        == .step(StepID("first"), .sound))
  }

  @Test func `a list has no sound twice because a step is skipped`() throws {
    let definition = PipelineDefinition.sample(
      [
        .step("open", from: .from("$note")), .step("change", id: "first"),
        .step("change", id: "second", from: .from("open"), when: "$guest"),
        .step("blend", from: .from("first", "second")), .step("write"),
      ],
      optional: [("guest", .sound)])
    #expect(problems(definition) == [])
    let alone = try plan(definition)
    #expect(alone.steps.map(\.id.name) == ["open", "first", "blend", "write"])
    #expect(alone.steps[2].sources == [PortName("tracks.1"): .step(StepID("first"), .sound)])
    let both = try plan(definition, inputs: ["note": "/a.wav", "guest": "/b.wav"])
    #expect(both.steps[3].sources.count == 2)
  }

  @Test func `a step below two joins of which one runs takes that one`() throws {
    let definition = PipelineDefinition.sample(
      [
        .step("open", id: "a", from: .from("$note")), .step("open", id: "b", from: .from("$note")),
        .step("open", id: "c", from: .from("$guest")),
        .step("blend", id: "three", from: .from("a", "b", "c"), when: "$guest"),
        .step("blend", id: "two", from: .from("a", "b"), when: "not $guest"), .step("write"),
      ],
      optional: [("guest", .sound)])
    #expect(problems(definition) == [])
    for (inputs, source) in [
      (["note": "/a.wav"], "two"), (["note": "/a.wav", "guest": "/b.wav"], "three"),
    ] {
      #expect(
        try plan(definition, inputs: inputs).steps.last?.sources[.sound]
          == .step(StepID(source), .sound))
    }
  }

  @Test func `an alternative is not looked for behind another sound`() throws {
    let definition = PipelineDefinition.sample(
      [
        .step("open", id: "a", from: .from("$note")), .step("open", id: "c", from: .from("$guest")),
        .step("blend", id: "three", from: .from("a", "c"), when: "$guest"),
        .step("open", id: "between", from: .from("$note")),
        .step("blend", id: "two", from: .from("a", "a"), when: "not $guest"), .step("write"),
      ],
      optional: [("guest", .sound)])
    let error = #expect(throws: PlanError.self) {
      try plan(definition, inputs: ["note": "/a.wav", "guest": "/b.wav"])
    }
    #expect(
      error?.problems.map(\.message) == [
        "two is skipped, and which sound passes to write in its place cannot be told: a, a"
      ])
  }

  @Test func `steps that merely are not both there are no alternatives`() throws {
    for condition in [nil, "not $words"] {
      #expect(
        problems(replacing(when: condition)).map(\.message).contains(
          "change stands below other, which is skipped, and would take the sound of open"))
    }
  }

  @Test func `each condition's variable is tried at its other value`() throws {
    var steps = blending("open", "$guest", "open").steps
    steps[1] = .step(
      "blend", id: "mix", from: steps[1].from, when: "$wide")
    let definition = PipelineDefinition.sample(
      steps, optional: [("guest", .sound)], variables: [("wide", .scalar("true"))])
    #expect(problems(definition).map(\.message).count == 1)
    #expect(problems(definition, overrides: ["wide": .scalar("false")]).count == 1)
  }

  @Test func `variables are substituted, and overrides win`() throws {
    let definition = PipelineDefinition.sample(
      [.step("open"), .step("change", parameters: .mapping([("amount", .scalar("$level"))]))],
      variables: [("level", .scalar("-6 dB"))])
    #expect(try plan(definition).steps[1].parameters.canonicalJSON.contains(#""amount":-6"#))
    let louder = try plan(definition, overrides: ["level": .scalar("3 dB")])
    #expect(louder.steps[1].parameters.canonicalJSON.contains(#""amount":3"#))
    #expect(throws: PlanError.self) {
      try plan(definition, overrides: ["levle": .scalar("3 dB")])
    }
  }

  @Test func `a wrong override is reported at the option, not in the file`() throws {
    let definition = PipelineDefinition.sample(
      [.step("open"), .step("change", parameters: .mapping([("amount", .scalar("$level"))]))],
      variables: [("level", .scalar("-6 dB"))])
    let error = #expect(throws: PlanError.self) {
      try plan(definition, overrides: ["level": .scalar("loud")])
    }
    let problems = try #require(error?.problems)
    #expect(problems.map(\.override) == ["level"])
    #expect(problems.allSatisfy { $0.location == nil })
    let text = problems.excerpts(of: "", at: "p.yaml", isColored: false)
    #expect(text.hasPrefix("--set level: error: ") && !text.contains("p.yaml"), "\(text)")
  }

  @Test func `only what can change the output is in the key`() throws {
    func key(_ parameters: DocumentNode) throws -> Checkpoint.Key {
      try plan(.sample([.step("open"), .step("change", parameters: parameters)]))
        .steps[1].keyComponents(inputs: [:]).key
    }
    let plain = try key(.mapping([("amount", .scalar("-6 dB"))]))
    #expect(try key(.scalar("-6")) == plain)
    #expect(try key(.mapping([("amount", .scalar("-6")), ("label", .scalar("x"))])) == plain)
    #expect(try key(.mapping([("amount", .scalar("-6.1"))])) != plain)
  }
}
