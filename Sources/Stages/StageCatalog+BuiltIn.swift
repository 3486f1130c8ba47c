package import PipelineModel
import Platform

extension StageCatalog {
  /// The stage kinds that come with Spool. A new kind is one file, which registers it, and one line
  /// here.
  package static let builtIn = StageCatalog([
    .decode,
    .click,
    .mixdown,
    .concat,
    .sync,
    .offset,
    .declip,
    .dehum,
    .denoise,
    .equalizer,
    .gate,
    .deEsser,
    .compressor,
    .gain,
    .limiter,
    .normalize,
    .fade,
    .trim,
    .cut,
    .silence,
    .speed,
    .mono,
    .stereo,
    .channels,
    .resample,
    .measure,
    .assert,
    .export,
    .measureExports,
    .split,
    .waveform,
    .spectrogram,
    .loudnessCurve,
    .withAcousticModel(AlignStage.self),
    .withAcousticModel(RecognizeStage.self),
    StageRegistration(RetimeStage.self),
    StageRegistration(TranscriptStage.self),
    .proof,
    .deliver,
  ])
}

/// A stage that is made of its parameters and of nothing else.
protocol PlainStage: DeclaredStage, Codable where Parameters == Self {}

extension PlainStage {
  init(_ parameters: Self) throws(SpoolError) { self = parameters }
}
