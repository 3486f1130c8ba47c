import AudioModel
import Media
import PipelineModel

/// What happened to sound between its recording and a file: what each stage did, and where its time
/// went.
struct SoundPast {
  /// A line for each stage that may have changed the sound.
  private(set) var lines: [CodingHistory.Line] = []
  /// What became of its time.
  private(set) var time = TimePath()
  /// Whether it is the sound of one recording, and not a mix or a chain of several.
  let isOneRecording: Bool
  /// Whether it is that recording as it came, in its own format: then what was known of it holds.
  private(set) var isAsRecorded: Bool

  /// - Parameters:
  ///   - chain: the stages, from the recording on.
  ///   - recording: what is known of the recording; nil where it was not looked at.
  init(_ chain: [BoundStep], of recording: MediaDescription?) {
    isOneRecording = chain.first?.stage is DecodeStage
    isAsRecorded = isOneRecording
    // Decoders cut off what codecs put in front, which no cue point counts.
    if !isOneRecording || !(recording?.codec.hasPrefix("pcm_") ?? false) { time.begin(at: nil) }
    var format = isOneRecording ? recording?.format : nil
    for step in chain {
      let before = format
      switch step.stage {
      case let stage as DecodeStage: format = before.map { stage.format(of: $0) }
      case let stage as any SoundFilterStage:
        format = before.flatMap {
          try? stage.outline(after: SoundOutline(format: $0, frames: nil)).format
        }
        if let stage = stage as? any TimeMovingStage {
          time.begin(at: before.flatMap { stage.beginning(at: $0.sampleRate) })
        }
      case is any AnalysedSoundStage: break
      default: format = nil
      }
      if let before, let format { time.resample(from: before.sampleRate, to: format.sampleRate) }
      // What only listens changed nothing.
      if !(step.stage is MeasureStage) {
        lines.append(CodingHistory.Line(step, format: format))
        if !(step.stage is DecodeStage) { isAsRecorded = false }
      }
    }
    if format != recording?.format { isAsRecorded = false }
  }

  /// A file that begins at this frame of the sound.
  mutating func begin(at frame: Frames) { time.begin(at: frame) }
}
