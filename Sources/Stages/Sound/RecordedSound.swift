import AudioModel
import Media
import PipelineModel

/// A recording that is decoded from its beginning, of which nothing but its sound is wanted.
final class RecordedSound: SoundSource {
  let outline: SoundOutline
  private let decoder: SoundDecoder

  init(_ path: String, _ options: DecoderOptions = DecoderOptions()) throws(StageError) {
    do throws(MediaError) { decoder = try SoundDecoder(path: path, options: options) } catch {
      throw StageError(error)
    }
    outline = SoundOutline(decoder)
  }

  func read(into buffer: inout AudioBuffer) throws(StageError) -> Bool {
    do throws(MediaError) { return try decoder.read(into: &buffer) } catch {
      throw StageError(error)
    }
  }

  func report() -> String? { nil }

  var warnings: [String] { decoder.damages.map(\.description) }
}
