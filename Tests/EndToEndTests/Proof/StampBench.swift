import Foundation
import TestSupport
import Testing

/// A recording, a pipeline that wants its receipt stamped, and an authority that does.
struct StampBench {
  let place: Workspace
  let authority: TimeAuthority

  /// What lies in the output folder in the end.
  static let files = [
    "note.receipt.json", "note.receipt.tsr", "note.receipt.tsr.pem",
    "note.receipt.tsr.sha256", "note.sha256", "note.verify.sh", "note.wav", "spool.pub",
  ]

  init() throws {
    place = try Workspace()
    authority = try TimeAuthority()
    try FileManager.default.copyItem(atPath: authority.certificates, toPath: place.file("ca.pem"))
    try Reference.record(recording, seconds: 0.4)
  }

  var recording: String { place.file("note.wav") }
  var receipt: String { place.out + "/note.receipt.json" }
  var token: String { place.out + "/note.receipt.tsr" }

  func pipeline(
    way: TimeAuthority.Way = .good, peak: Int = -3, more: String = "",
    authorities: [(String, String)]? = nil
  ) throws -> String {
    let entries = (authorities ?? [(authority.url(way), "ca.pem")])
      .map { "{ url: '\($0)', certificates: \($1) }" }.joined(separator: ", ")
    return try place.pipeline(
      """
      pipeline: stamped
      inputs: { note: sound }
      stages:
        - decode
        - normalize: { peak: \(peak) dB }
        - export: [wav]
        - proof: { \(more)authorities: [\(entries)] }
      """)
  }

  func run(_ pipeline: String? = nil) throws -> SpoolRun {
    try place.run(pipeline ?? self.pipeline(), [recording])
  }

  func script(_ arguments: [String] = []) throws -> Program.Result {
    try #require(Program(named: "dash")).run(
      [place.out + "/note.verify.sh"] + arguments, folder: place.out)
  }

  /// What `spool proof stamp` would ask for, as the store says it, without asking.
  func waiting() throws -> [String] {
    let sqlite = try #require(Program(named: "python3"))
    let result = try sqlite.run([
      "-c",
      """
      import sqlite3, sys
      for row in sqlite3.connect(sys.argv[1]).execute("SELECT path, authority FROM awaited_stamps"):
          print(*row)
      """, place.store + "/spool.sqlite",
    ])
    #expect(result.exitCode == 0, "\(result.errorOutput)")
    return result.text.split(separator: "\n").map(String.init)
  }

  /// Holds one token against its receipt with `openssl ts -verify`.
  func expectStamped(_ name: String = "note") throws {
    let result = try authority.verify(
      "\(place.out)/\(name).receipt.tsr", of: "\(place.out)/\(name).receipt.json")
    #expect(result.exitCode == 0, "\(name): \(result.text)\(result.errorOutput)")
  }
}
