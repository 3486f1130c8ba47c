import Audio
import FoundationEssentials
import Glibc
import Media
import PipelineModel
import Platform
import Plugins
import SoundEngine
import Transcripts

/// The folder on which a file stage's work lies: sound that was written out for it, and what it
/// writes.
struct StageScratch {
  /// Where the program writes.
  let outputFolder: String
  private let folder: PrivateFolder
  private let title: String

  /// - Parameter title: who works at it, for people: `the plugin summary 1.0.0`.
  init(claim step: StepID, title: String) throws(SpoolError) {
    self.title = title
    folder = try PrivateFolder("\(step)", for: title)
    outputFolder = try folder.makeFolder("out")
  }

  /// Where the program writes one output: with the ending by which many tell what to write.
  func outputPath(of port: PluginManifest.FilePort) -> String {
    "\(outputFolder)/\(port.name)\(Self.ending(of: port))"
  }

  private static func ending(of port: PluginManifest.FilePort) -> String {
    switch port.carries {
    case .sound: ".wav"
    case .transcript, .measurement: ".json"
    default:
      port.fileName.flatMap { name in
        name.lastIndex(of: ".").map { String(name[$0...]) }.flatMap { $0.contains("}") ? nil : $0 }
      } ?? ""
    }
  }

  /// Removes everything.
  func clear() { folder.remove() }

  /// Where an input lies; nil where it was not given.
  func path(
    of port: PluginManifest.FilePort, in context: StageContext
  ) throws(SpoolError) -> String? {
    let name = PortName(port.name)
    if let file = context.files[name] {
      if file.path == file.name { return file.path }
      // Programs take paths alone, and many recognise formats by their endings.
      let link = try folder.makeFolder("in-\(name)") + "/" + file.title
      try doing("name the input", link) { () throws(SystemError) in
        try FileOperations.system.link(to: file.path, symbolicallyAt: link)
      }
      return link
    }
    guard let artifact = context.inputs[name]?.artifact else { return nil }
    if port.carries == .sound {
      let path = folder.file("\(port.name).wav")
      try WaveCopy(
        sound: try PCMArtifact(artifact, in: context.store),
        rate: port.sampleRate.map { Hertz($0) }, isMono: port.channels == 1
      ).write(to: path, check: context.check)
      return path
    }
    return try context.store.path(of: artifact)
  }

  /// Keeps an output; nil where it is not there.
  func keep(
    _ port: PluginManifest.FilePort, in context: StageContext
  ) throws(SpoolError) -> Artifact? {
    let path = outputPath(of: port)
    guard let stamp = try? FileStamp(at: path) else { return nil }
    guard stamp.isRegularFile else {
      throw SpoolError(
        "\(title) failed", reason: "its \(port.name) is no plain file",
        advice: "let it write the file itself, not a folder or a link", cause: .environment)
    }
    let byteCount = stamp.byteCount
    let held = (try? OpenFile(path, O_RDONLY))?.heldByteCount(upTo: byteCount) ?? byteCount
    guard byteCount - held <= Self.mostHoles else {
      throw SpoolError(
        "\(title) failed",
        reason: "its \(port.name) has \(byteCount >> 20) MB, and holes are "
          + "\((byteCount - held) >> 20) MB of them",
        advice:
          "let it write what the file holds; \(Self.mostHoles >> 20) MB of holes are the most",
        cause: .environment)
    }
    if port.carries == .sound { return try FileSound(path: path, maker: title).keep(in: context) }
    try OutputForm(port: port, maker: title).check(path, byteCount: Int(stamp.byteCount))
    let file = try FileReader(path)
    let draft = try context.store.makeDraft(port.carries)
    var remaining = Int(byteCount)
    while remaining > 0 {
      try context.check()
      let piece: [UInt8]
      do throws(SpoolError) { piece = try file.read(min(remaining, 1 << 20)) } catch {
        throw SpoolError("read", path, reason: error.reason ?? error.message)
      }
      try unsafe draft.append(piece.span.bytes)
      remaining -= piece.count
      if byteCount > Self.shortWork {
        context.reportProgress(1 - Double(remaining) / Double(byteCount))
      }
    }
    return try draft.seal()
  }

  /// Maximum bytes of an output that lie in holes: they take no room until they are copied.
  private static let mostHoles: Int64 = 1 << 30
  /// Bytes that are copied without a report.
  private static let shortWork: Int64 = 256 << 20
}

/// Whether a file that a program wrote is what its port carries: told before it is kept, so that no
/// stage below is blamed for it, and nothing broken is used again.
struct OutputForm {
  let port: PluginManifest.FilePort
  /// Who wrote it, for people.
  let maker: String

  /// Bytes of the largest figures and words that are read whole.
  private static let most = 256 << 20

  /// Reads a file as what it is to be. Sound is checked where it is decoded, and of a plain file
  /// nothing is expected. O(its length).
  func check(_ path: String, byteCount: Int) throws(SpoolError) {
    guard port.carries == .measurement || port.carries == .transcript else { return }
    guard byteCount <= Self.most else { throw failure("has more than \(Self.most >> 20) MB", nil) }
    guard let bytes = FileManager.default.contents(atPath: path).map(Array.init) else {
      throw failure("cannot be read", nil)
    }
    if port.carries == .measurement {
      do throws(JSONSyntaxError) {
        _ = try JSONReader.value(of: bytes, depthLimit: 512)
      } catch {
        throw failure("cannot be read as JSON: \(error)", "let it write figures as JSON")
      }
    } else {
      do throws(SpoolError) { _ = try Transcript(ofStage: bytes) } catch {
        let first = bytes.first { $0 > 0x20 }
        guard first == UInt8(ascii: "{") || first == UInt8(ascii: "[") else {
          throw failure(
            "is no transcript: what it says tells no format",
            "let it write one of \(TranscriptFormat.recognisable.map(\.name).joined(separator: ", ")); "
              + "words without times fit json")
        }
        throw failure(
          "is no transcript: \(error.message)" + (error.reason.map { ": \($0)" } ?? ""),
          error.advice ?? "let it write a transcript of a format that Spool reads")
      }
    }
  }

  private func failure(_ reason: String, _ advice: String?) -> SpoolError {
    SpoolError(
      "\(maker) failed", reason: "the \(port.name) that it wrote \(reason)", advice: advice,
      cause: .environment)
  }
}

/// A sound file that a program wrote, on its way into the store as sound.
struct FileSound {
  let path: String
  /// Who wrote it, for people.
  let maker: String

  private static let length = Frames(16_384)

  /// Decodes and keeps it. O(length), in flat memory.
  func keep(in context: StageContext) throws(SpoolError) -> Artifact {
    let decoder: SoundDecoder
    do { decoder = try SoundDecoder(SourceFile(path)) } catch { throw failure(error) }
    let draft = try context.store.makeDraft(.sound)
    try append(PCMArtifact.header(decoder.format), to: draft)
    var buffer = AudioBuffer(channelCount: decoder.format.channelCount, capacity: Self.length)
    var samples: [Float] = []
    while true {
      try context.check()
      let isMore: Bool
      do { isMore = try decoder.read(into: &buffer) } catch { throw failure(error) }
      guard isMore else { break }
      let count = Interleaving.join(buffer, into: &samples)
      guard samples[..<count].allSatisfy(\.isFinite) else {
        throw SpoolError(
          "\(maker) failed", reason: "a sample of the sound that it wrote is no number",
          cause: .environment)
      }
      guard samples[..<count].allSatisfy({ $0.magnitude <= PluginProcessor.highest }) else {
        throw SpoolError(
          "\(maker) failed",
          reason: "the sound that it wrote is more than 120 dB above full scale",
          cause: .environment)
      }
      try append(Interleaving.bytes(of: samples[..<count]), to: draft)
    }
    return try draft.seal()
  }

  private func append(
    _ bytes: [UInt8], to draft: borrowing ArtifactDraft
  ) throws(SpoolError) {
    try unsafe draft.append(bytes.span.bytes)
  }

  private func failure(_ error: SpoolError) -> SpoolError {
    SpoolError(
      "\(maker) failed",
      reason: "the sound that it wrote cannot be decoded"
        + (error.reason.map { ": \($0)" } ?? ""),
      advice: "let it write a WAV file, or another that FFmpeg reads", cause: .environment)
  }
}

/// Kept sound as a WAV file for a program that reads files: 32-bit floats at another rate or in one
/// channel where that is wanted, piece by piece.
struct WaveCopy {
  let sound: PCMArtifact
  /// The rate that is wanted; nil leaves it as it is.
  let rate: Hertz?
  /// Whether all channels become one.
  let isMono: Bool

  private static let length = Frames(16_384)

  /// Writes the file. O(length of the sound), in flat memory.
  func write(to path: String, check: () throws(SpoolError) -> Void) throws(SpoolError) {
    let format = AudioFormat(
      sampleRate: rate ?? sound.outline.format.sampleRate,
      channelCount: isMono ? 1 : sound.outline.format.channelCount)
    let file = try writing(path) { () throws(SystemError) in
      try FileOperations.system.open(path, O_WRONLY | O_CREAT | O_EXCL, mode: 0o666)
    }
    func append(_ bytes: [UInt8]) throws(SpoolError) {
      try writing(path) { () throws(SystemError) in
        try FileOperations.system.write(bytes, to: file)
      }
    }
    try append(Self.header(format, byteCount: 0))
    var byteCount = 0
    try stream(in: format, check) { (samples) throws(SpoolError) in
      try append(Interleaving.bytes(of: samples))
      byteCount += 4 * samples.count
    }
    // The sizes are known by now.
    let header = Self.header(format, byteCount: byteCount)
    try writing(path) { () throws(SystemError) in try file.put(header, at: 0) }
  }

  private func writing<Result: ~Copyable>(
    _ path: String, _ calls: () throws(SystemError) -> Result
  ) throws(SpoolError) -> Result {
    do throws(SystemError) { return try calls() } catch {
      throw SpoolError("write for a plugin", path, error, advice: "set TMPDIR to another folder")
    }
  }

  /// Gives the samples, interleaved, piece by piece.
  private func stream(
    in format: AudioFormat, _ check: () throws(SpoolError) -> Void,
    _ take: (ArraySlice<Float>) throws(SpoolError) -> Void
  ) throws(SpoolError) {
    let own = sound.outline.format
    let narrow = AudioFormat(sampleRate: own.sampleRate, channelCount: format.channelCount)
    let resampler =
      own.sampleRate == format.sampleRate
      ? nil : Resampler(to: format.sampleRate, format: narrow)
    var input = AudioBuffer(channelCount: own.channelCount, capacity: Self.length)
    var mixed = AudioBuffer(channelCount: format.channelCount, capacity: Self.length)
    var output = AudioBuffer(
      channelCount: format.channelCount,
      capacity: resampler.map { max($0.blockCapacity(for: Self.length), $0.capacity(for: .zero)) }
        ?? Self.length)
    var samples: [Float] = []
    let source = try sound.open()
    var isOver = false
    while !isOver {
      try check()
      if try source.read(into: &input) {
        mix(input, into: &mixed)
        if let resampler {
          resampler.process(mixed, into: &output)
        } else {
          output.copy(from: mixed, start: .zero, count: mixed.frameCount)
        }
      } else {
        isOver = true
        output.frameCount = .zero
        resampler?.finish(into: &output)
      }
      let count = Interleaving.join(output, into: &samples)
      try take(samples[..<count])
    }
  }

  /// The mean of all channels, or all as they are.
  private func mix(_ input: borrowing AudioBuffer, into mixed: inout AudioBuffer) {
    guard isMono else { return mixed.copy(from: input, start: .zero, count: input.frameCount) }
    mixed.frameCount = input.frameCount
    var target = mixed.mutableChannel(0)
    for channel in 0..<input.channelCount {
      let samples = input.channel(channel)
      for frame in 0..<input.frameCount.count {
        let value = samples[frame] / Float(input.channelCount)
        target[frame] = channel == 0 ? value : target[frame] + value
      }
    }
  }

  /// RIFF with IEEE floats (format 3). A file of over 4 GiB says the most that it can.
  private static func header(_ format: AudioFormat, byteCount: Int) -> [UInt8] {
    func bytes(_ value: Int, _ count: Int) -> [UInt8] {
      (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }
    let size = min(byteCount, Int(UInt32.max) - 58)
    let frame = 4 * format.channelCount
    let rate = Int(format.sampleRate.value.rounded())
    return Array("RIFF".utf8) + bytes(size + 50, 4) + Array("WAVEfmt ".utf8) + bytes(18, 4)
      + bytes(3, 2) + bytes(format.channelCount, 2) + bytes(rate, 4) + bytes(rate * frame, 4)
      + bytes(frame, 2) + bytes(32, 2) + bytes(0, 2) + Array("fact".utf8) + bytes(4, 4)
      + bytes(size / frame, 4) + Array("data".utf8) + bytes(size, 4)
  }
}
