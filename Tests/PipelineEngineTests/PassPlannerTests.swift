@testable import PipelineEngine
import PipelineModel
import TestSupport
import Testing

@Suite struct PassPlannerTests {
  private typealias Status = PassPlanner.Status
  private typealias Listener = PassPlanner.Listener

  private let chain: [StepDefinition] = [
    .step("open"), .step("count"), .step("change", id: "a"), .step("change", id: "b"),
    .step("settle"), .step("write"),
  ]

  private func planner(
    _ steps: [StepDefinition], keepsEverything: Bool = false, needed: StepID? = nil
  ) throws -> (PassPlanner, [StepID: Status]) {
    let plan = try Plan(
      .sample(steps), catalog: SampleStages.catalog, inputs: ["note": "/a.wav"])
    return (
      PassPlanner(plan, keepsEverything: keepsEverything, needed: needed),
      Dictionary(uniqueKeysWithValues: plan.steps.map { ($0.id, Status.pending) })
    )
  }

  private func outline(_ work: PassPlanner.Work?) throws -> PassPlanner.Outline {
    guard case .pass(let outline) = work else {
      Issue.record("no pass but \(String(describing: work))")
      throw CancellationError()
    }
    return outline
  }

  @Test func `neighbours share a pass up to a step that must hear everything`() throws {
    var (planner, status) = try planner(chain)
    let first = try outline(planner.next(status))
    #expect(first.start == nil)
    #expect(first.path.map(\.name) == ["open", "a", "b"])
    #expect(first.kept == [StepID("b")])
    #expect(
      first.listeners == [
        Listener(step: StepID("count"), at: StepID("open")),
        Listener(step: StepID("settle"), at: StepID("b")),
      ])

    for id in ["open", "count", "a", "settle"] { status[StepID(id)] = .done(isKept: false) }
    status[StepID("b")] = .done(isKept: true)
    let second = try outline(planner.next(status))
    #expect(second.start == StepID("b"))
    #expect(second.path.map(\.name) == ["settle"])
    #expect(second.kept.isEmpty)
    #expect(second.listeners == [Listener(step: StepID("write"), at: StepID("settle"))])

    status[StepID("write")] = .done(isKept: false)
    #expect(planner.next(status) == nil)
  }

  @Test func `the sound of a step that is needed is made again, although all is done`() throws {
    var (planner, status) = try planner(chain, needed: StepID("a"))
    for id in status.keys { status[id] = .done(isKept: false) }
    let again = try outline(planner.next(status))
    #expect(again.path.map(\.name) == ["open", "a"])
    #expect(again.kept == [StepID("a")] && again.listeners.isEmpty)
    status[StepID("a")] = .done(isKept: true)
    #expect(planner.next(status) == nil)
  }

  @Test func `a source that reads streams waits until all of them are kept`() throws {
    var (planner, status) = try planner([
      .step("open", id: "voice"), .step("change", id: "louder"),
      .step("open", id: "music"),
      .step("blend", from: .from("louder", "music")), .step("write"),
    ])
    let first = try outline(planner.next(status))
    #expect(first.path.map(\.name) == ["voice", "louder"])
    #expect(first.kept == [StepID("louder")])
    status[StepID("voice")] = .done(isKept: false)
    // As if somebody had freed what the first pass kept.
    status[StepID("louder")] = .done(isKept: false)
    let second = try outline(planner.next(status))
    #expect(second.path.map(\.name) == ["music"])
    #expect(second.kept == [StepID("music")])
    status[StepID("music")] = .done(isKept: true)
    let third = try outline(planner.next(status))
    #expect(third.path.map(\.name) == ["voice", "louder"])
    #expect(third.kept == [StepID("louder")])
    status[StepID("louder")] = .done(isKept: true)
    let fourth = try outline(planner.next(status))
    #expect(fourth.start == nil)
    #expect(fourth.path.map(\.name) == ["blend"])
    #expect(fourth.listeners == [Listener(step: StepID("write"), at: StepID("blend"))])
  }

  /// A pipeline whose streams branch, are joined, and are joined again.
  private func tangle(_ random: inout SeededRandom) -> [StepDefinition] {
    var steps: [StepDefinition] = [.step("open", id: "s0"), .step("open", id: "s1")]
    var streams = ["s0", "s1"]
    for number in 2..<Int.random(in: 5...12, using: &random) {
      let id = "s\(number)"
      let kinds = ["change", "change", "settle", "blend", "blend", "write", "join"]
      let kind = kinds.randomElement(using: &random) ?? "change"
      let count = kind == "blend" ? Int.random(in: 1...3, using: &random) : 1
      let sources = (0..<count).map { _ in streams.randomElement(using: &random) ?? "s0" }
      let here = SourceLocation(line: 1, column: 1)
      steps.append(
        .step(kind, id: id, from: .ordered(sources.map { Located($0, at: here) })))
      if kind != "write", kind != "join" { streams.append(id) }
    }
    return steps
  }

  @Test(arguments: 0..<300 as Range<UInt64>)
  func `whatever sound was freed, a pass reads only what is in the store`(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let steps = tangle(&random)
    let plan = try Plan(.sample(steps), catalog: SampleStages.catalog, inputs: ["note": "/a.wav"])
    func reads(_ step: BoundStep) -> [StepID] {
      step.sources.values.compactMap { source in
        if case .step(let id, _) = source { id } else { nil }
      }
    }
    var status: [StepID: Status] = [:]
    for step in plan.steps {
      let isChanged = Int.random(in: 0..<5, using: &random) == 0
      let isBelow = reads(step).contains { status[$0] == .pending }
      status[step.id] = isChanged || isBelow ? .pending : .done(isKept: Bool.random(using: &random))
    }
    let needed = plan.steps.filter { $0.descriptor.outputs.first?.kind == .sound }
      .randomElement(using: &random)?.id
    let planner = PassPlanner(plan, keepsEverything: false, needed: needed)
    var passCount = 0
    while let work = planner.next(status) {
      passCount += 1
      try #require(passCount < 100, "the plan has no end")
      func requireKept(_ step: StepID?) throws {
        for id in step.flatMap({ plan.step($0) }).map(reads) ?? [] {
          try #require(status[id] == .done(isKept: true), "\(work) reads \(id)")
        }
      }
      switch work {
      case .whole(let id):
        try requireKept(id)
        status[id] = .done(isKept: false)
      case .pass(let outline):
        if let start = outline.start {
          try #require(status[start] == .done(isKept: true))
        } else {
          try requireKept(outline.path.first)
        }
        for id in outline.path {
          let isKept = outline.kept.contains(id) || status[id] == .done(isKept: true)
          status[id] = .done(isKept: isKept)
        }
        for listener in outline.listeners { status[listener.step] = .done(isKept: false) }
      }
    }
    #expect(!status.values.contains(.pending))
    if let needed { #expect(status[needed] == .done(isKept: true)) }
  }

  @Test func `what is done but was not kept is streamed again from the nearest kept sound`() throws
  {
    var (planner, status) = try planner(chain)
    for id in ["count", "a", "settle"] { status[StepID(id)] = .done(isKept: false) }
    status[StepID("open")] = .done(isKept: true)
    let pass = try outline(planner.next(status))
    #expect(pass.start == StepID("open"))
    #expect(pass.path.map(\.name) == ["a", "b", "settle"])
    #expect(pass.listeners == [Listener(step: StepID("write"), at: StepID("settle"))])
  }

  @Test func `a changed filter streams everything above it again`() throws {
    var (planner, status) = try planner(chain)
    for id in ["open", "count", "a"] { status[StepID(id)] = .done(isKept: false) }
    let pass = try outline(planner.next(status))
    #expect(pass.start == nil)
    #expect(pass.path.map(\.name) == ["open", "a", "b"])
    #expect(pass.listeners == [Listener(step: StepID("settle"), at: StepID("b"))])
    #expect(pass.kept == [StepID("b")])
  }

  @Test func `a kept sound that is gone is made again where it is needed`() throws {
    var (planner, status) = try planner(chain)
    for id in ["open", "count", "a", "b", "settle"] { status[StepID(id)] = .done(isKept: false) }
    let pass = try outline(planner.next(status))
    #expect(pass.path.map(\.name) == ["open", "a", "b", "settle"])
    #expect(pass.listeners == [Listener(step: StepID("write"), at: StepID("settle"))])
  }

  @Test func `a second branch begins at sound that the first pass keeps`() throws {
    var (planner, status) = try planner([
      .step("open"), .step("change", id: "a"), .step("write"),
      .step("change", id: "b", from: .from("open")), .step("write", id: "second"),
    ])
    let first = try outline(planner.next(status))
    #expect(first.path.map(\.name) == ["open", "a"])
    #expect(first.kept == [StepID("open")])
    status[StepID("open")] = .done(isKept: true)
    for id in ["a", "write"] { status[StepID(id)] = .done(isKept: false) }
    let second = try outline(planner.next(status))
    #expect(second.start == StepID("open"))
    #expect(second.path.map(\.name) == ["b"])
    #expect(second.listeners.map(\.step.name) == ["second"])
  }

  @Test func `keep and checkpoint every keep what flows by`() throws {
    let steps: [StepDefinition] = [.step("open"), .step("change", keep: true), .step("write")]
    var (planner, status) = try planner(steps)
    #expect(try outline(planner.next(status)).kept == [StepID("change")])
    (planner, status) = try self.planner(steps, keepsEverything: true)
    #expect(try outline(planner.next(status)).kept == [StepID("open"), StepID("change")])
  }

  @Test func `what had to hear everything is kept when its sound first flows`() throws {
    var (planner, status) = try planner([
      .step("open"), .step("settle", keep: true), .step("write"),
    ])
    status[StepID("open")] = .done(isKept: true)
    status[StepID("settle")] = .done(isKept: false)
    #expect(try outline(planner.next(status)).kept == [StepID("settle")])
    status[StepID("settle")] = .done(isKept: true)
    #expect(try outline(planner.next(status)).kept.isEmpty)
  }

  @Test func `sound that nothing takes is kept, or it would be lost`() throws {
    let (planner, status) = try planner([.step("open"), .step("change")])
    #expect(try outline(planner.next(status)).kept == [StepID("change")])
  }

  @Test func `a whole stage waits for its sound to be kept`() throws {
    var (planner, status) = try planner([.step("open"), .step("change"), .step("join")])
    #expect(try outline(planner.next(status)).kept == [StepID("change")])
    status[StepID("open")] = .done(isKept: false)
    status[StepID("change")] = .done(isKept: false)
    let again = try outline(planner.next(status))
    #expect(again.path.map(\.name) == ["open", "change"])
    #expect(again.kept == [StepID("change")])
    status[StepID("change")] = .done(isKept: true)
    #expect(planner.next(status) == .whole(StepID("join")))
  }

  @Test func `a source that may be known is identified alone`() throws {
    let (planner, status) = try planner(chain)
    let pass = try outline(planner.next(status, sourcesAlone: [StepID("open")]))
    #expect(pass.path.map(\.name) == ["open"])
    #expect(pass.listeners.isEmpty && pass.kept.isEmpty)
  }
}
