import Audio
import Platform

/// A decoder in a confined process, which decodes ahead into shared memory.
///
/// Many parts of Spool open a recording to learn its format. A process that was opened and not read from
/// serves the next decoder of the same recording, if that comes soon.
final class ConfinedDecoder: Decoding {
  var format: AudioFormat { opening.format }
  var expectedFrames: Frames? { opening.expectedFrames }
  var isLengthDeclared: Bool { opening.isLengthDeclared }
  private(set) var position = Frames.zero
  private(set) var damages: [SoundDecoder.Damage]
  private(set) var doubt: String?
  private(set) var declaredLength: Seconds?

  private let opening: DecoderOpening
  private let slots: SoundSlots
  private let recording: Recording
  // Nil until sound is read, where what the process found is known.
  private var process: ConfinedSound?
  // How many blocks were received.
  private var blockCount = 0
  // The block that is being returned, and how much of it was.
  private var block: AudioBuffer
  private var given = Frames.zero
  private var ending: SoundBlock.Ending?
  private var isAtEnd = false
  private var received = Frames.zero

  /// More damage than any recording has, which would fill the memory.
  private static let mostDamages = 1 << 22

  /// What to decode, and where.
  struct Recording {
    let file: SourceFile
    let options: DecoderOptions
    let sandbox: MediaSandbox

    /// Starts a process.
    func open() throws(SpoolError) -> ConfinedSound {
      let memory: SharedMemory
      do throws(SystemError) {
        memory = try SharedMemory(byteCount: SoundSlots.byteCount)
      } catch { throw SpoolError("make shared memory for", file.path, error, cause: .transient) }
      let reader = try ConfinedReader(file, for: .decode(options), sharing: memory, in: sandbox)
      return ConfinedSound(reader: reader, memory: memory)
    }
  }

  convenience init(
    _ file: SourceFile, options: DecoderOptions, in sandbox: MediaSandbox
  ) throws(SpoolError) {
    let recording = Recording(file: file, options: options, sandbox: sandbox)
    let key = ReadFile(file, for: .decode(options))
    if let key, let opening = sandbox.known(key, as: DecoderOpening.self) {
      self.init(recording, opening, sandbox.takeSpare(key))
      return
    }
    let process = try recording.open()
    let opening: DecoderOpening = try process.reader.result()
    if let key { sandbox.remember(opening, of: key) }
    self.init(recording, opening, process)
  }

  /// - Parameter process: what has found this and was not asked for sound.
  init(_ recording: Recording, _ opening: DecoderOpening, _ process: ConfinedSound?) {
    self.recording = recording
    self.opening = opening
    self.process = process
    damages = opening.damages
    slots = SoundSlots(channelCount: opening.format.channelCount)
    block = AudioBuffer(channelCount: opening.format.channelCount, capacity: Frames(16))
    block.frameCount = .zero
  }

  deinit {
    guard blockCount == 0, !isAtEnd, let process,
      let key = ReadFile(recording.file, for: .decode(recording.options))
    else { return }
    recording.sandbox.keepSpare(process, of: key)
  }

  func read(into buffer: inout AudioBuffer) throws(SpoolError) -> Bool {
    precondition(buffer.channelCount == format.channelCount)
    buffer.frameCount = .zero
    while buffer.frameCount < buffer.capacity, !isAtEnd {
      let available = block.frameCount - given
      if available > .zero {
        let count = min(available, buffer.capacity - buffer.frameCount)
        buffer.append(contentsOf: block, start: given, count: count)
        given += count
      } else {
        try advance()
      }
    }
    position += buffer.frameCount
    return buffer.frameCount > .zero
  }

  /// Gives the slot of the last block back, and waits for the next one.
  private func advance() throws(SpoolError) {
    switch ending {
    case .failure(let error):
      isAtEnd = true
      throw SpoolError(error, naming: recording.file.path)
    case .doubt(let doubt, let length):
      isAtEnd = true
      (self.doubt, declaredLength) = (doubt, length)
      return
    case nil: break
    }
    let next: SoundBlock
    let process: ConfinedSound
    do throws(SpoolError) { (next, process) = try nextBlock() } catch {
      isAtEnd = true
      throw error
    }
    received += Frames(next.frameCount)
    guard next.frameCount <= slots.capacity.count,
      damages.count + next.damages.count <= Self.mostDamages, received <= mostFrames(process)
    else {
      isAtEnd = true
      throw process.reader.strange
    }
    block = unsafe slots.buffer(blockCount % SoundSlots.count, in: process.memory)
    block.frameCount = Frames(next.frameCount)
    given = .zero
    blockCount += 1
    damages += next.damages
    ending = next.ending
  }

  private func nextBlock() throws(SpoolError) -> (SoundBlock, ConfinedSound) {
    if let process {
      process.reader.grant(blockCount == 0 ? SoundSlots.count : 1)
      do throws(SpoolError) { return (try process.reader.value(), process) } catch {
        // It has ended if it waited for too long. What ends another one as well is the recording.
        guard blockCount == 0 else { throw error }
      }
    }
    let process = try recording.open()
    self.process = process
    let found: DecoderOpening = try process.reader.result()
    guard found == opening else {
      throw SpoolError(
        "decode", recording.file.path, reason: "it has changed meanwhile",
        advice: "try again when it is finished", cause: .transient)
    }
    process.reader.grant(SoundSlots.count)
    return (try process.reader.value(), process)
  }

  /// More sound than any file of that size holds: silence takes a byte a second at least.
  private func mostFrames(_ process: ConfinedSound) -> Frames {
    let seconds = 2 * Double(max(3600, process.reader.byteCount))
    return Frames(Int(min(seconds * format.sampleRate.value, 0x1p62)))
  }
}

/// A process that decodes, and the memory that it does so into.
struct ConfinedSound: Sendable {
  let reader: ConfinedReader
  let memory: SharedMemory
}

/// The places in shared memory that blocks of sound take in turn.
struct SoundSlots {
  static let count = 4
  private static let slotByteCount = 1 << 20
  /// The whole memory.
  static var byteCount: Int { count * slotByteCount }

  private let channelCount: Int
  /// What a block holds at most.
  let capacity: Frames

  /// - Parameter channelCount: 1 to 512.
  init(channelCount: Int) {
    self.channelCount = channelCount
    let floats = Self.slotByteCount / MemoryLayout<Float>.stride / channelCount
    capacity = Frames(min(16_384, (floats - 16) / 16 * 16))
    precondition(
      AudioBuffer.byteCount(channelCount: channelCount, capacity: capacity) <= Self.slotByteCount)
  }

  /// The buffer in a slot, which the memory must outlive.
  @unsafe func buffer(_ number: Int, in memory: SharedMemory) -> AudioBuffer {
    precondition(number < Self.count && memory.byteCount == Self.byteCount)
    return unsafe AudioBuffer(
      channelCount: channelCount, capacity: capacity,
      over: memory.start + number * Self.slotByteCount)
  }
}
