import Audio
import Foundation
@testable import Media
import Platform
import Synchronization
import TestSupport
import Testing

@Suite(
  "A recording that a confined process reads",
  .enabled(if: FFmpeg.isInstalled, "the ffmpeg program is not installed"))
struct MediaSandboxTests {
  private let scratch: ScratchFolder
  /// A link, which names the processes that are this test's own.
  private let program: String
  private let sandbox: MediaSandbox

  init() throws {
    scratch = try ScratchFolder()
    program = scratch.file("spool")
    try FileManager.default.createSymbolicLink(
      atPath: program, withDestinationPath: SpoolProgram.program.path)
    sandbox = MediaSandbox(program: program)
  }

  private func recording(_ name: String, seconds: Double = 3) throws -> String {
    let path = scratch.file(name)
    try FFmpeg.run(
      FFmpeg.sound(seconds: seconds)
        + ["-metadata", "title=Blue Ä", "-metadata", "artist=Someone", path])
    return path
  }

  private func expectSame(_ path: String, _ options: DecoderOptions = DecoderOptions()) throws {
    let own = try Decoding(of: path, options: options)
    let confined = try Decoding(of: path, options: options, in: sandbox)
    #expect(confined.samples == own.samples)
    #expect(confined.format == own.format)
    #expect(confined.damages == own.damages)
    #expect(confined.doubt == own.doubt)
    #expect(confined.declaredLength == own.declaredLength)
    #expect(confined.expectedFrames == own.expectedFrames)
    #expect(confined.isLengthDeclared == own.isLengthDeclared)
    let description: MediaDescription = try sandbox.answer(.describe, about: SourceFile(path))
    #expect(try description == MediaProbe.describe(SourceFile(path)))
  }

  @Test(
    "has the same sound and the same properties",
    arguments: ["a.wav", "a.m4a", "a.flac", "a.ogg", "a.opus", "a.mp3", "a.mka", "a.wma", "a.ac3"])
  func same(name: String) throws {
    let path = try recording(name)
    try expectSame(path)
    try expectSame(path, DecoderOptions(sampleRate: Hertz(44_100), channelCount: 1))
  }

  @Test("has the same damage where it is kept", arguments: ["a.flac", "a.mp3", "a.m4a"])
  func damaged(name: String) throws {
    let path = try recording(name)
    var data = try Data(contentsOf: URL(fileURLWithPath: path))
    for start in [data.count / 3, data.count / 2] {
      for index in start..<start + 300 { data[index] ^= 0x5A }
    }
    try data.write(to: URL(fileURLWithPath: path))
    let kept = DecoderOptions(keepsDamaged: true)
    #expect(try !Decoding(of: path, options: kept).damages.isEmpty)
    try expectSame(path, kept)
    #expect(error(path, in: sandbox) == error(path, in: nil))
  }

  @Test("has its cover and its markers")
  func cover() throws {
    let (plain, picture) = (try recording("plain.m4a"), scratch.file("cover.png"))
    let (chapters, path) = (scratch.file("chapters.txt"), scratch.file("covered.m4a"))
    try FFmpeg.run(["-f", "lavfi", "-i", "color=red:size=640x640", "-frames:v", "1", picture])
    try scratch.write(
      ";FFMETADATA1\n[CHAPTER]\nTIMEBASE=1/1000\nSTART=0\nEND=3000\ntitle=One\n",
      to: "chapters.txt")
    try FFmpeg.run([
      "-i", plain, "-i", picture, "-i", chapters, "-map", "0:a", "-map", "1:v", "-map_metadata",
      "2", "-c", "copy", "-disposition:v:0", "attached_pic", path,
    ])
    let cover: CoverArt? = try sandbox.answer(.cover, about: SourceFile(path))
    #expect(try cover?.bytes == Array(Data(contentsOf: URL(fileURLWithPath: picture))))
    let markers: [MediaProbe.Marker] = try sandbox.answer(.markers, about: SourceFile(path))
    #expect(markers == [MediaProbe.Marker(time: Seconds(0), title: "One")])
    let none: CoverArt? = try sandbox.answer(.cover, about: SourceFile(plain))
    #expect(none == nil)
  }

  private func error(_ path: String, in sandbox: MediaSandbox?) -> SpoolError? {
    do throws(SpoolError) { _ = try Decoding(of: path, in: sandbox) } catch { return error }
    return nil
  }

  @Test("that is none has the same error")
  func errors() throws {
    let text = try scratch.write(String(repeating: "Dear diary.\n", count: 99), to: "a.m4a")
    let whole = try Data(contentsOf: URL(fileURLWithPath: recording("b.m4a")))
    let cut = scratch.file("cut.m4a")
    try whole.prefix(whole.count / 2).write(to: URL(fileURLWithPath: cut))
    let empty = try scratch.write("", to: "empty.wav")
    for path in [text, cut, empty, scratch.path, scratch.file("none.wav")] {
      let own = try #require(error(path, in: nil))
      #expect(error(path, in: sandbox) == own)
    }
  }

  @Test("cannot have its process open, start, signal or connect to anything")
  func confinement() throws {
    let path = try recording("a.wav")
    let escapes: [String] = try sandbox.answer(.tryEscapes, about: SourceFile(path))
    #expect(escapes == [])
  }

  /// The confined processes of this test that have not ended, besides the one that forks them.
  private func processes() throws -> [pid_t] {
    let numbers = try FileManager.default.contentsOfDirectory(atPath: "/proc").compactMap {
      pid_t($0)
    }
    func parent(_ process: pid_t) -> pid_t? {
      let text = FileManager.default.contents(atPath: "/proc/\(process)/stat") ?? Data()
      let fields = String(decoding: text, as: UTF8.self).split(separator: ")").last?
        .split(separator: " ")
      guard let fields, fields.count > 1, fields[0] != "Z" else { return nil }
      return pid_t(fields[1])
    }
    let own = numbers.filter {
      let words = FileManager.default.contents(atPath: "/proc/\($0)/cmdline") ?? Data()
      return String(decoding: words, as: UTF8.self).hasPrefix(program + "\0")
    }
    return own.filter { parent($0).map { own.contains($0) } ?? false }
  }

  /// Whether a process has a file open.
  private func opens(_ path: String, _ process: pid_t) throws -> Bool {
    let folder = "/proc/\(process)/fd"
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return names.contains {
      (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)")) == path
    }
  }

  @Test(
    "fails with the reason where its process ends, and the next one does not",
    arguments: [
      (SIGSEGV, "the decoder crashed (signal 11) while reading it"),
      (SIGKILL, "the decoder was killed (signal 9) while reading it, as where memory runs out"),
      (
        SIGPROF,
        "the decoder was stopped: it took 30 s of processor time without getting on"
      ),
    ])
  func ended(signal: Int32, reason: String) throws {
    let path = try recording("a.wav", seconds: 20)
    let decoder = try SoundDecoder(SourceFile(path), in: sandbox)
    var block = AudioBuffer(channelCount: 2, capacity: Frames(1000))
    #expect(try decoder.read(into: &block))
    kill(try #require(try processes().first { try opens(path, $0) }), signal)
    let failure = #expect(throws: SpoolError.self) {
      while try decoder.read(into: &block) {}
    }
    #expect(failure?.reason == reason)
    #expect(failure?.cause == .input && failure?.subject == path)
    #expect(try !decoder.read(into: &block))
    try expectSame(path)
  }

  @Test("has another process where the one that forks them was killed")
  func restarted() throws {
    let path = try recording("a.flac")
    try expectSame(path)
    let origin = try #require(sandbox.originNumber)
    kill(origin, SIGKILL)
    // Its end shows at its socket.
    while kill(origin, 0) == 0, try !isDead(origin) { usleep(1000) }
    try expectSame(path)
    #expect(sandbox.originNumber != origin)
  }

  private func isDead(_ process: pid_t) throws -> Bool {
    let status = FileManager.default.contents(atPath: "/proc/\(process)/status") ?? Data()
    return String(decoding: status, as: UTF8.self).contains("State:\tZ")
  }

  @Test("has no process left where it is no more needed")
  func noneLeft() throws {
    let path = try recording("a.wav", seconds: 20)
    do {
      let decoder = try SoundDecoder(SourceFile(path), in: sandbox)
      var block = AudioBuffer(channelCount: 2, capacity: Frames(1000))
      #expect(try decoder.read(into: &block))
      #expect(try processes().contains { try opens(path, $0) })
    }
    // One waits for the next recording.
    while try processes().contains(where: { try opens(path, $0) }) { usleep(1000) }
  }

  /// What a sandbox says, in order.
  private final class Warnings: Sendable {
    private let lines = Mutex<[String]>([])

    var all: [String] { lines.withLock { $0 } }

    func add(_ line: String) { lines.withLock { $0.append(line) } }
  }

  @Test(
    "is decoded though something is missing, which is said once",
    arguments: [
      (.all, nil), ([.filter], "Landlock"), ([.landlock], "libseccomp"),
      ([], "neither Landlock nor libseccomp"),
    ] as [(MediaSandbox.Layers, String?)])
  func lacks(layers: MediaSandbox.Layers, missing: String?) throws {
    let warnings = Warnings()
    let sandbox = MediaSandbox(program: program, layers: layers) { warnings.add($0) }
    let path = try recording("a.wav")
    let own = try Decoding(of: path)
    for _ in 0..<2 { #expect(try Decoding(of: path, in: sandbox).samples == own.samples) }
    let escapes: [String] = try sandbox.answer(.tryEscapes, about: SourceFile(path))
    // Each layer alone prevents that another file is opened.
    #expect(escapes.contains("open a file") == layers.isEmpty, "\(escapes)")
    kill(try #require(sandbox.originNumber), SIGKILL)
    #expect(try Decoding(of: path, in: sandbox).samples == own.samples)
    #expect(warnings.all.count == (missing == nil ? 0 : 1))
    if let missing { #expect(warnings.all[0].contains(missing)) }
  }

  private func failure(
    _ way: ReaderRequest.Misbehaviour, of path: String, in sandbox: MediaSandbox
  ) -> String? {
    do throws(SpoolError) {
      let _: Int = try sandbox.answer(.misbehave(way), about: SourceFile(path))
    } catch {
      return error.cause == .input && error.subject == path ? error.reason : "\(error)"
    }
    return nil
  }

  @Test("fails where its decoder computes for ever")
  func computing() throws {
    let path = try recording("a.wav")
    let sandbox = MediaSandbox(
      program: program, patience: MediaSandbox.Patience(processing: 1))
    #expect(
      failure(.computeForever, of: path, in: sandbox)
        == "the decoder was stopped: it took 1 s of processor time without getting on")
    try expectSame(path)
  }

  @Test("fails where its decoder waits for ever")
  func waiting() throws {
    let path = try recording("a.wav")
    let impatient = MediaSandbox(
      program: program, patience: MediaSandbox.Patience(waiting: 3))
    let reason = failure(.waitForever, of: path, in: impatient)
    #expect(reason == "the decoder was stopped: it gave no answer for 3 s")
  }

  @Test("fails where its decoder takes all memory")
  func memory() throws {
    let path = try recording("a.wav")
    let reason = try #require(failure(.takeMemory, of: path, in: sandbox))
    #expect(reason.hasPrefix("the decoder crashed (signal"), "\(reason)")
    try expectSame(path)
  }

  @Test("fails where its decoder is suspended")
  func suspended() throws {
    let path = try recording("a.wav", seconds: 20)
    let decoder = try SoundDecoder(SourceFile(path), in: sandbox)
    var block = AudioBuffer(channelCount: 2, capacity: Frames(1000))
    #expect(try decoder.read(into: &block))
    kill(try #require(try processes().first { try opens(path, $0) }), SIGSTOP)
    let failure = #expect(throws: SpoolError.self) {
      while try decoder.read(into: &block) {}
    }
    #expect(failure?.reason == "the decoder was suspended (signal 19) while reading it")
    try expectSame(path)
  }

  @Test("fails where the process that forks the others does not answer")
  func unanswering() throws {
    let path = try recording("a.wav")
    let script = try scratch.write("#!/bin/sh\nexec sleep 1000\n", to: "silent")
    unsafe chmod(script, 0o700)
    let sandbox = MediaSandbox(
      program: script, patience: MediaSandbox.Patience(starting: 1))
    let failure = #expect(throws: SpoolError.self) {
      _ = try Decoding(of: path, in: sandbox)
    }
    #expect(failure?.reason?.contains("timed out") == true, "\(failure?.reason ?? "")")
  }

  @Test("is asked for its properties once, and again where it has changed")
  func known() throws {
    let path = try recording("a.wav")
    let file = SourceFile(path)
    // Until a later change has another time.
    while try FileStamp(following: path).settlingTime(at: Clock.now()) > 0 { usleep(1000) }
    let first = try sandbox.describe(file)
    kill(try #require(sandbox.originNumber), SIGKILL)
    #expect(try sandbox.describe(file) == first)
    try FileManager.default.removeItem(atPath: path)
    _ = try recording("a.wav", seconds: 1)
    #expect(try sandbox.describe(file).duration == Seconds(1))
  }

  @Test("is read by one process, though its format is asked for before")
  func spare() throws {
    let path = try recording("a.wav")
    while try FileStamp(following: path).settlingTime(at: Clock.now()) > 0 { usleep(1000) }
    _ = try SoundDecoder(SourceFile(path), in: sandbox)
    let kept = try processes().filter { try opens(path, $0) }
    #expect(kept.count == 1)
    let decoder = try SoundDecoder(SourceFile(path), in: sandbox)
    var block = AudioBuffer(channelCount: 2, capacity: Frames(1000))
    #expect(try decoder.read(into: &block))
    #expect(try processes().filter { try opens(path, $0) } == kept)
  }

  @Test("is read by another process where the first one has ended unasked")
  func expired() throws {
    let path = try recording("a.wav")
    let own = try Decoding(of: path)
    let decoder = try SoundDecoder(SourceFile(path), in: sandbox)
    kill(try #require(try processes().first { try opens(path, $0) }), SIGALRM)
    var block = AudioBuffer(channelCount: 2, capacity: Frames(own.frameCount + 1))
    #expect(try decoder.read(into: &block))
    #expect(block.frameCount.count == own.frameCount)
  }
}
