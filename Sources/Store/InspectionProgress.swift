/// How far an inspection is.
public struct InspectionProgress: Hashable, Sendable {
  /// Bytes of artifacts that were read.
  public let doneBytes: Int
  /// Bytes of artifacts that there are.
  public let totalBytes: Int
}
