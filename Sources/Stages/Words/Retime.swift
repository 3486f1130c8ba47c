import PipelineModel
import Platform
import Transcripts

/// `retime`: moves words to where stages that cut or stretched the sound have moved it.
struct RetimeStage: DeclaredStage, WholeStage {
  struct Parameters: Codable, Sendable {
    let removed: TimelineMap.RemovedWords
  }

  static let descriptor = StageDescriptor(
    kind: "retime", revision: 2,
    summary: "Move words to where their sound went when it was cut or stretched",
    discussion: """
      Takes words whose times are those of the sound before trim, cut, silence or speed, and the \
      changes that these made, in the order in which the sound went through them: changes: [trim, \
      speed]. Without changes it is the step above. A word of which at least half is left moves \
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
        "whether words whose sound was cut out stay in the text")
    ])

  /// Lengths that are to be the same may differ by this, in seconds: a frame of a low rate, and
  /// what a resampler adds.
  private static let tolerance = 0.05

  private let removed: TimelineMap.RemovedWords

  init(_ parameters: Parameters) { removed = parameters.removed }

  func run(_ context: StageContext) throws(SpoolError) -> [PortName: StepOutput] {
    let transcript = try TranscriptFile.read(.transcript, of: context)
    let map = try change(in: context)
    let kept = map.move(transcript, removed: .kept)
    let moved = removed == .kept ? kept : map.move(transcript, removed: removed)
    let words = kept.words
    let removedCount = words.count { $0.flags.contains(.removed) }
    let figures = JSONValue.object([
      "before": .decimal(map.before), "after": .decimal(map.after),
      "words": .integer(words.count), "removed": .integer(removedCount),
      "clipped": .integer(words.count { $0.flags.contains(.clipped) }),
    ])
    return try context.outputs(of: moved, figures: figures.compact)
  }

  /// All changes as one.
  private func change(in context: StageContext) throws(SpoolError) -> TimelineMap {
    var whole: TimelineMap?
    var number = 1
    while let artifact = context.inputs[PortName("changes.\(number)")]?.artifact {
      let map = try read(artifact, number, context)
      if let before = whole {
        guard abs(before.after - map.before) <= Self.tolerance else {
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
      number += 1
    }
    guard let whole else {
      throw SpoolError("no change of time is given", advice: "changes: [trim]")
    }
    return whole
  }

  private func read(
    _ artifact: Artifact, _ number: Int, _ context: StageContext
  ) throws(SpoolError) -> TimelineMap {
    let text = try context.store.text(of: artifact)
    do {
      return try TimelineMap(
        json: try JSONReader.value(of: Array(text.utf8), depthLimit: 8).value)
    } catch {
      throw SpoolError(
        "change number \(number) tells of no change of time",
        reason: (error as? SpoolError)?.reason ?? "\(error)",
        advice: "name steps of trim, cut, silence or speed: changes: [trim, speed]")
    }
  }
}
