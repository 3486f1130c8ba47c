/// The five figures of loudness that a Broadcast Wave file has room for, after EBU R 128; nil for
/// what is not known.
public struct BroadcastLoudness: Hashable, Sendable {
  /// The integrated loudness, in LUFS.
  public var integrated: Double?
  /// The loudness range, in LU.
  public var range: Double?
  /// The highest true peak, in dBTP.
  public var truePeak: Double?
  /// The loudest 400 ms, in LUFS.
  public var momentary: Double?
  /// The loudest 3 s, in LUFS.
  public var shortTerm: Double?

  /// Nothing is known.
  public init() {}

  /// What stands for a figure that is not known (EBU Tech 3285, section 2.3).
  static let unknown: UInt16 = 0x7FFF

  /// Reads the ten bytes of a chunk.
  init(_ bytes: ArraySlice<UInt8>) {
    var reader = ByteReader(bytes)
    func next() -> Double? {
      let word = UInt16(truncatingIfNeeded: reader.integer(byteCount: 2) ?? Int(Self.unknown))
      let hundredths = Int16(bitPattern: word)
      return abs(Int(hundredths)) <= 9999 ? Double(hundredths) / 100 : nil
    }
    integrated = next()
    range = next()
    truePeak = next()
    momentary = next()
    shortTerm = next()
  }

  /// The figures in hundredths, in the order of the chunk.
  var bytes: [UInt8] {
    var bytes: [UInt8] = []
    for figure in [integrated, range, truePeak, momentary, shortTerm] {
      bytes.append(Self.word(figure), byteCount: 2)
    }
    return bytes
  }

  /// Figures beyond ±99.99 have no place in the chunk.
  private static func word(_ figure: Double?) -> Int {
    guard let figure, figure.isFinite else { return Int(unknown) }
    let hundredths = (figure * 100).rounded()
    return abs(hundredths) <= 9999 ? Int(hundredths) : Int(unknown)
  }
}
