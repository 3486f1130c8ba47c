package import Audio

/// Turns planar blocks into interleaved runs of samples and back.
package enum Interleaving {
  /// Writes the block's frames one after the other; `samples` grows where it is too short.
  /// - Returns: the number of samples written.
  package static func join(_ block: borrowing AudioBuffer, into samples: inout [Float]) -> Int {
    let channels = block.channelCount
    let frames = block.frameCount.count
    let count = frames * channels
    if samples.count < count { samples = [Float](repeating: 0, count: count) }
    unsafe samples.withUnsafeMutableBufferPointer { target in
      guard let target = target.baseAddress else { return }
      if channels == 2 {
        let left = unsafe block.baseAddress(ofChannel: 0)
        let right = unsafe block.baseAddress(ofChannel: 1)
        for frame in 0..<frames {
          unsafe target[2 &* frame] = left[frame]
          unsafe target[2 &* frame &+ 1] = right[frame]
        }
        return
      }
      for channel in 0..<channels {
        let source = unsafe block.baseAddress(ofChannel: channel)
        for frame in 0..<frames {
          unsafe target[frame &* channels &+ channel] = source[frame]
        }
      }
    }
    return count
  }

  /// Fills the block's frames, as many as it says it holds, from interleaved samples.
  package static func split(_ samples: [Float], into block: inout AudioBuffer) {
    let channels = block.channelCount
    let frames = block.frameCount.count
    precondition(samples.count >= frames * channels)
    unsafe samples.withUnsafeBufferPointer { source in
      guard let source = source.baseAddress else { return }
      for channel in 0..<channels {
        let target = unsafe block.baseAddress(ofChannel: channel)
        for frame in 0..<frames {
          unsafe target[frame] = source[frame &* channels &+ channel]
        }
      }
    }
  }
}
