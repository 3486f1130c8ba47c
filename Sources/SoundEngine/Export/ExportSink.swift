package import Audio
import Media
package import PipelineEngine
import PipelineModel
package import Platform
import Proof
import Synchronization

/// Encodes a stream in several formats side by side: each has a thread that encodes, and AAC and
/// ALAC cut their work into pieces for the pool.
package final class ExportSink: SoundSink {
  package let firstFrame: Frames
  /// The lanes of the files, then those of the hashes of their samples, one for all that have the
  /// same.
  private let lanes: [ExportLane]
  /// The port of each output, and the name of its lane.
  private let outputs: [(port: PortName, name: String)]
  /// One for each word length, shared by the formats that have it.
  private let quantizers: [Quantizer.Depth: Quantizer]
  private let buffers: BufferPool
  private let targets: [ExportTarget]
  private let format: AudioFormat
  private let store: any ArtifactStore
  /// The next frame of the stream; known to the thread that gives blocks alone.
  private var position: Frames
  private let clipped: Mutex<ClippedSamples>
  /// Whether samples had more than 24 bits; nil where that is not known of all of them.
  private let isRounded: Mutex<Bool?>

  package init(
    _ targets: [ExportTarget], _ stream: SoundOutline, _ context: SinkContext
  ) throws(SpoolError) {
    var lanes: [ExportLane] = []
    var outputs: [(port: PortName, name: String)] = []
    let noted = context.work.resuming.flatMap { try? Findings.decode(State.self, from: $0.state) }
    var hashing: [String: ExportLane] = [:]
    for target in targets {
      guard let samples = target.samples, let packing = target.packing,
        case let name = Self.samplesName(samples), hashing[name] == nil
      else { continue }
      hashing[name] = try ExportLane(
        name, title: "hashes of its samples", quantization: target.quantization,
        resuming: noted?.lanes[name], in: context.store, pool: context.pool
      ) { (noted) throws(SpoolError) in
        try SampleHashing(name, samples, packing, stream.format, context, resuming: noted)
      }
    }
    for target in targets {
      let port = target.format.port
      let didSeal = context.didSeal
      let store = context.store
      let lane = target.samples.flatMap { hashing[Self.samplesName($0)] }
      lanes.append(
        try ExportLane(
          port.name, title: "\(port) file", quantization: target.quantization,
          resuming: noted?.lanes[port.name], in: store, pool: context.pool,
          didSeal: { didSeal(port, $0) }
        ) { (noted) throws(SpoolError) in
          try FileEncoding(target, stream, context, resuming: noted) {
            () throws(SpoolError) in
            guard let artifact = try lane?.finish() else { return nil }
            return SampleTree(at: try store.path(of: artifact))
          }
        })
      outputs.append((port, port.name))
    }
    for target in targets {
      guard let name = target.samples.map(Self.samplesName) else { continue }
      outputs.append((target.format.samplesPort, name))
      if let lane = hashing.removeValue(forKey: name) { lanes.append(lane) }
    }
    self.lanes = lanes
    self.outputs = outputs
    let start = lanes.map(\.firstFrame).min() ?? .zero
    firstFrame = start
    position = start
    self.targets = targets
    format = stream.format
    store = context.store
    clipped = Mutex(noted?.clipped ?? ClippedSamples())
    isRounded = Mutex(noted == nil ? false : noted?.isRounded)
    quantizers = Dictionary(
      targets.compactMap(\.quantization).map {
        ($0, Quantizer($0, format: stream.format, startingAt: start))
      },
      uniquingKeysWith: { first, _ in first })
    buffers = context.buffers
    lanes.forEach { $0.start(at: start) }
  }

  /// What the lane of the hashes of some samples is called.
  private static func samplesName(_ samples: SampleFormat) -> String {
    "samples-\(samples.rawValue)"
  }

  deinit { lanes.forEach { $0.abandon() } }

  package func take(_ block: SharedBuffer) throws(SpoolError) {
    if targets.contains(where: { $0.depth != nil }) {
      // Before the lanes take it: an entry of their progress never counts too little.
      clipped.withLock { $0.add(block.buffer, at: position) }
    }
    position = position + block.buffer.frameCount
    let reduced = quantizers.mapValues { quantizer in
      var output = buffers.makeBuffer(
        channelCount: block.buffer.channelCount, capacity: block.buffer.capacity)
      quantizer.process(block.buffer, into: &output)
      return SharedBuffer(output)
    }
    if let kept = reduced[.bits24], isRounded.withLock({ $0 }) == false,
      Self.differ(block.buffer, kept.buffer)
    {
      isRounded.withLock { $0 = true }
    }
    for lane in lanes { try lane.take(lane.quantization.flatMap { reduced[$0] } ?? block) }
  }

  /// Whether two blocks of one length differ in a sample. O(samples).
  private static func differ(
    _ one: borrowing AudioBuffer, _ other: borrowing AudioBuffer
  ) -> Bool {
    var bits: UInt32 = 0
    for channel in 0..<one.channelCount {
      let (first, second) = (one.channel(channel), other.channel(channel))
      // Zeros of both signs are equal.
      precondition(first.count == second.count)
      for frame in first.indices {
        let difference = unsafe first[unchecked: frame] - second[unchecked: frame]
        bits |= difference.bitPattern &<< 1
      }
    }
    return bits != 0
  }

  package func progress() -> ListenerProgress? {
    let standings = lanes.map { ($0.name, $0.status) }
    let status = State(
      lanes: Dictionary(standings, uniquingKeysWith: { first, _ in first }),
      clipped: clipped.withLock { $0 }, isRounded: isRounded.withLock { $0 })
    guard let text = try? Findings.json(status) else { return nil }
    let needs = standings.filter { $0.1.artifact == nil }.map(\.1.needsFrom).min()
    return ListenerProgress(needsFrom: needs ?? Frames(.max), state: text)
  }

  package var damagedParts: [String: Frames] {
    Dictionary(
      lanes.filter(\.isSetBack).map { ("unfinished \($0.title)", $0.firstFrame) },
      uniquingKeysWith: { first, _ in first })
  }

  package func flush() throws(SpoolError) {
    for lane in lanes { try lane.flush() }
  }

  package func cancel() { lanes.forEach { $0.cancel() } }

  /// The stream has ended; the files are completed while others are begun.
  package func close() { lanes.forEach { $0.close() } }

  package func finish() throws(SpoolError) -> PassOutcome.Result {
    var result = try finishFiles()
    result.warnings += targets.positionWarnings(of: format)
    let checks = checks
    guard !checks.isEmpty, !needsStreamAgain else { return result }
    result.warnings += checks.flatMap(\.warnings)
    result.artifacts[.measurement] = try store.keep(
      try Findings.json(ExportCheck.Report(files: checks)), as: .measurement)
    return result
  }

  /// What `finish` gives besides the report of what was found in the files.
  package func finishFiles() throws(SpoolError) -> PassOutcome.Result {
    close()
    var result = PassOutcome.Result()
    result.warnings = [clipped.withLock { $0 }.warning(of: targets)].compactMap { $0 }
    for lane in lanes {
      let artifact = try lane.finish()
      for output in outputs where output.name == lane.name {
        result.artifacts[output.port] = artifact
      }
    }
    return result
  }

  /// What was found in the files that are whole, in the order of the formats.
  package var checks: [ExportCheck] {
    lanes.compactMap(\.status.check).map { check in
      var check = check
      let target = targets.first { $0.format.rawValue == check.format }
      if target?.quantization == .bits24 { check.isRounded = isRounded.withLock { $0 } }
      return check
    }
  }

  package var needsStreamAgain: Bool { lanes.contains { $0.needsStreamAgain } }
}

extension ExportSink {
  /// The recorded progress of an export.
  struct State: Codable, Hashable {
    /// How far one format is.
    struct Lane: Codable, Hashable {
      /// The frame from which its encoder needs sound.
      let needsFrom: Frames
      /// Bytes of its file that count.
      let byteCount: Int
      /// The state from which its encoder resumes.
      let state: String
      /// The file, once it is whole.
      var artifact: Artifact?
      /// Which encoding it is, of a file that is encoded once more.
      var round: FileEncoding.Round?
      /// What the whole file was found to hold.
      var check: ExportCheck?
    }

    /// The formats by the names of their ports.
    let lanes: [String: Lane]
    /// What was counted so far; nil in entries of earlier versions.
    var clipped: ClippedSamples?
    /// Whether samples had more than 24 bits so far; nil in entries of earlier versions.
    var isRounded: Bool?
  }

  /// The warning of what the files of several sinks clip, by their recorded progress; nil where
  /// there is nothing.
  package static func warning(of targets: [ExportTarget], in progress: [String]) -> String? {
    progress.compactMap { try? Findings.decode(State.self, from: $0).clipped }
      .reduce(ClippedSamples()) { $0.joined(with: $1) }.warning(of: targets)
  }
}
