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

  /// Samples as the bytes that pipes carry: 32-bit floats, little-endian.
  package static func bytes(of samples: ArraySlice<Float>) -> [UInt8] {
    unsafe samples.withUnsafeBytes { unsafe Array($0) }
  }

  /// Appends the samples behind the first `start`, all of which are looked at. O(n).
  /// - Returns: the place of the first sample that is no finite number; nil where all are.
  package static func append(_ bytes: [UInt8], from start: Int, to samples: inout [Float]) -> Int? {
    unsafe bytes.withUnsafeBytes { bytes in
      unsafe bytes.withMemoryRebound(to: Float.self) { all in
        // Without a branch in it, this loop handles several samples at once.
        let exponent: UInt32 = 0x7f80_0000
        var strange: UInt32 = 0
        for index in 0..<all.count {
          let bits = unsafe all[index].bitPattern & exponent
          strange |= bits == exponent ? 1 : 0
        }
        if strange != 0 { return unsafe all.firstIndex { !$0.isFinite } }
        unsafe samples.append(contentsOf: all[start...])
        return nil
      }
    }
  }
}
