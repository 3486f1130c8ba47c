import Foundation
import TestSupport

/// A place of work with plugins of its own, and none of the user's.
struct PluginPlace {
  let place: Workspace

  init() throws {
    place = try Workspace()
    try FileManager.default.createDirectory(
      atPath: place.file("Plugins"), withIntermediateDirectories: true)
  }

  func file(_ name: String) -> String { place.file(name) }

  @discardableResult func write(_ text: String, to name: String) throws -> String {
    let path = file(name)
    try FileManager.default.createDirectory(
      at: URL(filePath: path).deletingLastPathComponent(), withIntermediateDirectories: true)
    if FileManager.default.fileExists(atPath: path) {
      let handle = try FileHandle(forWritingTo: URL(filePath: path))
      try handle.truncate(atOffset: 0)
      handle.write(Data(text.utf8))
      try handle.close()
    } else {
      try Data(text.utf8).write(to: URL(filePath: path))
    }
    return path
  }

  /// Writes a manifest: `head` has what comes behind the summary, `run` at the least.
  func plugin(
    _ folder: String, _ head: String, named name: String? = nil, version: String = "1.0.0",
    stages: String? = nil
  ) throws {
    try write(
      """
      plugin: \(name ?? folder)
      version: \(version)
      protocol: 1
      summary: something
      \(head)
      stages:
      \(stages ?? "  - { kind: \(folder), type: sound, summary: something }")
      """, to: "Plugins/\(folder)/plugin.yaml")
  }

  func spool(
    _ arguments: [String], environment: [String: String] = [:]
  ) throws -> Program.Result {
    try place.spool(
      arguments, environment: ["XDG_DATA_HOME": file("data")].merging(environment) { $1 })
  }
}
