import Audio
import Foundation
import Media
import Platform
import Testing

@Suite("The corpus of malformed recordings")
struct MalformedCorpusTests {
  static let folder = URL(fileURLWithPath: #filePath)
    .appendingPathComponent("../../../../../shared/data/malformed").standardizedFileURL
  static let files =
    (FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)?.allObjects ?? [])
    .compactMap { ($0 as? URL)?.path }.filter { $0.hasSuffix(".flac") }.sorted()

  /// Reads a recording to its end; gives its frames and damage.
  static func read(
    _ path: String, keepsDamaged: Bool
  ) throws(SpoolError) -> (frames: Int, damages: [SoundDecoder.Damage]) {
    let decoder = try SoundDecoder(
      SourceFile(path), options: DecoderOptions(keepsDamaged: keepsDamaged))
    var block = AudioBuffer(
      channelCount: decoder.format.channelCount, capacity: Frames(16_384))
    while try decoder.read(into: &block) {}
    return (decoder.position.count, decoder.damages)
  }

  @Test(
    "never crashes or hangs the decoder",
    .enabled(if: !files.isEmpty, "../shared/data is not there"), arguments: files)
  func survives(path: String) throws {
    for keepsDamaged in [false, true] {
      do throws(SpoolError) {
        let (frames, damages) = try Self.read(path, keepsDamaged: keepsDamaged)
        #expect(frames > 0)
        #expect(keepsDamaged || damages.isEmpty)
      } catch {
        #expect(error.reason?.isEmpty == false)
      }
    }
  }

  @Test(
    "holds uncommon files, which are decoded where libavcodec can",
    .enabled(if: !files.isEmpty, "../shared/data is not there"),
    arguments: files.filter { $0.contains("uncommon") })
  func uncommon(path: String) throws {
    // One begins with bytes that are no sound, which only a listener who keeps damage goes past.
    let keepsDamaged = path.contains("unparsable")
    do throws(SpoolError) {
      #expect(try Self.read(path, keepsDamaged: keepsDamaged).frames > 0)
    } catch {
      #expect(error.cause == .input, "\(error)")
      // A kind would blame the file system.
      #expect(error.kind == nil, "\(error)")
    }
  }
}
