import Foundation
import TestSupport
import Testing

@Suite(
  "Recordings are decoded in processes of their own",
  .enabled(if: SoundFacts.areAvailable, "the ffmpeg and ffprobe programs are not installed"))
struct DecoderFailureTests {
  private let folder: BatchFolder

  init() throws { folder = try BatchFolder() }

  private func pipeline() throws -> String {
    try folder.place.pipeline(
      """
      pipeline: plain
      inputs: { note: sound }
      stages:
        - decode: { from: $note, damaged: keep }
        - export: { formats: [wav, flac], wav: { bits: 16 } }
      """)
  }

  @Test("with the same exports as without")
  func same() throws {
    for name in ["a.wav", "b.m4a", "c.flac", "d.ogg", "e.mp3", "f.flac"] {
      try Reference.record(folder.path + "/" + name, seconds: 3)
    }
    // The last one is damaged.
    let damaged = URL(fileURLWithPath: folder.path + "/f.flac")
    var data = try Data(contentsOf: damaged)
    for index in data.count / 2..<data.count / 2 + 300 { data[index] ^= 0x5A }
    try data.write(to: damaged)

    let pipeline = try pipeline()
    var exports: [[String: Data]] = []
    for options in [[], ["--no-sandbox"]] {
      let store = folder.place.file("store\(options.count)")
      let out = folder.place.file("out\(options.count)")
      let run = try folder.place.spool(
        ["batch", pipeline, folder.path, "--out", out, "--store", store] + options)
      try #require(run.exitCode == 0, "\(run.errorOutput)")
      // Neither the kernel nor a library lacks what confines them here.
      #expect(!run.errorOutput.contains("Landlock"), "\(run.errorOutput)")
      let names = try FileManager.default.contentsOfDirectory(atPath: out)
        .filter { $0.hasSuffix(".wav") || $0.hasSuffix(".flac") }
      #expect(names.count == 12, "\(names)")
      exports.append(
        try Dictionary(
          uniqueKeysWithValues: names.map {
            ($0, try Data(contentsOf: URL(fileURLWithPath: "\(out)/\($0)")))
          }))
    }
    #expect(exports[0] == exports[1])
  }

  @Test("of a stream that declares no length it is said that nothing tells where it was to end")
  func untoldEnd() throws {
    let told = ["a.wav", "a.flac", "a.m4a", "a.ogg", "a.mp3"]
    for name in ["a.aac", "a.mp2", "a.ac3", "a.m2ts", "a.mpg"] + told {
      try Reference.record("\(folder.path)/\(name)", seconds: 1)
      let run = try folder.place.spool(
        [
          "run", try pipeline(), "\(folder.path)/\(name)", "--out", folder.place.out, "--replace",
          "--json",
        ])
      #expect(run.exitCode == 0, "\(run.errorOutput)")
      let isUntold = !told.contains(name)
      #expect(run.text.contains(#""isEndUntold":true"#) == isUntold, "\(name)")
      let line = "nothing in the file tells where it was to end"
      let shown = try folder.place.spool(["runs", "show", "last"]).text
      #expect(shown.split(separator: "\n").count { $0 == line } == (isUntold ? 1 : 0), "\(shown)")
      let again = try folder.place.spool([
        "run", try pipeline(), "\(folder.path)/\(name)", "--out", folder.place.out, "--replace",
      ])
      #expect(
        again.text.split(separator: "\n").count { $0 == line } == (isUntold ? 1 : 0),
        "\(again.text)")
      #expect(again.errorOutput.isEmpty, "\(again.errorOutput)")
    }
    let batch = try folder.place.spool([
      "batch", try pipeline(), folder.path, "--include", "*", "--out", folder.place.file("all"),
    ])
    #expect(batch.text.contains("nothing in 5 files tells where it was to end"), "\(batch.text)")
  }

  /// The processes whose parent is `parent`, with their processor time in ticks.
  private func children(of parent: Int32) throws -> [(number: Int32, ticks: Int)] {
    try FileManager.default.contentsOfDirectory(atPath: "/proc").compactMap { name in
      guard let number = Int32(name),
        let text = FileManager.default.contents(atPath: "/proc/\(name)/stat")
      else { return nil }
      let fields = String(decoding: text, as: UTF8.self).split(separator: ")").last?
        .split(separator: " ")
      guard let fields, fields.count > 12, fields[0] != "Z", Int32(fields[1]) == parent,
        let ticks = Int(fields[11])
      else { return nil }
      return (number, ticks)
    }
  }

  @Test("and where one of these is killed, its recording fails and the others do not")
  func killed() throws {
    // Long enough that it is still being decoded when it is found.
    try Reference.record(folder.path + "/a.flac", seconds: 1500)
    try Reference.record(folder.path + "/b.flac", seconds: 1)
    let running = try folder.place.start([
      "batch", try pipeline(), folder.path, "--out", folder.place.out, "--jobs", "1",
    ])
    var isKilled = false
    while !isKilled, running.isRunning {
      for origin in try children(of: running.number) {
        // Only decoding takes so long; reading the tags does not.
        for reader in try children(of: origin.number) where reader.ticks >= 5 {
          isKilled = kill(reader.number, SIGSEGV) == 0
        }
      }
      usleep(500)
    }
    try #require(isKilled)
    let run = try running.end().run
    #expect(run.exitCode == 3, "\(run.errorOutput)")
    let report = try folder.report()
    #expect(report.file("a.flac")?.outcome == "failed")
    #expect(
      report.file("a.flac")?.error?.reason == "the decoder crashed (signal 11) while reading it")
    #expect(report.file("a.flac")?.error?.advice?.hasPrefix("copy it again") == true)
    #expect(report.file("b.flac")?.outcome == "done")
  }
}
