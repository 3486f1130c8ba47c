import Audio
internal import CLibAV
internal import CLibAVLoader
package import Platform

/// libavutil's Fourier transform of real samples.
@safe package final class LibraryTransform {
  /// Samples that it takes at a time.
  package let length: Int
  private var context: OpaquePointer?
  private let function: av_tx_fn
  // Aligned for the library's vector code.
  private let input: UnsafeMutablePointer<Float>
  private let output: UnsafeMutablePointer<Float>

  private static let alignment = 64

  /// `length` is a power of two from 16 to 65536.
  package init(length: Int) throws(SpoolError) {
    precondition((16...65536).contains(length) && length & (length - 1) == 0)
    let purpose = "a spectrum"
    try LibAV.require(for: purpose)
    var context: OpaquePointer?
    var function: av_tx_fn?
    var scale: Float = 1
    let status = LibAV.calling {
      unsafe av_tx_init(&context, &function, AV_TX_FLOAT_RDFT, 0, Int32(length), &scale, 0)
    }
    guard status >= 0, let function = unsafe function else {
      throw SpoolError(
        "transform \(length) samples for", purpose,
        reason: LibAV.reason(status), advice: "use FFmpeg 5.1 or newer", cause: .input)
    }
    self.length = length
    unsafe self.context = context
    unsafe self.function = function
    // The library may write slightly beyond the result.
    unsafe input = Self.allocate(length)
    unsafe output = Self.allocate(length + 32)
  }

  deinit {
    unsafe av_tx_uninit(&context)
    unsafe input.deallocate()
    unsafe output.deallocate()
  }

  private static func allocate(_ count: Int) -> UnsafeMutablePointer<Float> {
    let raw = UnsafeMutableRawPointer.allocate(byteCount: 4 * count, alignment: alignment)
    let floats = unsafe raw.bindMemory(to: Float.self, capacity: count)
    unsafe floats.initialize(repeating: 0, count: count)
    return unsafe floats
  }

  /// The power of each frequency.
  package func transform(_ samples: Span<Float>, into powers: inout MutableSpan<Float>) {
    precondition(samples.count == length && powers.count == length / 2 + 1)
    for index in 0..<length { unsafe input[index] = samples[index] }
    unsafe function(context, output, input, MemoryLayout<Float>.stride)
    for index in 0...length / 2 {
      let (real, imaginary) = unsafe (output[2 * index], output[2 * index + 1])
      powers[index] = real * real + imaginary * imaginary
    }
  }
}
