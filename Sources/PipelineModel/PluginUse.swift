/// A plugin that a run uses, as it was when the run began.
public struct PluginUse: Hashable, Sendable, Codable {
  /// The stage kind that it offers.
  public let kind: String
  /// Its name.
  public let name: String
  /// Its version.
  public let version: String
  /// The digest of all of its files, in hexadecimal digits.
  public let digest: String
  /// Its folder, an absolute path.
  public let folder: String

  /// Describes a plugin.
  public init(kind: String, name: String, version: String, digest: String, folder: String) {
    self.kind = kind
    self.name = name
    self.version = version
    self.digest = digest
    self.folder = folder
  }
}
