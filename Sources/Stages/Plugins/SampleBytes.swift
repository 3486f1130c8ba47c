/// Samples as the bytes that pipes carry: 32-bit floats, little-endian.
enum SampleBytes {
  static func bytes(of samples: ArraySlice<Float>) -> [UInt8] {
    unsafe samples.withUnsafeBytes { unsafe Array($0) }
  }

  /// Appends the samples behind the first `start`, all of which are looked at. O(n).
  /// - Returns: the place of the first sample that is no finite number; nil where all are.
  static func append(_ bytes: [UInt8], from start: Int, to samples: inout [Float]) -> Int? {
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
