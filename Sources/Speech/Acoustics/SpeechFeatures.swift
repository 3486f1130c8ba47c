import CSpeechLoader
import Platform

/// The features of a piece of sound: for each frame (10 ms) the cepstrum of its spectrum, without
/// its mean, and the cepstrum's slope and slope's slope.
struct SpeechFeatures {
  /// The coefficients of a frame.
  static let width = DensityCodebooks.width * DensityCodebooks.partCount
  /// The coefficients, frame after frame.
  let values: [Float]

  /// How many frames there are: two or three fewer than steps of 10 ms.
  var frameCount: Int { values.count / Self.width }

  /// Computes them from cepstra of thirteen coefficients: slopes over four frames and their
  /// differences over two, as the feature `1s_c_d_dd` of CMU Sphinx has it. Beyond the ends the
  /// outer frames count.
  init(cepstra: [Float]) {
    let part = DensityCodebooks.width
    let count = cepstra.count / part
    var values = [Float](repeating: 0, count: count * Self.width)
    var mean = [Float](repeating: 0, count: part)
    var voiced: Float = 0
    for frame in 0..<count where cepstra[frame * part] >= 0 {
      for index in 0..<part { mean[index] += cepstra[frame * part + index] }
      voiced += 1
    }
    if voiced > 0 { for index in 0..<part { mean[index] /= voiced } }
    for frame in 0..<count {
      func row(_ offset: Int) -> Int { min(max(frame + offset, 0), count - 1) * part }
      let rows = (row(-3), row(-2), row(-1), row(1), row(2), row(3))
      for index in 0..<part {
        let place = frame * Self.width + index
        values[place] = cepstra[frame * part + index] - mean[index]
        values[place + part] = cepstra[rows.4 + index] - cepstra[rows.1 + index]
        values[place + 2 * part] =
          (cepstra[rows.5 + index] - cepstra[rows.2 + index])
          - (cepstra[rows.3 + index] - cepstra[rows.0 + index])
      }
    }
    self.values = values
  }
}

/// Analyses sound with libsphinxbase, as a model wants it. It belongs to one thread at a time.
@safe struct CepstralAnalysis: ~Copyable {
  private let analysis: OpaquePointer

  init(parameters: String) throws(SpoolError) {
    try SpeechLibraries.openSphinx()
    guard let analysis = unsafe spool_cepstra_make(parameters) else {
      throw .acousticModel(parameters, "libsphinxbase cannot do what it says")
    }
    guard unsafe spool_cepstra_count(analysis) == DensityCodebooks.width else {
      unsafe spool_cepstra_free(analysis)
      throw .acousticModel(parameters, "its cepstra do not have 13 coefficients")
    }
    unsafe self.analysis = unsafe analysis
  }

  deinit { unsafe spool_cepstra_free(analysis) }

  /// The features of sound of 16 kHz.
  func features(of sound: Span<Int16>) -> SpeechFeatures {
    let capacity = sound.count / LevelTrace.step + 1
    var cepstra = [Float](repeating: 0, count: capacity * DensityCodebooks.width)
    let count = unsafe sound.withUnsafeBufferPointer { sound in
      unsafe cepstra.withUnsafeMutableBufferPointer {
        unsafe spool_cepstra_of(
          analysis, sound.baseAddress, sound.count, $0.baseAddress, Int32(capacity))
      }
    }
    cepstra.removeLast(cepstra.count - max(0, Int(count)) * DensityCodebooks.width)
    return SpeechFeatures(cepstra: cepstra)
  }
}
