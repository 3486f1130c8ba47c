internal import AudioModel

/// The sound of chunks that are collected or being encoded.
enum HeldSound {
  /// Long chunks, in a file.
  case file(SoundStash)
  /// Short ones, in memory.
  case memory(SoundWindow)

  /// Adds the block that follows; its first frame has the number `start`.
  mutating func append(_ block: SharedBuffer, at start: Int) throws(MediaError) {
    switch self {
    case .file(let stash): try stash.write(block.buffer, at: start)
    case .memory(var window):
      self = .memory(SoundWindow())
      window.append(block, at: start)
      self = .memory(window)
    }
  }

  /// The frames of `range`, for another thread; in memory they stay for as long as it has them.
  func covering(_ range: Range<Int>) -> any ChunkSound {
    switch self {
    case .file(let stash): stash
    case .memory(let window): window.covering(range)
    }
  }

  /// Lets go of the frames before `handedOut`, which were given to the chunks that need them, or
  /// where those only have a way to the sound, of the frames before `encoded`.
  mutating func drop(handedOut: Int, encoded: Int, channelCount: Int) {
    switch self {
    case .file(let stash): stash.drop(before: encoded, channelCount: channelCount)
    case .memory(var window):
      self = .memory(SoundWindow())
      window.drop(before: handedOut)
      self = .memory(window)
    }
  }
}
