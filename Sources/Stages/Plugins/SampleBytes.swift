/// Samples as the bytes that pipes carry: 32-bit floats, little-endian.
enum SampleBytes {
  static func bytes(of samples: ArraySlice<Float>) -> [UInt8] {
    unsafe samples.withUnsafeBytes { unsafe Array($0) }
  }

  static func samples(of bytes: [UInt8]) -> [Float] {
    unsafe [Float](unsafeUninitializedCapacity: bytes.count / 4) { buffer, count in
      unsafe UnsafeMutableRawBufferPointer(buffer).copyBytes(
        from: bytes.prefix(bytes.count / 4 * 4))
      count = bytes.count / 4
    }
  }
}
