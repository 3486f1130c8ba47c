import PipelineModel
import Platform

/// What one recording's sidecar asks of a batch.
///
/// `"spool": {"set": {"loudness": "-18 LUFS"}}` sets variables of the pipeline that are marked
/// `overridable: true`, for this recording alone. `title`, `createdAt` and every other text or
/// number at the top level can be used in names.
struct SidecarSettings: Sendable {
  /// The values of the pipeline's variables.
  let overrides: [String: DocumentNode]
  /// Its text and number fields, names in lower case.
  let fields: [String: String]
  let sidecar: Sidecar

  /// Reads a sidecar for a pipeline.
  /// - Throws: if it is no JSON, or sets a variable that it may not set.
  init(
    _ text: [UInt8], path: String, variables: [VariableDefinition]
  ) throws(SpoolError) {
    let sidecar = Sidecar(json: text)
    guard sidecar.isReadable else {
      let problem = sidecar.problems.first.map { ": \($0)" } ?? ""
      throw SpoolError(
        "cannot use the sidecar \(path)", reason: "it is no JSON object" + problem,
        advice: "mend the sidecar, or take it away")
    }
    overrides = try SidecarOverrides.read(
      sidecar.written["spool"]?.node, of: path, variables: variables)
    self.sidecar = sidecar
    fields = NameFields.fields(of: sidecar.written)
  }

  /// Reads a sidecar at a path below the batch's folder.
  static func read(_ path: String, of order: BatchOrder) throws(SpoolError) -> SidecarSettings {
    try SidecarSettings(
      bytes(path, of: order), path: PathText.join(order.folder, path),
      variables: order.definition.variables)
  }

  /// A sidecar's bytes; one more than is allowed, so that too long a file shows.
  static func bytes(_ path: String, of order: BatchOrder) throws(SpoolError) -> [UInt8] {
    let full = PathText.join(order.folder, path)
    do throws(SystemError) {
      return try FileOperations.system.beginning(of: full, byteCount: Sidecar.byteLimit + 1)
    } catch {
      throw SpoolError(
        "cannot read the sidecar \(full)", reason: error.words.lowercased(),
        advice: "check who may read it: ls -l", cause: .environment)
    }
  }
}
