package import Audio
package import Media
import PipelineModel
package import Platform
package import Proof

/// The samples of an export without loss, block by block: of a WAV file as they lie there, of any other
/// one decoded from its beginning.
package struct ExportedSound: Sendable {
  private let path: String
  private let extent: SampleExtent
  private let isOwn: Bool

  /// The sound of the file at `path`, which is to have this extent.
  /// - Parameter isOwn: whether this process has just encoded the file.
  package init(path: String, extent: SampleExtent, isOwn: Bool = false) {
    self.path = path
    self.extent = extent
    self.isOwn = isOwn
  }

  /// Gives some blocks to `take`, in order. O(bytes); of a file that is no WAV file, with all that
  /// comes before them.
  /// - Parameter take: called with the block's number and its bytes; false ends the work.
  /// - Throws: where the file cannot be read, or has not as much sound, or of another kind.
  package func blocks(
    _ blocks: Range<Int>, _ take: (Int, [UInt8]) throws(SpoolError) -> Bool
  ) throws(SpoolError) {
    guard let wave = try BroadcastWave.Samples.open(path) else { return try decode(blocks, take) }
    guard wave.frameByteCount == extent.frameByteCount, wave.frameCount == extent.frames else {
      throw strange
    }
    for block in blocks {
      let bytes = try wave.bytes(extent.frames(of: block..<block + 1))
      guard try take(block, bytes) else { return }
    }
  }

  /// The tree over the sound, made again from the file. O(bytes).
  ///
  /// Throws where the file has more sound than the extent as well.
  /// - Parameter mayGoOn: called with how many blocks are done; false ends the work, and gives nil.
  package func tree(_ mayGoOn: (Int) -> Bool) throws(SpoolError) -> SampleTree? {
    var leaves: [Digest] = []
    try blocks(0..<extent.blockCount) { (_, bytes) throws(SpoolError) in
      leaves.append(MerkleTree.leaf(bytes))
      return mayGoOn(leaves.count)
    }
    return SampleTree(extent, leaves: leaves)
  }

  private func decode(
    _ blocks: Range<Int>, _ take: (Int, [UInt8]) throws(SpoolError) -> Bool
  ) throws(SpoolError) {
    let decoder = try isOwn ? SoundDecoder(ownFile: path) : SoundDecoder(SourceFile(path))
    guard decoder.format.channelCount == extent.channels,
      Int(decoder.format.sampleRate.value) == extent.rate
    else { throw strange }
    var buffer = AudioBuffer(channelCount: extent.channels, capacity: Frames(8192))
    var bytes: [UInt8] = []
    var block = blocks.lowerBound
    var next = extent.frames(of: blocks).lowerBound
    while block < blocks.upperBound {
      let start = decoder.position.count
      guard try decoder.read(into: &buffer) else { throw strange }
      let end = start + buffer.frameCount.count
      while next < end, block < blocks.upperBound {
        let piece = next..<min(end, extent.frames(of: block..<block + 1).upperBound)
        bytes += packing.bytes(of: buffer, piece.lowerBound - start..<piece.upperBound - start)
        next = piece.upperBound
        if bytes.count == extent.byteCount(ofBlock: block) {
          guard try take(block, bytes) else { return }
          bytes = []
          block += 1
        }
      }
      if end > extent.frames { throw strange }
    }
    // A decoder has read some sound ahead, so that the end of all of it costs nothing to see.
    if block == extent.blockCount, try decoder.read(into: &buffer) { throw strange }
  }

  /// What a finished file is like as it decodes.
  package struct Measurement {
    package let format: AudioFormat
    /// The length of the decoded sound.
    package let frames: Frames
    /// The length that the container declares; nil where it declares none.
    package let declared: Frames?
    /// Nil where only the length was asked for.
    package let levels: Levels?
  }

  /// Decodes the export at `path` to its end, and measures what listeners hear. O(sound).
  /// - Parameters:
  ///   - positions: of the channels; nil for those that the file states.
  ///   - isDualMono: whether the loudness of one channel is that of two speakers.
  ///   - isLengthEnough: whether nothing else is measured.
  ///   - check: called after each block with the share that is done, where that is known; may throw.
  package static func measure(
    _ path: String, positions: ChannelPositions? = nil, isDualMono: Bool = false,
    isLengthEnough: Bool = false,
    _ check: (Double?) throws(SpoolError) -> Void
  ) throws(SpoolError) -> Measurement {
    let decoder = try SoundDecoder(ownFile: path)
    let own = decoder.format
    let format = AudioFormat(
      sampleRate: own.sampleRate, channelCount: own.channelCount,
      positions: positions ?? own.positions)
    let meter = isLengthEnough ? nil : LevelMeter(format: format, isDualMono: isDualMono)
    var buffer = AudioBuffer(channelCount: decoder.format.channelCount, capacity: Frames(8192))
    while try decoder.read(into: &buffer) {
      meter?.analyse(buffer)
      let total = decoder.expectedFrames.flatMap { $0 > .zero ? $0 : nil }
      try check(total.map { min(1, Double(decoder.position.count) / Double($0.count)) })
    }
    return Measurement(
      format: decoder.format, frames: decoder.position,
      declared: decoder.isLengthDeclared ? decoder.expectedFrames : nil, levels: meter?.finding())
  }

  private var packing: ExportSpec.WaveSamples {
    switch extent.format {
    case .s16le: .integer(.bits16)
    case .s24le: .integer(.bits24)
    case .f32le: .float32
    }
  }

  private var strange: SpoolError {
    SpoolError(
      "\(path) is not the file that was signed",
      reason: "it has other sound than \(extent.frames) frames of \(extent.format.rawValue)")
  }
}

/// A recording that is decoded from its beginning.
package final class RecordedSound: SoundSource {
  package let outline: SoundOutline
  private let decoder: SoundDecoder
  private let description: MediaDescription?
  /// Whether no stream was asked for.
  private let isStreamOpen: Bool

  /// - Parameter isReported: whether there is a report of what was found in the file.
  package init(
    _ file: SourceFile, _ options: DecoderOptions = DecoderOptions(), isReported: Bool = false
  ) throws(SpoolError) {
    decoder = try SoundDecoder(file, options: options)
    outline = SoundOutline(decoder)
    description = isReported ? try MediaProbe.describe(file) : nil
    isStreamOpen = options.stream == nil
  }

  package func read(into buffer: inout AudioBuffer) throws(SpoolError) -> Bool {
    try decoder.read(into: &buffer)
  }

  package func report() -> String? {
    description.flatMap {
      try? Findings.json(
        Report(
          container: $0.container, codec: $0.codec, sampleRate: decoder.format.sampleRate,
          channels: decoder.format.channelCount,
          damages: decoder.damages.prefix(Self.damageLimit).map(\.description), damage: damage,
          doubt: decoder.doubt, isEndUntold: isEndUntold ? true : nil))
    }
  }

  package var warnings: [String] {
    let doubt = decoder.doubt.map { "it may have been longer: \($0)" }
    return [damage?.description ?? doubt, otherStreams, ambisonics].compactMap { $0 }
  }

  /// Whether nothing in the file tells where it was to end, as of frames without a container.
  private var isEndUntold: Bool {
    let isTimed = description.map { Self.timedStreams.contains($0.container) } ?? false
    return decoder.doubt == nil && decoder.damages.isEmpty
      && (!decoder.isLengthDeclared || isTimed)
  }

  /// Containers whose length follows from the times in them.
  private static let timedStreams: Set = ["mpegts", "mpeg"]

  /// Of a file whose every packet is damaged, the report lists only the first ones.
  private static let damageLimit = 1000

  private var damage: RecordingDamage? {
    let rate = decoder.format.sampleRate
    return RecordingDamage(
      decoder.damages.lazy.map { damage in
        RecordingDamage.Place(
          frame: damage.position.frames(at: rate).count,
          filledFrames: damage.lost?.frames(at: rate).count ?? 0, byteOffset: damage.byteOffset,
          reason: damage.reason)
      }, sampleRate: Int(rate.value),
      shortfall: decoder.declaredLength.map {
        RecordingDamage.Shortfall(
          decodedFrames: decoder.position.count, declaredFrames: $0.frames(at: rate).count)
      })
  }

  /// A warning where another stream might have been meant.
  private var otherStreams: String? {
    guard isStreamOpen, let description, description.soundStreams.count > 1 else { return nil }
    let others = description.soundStreams.filter { $0 != description.stream }
    let list = others.map { "\($0)" }.joined(separator: ", ")
    return "stream \(description.stream) is taken of \(description.soundStreams.count) sound "
      + "streams; decode: { stream: N } takes another one: \(list)"
  }

  /// A warning where exports cannot say what the channels are.
  private var ambisonics: String? {
    guard let description, description.isAmbisonic else { return nil }
    return "its channels are Ambisonic components: files made of it keep the channels, and do not "
      + "say what they are"
  }

  private struct Report: Codable {
    let container: String
    let codec: String
    let sampleRate: Hertz
    let channels: Int
    let damages: [String]
    let damage: RecordingDamage?
    /// Why the recording may have been longer; nil if nothing says so.
    let doubt: String?
    /// Whether nothing says where it was to end; nil where something does.
    let isEndUntold: Bool?
  }
}

extension SoundOutline {
  /// The decoder's output, as far as its container declares it.
  package init(_ decoder: SoundDecoder) {
    self.init(
      format: decoder.format, frames: decoder.expectedFrames,
      isGuessed: !decoder.isLengthDeclared)
  }
}
