import Audio
import Glibc
import Media
package import PipelineModel
package import Platform
import SoundEngine

/// A part of a recording, or of sound that is kept in the store, as a WAV file of its own.
///
/// Its samples are those of the source at these frames, in 24 bits: nothing is resampled or faded.
package struct SoundClip: Sendable {
  /// Where the sound comes from.
  package enum Source: Sendable {
    /// A recording's file, in any format that can be decoded.
    case recording(String)
    /// Sound that an earlier run has kept.
    case kept(Artifact, any ArtifactStore)
  }

  /// Where its first frame begins in the source, in seconds.
  package let start: Double
  /// Where its last frame ends in the source, in seconds.
  package let end: Double

  private static let block = Frames(16_384)

  /// Cuts a clip and writes it, whole or not at all. What reaches beyond the ends of the sound is left
  /// out. O(n) in what lies before its end: a decoder has to begin where the recording does.
  ///
  /// Throws where the source cannot be read, has no sound in the range, or `path` cannot be written.
  /// - Parameters:
  ///   - range: from where to where, in seconds.
  ///   - isReplacing: whether a file that is at `path` already is replaced.
  ///   - mayGoOn: asked now and then; false ends the work.
  package init(
    _ range: ClosedRange<Double>, of source: Source, to path: String, isReplacing: Bool,
    mayGoOn: () -> Bool = { true }
  ) throws(SpoolError) {
    let sound = try Self.open(source)
    let format = sound.outline.format
    let rate = format.sampleRate.value
    let first = Int((max(0, range.lowerBound) * rate).rounded())
    let last = Int((max(0, range.upperBound) * rate).rounded())
    let draft = path + ".spool-\(getpid()).part"
    do throws(SpoolError) {
      let written = try Self.write(sound, first..<max(first, last), to: draft, mayGoOn)
      guard written > 0 else {
        throw SpoolError(
          "there is no sound to cut", reason: "the source ends before second \(range.lowerBound)",
          advice: "the sound may be another than the one whose words were found")
      }
      try Self.place(draft, at: path, isReplacing)
      (start, end) = (Double(first) / rate, Double(first + written) / rate)
    } catch {
      try? FileOperations.system.unlink(draft)
      // The draft's name means nothing to the user.
      var named = error
      if error.subject == draft { named.subject = path }
      throw named
    }
  }

  private static func open(_ source: Source) throws(SpoolError) -> any SoundSource {
    switch source {
    case .recording(let path): return try RecordedSound(SourceFile(path))
    case .kept(let artifact, let store): return try PCMArtifact(artifact, in: store).open()
    }
  }

  /// - Returns: how many frames were written.
  private static func write(
    _ sound: any SoundSource, _ frames: Range<Int>, to path: String, _ mayGoOn: () -> Bool
  ) throws(SpoolError) -> Int {
    let format = sound.outline.format
    let pool = WorkerPool(threadCount: 1, name: "clip")
    defer { pool.finish() }
    let encoder = try SoundFileEncoder(
      path: path, spec: .wav(.integer(.bits24)), format: format, pool: pool)
    var position = try sound.skip(to: Frames(frames.lowerBound)).count
    var written = 0
    var input = AudioBuffer(channelCount: format.channelCount, capacity: block)
    while position < frames.upperBound, try sound.read(into: &input) {
      guard mayGoOn() else { throw SpoolError.cancelled }
      let own = (position..<position + input.frameCount.count).clamped(to: frames)
      if !own.isEmpty {
        var output = AudioBuffer(channelCount: format.channelCount, capacity: Frames(own.count))
        output.append(
          contentsOf: input, start: Frames(own.lowerBound - position), count: Frames(own.count))
        try encoder.write(SharedBuffer(output))
        written += own.count
      }
      position += input.frameCount.count
    }
    try encoder.finish()
    return written
  }

  private static func place(
    _ draft: String, at path: String, _ isReplacing: Bool
  ) throws(SpoolError) {
    do throws(SystemError) {
      if isReplacing {
        try FileOperations.system.rename(draft, to: path)
      } else {
        try FileOperations.system.link(draft, to: path)
        try? FileOperations.system.unlink(draft)
      }
    } catch {
      guard error.code == EEXIST else { throw SpoolError("write", path, error) }
      throw SpoolError(
        "\(path) is there already",
        advice: "choose another name, or type \(option: .replace)", cause: .environment)
    }
  }
}
