import AudioModel
import Hashing
import Media
public import PipelineModel
public import Proof

/// The samples of an export without loss, block by block: of a WAV file as they lie there, of any other
/// one decoded from its beginning.
public struct ExportedSound: Sendable {
  private let path: String
  private let extent: SampleExtent

  /// The sound of the file at `path`, which is to have this extent.
  public init(path: String, extent: SampleExtent) {
    self.path = path
    self.extent = extent
  }

  /// Gives some blocks to `take`, in order. O(bytes); of a file that is no WAV file, with all that comes
  /// before them.
  /// - Parameter take: told the block's number and its bytes; false ends the work.
  /// - Throws: where the file cannot be read, or has not as much sound, or of another kind.
  public func blocks(
    _ blocks: Range<Int>, _ take: (Int, [UInt8]) throws(StageError) -> Bool
  ) throws(StageError) {
    let wave: WaveSound?
    do throws(MediaError) { wave = try WaveSound.open(path) } catch { throw StageError(error) }
    guard let wave else { return try decode(blocks, take) }
    guard wave.frameByteCount == extent.frameByteCount, wave.frameCount == extent.frames else {
      throw strange
    }
    for block in blocks {
      let bytes: [UInt8]
      do throws(MediaError) {
        bytes = try wave.bytes(extent.frames(of: block..<block + 1))
      } catch {
        throw StageError(error)
      }
      guard try take(block, bytes) else { return }
    }
  }

  /// The tree over the sound, made again from the file. O(bytes).
  /// - Parameter mayGoOn: told how many blocks are done; false ends the work, and gives nil.
  public func tree(_ mayGoOn: (Int) -> Bool) throws(StageError) -> SampleTree? {
    var leaves: [Digest] = []
    try blocks(0..<extent.blockCount) { (_, bytes) throws(StageError) in
      leaves.append(MerkleTree.leaf(bytes))
      return mayGoOn(leaves.count)
    }
    return SampleTree(extent, leaves: leaves)
  }

  private func decode(
    _ blocks: Range<Int>, _ take: (Int, [UInt8]) throws(StageError) -> Bool
  ) throws(StageError) {
    let decoder = try ExportedSound.asking { () throws(MediaError) in
      try SoundDecoder(path: path)
    }
    guard decoder.format.channelCount == extent.channels,
      Int(decoder.format.sampleRate.value) == extent.rate
    else { throw strange }
    var buffer = AudioBuffer(channelCount: extent.channels, capacity: Frames(8192))
    var bytes: [UInt8] = []
    var block = blocks.lowerBound
    var next = extent.frames(of: blocks).lowerBound
    while block < blocks.upperBound {
      let start = decoder.position.count
      guard
        try ExportedSound.asking({ () throws(MediaError) in try decoder.read(into: &buffer) })
      else { throw strange }
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
    }
  }

  private var packing: LinearSamples {
    switch extent.format {
    case .s16le: LinearSamples(.integer(.bits16))
    case .s24le: LinearSamples(.integer(.bits24))
    case .f32le: LinearSamples(.float32)
    }
  }

  private var strange: StageError {
    StageError(
      "\(path) is not the file that was signed",
      reason: "it has other sound than \(extent.frames) frames of \(extent.format.rawValue)")
  }

  private static func asking<Result>(
    _ body: () throws(MediaError) -> Result
  ) throws(StageError) -> Result {
    do throws(MediaError) { return try body() } catch { throw StageError(error) }
  }
}
