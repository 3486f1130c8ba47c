import Audio
import PipelineEngine
import PipelineModel
import Platform
import SoundEngine

/// `measure`: what the sound is like, in figures.
struct MeasureStage: PlainStage, SoundSinkStage, PublishingStage {
  let write: Bool
  let name: String
  let dualMono: Bool?

  static let descriptor = StageDescriptor(
    kind: "measure", revision: 4,
    summary: "Measure loudness, range, peaks, RMS, DC and clipping",
    discussion: """
      Integrated loudness, loudness range and the loudest 400 ms and 3 s after EBU R 128, true \
      peak by fourfold oversampling after ITU-R BS.1770-4. The sound passes on to the stages \
      below unchanged. Loudness is that of all channels together, so that mono is 3 LU quieter than the \
      same sound in stereo; with dual-mono it is that of both speakers which play it.
      """,
    flow: .streaming(.sound, .sink),
    inputs: [Port(.sound, .sound, "the sound to measure")],
    outputs: [Port(.measurement, .measurement, "the figures, as JSON")],
    parameters: [
      ParameterDescriptor(
        "write", .flag, .defaulted("false"), "also write the figures beside the exports",
        isInKey: false),
      ParameterDescriptor(
        "name", .fileName(fields: ["stem", "step"]), .defaulted("{stem}.{step}"),
        "that file's name; {stem} is the recording's, {step} the step's id", isInKey: false),
      .dualMono,
    ])

  func makeSink(for stream: SoundOutline, in context: SinkContext) -> any SoundSink {
    MeterSink({ LevelMeter(format: stream.format, isDualMono: dualMono == true) }, in: context)
  }

  func cost(of stream: SoundOutline) -> SinkCost {
    SinkCost(byteCount: 1024, publishedByteCount: write ? 1024 : 0, coreSeconds: 0.001)
  }

  func fileNames(of step: StepID, recordings: [String]) -> [String] {
    guard write else { return [] }
    let template = name.replacing("{step}", with: step.name)
    return [ExportName.fill(template, recording: recordings.first) + ".json"]
  }

  func publish(_ context: PublishingContext) throws(SpoolError) -> [PublishedFile] {
    guard write, let figures = context.outputs[.measurement]?.artifact else { return [] }
    return try fileNames(of: context.step, recordings: context.names)
      .map { (name) throws(SpoolError) in try context.publish(figures, as: name) }
  }
}

extension ParameterDescriptor {
  /// As in EBU R 128 s1 and ffmpeg's loudnorm and ebur128. Optional, so that it is in no key without it.
  static let dualMono = ParameterDescriptor(
    "dual-mono", .flag, .optional,
    "measure mono as both speakers play it, 3.01 LU louder; other sound as without it")
}

extension StageRegistration { static let measure = StageRegistration(MeasureStage.self) }
