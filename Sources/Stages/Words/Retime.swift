import PipelineModel
import Platform
import Transcripts

/// `retime`: moves words to where stages that cut, stretched or joined the sound have moved it.
struct RetimeStage: DeclaredStage, WholeStage, ConnectedStage {
  struct Parameters: Codable, Sendable {
    let removed: TimelineMap.RemovedWords
    let part: Int?
  }

  static let descriptor = StageDescriptor(
    kind: "retime", revision: 3,
    summary: "Move words to where their sound went when it was cut, stretched or joined",
    discussion: """
      Takes words whose times are those of the sound before trim, cut, silence, speed, concat or \
      mixdown, and the changes that these made, in the order in which the sound went through them: \
      changes: [trim, concat]. Without changes it is the step above. Of the recordings that concat \
      or mixdown takes, part says which one the words are of: part: 2 for those of the second. A word of which at least half is left moves \
      with its sound, and has the flag clipped if it is not whole. Others are left out, or with \
      removed: kept stay in the text without times and with the flag removed. The measurement says \
      how many there were.
      """,
    flow: .whole,
    inputs: [
      Port(.transcript, .transcript, "the words before the changes", intake: .both),
      Port(PortName("changes"), .measurement, "where the sound went", isList: true),
    ],
    outputs: [
      Port(.transcript, .transcript, "the words after the changes"),
      Port(.measurement, .measurement, "what became of the words, as JSON"),
    ],
    parameters: [
      ParameterDescriptor(
        "removed", .choice(["dropped", "kept"]), .defaulted("dropped"),
        "whether words whose sound was cut out stay in the text"),
      ParameterDescriptor(
        "part", .integer(1...256), .optional,
        "which of the sounds that concat joins or mixdown mixes has the words", places: .source),
    ])

  /// Lengths that are to be the same may differ by this, in seconds: a frame of a low rate, and
  /// what a resampler adds.
  private static let tolerance = 0.05

  private let removed: TimelineMap.RemovedWords

  private let part: Int?

  init(_ parameters: Parameters) {
    removed = parameters.removed
    part = parameters.part
  }

  func checkSources(
    _ sources: [PortName: StepSource], above: (StepID) -> BoundStep?
  ) throws(SpoolError) {
    var joins: [StepID] = []
    for number in 1...max(1, sources.count) {
      guard case .step(let id, _)? = sources[PortName("changes.\(number)")], let step = above(id)
      else { continue }
      // What a plugin measures may tell of one.
      guard step.stage.movesTime || !(step.stage is any DeclaredStage) else {
        throw SpoolError(
          "retime cannot follow \(id)", reason: "\(step.descriptor.kind) moves no sound in time",
          advice: "name steps of \(Self.followed): changes: [trim, speed]")
      }
      guard step.stage is ConcatStage || step.stage is MixdownStage else { continue }
      let taken = step.descriptor.inputs.first.map { step.sources(of: $0) } ?? []
      let count = taken.count
      guard let part else {
        if count == 1 { continue }
        throw SpoolError(
          "retime does not know whose words it moves", reason: "\(id) takes several recordings",
          advice: "part: 2, if the words are those of the second of them")
      }
      guard part <= count else {
        throw SpoolError(
          "retime cannot find part \(part) of \(id)", reason: "it takes \(count)",
          advice: "part: 1 … \(count)")
      }
      if count > 1 { joins.append(id) }
    }
    // The whole of one is a part of the next, and seldom of the same number.
    if joins.count > 1 {
      throw SpoolError(
        "retime cannot follow \(joins[0]) and \(joins[1]) at once",
        reason: "both join several recordings, and part: \(part ?? 1) holds for one of them",
        advice: "a retime for each, one below the other, with the part in that one: "
          + "retime: { changes: \(joins[0]), part: \(part ?? 1) }")
    }
  }

  private static let followed = "trim, cut, silence, speed, concat or mixdown"

  func run(_ context: StageContext) throws(SpoolError) -> [PortName: StepOutput] {
    let transcript = try TranscriptFile.read(.transcript, of: context)
    let map = try change(in: context, of: transcript)
    let kept = map.move(transcript, removed: .kept)
    let moved = removed == .kept ? kept : map.move(transcript, removed: removed)
    let words = kept.words
    let removedCount = words.count { $0.flags.contains(.removed) }
    // The whole change: that of several sounds joined does not follow from their report alone.
    var figures = map.fields
    figures["words"] = .integer(words.count)
    figures["removed"] = .integer(removedCount)
    figures["clipped"] = .integer(words.count { $0.flags.contains(.clipped) })
    return try context.outputs(of: moved, figures: JSONValue.object(figures).compact)
  }

  /// All changes as one.
  private func change(
    in context: StageContext, of transcript: Transcript
  ) throws(SpoolError) -> TimelineMap {
    // How long the sound was at least, in seconds.
    let spoken = transcript.words.compactMap(\.end).max() ?? 0
    var whole: TimelineMap?
    var isEndKnown = true
    var number = 1
    while let artifact = context.inputs[PortName("changes.\(number)")]?.artifact {
      let text = try context.store.text(of: artifact)
      let map = try read(text, number, length: whole?.after ?? spoken)
      if let before = whole {
        guard !isEndKnown || abs(before.after - map.before) <= Self.tolerance else {
          throw SpoolError(
            "the changes of time do not follow each other",
            reason: "number \(number - 1) leaves \(before.after) s of sound, and number \(number) "
              + "begins with \(map.before) s",
            advice: "name them in the order in which the sound goes through them")
        }
        whole = before.followed(by: map)
      } else {
        whole = map
      }
      // The report of a mix states where its tracks end, and not where the mix ends.
      isEndKnown = !TimelineMap.isOfMix(measurement: text)
      number += 1
    }
    guard let whole else {
      throw SpoolError("no change of time is given", advice: "changes: [trim]")
    }
    return whole
  }

  private func read(
    _ text: String, _ number: Int, length: Double
  ) throws(SpoolError) -> TimelineMap {
    do throws(SpoolError) {
      return try TimelineMap(measurement: text, source: part, length: length)
    } catch {
      throw SpoolError(
        "change number \(number) tells of no change of time",
        reason: error.reason ?? error.message,
        advice: error.advice ?? "name steps of \(Self.followed): changes: [trim, speed]")
    }
  }
}
