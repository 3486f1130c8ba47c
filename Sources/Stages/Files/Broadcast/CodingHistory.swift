import Audio
import Media
import PipelineModel

/// What was done to sound, a line for each process, after EBU R 98: how it is coded, and in words
/// what did it.
enum CodingHistory {
  /// One process.
  struct Line: Hashable {
    /// How the sound is coded behind it.
    var algorithm = "PCM"
    /// The rate and the channels; nil where they are not known.
    var format: AudioFormat?
    /// Thousands of bits a second, of coded sound.
    var bitRate: Int?
    /// Bits of a sample; nil for floats, which R 98 has no word for.
    var wordLength: Int?
    /// What did it.
    let words: String

    /// As it is written, with its line end.
    var text: String {
      var fields = ["A=\(algorithm)"]
      if let format { fields.append("F=\(Int(format.sampleRate.value.rounded()))") }
      if let bitRate { fields.append("B=\(bitRate)") }
      if let wordLength { fields.append("W=\(wordLength)") }
      switch format?.channelCount {
      case 1: fields.append("M=mono")
      case 2: fields.append("M=stereo")
      default: break
      }
      // Commas part the fields.
      fields.append("T=\(plain(words))")
      return fields.joined(separator: ",") + "\r\n"
    }

    private func plain(_ words: String) -> String {
      let scalars = words.unicodeScalars.prefix(mostScalars).map { scalar -> Unicode.Scalar in
        switch scalar {
        case ",": ";"
        case _ where scalar.value < 0x20 || scalar.value == 0x7F: " "
        default: scalar
        }
      }
      return String(String.UnicodeScalarView(scalars))
    }
  }

  /// A list of a hundred cuts need not be in every file.
  private static let mostScalars = 250

  /// The lines of a file, behind those that the recording came with.
  static func text(_ lines: [Line], after earlier: String) -> String {
    // A line end is one character of two bytes.
    let isEnded = earlier.isEmpty || earlier.utf8.last == 0x0A
    var text = isEnded ? earlier : earlier + "\r\n"
    for line in lines { text += line.text }
    return text
  }
}

extension CodingHistory.Line {
  /// How a recording is coded. R 98 has words for linear samples and for MPEG audio; what it has
  /// none for is linear once it is decoded, and the words tell of what.
  init(ofRecording description: MediaDescription, _ bext: BroadcastExtension?) {
    let rate = description.bitRate.map { " \($0 / 1000) kbit/s" } ?? ""
    let origin = [bext?.originator, bext?.originatorReference].compactMap { $0 }
      .filter { !$0.isEmpty }.map { "; \($0)" }.joined()
    let codec = description.codec
    let generation = description.format.sampleRate.value >= 32_000 ? "MPEG1L" : "MPEG2L"
    switch codec {
    case "mp1", "mp2", "mp3":
      self.init(
        algorithm: generation + codec.suffix(1), format: description.format,
        bitRate: description.bitRate.map { $0 / 1000 }, words: "recording" + origin)
    case _ where codec.hasPrefix("pcm_"):
      self.init(
        format: description.format, wordLength: Self.wordLength(description),
        words: "recording" + origin)
    default:
      self.init(
        format: description.format, wordLength: Self.wordLength(description),
        words: "recording decoded from \(codec)\(description.bitDepth == nil ? rate : "")"
          + origin)
    }
  }

  private static func wordLength(_ description: MediaDescription) -> Int? {
    description.codec.hasPrefix("pcm_f") ? nil : description.bitDepth
  }

  /// What a stage did, with its parameters.
  init(_ step: BoundStep, format: AudioFormat?) {
    var words = "\(Release.name) \(Release.version); \(step.descriptor.kind)"
    if case .group(let values) = step.parameters {
      for parameter in step.descriptor.parameters where parameter.isInKey {
        // What is free text may name people and places.
        if case .text = parameter.type { continue }
        guard let value = values[parameter.name], value != .null else { continue }
        words += "; \(parameter.name) \(parameter.type.text(of: value))"
      }
    }
    self.init(format: format, words: words)
  }
}
