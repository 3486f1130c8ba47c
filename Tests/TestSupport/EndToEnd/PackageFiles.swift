import Foundation

/// What lies in the package beside the code.
package enum PackageFiles {
  private static let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  /// A pipeline of the package: `voice-note.yaml`.
  package static func pipeline(_ name: String) -> String { path("Pipelines/" + name) }

  /// A plugin of the package, or what plugins include: `softclip-c`.
  package static func plugin(_ name: String) -> String { path("Plugins/" + name) }

  /// A sample recording: `note-1.m4a`.
  package static func sample(_ name: String) -> String { path("samples/" + name) }

  /// An article of the documentation: `Guide/Words`.
  package static func article(_ name: String) -> String {
    path("Sources/spool/Spool.docc/\(name).md")
  }

  /// Unpacks the store, keys and exports that an earlier version left, as `store` and others.
  /// - Parameter name: of the archive, without its ending.
  package static func unpackKeptStore(
    _ name: String = "store-0.1", into folder: ScratchFolder
  ) throws {
    try Reference.output(
      "tar", ["-xJf", path("Tests/Fixtures/\(name).tar.xz"), "-C", folder.path])
  }

  /// A file of the data that may lie beside the package; nil where it does not.
  package static func sharedData(_ name: String) -> String? {
    let path = root.deletingLastPathComponent().appendingPathComponent("shared/data/" + name).path
    return FileManager.default.fileExists(atPath: path) ? path : nil
  }

  private static func path(_ name: String) -> String { root.appendingPathComponent(name).path }
}
