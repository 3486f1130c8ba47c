internal import PipelineModel

extension DocumentNode {
  /// YAML's null, where nothing is written.
  static func null(at location: SourceLocation) -> DocumentNode {
    DocumentNode(.scalar("", isQuoted: false), at: location)
  }
}
