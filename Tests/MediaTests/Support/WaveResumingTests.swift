import Audio
import Foundation
@testable import Media
import Platform
import TestSupport
import Testing

@Suite("A WAV file that is gone on with")
struct WaveResumingTests {
  let scratch: ScratchFolder
  let pool = WorkerPool(threadCount: 1)

  init() throws { scratch = try ScratchFolder() }

  @Test("begins anew where it is shorter than it should be, or where the numbers do not fit")
  func doubtful() throws {
    let sound = Interruption.wave.sound
    let state = try #require(
      EncodingState(
        json: Interruption.wave.abandon(sound, in: scratch.path, pool: pool, after: 200_000)))
    let intact = try bytes(of: scratch.file("export"))
    let extents = [
      EncodingExtent(frames: state.extent.frames + 1, byteCount: state.extent.byteCount),
      EncodingExtent(frames: state.extent.frames, byteCount: state.extent.byteCount - 4),
      EncodingExtent(frames: 0, byteCount: 0),
      EncodingExtent(frames: .max, byteCount: state.extent.byteCount),
      EncodingExtent(frames: 1 << 40, byteCount: 80 + 1 << 42),
    ]
    for extent in extents {
      try intact.write(to: URL(fileURLWithPath: scratch.file("export")))
      var wrong = state
      wrong.extent = extent
      #expect(try needed(wrong.json) == 0)
    }
    // A flipped bit in the sound, the first and the last one as well.
    for offset in [80, state.extent.byteCount / 2, state.extent.byteCount - 1] {
      var damaged = intact
      damaged[offset] ^= 1
      try damaged.write(to: URL(fileURLWithPath: scratch.file("export")))
      #expect(try needed(state.json) == 0, "a bit of byte \(offset) was flipped")
    }
    try intact.prefix(state.extent.byteCount - 1)
      .write(to: URL(fileURLWithPath: scratch.file("export")))
    #expect(try needed(state.json) == 0)
    try intact.prefix(state.extent.byteCount)
      .write(to: URL(fileURLWithPath: scratch.file("export")))
    #expect(try needed(state.json) == state.extent.frames)
    #expect(try needed(state.json.replacing("\"frames\":", with: "\"frames\":-")) == 0)
  }

  private func needed(_ state: String) throws -> Int {
    try Interruption.wave.encoder(
      Interruption.wave.sound, in: scratch.path, pool: pool, resuming: state
    ).progress().needsFrom.count
  }

  @Test("loses what lies behind the bytes that count")
  func cutOff() throws {
    let sound = Interruption.wave.sound
    let state = try Interruption.wave.abandon(
      sound, in: scratch.path, pool: pool, after: 200_000)
    let rubbish = try FileHandle(forWritingTo: URL(fileURLWithPath: scratch.file("export")))
    try rubbish.seekToEnd()
    try rubbish.write(contentsOf: Data(repeating: 7, count: 9_000_000))
    try rubbish.close()
    let encoder = try Interruption.wave.encoder(
      sound, in: scratch.path, pool: pool, resuming: state)
    let progress = encoder.progress()
    #expect(try bytes(of: scratch.file("export")).count == progress.byteCount)
    try encoder.takeRest(of: sound, blockSize: 16384)
    try encoder.finish()
    #expect(
      try bytes(of: scratch.file("export"))
        == Interruption.wave.wholeFile(sound, in: scratch.path, pool: pool))
  }

  @Test("becomes RF64 beyond 4 GB, with all its frames counted", arguments: [false, true])
  func beyondFourGigabytes(isFloat: Bool) throws {
    let bytesPerFrame = isFloat ? 8 : 4
    let spec = ExportSpec.wav(isFloat ? .float32 : .integer(.bits16))
    let sound = Sound(frames: 20_000)
    let interruption = Interruption(spec: spec)
    // An hour or more of silence that an earlier process wrote, in a file full of holes.
    let fresh = try interruption.encoder(sound, in: scratch.path, pool: pool, resuming: nil)
    var state = try #require(EncodingState(json: fresh.progress().state))
    let header = fresh.progress().byteCount
    state.extent.frames = 1 << 30
    state.extent.byteCount = header + state.extent.frames * bytesPerFrame
    let path = scratch.file("export")
    try #require(unsafe truncate(path, state.extent.byteCount) == 0)
    var checksum = Checksum()
    let silence = [UInt8](repeating: 0, count: 1 << 24)
    for _ in 0..<(state.extent.frames * bytesPerFrame) >> 24 {
      unsafe checksum.update(silence.span.bytes)
    }
    state.extent.checksum = checksum.value

    let encoder = try interruption.encoder(
      sound, in: scratch.path, pool: pool, resuming: state.json)
    #expect(encoder.progress().needsFrom == Frames(1 << 30))
    encoder.begin(at: Frames(1 << 30))
    for block in sound.blocks(of: 5000) { try encoder.write(block) }
    try encoder.finish()

    let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
    let head = try #require(try file.read(upToCount: header))
    func number(at offset: Int) -> Int {
      (0..<8).reduce(0) { $0 | Int(head[offset + $1]) << (8 * $1) }
    }
    // EBU Tech 3306: `RF64`, all ones, `WAVE`, `ds64`, 28, then the sizes of the file without its
    // first eight bytes and of the sound, and the number of frames.
    #expect(Array(head.prefix(4)) == Array("RF64".utf8))
    #expect(Array(head[12..<16]) == Array("ds64".utf8))
    let frames = 1 << 30 + 20_000
    #expect(number(at: 20) == header + frames * bytesPerFrame - 8)
    #expect(number(at: 28) == frames * bytesPerFrame)
    #expect(number(at: 36) == frames)
    #expect(try MediaProbe.describe(SourceFile(path)).expectedFrames == Frames(frames))
  }

  @Test("fails to be flushed for ever after that failed once")
  func flushFailure() throws {
    // A device has nothing to flush, and says so.
    let file = try GrowingFile(path: "/dev/full")
    #expect(throws: SpoolError.self) { try file.flush() }
    #expect(throws: SpoolError.self) { try file.flush() }
  }
}

@Suite("The state of an encoding")
struct EncodingStateTests {
  @Test("is read as it was written, whatever its numbers")
  func roundTrip() throws {
    for _ in 0..<200 {
      var state = EncodingState(settings: SHA256.digest(of: "settings"))
      state.extent = EncodingExtent(
        frames: .random(in: 0 ... .max), byteCount: .random(in: 0 ... .max))
      #expect(EncodingState(json: state.json) == state)
    }
  }

  @Test("tells its own files from those of another encoding with the same settings")
  func owner() {
    let settings = SHA256.digest(of: "settings")
    let (first, second) = (EncodingState(settings: settings), EncodingState(settings: settings))
    #expect(first.owner != second.owner)
    #expect(EncodingState(json: first.json)?.owner == first.owner)
  }
}
