import Foundation

/// The built `spool`, called as a user calls it.
package enum SpoolProgram {
  /// The program beside the test bundle, or the one that `SPOOL_PROGRAM` names: a release build, or
  /// one that is installed.
  package static var program: Program {
    get throws {
      if let named = ProcessInfo.processInfo.environment["SPOOL_PROGRAM"] {
        return Program(path: named)
      }
      // SwiftPM puts the executables that tests depend on into the folder of the test bundle.
      let bundle = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
      let folder = URL(fileURLWithPath: bundle).deletingLastPathComponent()
      let candidates = [folder, folder.deletingLastPathComponent()]
        .map { $0.appendingPathComponent("spool").path }
      guard let path = candidates.first(where: FileManager.default.isExecutableFile) else {
        throw Absent(description: "no built spool beside \(bundle)")
      }
      return Program(path: path)
    }
  }

  private struct Absent: Error, CustomStringConvertible {
    let description: String
  }
}
