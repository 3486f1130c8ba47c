package import Audio
package import Platform

/// Sound that can be played: it can be opened at any of its frames, many times.
package struct PlayableSound: Sendable {
  /// Fills a buffer as far as there is sound; false at the end.
  package typealias Reader = (_ buffer: inout AudioBuffer) throws(SpoolError) -> Bool

  package let format: AudioFormat
  /// Nil if unknown.
  package let length: Frames?
  /// Whether it opens at any frame without reading what lies before.
  package let isSeekable: Bool
  /// Opens it at a frame, or before it if it is not seekable, and gives the frame that comes next.
  package let open: @Sendable (_ frame: Frames) throws(SpoolError) -> (start: Frames, read: Reader)

  package init(
    _ format: AudioFormat, length: Frames?, isSeekable: Bool,
    open: @escaping @Sendable (_ frame: Frames) throws(SpoolError) -> (start: Frames, read: Reader)
  ) {
    self.format = format
    self.length = length
    self.isSeekable = isSeekable
    self.open = open
  }

  package var duration: Seconds? { length?.duration(at: format.sampleRate) }

  /// The integrated loudness (EBU R 128) of a part as it is heard in `format`; nil for silence and for
  /// less than 400 ms. O(n); blocks.
  /// - Parameters:
  ///   - end: nil for the end of the sound.
  ///   - mayGoOn: asked now and then; false ends the work.
  package func loudness(
    in format: AudioFormat, from start: Seconds, to end: Seconds?, mayGoOn: () -> Bool
  ) throws(SpoolError) -> LUFS? {
    let stream = try PlaybackStream(self, in: format)
    try stream.seek(to: start.frames(at: format.sampleRate), mayGoOn: mayGoOn)
    let meter = LoudnessMeter(format: format, includesPeaks: false)
    let last = end?.frames(at: format.sampleRate)
    while try stream.next(before: last) {
      guard mayGoOn() else { throw .cancelled }
      meter.analyse(stream.block)
    }
    return meter.finding().integrated
  }
}

/// A sound in the format in which it is heard, block by block from any frame.
final class PlaybackStream {
  /// Frames in a block: 23 ms at 44.1 kHz.
  static let blockLength = Frames(1024)

  /// The block that `next` has read.
  private(set) var block: AudioBuffer
  /// The frame after `block`, in the format in which it is heard.
  private(set) var position = Frames.zero

  private let sound: PlayableSound
  private let format: AudioFormat
  private var read: PlayableSound.Reader
  // The source's frames `pieceEnd - piece.frameCount` to `pieceEnd`, used up to `given`.
  private var piece: AudioBuffer
  private var pieceEnd: Frames
  private var given = Frames.zero
  private var isAtEnd = false
  // Nil while the sound has the format in which it is heard.
  private var resampler: Resampler?
  // Converted frames, used up to `givenConverted`.
  private var converted: AudioBuffer
  private var givenConverted = Frames.zero
  private var isConverted = false

  /// Opens a sound at its beginning.
  init(_ sound: PlayableSound, in format: AudioFormat) throws(SpoolError) {
    self.sound = sound
    self.format = format
    (pieceEnd, read) = try sound.open(.zero)
    block = AudioBuffer(channelCount: format.channelCount, capacity: Self.blockLength)
    piece = AudioBuffer(channelCount: sound.format.channelCount, capacity: Frames(8192))
    converted = AudioBuffer(channelCount: format.channelCount, capacity: .zero)
    try beginConversion()
  }

  /// Moves to a frame, counted in the format in which it is heard.
  ///
  /// O(1) for seekable sound; else it is read up to there, from the beginning for a frame that has
  /// passed. `mayGoOn` is asked now and then; false ends the work.
  func seek(to frame: Frames, mayGoOn: () -> Bool) throws(SpoolError) {
    position = frame
    let source = frame.duration(at: format.sampleRate).frames(at: sound.format.sampleRate)
    if source < pieceEnd - piece.frameCount || (sound.isSeekable && source > pieceEnd) {
      (pieceEnd, read) = try sound.open(source)
      piece.frameCount = .zero
      isAtEnd = false
    }
    while pieceEnd < source, !isAtEnd, mayGoOn() { try readPiece() }
    given = max(.zero, min(piece.frameCount, source - (pieceEnd - piece.frameCount)))
    try beginConversion()
  }

  /// Reads the next block, shorter at the end of the sound and before the frame `end`; false if it is
  /// empty.
  func next(before end: Frames?) throws(SpoolError) -> Bool {
    block.frameCount = .zero
    let room = end.map { max(.zero, $0 - position) } ?? block.capacity
    while block.frameCount < min(room, block.capacity) {
      let wanted = min(room, block.capacity) - block.frameCount
      if resampler == nil {
        if given == piece.frameCount {
          if isAtEnd { break }
          try readPiece()
        }
        let count = min(wanted, piece.frameCount - given)
        block.append(contentsOf: piece, start: given, count: count)
        given += count
      } else {
        if givenConverted == converted.frameCount {
          if isConverted { break }
          try convert()
        }
        let count = min(wanted, converted.frameCount - givenConverted)
        block.append(contentsOf: converted, start: givenConverted, count: count)
        givenConverted += count
      }
    }
    position += block.frameCount
    return block.frameCount > .zero
  }

  private func readPiece() throws(SpoolError) {
    given = .zero
    piece.frameCount = .zero
    isAtEnd = try !read(&piece)
    pieceEnd += piece.frameCount
  }

  private func beginConversion() throws(SpoolError) {
    converted.frameCount = .zero
    givenConverted = .zero
    isConverted = false
    guard !sound.format.hasShape(of: format) else { return }
    resampler = Resampler(from: sound.format, to: format)
    guard resampler == nil else { return }
    throw SpoolError(
      "play the sound", reason: "there is no way from \(sound.format) to \(format)",
      advice: "choose a device with \(sound.format.channelCount) channels by \(option: .device)")
  }

  private func convert() throws(SpoolError) {
    givenConverted = .zero
    converted.frameCount = .zero
    if given == piece.frameCount, !isAtEnd { try readPiece() }
    guard given < piece.frameCount else {
      isConverted = isAtEnd
      if isAtEnd { resampler?.finish(into: &converted) }
      return
    }
    let count = piece.frameCount - given
    var rest = AudioBuffer(channelCount: piece.channelCount, capacity: count)
    rest.copy(from: piece, start: given, count: count)
    given += count
    if let resampler { converted = resampler.convert(rest) }
  }
}
