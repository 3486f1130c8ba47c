package import Audio
import Media
import PipelineModel
import Platform
import Proof

/// What a finished file was found to hold when it was decoded again, as it is written down.
package struct ExportCheck: Codable, Hashable, Sendable {
  /// As `export` calls it.
  package let format: String
  package let sampleRate: Hertz
  package let channels: Int
  /// The length of the sound, in frames; of several files all together.
  package var frames: Int
  /// How many files it tells of; nil for one.
  package var files: Int?
  /// Whether every sample came back as it was given to the encoder; nil for lossy formats, and where
  /// the codec does not have the rate of the sound.
  package var areSamplesEqual: Bool?
  /// Whether samples had more bits than a file of 24 bits keeps; nil for others, and where that was
  /// not looked at.
  package var isRounded: Bool?
  /// The true peak as the file decodes; nil for silence and for formats without loss.
  package var truePeak: Decibels?
  /// The loudness as the file decodes, in LUFS; nil where it is not measured, or undefined.
  package var integratedLoudness: LUFS?
  /// The true peak that the stages above promise; nil without one.
  package var ceiling: Decibels?
  /// The loudness that they promise; nil without one.
  package var target: LUFS?
  /// How often it was encoded: once, unless it decoded above the ceiling.
  package var encodings = 1
  /// What the sound of the last encoding was limited to, to decode below the ceiling; nil where it
  /// was encoded as it came.
  package var limit: Decibels?

  private enum CodingKeys: String, CodingKey {
    case format, sampleRate, channels, frames, files, areSamplesEqual = "samplesEqual", truePeak
    case isRounded = "rounded", integratedLoudness, ceiling, target, encodings, limit
  }

  /// By how much the file decodes above the ceiling; nil where it does not. What counts is the figure
  /// that is shown: tenths of a decibel.
  package var excess: Decibels? {
    guard let truePeak, let ceiling, truePeak.tenths > ceiling.value else { return nil }
    return Decibels(truePeak.value - ceiling.value)
  }

  /// What people are warned of.
  package var warnings: [String] {
    func text(_ level: Decibels) -> String { Unit.decibelsTruePeak.format(level.tenths) }
    guard let ceiling else { return [] }
    var warnings: [String] = []
    if excess != nil, let truePeak {
      let effort =
        limit.map { ", although it was encoded \(encodings) times and limited to \(text($0))" }
        ?? ""
      warnings.append(
        "the \(format) file decodes at \(text(truePeak)), above the ceiling of \(text(ceiling))"
          + "\(effort): a higher bit rate, or a lower ceiling above, leaves more room")
    }
    if let limit, let target, let loudness = integratedLoudness,
      abs(loudness.value - target.value) > Self.loudnessTolerance
    {
      warnings.append(
        "the \(format) file is at \(Unit.lufs.format((loudness.value * 10).rounded() / 10)) in "
          + "place of \(Unit.lufs.format(target.value)): it was limited to \(text(limit)) to decode "
          + "below \(text(ceiling)), which comes first; sound with lower peaks, compressed more, "
          + "loses less")
    }
    return warnings
  }

  /// In LU.
  private static let loudnessTolerance = 0.2

  /// What holds of several files: one for each format, with the worst of each figure.
  package static func summary(of checks: [ExportCheck]) -> [ExportCheck] {
    var sums: [ExportCheck] = []
    for check in checks {
      guard let index = sums.firstIndex(where: { $0.format == check.format }) else {
        sums.append(check)
        continue
      }
      sums[index].frames += check.frames
      sums[index].files = (sums[index].files ?? 1) + 1
      sums[index].areSamplesEqual = sums[index].areSamplesEqual.map {
        $0 && check.areSamplesEqual == true
      }
      sums[index].isRounded = sums[index].isRounded.flatMap { rounded in
        check.isRounded.map { rounded || $0 }
      }
      sums[index].truePeak = [sums[index].truePeak, check.truePeak].compactMap { $0 }.max()
      sums[index].integratedLoudness = nil
      sums[index].encodings = max(sums[index].encodings, check.encodings)
      sums[index].limit = [sums[index].limit, check.limit].compactMap { $0 }.min()
    }
    return sums
  }

  /// What is written down about the files of a step.
  struct Report: Codable {
    let files: [ExportCheck]
  }

  /// What was written down about the files of a step; empty where it cannot be read. O(files).
  package static func checks(report text: String) -> [ExportCheck] {
    (try? Findings.decode(Report.self, from: text))?.files ?? []
  }
}

extension ExportTarget {
  /// Decodes a finished file, and compares it with what its encoder was given. O(sound).
  ///
  /// - Parameters:
  ///   - path: the file's.
  ///   - format: of the sound that the encoder was given.
  ///   - frames: of that sound.
  ///   - samples: the hashes of that sound as a format without loss keeps it; nil for other formats.
  ///   - promise: what the stages above promise of its levels.
  ///   - check: throws when the work has to stop.
  /// - Throws: where the file does not hold that sound.
  func verify(
    _ path: String, of format: AudioFormat, frames: Frames, samples: SampleTree?,
    promise: LevelPromise? = nil, _ check: () throws(SpoolError) -> Void
  ) throws(SpoolError) -> ExportCheck {
    let encoded = spec.format(of: format)
    if let samples, encoded.hasShape(of: format) {
      return try compare(path, with: samples, encoded, check)
    }
    let isResampled = encoded.sampleRate != format.sampleRate
    let expected =
      isResampled ? frames.duration(at: format.sampleRate).frames(at: encoded.sampleRate) : frames
    let found: ExportedSound.Measurement
    do throws(SpoolError) {
      found = try ExportedSound.measure(
        path, positions: format.positions, isDualMono: promise?.isDualMono ?? false,
        isLengthEnough: self.format.isLossless
      ) { (_) throws(SpoolError) in try check() }
    } catch {
      if error.cause == .cancelled { throw error }
      if isResampled, min(frames, expected) < Self.leastResampled {
        throw SpoolError(
          "the sound is too short for \(self.format)",
          reason:
            "of \(frames.count) frames nothing is left at \(Int(encoded.sampleRate.value)) Hz",
          advice: "leave \(self.format) out, or take a longer stretch of the recording")
      }
      throw refused("it cannot be decoded: \(error.reason ?? error.message)")
    }
    guard found.format.hasShape(of: encoded) else {
      throw refused("it has \(found.format) in place of \(encoded)")
    }
    guard let length = length(found, expected, isResampled: isResampled) else {
      let declared = found.declared.map { ", and declares \($0.count)" } ?? ""
      throw refused(
        "it decodes to \(found.frames.count) frames in place of \(expected.count)\(declared)")
    }
    let isLossy = !self.format.isLossless
    return ExportCheck(
      format: self.format.rawValue, sampleRate: encoded.sampleRate, channels: encoded.channelCount,
      frames: length.count, truePeak: found.levels?.truePeak,
      integratedLoudness: found.levels?.integratedLoudness,
      ceiling: isLossy ? promise?.truePeak : nil, target: isLossy ? promise?.loudness : nil)
  }

  /// Every second of the file against the hash of what the encoder was given.
  private func compare(
    _ path: String, with samples: SampleTree, _ encoded: AudioFormat,
    _ check: () throws(SpoolError) -> Void
  ) throws(SpoolError) -> ExportCheck {
    var second = 0
    var different: Int?
    do throws(SpoolError) {
      try ExportedSound(path: path, extent: samples.extent, isOwn: true).blocks(
        0..<samples.extent.blockCount
      ) { (block, bytes) throws(SpoolError) in
        try check()
        second = block + 1
        if MerkleTree.leaf(bytes) != samples.leaves[block] { different = block }
        return different == nil
      }
    } catch {
      if error.cause == .cancelled { throw error }
      throw refused(
        "it cannot be decoded behind second \(second): \(error.reason ?? error.message)")
    }
    if let different {
      throw refused("decoded again, it has other samples in second \(different + 1)")
    }
    return ExportCheck(
      format: format.rawValue, sampleRate: encoded.sampleRate, channels: encoded.channelCount,
      frames: samples.extent.frames, areSamplesEqual: true)
  }

  /// The length of a file's sound; nil where it is wrong. It is that of what was given: by the LAME
  /// header of MP3 files, the granule positions of Ogg files, and the edit list of M4A files.
  /// Resampled sound is rounded to a frame. LAME's delay exceeds what decoders drop of a packet, so
  /// that MP3 keeps up to 46 frames of padding; of less than half a second it may be a packet, and
  /// Vorbis of one page has no exact end.
  private func length(
    _ found: ExportedSound.Measurement, _ expected: Frames, isResampled: Bool
  ) -> Frames? {
    let slack = isResampled ? 1 : 0
    let isShort = expected.duration(at: found.format.sampleRate).value < 0.5
    let length = found.frames
    var (least, most) = (expected.count - slack, expected.count + slack)
    switch spec {
    case .aac:
      guard found.declared == length else { return nil }
    case .mp3: most += isShort ? 1152 : Self.mostOfLAME
    case .vorbis where isShort: (least, most) = (least - 1024, most + 1024)
    case .wav, .alac, .flac, .opus, .vorbis: break
    }
    return (least...most).contains(length.count) ? length : nil
  }

  /// Of fewer frames, a resampler may leave none.
  private static let leastResampled = Frames(64)

  /// Frames of padding that decoders leave where the last packet holds few frames of the sound.
  private static let mostOfLAME = 46

  private func refused(_ reason: String) -> SpoolError {
    SpoolError(
      "the \(format) file does not hold the sound that was encoded", reason: reason,
      advice:
        "run it again: the file is encoded anew. If that fails too, test the memory and the disk, "
        + "or export another format",
      cause: .environment, kind: .broken)
  }
}

extension Decibels {
  /// In tenths, as it is shown.
  package var tenths: Double { (value * 10).rounded() / 10 }
}
