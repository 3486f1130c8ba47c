import Foundation
import Platform

/// A folder of a test's own, deleted with its last reference.
package final class ScratchFolder: Sendable {
  /// Where it is.
  package let path: String

  /// Makes an empty folder under the system's temporary folder.
  package init() throws {
    path = NSTemporaryDirectory() + "spool-test-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// The path of `name` inside it.
  package func file(_ name: String) -> String { path + "/" + name }

  /// Writes a text file inside it and gives its path.
  @discardableResult
  package func write(_ text: String, to name: String) throws -> String {
    try Data(text.utf8).write(to: URL(fileURLWithPath: file(name)))
    return file(name)
  }
}

/// Waits until whatever is written to the file at `path` changes its stamp: two writes within one
/// tick of the file system's clock leave the same one.
package func letClockTick(after path: String, in folder: ScratchFolder) throws {
  let last = try FileStamp(following: path).changed
  let probe = folder.file("clock")
  repeat { try folder.write("tick", to: "clock") } while try FileStamp(at: probe).changed <= last
  try FileManager.default.removeItem(atPath: probe)
}

/// Flips one bit of a file.
package func flipBit(_ bit: Int, ofByte offset: Int, in path: String) throws {
  try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
  var data = try Data(contentsOf: URL(fileURLWithPath: path))
  data[offset] ^= 1 << UInt8(bit)
  let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
  try file.write(contentsOf: data)
  try file.close()
}
