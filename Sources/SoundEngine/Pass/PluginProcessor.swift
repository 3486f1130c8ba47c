package import Audio
import FoundationEssentials
package import PipelineModel
package import Platform
package import Plugins

/// Sound on its way through a plugin: blocks of one length go out, and while the plugin works on some,
/// the answers to those before are read.
///
/// Unlike other processors, this one waits for another process, and can fail.
package final class PluginProcessor: Processor {
  /// Frames in a block, whatever arrives in which pieces.
  static let blockLength = 8192
  /// Blocks that may be with the plugin at a time. With several, neither side waits for the other to be
  /// given a core; all of them fit into a pipe.
  private static let mostUnderWay = 4
  /// The most seconds by which a plugin may be late.
  private static let longestLatency = Seconds(10)

  package let outputFormat: AudioFormat
  package let latency: Frames
  /// What went wrong; nil while nothing did. After a failure it gives silence, and the pass ends.
  package private(set) var failure: SpoolError?

  private let session: PluginSession
  private let isDeterministic: Bool
  private let channelCount: Int
  /// Frames by which the plugin is late.
  private let lateness: Int
  /// The greatest magnitude that a plugin may give: 120 dB above full scale.
  package static let highest: Float = 1e6
  /// The greatest magnitude that the plugin gave.
  private var peak: Float = 0
  /// What has arrived and is no whole block yet, interleaved.
  private var waiting: [Float] = []
  /// Room for a block on its way into `waiting`.
  private var joined: [Float] = []
  /// Output of the plugin that was not taken yet, interleaved.
  private var given: [Float] = []
  /// The frames of the blocks that are with the plugin, in order.
  private var underWay: [Int] = []
  /// Late frames still to be cut off.
  private var leading: Int
  /// Frames that were taken and not given back.
  private var owed = 0

  package init(
    _ plugin: Plugin, kind: PluginManifest.Kind, parameters: Value, format: AudioFormat,
    launcher: String, check: @escaping () throws(SpoolError) -> Void = {}
  ) throws(SpoolError) {
    outputFormat = format
    channelCount = format.channelCount
    isDeterministic = plugin.manifest.isDeterministic
    session = try PluginSession(
      plugin, kind: kind.kind, parameters: kind.message(parameters),
      work: [
        "format": .object([
          "rate": .decimal(format.sampleRate.value), "channels": .integer(format.channelCount),
        ]),
        "blockFrames": .integer(Self.blockLength),
      ],
      setting: PluginSession.Setting(
        launcher: launcher, reads: kind.reads(parameters), check: check))
    let said = session.ready.members["latency"] ?? .null
    lateness = said.integer ?? 0
    leading = lateness
    latency = Frames((Self.mostUnderWay + 1) * Self.blockLength + max(lateness, 0))
    let most = Self.longestLatency.frames(at: format.sampleRate).count
    guard said == .null || said.integer != nil else {
      throw session.failure(
        "the latency that it says is \(said.compact.prefix(60)), and not a number of frames")
    }
    guard (0...most).contains(lateness) else {
      throw session.failure("it says that it is \(lateness) frames late, and \(most) is the most")
    }
  }

  package func process(_ input: borrowing AudioBuffer, into output: inout AudioBuffer) {
    take(input)
    while waiting.count >= Self.blockLength * channelCount { exchange(Self.blockLength) }
    give(into: &output)
  }

  package func finish(into output: inout AudioBuffer) {
    // Silence drives out what is late.
    waiting.append(contentsOf: repeatElement(0, count: lateness * channelCount))
    while !waiting.isEmpty {
      exchange(min(Self.blockLength, waiting.count / channelCount))
    }
    receiveAll()
    attempt { () throws(SpoolError) in
      session.send(PluginMessage("end"))
      _ = try session.receive("done")
      try session.finish()
    }
    give(into: &output)
  }

  package var isResumable: Bool {
    isDeterministic && failure == nil && session.ready.members["snapshots"] == .boolean(true)
  }
  package var warnings: [String] {
    // 60 dB above full scale: no effect is meant to amplify so far.
    guard peak > 1e3 else { return session.warnings }
    return session.warnings + ["its sound reaches \(peakText): it is probably broken"]
  }
  private var peakText: String {
    "\(Int(Decibels(amplitude: Double(peak)).value.rounded())) dB above full scale"
  }
  package var figures: String? { session.measurement }

  /// Sends a block, and reads an answer where enough of them are owed.
  private func exchange(_ count: Int) {
    let block = waiting.prefix(count * channelCount)
    if failure == nil {
      session.send(
        PluginMessage("sound", ["frames": .integer(count)], payload: Interleaving.bytes(of: block)))
    }
    waiting.removeFirst(block.count)
    underWay.append(count)
    if underWay.count > Self.mostUnderWay { receive() }
  }

  /// Reads the answers to all blocks that are with the plugin.
  private func receiveAll() { while !underWay.isEmpty { receive() } }

  /// Reads the answer to the first block that is with the plugin.
  private func receive() {
    let count = underWay.removeFirst()
    attempt { () throws(SpoolError) in
      let answer = try session.receive("sound")
      let frames = answer.members["frames"] ?? .null
      guard frames.integer == count, answer.payload.count == 4 * count * channelCount else {
        throw session.failure(
          "it answered \(count) frames of \(channelCount) channels, which are "
            + "\(4 * count * channelCount) bytes, with "
            + (frames == .null ? "no number of frames" : "\(frames.compact.prefix(60)) frames")
            + " and \(answer.payload.count) bytes")
      }
      let (cut, before) = (min(leading, count), given.count)
      leading -= cut
      if let place = Interleaving.append(answer.payload, from: cut * channelCount, to: &given) {
        throw session.failure("sample \(place / channelCount) of a block is no number")
      }
      peak = given[before...].reduce(peak) { max($0, $1.magnitude) }
      guard peak <= Self.highest else {
        throw session.failure("its sound reaches \(peakText), and 120 dB is the most")
      }
    }
  }

  private func attempt(_ work: () throws(SpoolError) -> Void) {
    guard failure == nil else { return }
    do throws(SpoolError) { try work() } catch { failure = error }
  }

  private func take(_ input: borrowing AudioBuffer) {
    let count = input.frameCount.count
    owed += count
    guard failure == nil else { return }
    let length = Interleaving.join(input, into: &joined)
    waiting += joined[..<length]
  }

  private func give(into output: inout AudioBuffer) {
    // Silence in place of what does not come any more, as it falls due.
    if failure != nil { given = [Float](repeating: 0, count: owed * channelCount) }
    let count = min(given.count / channelCount, owed)
    output.frameCount = Frames(count)
    Interleaving.split(given, into: &output)
    given.removeAll(keepingCapacity: true)
    owed -= count
  }

  /// What is under way, and the plugin's own state.
  package var snapshot: ProcessorSnapshot {
    receiveAll()
    var snapshot = ProcessorSnapshot()
    snapshot.append(leading)
    snapshot.append(owed)
    snapshot.append(waiting.count)
    snapshot.append(contentsOf: waiting)
    snapshot.append(given.count)
    snapshot.append(contentsOf: given)
    attempt { () throws(SpoolError) in
      session.send(PluginMessage("snapshot"))
      let state = try session.receive("snapshot").payload
      snapshot.append(state.count)
      snapshot.bytes += state
    }
    return snapshot
  }

  package func restore(_ snapshot: ProcessorSnapshot) throws(SnapshotError) {
    var reader = SnapshotReader(snapshot)
    leading = try reader.next(Int.self)
    owed = try reader.next(Int.self)
    waiting = try Self.samples(&reader)
    given = try Self.samples(&reader)
    let count = try reader.next(Int.self)
    guard count >= 0, count == reader.remainingByteCount else { throw SnapshotError() }
    let state = Array(snapshot.bytes.suffix(count))
    attempt { () throws(SpoolError) in
      session.send(PluginMessage("restore", ["bytes": .integer(count)], payload: state))
      _ = try session.receive("restored")
    }
  }

  private static func samples(_ reader: inout SnapshotReader) throws(SnapshotError) -> [Float] {
    let count = try reader.next(Int.self)
    guard count >= 0, 4 * count <= reader.remainingByteCount else { throw SnapshotError() }
    return try reader.next(Float.self, count: count)
  }
}
