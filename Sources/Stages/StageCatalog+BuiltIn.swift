package import PipelineModel

extension StageCatalog {
  /// The stage kinds that come with Spool. A new kind is one file beside this one, and one line
  /// here.
  package static let builtIn = StageCatalog([
    StageRegistration(DecodeStage.self),
    StageRegistration(ClickStage.self),
    StageRegistration(MixdownStage.self),
    StageRegistration(ConcatStage.self),
    StageRegistration(OffsetStage.self),
    StageRegistration(DeclipStage.self),
    StageRegistration(DehumStage.self),
    StageRegistration(DenoiseStage.self),
    StageRegistration(EqualizerStage.self),
    StageRegistration(GateStage.self),
    StageRegistration(DeEsserStage.self),
    StageRegistration(CompressorStage.self),
    StageRegistration(GainStage.self),
    StageRegistration(LimiterStage.self),
    StageRegistration(NormalizeStage.self),
    StageRegistration(FadeStage.self),
    StageRegistration(TrimStage.self),
    StageRegistration(CutStage.self),
    StageRegistration(SilenceStage.self),
    StageRegistration(SpeedStage.self),
    StageRegistration(MonoStage.self),
    StageRegistration(StereoStage.self),
    StageRegistration(ChannelsStage.self),
    StageRegistration(ResampleStage.self),
    StageRegistration(MeasureStage.self),
    StageRegistration(ExportStage.self),
    StageRegistration(SplitStage.self),
    StageRegistration(WaveformStage.self),
    StageRegistration(SpectrogramStage.self),
    StageRegistration(LoudnessCurveStage.self),
    .withAcousticModel(AlignStage.self),
    .withAcousticModel(RecognizeStage.self),
    StageRegistration(RetimeStage.self),
    StageRegistration(TranscriptStage.self),
    StageRegistration(ProofStage.self),
  ])
}
