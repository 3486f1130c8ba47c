import Audio
import Foundation
@testable import Media
import Platform
import TestSupport
import Testing

@Suite("An encoding that was interrupted")
struct ResumedEncodingTests {
  let scratch: ScratchFolder
  let pool = WorkerPool(threadCount: 2)

  init() throws { scratch = try ScratchFolder() }

  @Test(
    "yields the same bytes though its process was killed", arguments: Interruption.all.indices)
  func killed(_ index: Int) async throws {
    let interruption = Interruption.all[index]
    let folder = scratch.path
    await #expect(processExitsWith: .signal(SIGKILL)) {
      [index = index as Int, folder = folder as String] in
      let interruption = Interruption.all[index]
      let sound = interruption.sound
      let pool = WorkerPool(threadCount: 2)
      let encoder = try interruption.encoder(sound, in: folder, pool: pool, resuming: nil)
      for block in sound.blocks(of: 16384).dropLast(2) { try encoder.write(block) }
      if interruption.isResumable && !interruption.isResampled {
        try encoder.waitForProgress(to: interruption.frames / 3)
      }
      try Data(encoder.progress().state.utf8).write(to: URL(fileURLWithPath: folder + "/state"))
      kill(getpid(), SIGKILL)
    }
    let state = try String(contentsOfFile: scratch.file("state"), encoding: .utf8)
    let sound = interruption.sound
    let encoder = try interruption.encoder(sound, in: folder, pool: pool, resuming: state)
    let isNeeded = !interruption.isResumable || interruption.isResampled
    #expect((encoder.progress().needsFrom == .zero) == isNeeded)
    try encoder.takeRest(of: sound, blockSize: 16384)
    try encoder.finish()
    #expect(
      try bytes(of: scratch.file("export"))
        == interruption.wholeFile(sound, in: folder, pool: pool))
  }

  @Test(
    "yields the same bytes however often and wherever it stops, and however the sound is cut",
    arguments: Interruption.resumable)
  func often(_ interruption: Interruption) throws {
    let sound = interruption.sound
    var state: String?
    for (round, blockSize) in [5000, 16384, 4097, 100_000].enumerated() {
      let encoder = try interruption.encoder(
        sound, in: scratch.path, pool: pool, resuming: state)
      let before = encoder.progress().needsFrom.count
      let first = before / blockSize * blockSize
      encoder.begin(at: Frames(first))
      let goal = interruption.frames * (round + 1) / 6
      for block in sound.blocks(of: blockSize)[(first / blockSize)...] {
        if encoder.progress().needsFrom.count >= goal { break }
        try encoder.write(block)
      }
      try encoder.waitForProgress(to: goal)
      state = encoder.progress().state
      #expect(encoder.progress().needsFrom.count >= before)
    }
    let encoder = try interruption.encoder(sound, in: scratch.path, pool: pool, resuming: state)
    #expect(encoder.progress().needsFrom > .zero)
    try encoder.takeRest(of: sound, blockSize: 999)
    try encoder.finish()
    #expect(
      try bytes(of: scratch.file("export"))
        == interruption.wholeFile(sound, in: scratch.path, pool: pool))
  }

  @Test(
    "can be resumed even when its file was complete",
    arguments: Interruption.resumable)
  func complete(_ interruption: Interruption) throws {
    let sound = interruption.sound
    let first = try interruption.encoder(sound, in: scratch.path, pool: pool, resuming: nil)
    try first.takeRest(of: sound, blockSize: 16384)
    try first.finish()
    let state = first.progress().state
    let whole = try bytes(of: scratch.file("export"))

    let second = try interruption.encoder(sound, in: scratch.path, pool: pool, resuming: state)
    #expect(second.progress().needsFrom.count > interruption.frames / 2)
    try second.takeRest(of: sound, blockSize: 16384)
    try second.finish()
    #expect(try bytes(of: scratch.file("export")) == whole)
  }

  @Test("says that the sound is shorter than before", arguments: Interruption.resumable)
  func shortened(_ interruption: Interruption) throws {
    let sound = interruption.sound
    let state = try interruption.abandon(
      sound, in: scratch.path, pool: pool, after: interruption.frames / 2)
    let second = try interruption.encoder(sound, in: scratch.path, pool: pool, resuming: state)
    second.begin(at: .zero)
    try second.write(sound.blocks(of: 5000)[0])
    let error = #expect(throws: SpoolError.self) { try second.finish() }
    #expect(error?.reason?.contains("shorter") == true)
  }

  @Test(
    "starts over with a state that is none, or of something else",
    arguments: Interruption.resumable)
  func foreignState(_ interruption: Interruption) throws {
    let sound = interruption.sound
    let own = try interruption.abandon(
      sound, in: scratch.path, pool: pool, after: interruption.frames / 2)
    var others = ["", "{}", "nothing", "[1, 2]"]
    var other = interruption
    other.channels = 1
    others.append(try state(of: other))
    other = interruption
    other.rate = 44100
    others.append(try state(of: other))
    let specs: [ExportSpec] = [
      .wav(.float32), .alac(.bits24), .aac(bitRate: 99_000), .flac(.bits16, level: 6),
    ]
    for spec in specs {
      others.append(try state(of: Interruption(spec: spec, plan: interruption.plan)))
    }
    for state in others {
      let second = try interruption.encoder(sound, in: scratch.path, pool: pool, resuming: state)
      #expect(second.progress().needsFrom == .zero)
      #expect(second.progress().state != own)
    }
    // The last one of these has taken the file and the folder over.
    let third = try interruption.encoder(sound, in: scratch.path, pool: pool, resuming: own)
    #expect(third.progress().needsFrom == .zero)
    try third.takeRest(of: sound, blockSize: 7000)
    try third.finish()
    #expect(
      try bytes(of: scratch.file("export"))
        == interruption.wholeFile(sound, in: scratch.path, pool: pool))
  }

  private func state(of interruption: Interruption) throws -> String {
    let folder = try ScratchFolder()
    let sound = Sound(channels: interruption.channels, rate: interruption.rate, frames: 10)
    return try interruption.encoder(sound, in: folder.path, pool: pool, resuming: nil)
      .progress().state
  }

  @Test("has nothing to go on with, and leaves nothing, where there is no work")
  func noWork() throws {
    for interruption in Interruption.resumable {
      let folder = try ScratchFolder()
      let sound = interruption.sound
      let encoder = try interruption.encoder(
        sound, to: folder.file("export"), pool: pool, work: nil)
      for block in sound.blocks(of: 16384) { try encoder.write(block) }
      #expect(encoder.progress().needsFrom == .zero)
      #expect(encoder.progress().state == "")
      try encoder.flush()
      try encoder.finish()
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["export"])
    }
  }

  @Test("lets another thread flush while it goes on", arguments: Interruption.resumable)
  func flushing(_ interruption: Interruption) throws {
    let sound = interruption.sound
    let encoder = try interruption.encoder(sound, in: scratch.path, pool: pool, resuming: nil)
    let flusher = Flusher(encoder)
    let thread = BackgroundThread(name: "flush") { flusher.run() }
    try encoder.takeRest(of: sound, blockSize: 1000)
    try encoder.finish()
    flusher.isOver.raise()
    thread.join()
    #expect(flusher.outcome.count > 0)
    #expect(flusher.outcome.failure == nil)
    #expect(flusher.outcome.extents == flusher.outcome.extents.sorted())
    #expect(
      try bytes(of: scratch.file("export"))
        == interruption.wholeFile(sound, in: scratch.path, pool: pool))
  }
}

/// Asks for progress and flushes, over and over.
private final class Flusher: @unchecked Sendable {
  // The encoder's `progress` and `flush` may be called on any thread; `outcome` is read only after
  // the thread was joined.
  private let encoder: SoundFileEncoder
  private(set) var outcome = (count: 0, extents: [Frames](), failure: SpoolError?.none)
  let isOver = StopSign()

  init(_ encoder: SoundFileEncoder) { self.encoder = encoder }

  func run() {
    while !isOver.isRaised {
      outcome.extents.append(encoder.progress().needsFrom)
      do throws(SpoolError) { try encoder.flush() } catch { outcome.failure = error }
      outcome.count += 1
    }
  }
}
