import Foundation
import TestSupport
import Testing

@Suite("A batch waits for the disk as often as its promises need, and no oftener")
struct BatchFlushTests {
  private static let strace = Program(named: "strace")

  @Test(
    "a tiny recording costs a bounded number of flushes",
    .enabled(if: strace != nil, "the strace program is not installed"))
  func flushes() throws {
    let folder = try BatchFolder()
    let count = 24
    for number in 0..<count { try folder.putTiny(number, "note-\(number).wav") }
    let log = folder.place.file("calls")
    let run = try #require(Self.strace).run(
      [
        "-f", "-qq", "-y", "-o", log, "-e", "trace=fsync,fdatasync", "-e", "signal=none",
        try SpoolProgram.program.path, "batch", try folder.pipeline(), folder.path, "--out",
        folder.place.out,
      ], environment: ["SPOOL_STORE": folder.place.store], folder: folder.place.folder.path)
    #expect(run.exitCode == 0, "\(run.errorOutput)")
    let calls = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n").filter {
      $0.contains("sync(")
    }
    let logged = calls.count { $0.contains("spool.sqlite-wal>") }
    // Two passes, the export noted and published, the run; a note of progress now and then.
    #expect(logged < 10 * count, "\(logged) flushes of the database's log for \(count) recordings")
    // Fewer could not be enough: every pass and every export is promised by itself.
    #expect(logged >= 4 * count)
    // Two of them for the hashes of its seconds, which quotes are proven with.
    #expect(calls.count < 50 * count, "\(calls.count) flushes for \(count) recordings")
  }
}
