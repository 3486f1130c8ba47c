public import PipelineModel

extension StageCatalog {
  /// The stage kinds that come with Spool. A new kind is one file beside this one, and one line
  /// here.
  public static let builtIn = StageCatalog([
    StageRegistration(DecodeStage.self),
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
    StageRegistration(MeasureStage.self),
    StageRegistration(ExportStage.self),
  ])
}
