import Audio
import Platform

/// A decoder in a confined process, which decodes ahead into shared memory.
final class ConfinedDecoder: Decoding {
  let format: AudioFormat
  let expectedFrames: Frames?
  let isLengthDeclared: Bool
  private(set) var position = Frames.zero
  private(set) var damages: [SoundDecoder.Damage]
  private(set) var doubt: String?
  private(set) var declaredLength: Seconds?

  private let reader: ConfinedReader
  private let memory: SharedMemory
  private let slots: SoundSlots
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

  convenience init(
    _ file: SourceFile, options: DecoderOptions, in sandbox: MediaSandbox
  ) throws(SpoolError) {
    let memory: SharedMemory
    do throws(SystemError) {
      memory = try SharedMemory(byteCount: SoundSlots.byteCount)
    } catch { throw SpoolError("make shared memory for", file.path, error, cause: .transient) }
    try self.init(
      ConfinedReader(file, for: .decode(options), sharing: memory, in: sandbox), sharing: memory)
  }

  /// - Parameter reader: what has been asked for the sound.
  init(_ reader: ConfinedReader, sharing memory: SharedMemory) throws(SpoolError) {
    self.reader = reader
    self.memory = memory
    let opening: DecoderOpening = try reader.result()
    format = opening.format
    expectedFrames = opening.expectedFrames
    isLengthDeclared = opening.isLengthDeclared
    damages = opening.damages
    slots = SoundSlots(channelCount: format.channelCount)
    block = unsafe slots.buffer(0, in: memory)
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
      throw reader.named(error)
    case .doubt(let doubt, let length):
      isAtEnd = true
      (self.doubt, declaredLength) = (doubt, length)
      return
    case nil: break
    }
    reader.grant(blockCount == 0 ? SoundSlots.count : 1)
    let next: SoundBlock
    do throws(SpoolError) { next = try reader.value() } catch {
      isAtEnd = true
      throw error
    }
    received += Frames(next.frameCount)
    guard next.frameCount <= slots.capacity.count,
      damages.count + next.damages.count <= Self.mostDamages, received <= mostFrames
    else {
      isAtEnd = true
      throw reader.strange
    }
    block = unsafe slots.buffer(blockCount % SoundSlots.count, in: memory)
    block.frameCount = Frames(next.frameCount)
    given = .zero
    blockCount += 1
    damages += next.damages
    ending = next.ending
  }

  /// More sound than any file of that size holds: silence takes a byte a second at least.
  private var mostFrames: Frames {
    let seconds = 2 * Double(max(3600, reader.byteCount))
    return Frames(Int(min(seconds * format.sampleRate.value, 0x1p62)))
  }
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
