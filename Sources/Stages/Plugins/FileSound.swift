import AudioModel
import Media
import PipelineModel

/// A sound file that a program wrote, on its way into the store as sound.
struct FileSound {
  let path: String
  /// Who wrote it, for people.
  let maker: String

  private static let length = Frames(16_384)

  /// Decodes and keeps it. O(length), in flat memory.
  func keep(in context: StageContext) throws(StageError) -> Artifact {
    let decoder: SoundDecoder
    do throws(MediaError) { decoder = try SoundDecoder(path: path) } catch { throw failure(error) }
    let draft: ArtifactDraft
    do throws(StoreError) { draft = try context.store.makeDraft(.sound) } catch {
      throw StageError(error)
    }
    try append(KeptSound.header(decoder.format), to: draft)
    var buffer = AudioBuffer(channelCount: decoder.format.channelCount, capacity: Self.length)
    var samples: [Float] = []
    while true {
      try context.stop.check()
      let isMore: Bool
      do throws(MediaError) { isMore = try decoder.read(into: &buffer) } catch {
        throw failure(error)
      }
      guard isMore else { break }
      let count = Interleaving.join(buffer, into: &samples)
      guard samples[..<count].allSatisfy(\.isFinite) else {
        throw StageError(
          "\(maker) failed", reason: "a sample of the sound that it wrote is no number")
      }
      try append(SampleBytes.bytes(of: samples[..<count]), to: draft)
    }
    do throws(StoreError) { return try draft.seal() } catch { throw StageError(error) }
  }

  private func append(
    _ bytes: [UInt8], to draft: borrowing ArtifactDraft
  ) throws(StageError) {
    do throws(StoreError) { try unsafe draft.append(bytes.span.bytes) } catch {
      throw StageError(error)
    }
  }

  private func failure(_ error: MediaError) -> StageError {
    StageError(
      "\(maker) failed",
      reason: "the sound that it wrote cannot be decoded"
        + (error.reason.map { ": \($0)" } ?? ""),
      advice: "let it write a WAV file, or another that FFmpeg reads")
  }
}
