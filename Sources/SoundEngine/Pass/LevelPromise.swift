package import Audio
package import PipelineModel

/// What a stage promises of the levels of its sound.
package struct LevelPromise: Hashable, Sendable {
  /// The greatest true peak.
  package var truePeak: Decibels
  /// The integrated loudness; nil where it is left open.
  package var loudness: LUFS?
  /// Whether the loudness of one channel is that of two speakers.
  package var isDualMono = false

  package init(truePeak: Decibels, loudness: LUFS? = nil, isDualMono: Bool = false) {
    self.truePeak = truePeak
    self.loudness = loudness
    self.isDualMono = isDualMono
  }
}

/// A stage whose output stays below full scale, whatever comes in.
package protocol CeilingStage: Stage {
  /// Nil where it sets no true peak.
  var promise: LevelPromise? { get }
}

/// A stage that never makes sound louder.
package protocol LevelKeepingStage: Stage {
  /// What is left of a promise of the stages above; nil for nothing.
  func keeping(_ promise: LevelPromise) -> LevelPromise?
}

extension LevelKeepingStage {
  /// The ceiling holds; how loud the whole is may be another matter.
  package func keeping(_ promise: LevelPromise) -> LevelPromise? {
    LevelPromise(truePeak: promise.truePeak)
  }
}

extension Plan {
  /// Whether a step's sound meets a ceiling before a file is made of it; nil where neither is below it.
  /// Stages between keep floats, which may go over full scale, also from one pass to the next.
  func isBelowCeiling(_ id: StepID) -> Bool? {
    var isMet: Bool?
    for taker in soundTakers(of: id) {
      let met: Bool?
      switch taker.stage {
      case is any CeilingStage: met = true
      case let sink as any SoundSinkStage: met = sink.writesSound ? false : nil
      default:
        if case .streaming = taker.descriptor.flow {
          met = isBelowCeiling(taker.id)
        } else {
          // What a program makes of sound may be a file.
          let makesFiles = taker.descriptor.outputs.contains { [.sound, .file].contains($0.kind) }
          met = makesFiles ? false : nil
        }
      }
      if met == false { return false }
      isMet = isMet ?? met
    }
    return isMet
  }

  private func soundTakers(of id: StepID) -> [BoundStep] {
    let ports = step(id)?.descriptor.outputs.filter { $0.kind == .sound }.map(\.name) ?? []
    return steps.filter { step in
      ports.contains { step.sources.values.contains(.step(id, $0)) }
    }
  }
}

extension LevelPromise {
  /// What holds at the end of some stages, in the order of the sound; nil where nothing is promised, or
  /// a stage below the promise may raise levels.
  init?(of chain: [BoundStep]) {
    var promise: LevelPromise?
    for step in chain {
      switch step.stage {
      case let stage as any CeilingStage: promise = stage.promise
      case let stage as any LevelKeepingStage: promise = promise.flatMap { stage.keeping($0) }
      // What only listens passes the sound on.
      case is any SoundSinkStage: break
      default: promise = nil
      }
    }
    guard let promise else { return nil }
    self = promise
  }
}
