/// Why a file has not settled although it had time enough.
public enum Unsettled: Hashable, Sendable {
  /// It has changed or been open for writing ever since it was first seen.
  case stillWritten
  /// It rests, and could not be examined; the text says why.
  case unreadable(String)
  /// It is whole, and the marker that must lie beside it is missing.
  case markerMissing
  /// It is whole, and the sidecar that must lie beside it is missing.
  case sidecarMissing
  /// It is whole, and the sidecar that must lie beside it does not read; the text says why.
  case sidecarUnreadable(String)
}
