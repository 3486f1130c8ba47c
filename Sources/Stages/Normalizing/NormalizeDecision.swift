import AudioModel
import DSP

/// What the stage will do, once it has heard everything.
struct NormalizeDecision: Codable, Sendable {
  var gain: Decibels
  /// The ceiling that a limiter keeps; nil where no peak can reach it.
  var ceiling: Decibels?

  func makeProcessor(for format: AudioFormat) -> any Processor {
    var processors: [any Processor] = [Gain(gain, format: format)]
    if let ceiling {
      processors.append(Limiter(Limiter.Settings(ceiling: ceiling), format: format))
    }
    return ProcessorChain(processors, format: format)
  }
}
