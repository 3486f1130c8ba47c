/// Whether somebody has a file open for writing.
enum Writers: Hashable, Sendable {
  /// Nobody has.
  case none
  /// Somebody has.
  case some
  /// The system does not tell: the file is somebody else's, or its file system has no leases.
  case unknown
}
