import Audio
internal import Platform

/// What a confined process is asked for, about the recording whose descriptor comes with it.
struct ReaderRequest: Transferable, Hashable {
  enum Task: Hashable {
    /// A ``MediaDescription``.
    case describe
    /// A ``CoverArt``, or none.
    case cover
    /// A list of ``MediaProbe/Marker``.
    case markers
    /// A ``DecoderOpening`` and then ``SoundBlock``s, into shared memory that comes with it, too.
    case decode(DecoderOptions)
    /// What the process may do nevertheless, by name.
    case tryEscapes
    /// None: the process does as if the recording had misled it.
    case misbehave(Misbehaviour)
  }

  /// What a decoder may do that should not.
  enum Misbehaviour: UInt8, CaseIterable {
    case computeForever
    case waitForever
    case takeMemory
  }

  let task: Task
  /// The recording's name, whose ending may tell the format.
  let name: String
  let byteCount: Int
  /// How much processor time an answer, or the next block of sound, may take, in seconds.
  let patience: Int

  init(_ task: Task, name: String, byteCount: Int, patience: Int) {
    (self.task, self.name, self.byteCount) = (task, name, byteCount)
    self.patience = patience
  }

  init?(from reader: inout ByteReader) {
    guard let kind = reader.bytes(1)?.first else { return nil }
    switch kind {
    case 0: task = .describe
    case 1: task = .cover
    case 2: task = .markers
    case 3:
      guard let options = DecoderOptions(from: &reader) else { return nil }
      task = .decode(options)
    case 4: task = .tryEscapes
    case 5:
      guard let way = reader.bytes(1)?.first.flatMap({ Misbehaviour(rawValue: $0) }) else {
        return nil
      }
      task = .misbehave(way)
    default: return nil
    }
    guard let name = reader.text(), let byteCount = reader.count(), let patience = reader.count()
    else { return nil }
    (self.name, self.byteCount, self.patience) = (name, byteCount, patience)
  }

  func append(to bytes: inout [UInt8]) {
    switch task {
    case .describe: bytes.append(0 as UInt8)
    case .cover: bytes.append(1 as UInt8)
    case .markers: bytes.append(2 as UInt8)
    case .decode(let options):
      bytes.append(3 as UInt8)
      options.append(to: &bytes)
    case .tryEscapes: bytes.append(4 as UInt8)
    case .misbehave(let way): bytes += [5, way.rawValue]
    }
    bytes.append(name)
    byteCount.append(to: &bytes)
    patience.append(to: &bytes)
  }
}

extension DecoderOptions: Transferable {
  init?(from reader: inout ByteReader) {
    guard let hasRate = reader.flag() else { return nil }
    var rate: Double?
    if hasRate {
      rate = reader.double()
      if rate == nil { return nil }
    }
    guard let channels = Int?(from: &reader), let stream = Int?(from: &reader),
      let keepsDamaged = reader.flag()
    else { return nil }
    self.init(
      sampleRate: rate.map { Hertz($0) }, channelCount: channels, stream: stream,
      keepsDamaged: keepsDamaged)
  }

  func append(to bytes: inout [UInt8]) {
    bytes.append(sampleRate != nil)
    if let sampleRate { bytes.append(sampleRate.value) }
    channelCount.append(to: &bytes)
    stream.append(to: &bytes)
    bytes.append(keepsDamaged)
  }
}

/// What is known of a recording's sound before it is decoded.
struct DecoderOpening: Transferable, Hashable {
  let format: AudioFormat
  let expectedFrames: Frames?
  let isLengthDeclared: Bool
  let damages: [SoundDecoder.Damage]

  init(_ decoder: StreamDecoder) {
    format = decoder.format
    expectedFrames = decoder.expectedFrames
    isLengthDeclared = decoder.isLengthDeclared
    damages = decoder.damages
  }

  init?(from reader: inout ByteReader) {
    guard let format = AudioFormat(from: &reader), let expected = Int?(from: &reader),
      let isLengthDeclared = reader.flag(), let damages = [SoundDecoder.Damage](from: &reader)
    else { return nil }
    self.format = format
    expectedFrames = expected.map { Frames($0) }
    self.isLengthDeclared = isLengthDeclared
    self.damages = damages
  }

  func append(to bytes: inout [UInt8]) {
    format.append(to: &bytes)
    (expectedFrames?.count).append(to: &bytes)
    bytes.append(isLengthDeclared)
    damages.append(to: &bytes)
  }
}

/// The next sound, which lies in the next slot of the shared memory.
struct SoundBlock: Transferable, Hashable {
  enum Ending: Hashable {
    case doubt(String?, declaredLength: Seconds?)
    case failure(SpoolError)
  }

  let frameCount: Int
  /// The damage since the last block.
  let damages: [SoundDecoder.Damage]
  /// Nil if more sound follows.
  let ending: Ending?

  init(frameCount: Int, damages: [SoundDecoder.Damage], ending: Ending?) {
    (self.frameCount, self.damages, self.ending) = (frameCount, damages, ending)
  }

  init?(from reader: inout ByteReader) {
    guard let frameCount = reader.count(), let damages = [SoundDecoder.Damage](from: &reader),
      let kind = reader.bytes(1)?.first
    else { return nil }
    (self.frameCount, self.damages) = (frameCount, damages)
    switch kind {
    case 0: ending = nil
    case 1:
      guard let doubt = String?(from: &reader), let length = Seconds?(from: &reader) else {
        return nil
      }
      ending = .doubt(doubt, declaredLength: length)
    case 2:
      guard let error = SpoolError(from: &reader) else { return nil }
      ending = .failure(error)
    default: return nil
    }
  }

  func append(to bytes: inout [UInt8]) {
    frameCount.append(to: &bytes)
    damages.append(to: &bytes)
    switch ending {
    case nil: bytes.append(0 as UInt8)
    case .doubt(let doubt, let length):
      bytes.append(1 as UInt8)
      doubt.append(to: &bytes)
      length.append(to: &bytes)
    case .failure(let error):
      bytes.append(2 as UInt8)
      error.append(to: &bytes)
    }
  }
}

extension SoundDecoder.Damage: Transferable {
  private static let kinds: [Kind] = [.packet, .gap, .unsupported, .truncated]

  init?(from reader: inout ByteReader) {
    guard let kind = reader.bytes(1)?.first, kind < Self.kinds.count,
      let position = Seconds(from: &reader), let byteOffset = Int?(from: &reader),
      let lost = Seconds?(from: &reader), let reason = reader.text()
    else { return nil }
    self.init(
      kind: Self.kinds[Int(kind)], position: position, byteOffset: byteOffset, lost: lost,
      reason: String(reason.prefix(1000)))
  }

  func append(to bytes: inout [UInt8]) {
    bytes.append(UInt8(Self.kinds.firstIndex(of: kind) ?? 0))
    position.append(to: &bytes)
    byteOffset.append(to: &bytes)
    lost.append(to: &bytes)
    bytes.append(reason)
  }
}

extension CoverArt: Transferable {
  init?(from reader: inout ByteReader) {
    guard let count = reader.count(), let bytes = reader.bytes(count) else { return nil }
    self.init(bytes: bytes)
  }

  func append(to bytes: inout [UInt8]) {
    self.bytes.count.append(to: &bytes)
    bytes += self.bytes
  }
}

extension MediaProbe.Marker: Transferable {
  init?(from reader: inout ByteReader) {
    guard let time = Seconds(from: &reader), let title = String?(from: &reader) else { return nil }
    self.init(time: time, title: title)
  }

  func append(to bytes: inout [UInt8]) {
    time.append(to: &bytes)
    title.append(to: &bytes)
  }
}

extension MediaDescription: Transferable {
  init?(from reader: inout ByteReader) {
    guard let container = reader.text(), let duration = Seconds?(from: &reader),
      let stream = reader.count(), let soundStreams = [Int](from: &reader),
      let codec = reader.text(), let format = AudioFormat(from: &reader),
      let bitDepth = Int?(from: &reader), let bitRate = Int?(from: &reader),
      let expected = Int?(from: &reader), let names = [String](from: &reader),
      let values = [String](from: &reader), names.count == values.count,
      let severalNames = [String](from: &reader),
      let pictures = reader.count(), let markers = [MediaProbe.Marker](from: &reader),
      let isAmbisonic = reader.flag()
    else { return nil }
    var severalValues: [String: [String]] = [:]
    for name in severalNames {
      guard let values = [String](from: &reader) else { return nil }
      severalValues[name] = values
    }
    self.init(
      container: container, duration: duration, stream: stream, soundStreams: soundStreams,
      codec: codec, format: format, bitDepth: bitDepth, bitRate: bitRate,
      expectedFrames: expected.map { Frames($0) },
      tags: Dictionary(zip(names, values)) { first, _ in first }, severalValues: severalValues,
      pictureCount: pictures,
      markers: markers, isAmbisonic: isAmbisonic)
  }

  func append(to bytes: inout [UInt8]) {
    bytes.append(container)
    duration.append(to: &bytes)
    stream.append(to: &bytes)
    soundStreams.append(to: &bytes)
    bytes.append(codec)
    format.append(to: &bytes)
    bitDepth.append(to: &bytes)
    bitRate.append(to: &bytes)
    (expectedFrames?.count).append(to: &bytes)
    let tags = tags.sorted { $0.key < $1.key }
    tags.map(\.key).append(to: &bytes)
    tags.map(\.value).append(to: &bytes)
    let several = severalValues.sorted { $0.key < $1.key }
    several.map(\.key).append(to: &bytes)
    pictureCount.append(to: &bytes)
    markers.append(to: &bytes)
    bytes.append(isAmbisonic)
    for (_, values) in several { values.append(to: &bytes) }
  }
}
