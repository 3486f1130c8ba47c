import PipelineModel
import Platform

/// Streams sound through one kind of a plugin in blocks, as a run does. Each session is a new
/// process.
struct SoundTrial {
  let plugin: Plugin
  let kind: PluginManifest.Kind
  let launcher: String
  /// The parameters, by default those of a pipeline that sets nothing.
  var parameters: Value
  /// Maximum frames a block.
  static let blockLength = 8192

  /// Opens a session for the signal's format.
  func open(_ signal: ConformanceSignal) throws(ConformanceFailure) -> PluginSession {
    do throws(SpoolError) {
      return try PluginSession(
        plugin, kind: kind.kind, parameters: kind.message(parameters),
        work: [
          "format": .object([
            "rate": .decimal(signal.rate), "channels": .integer(signal.channels),
          ]),
          "blockFrames": .integer(Self.blockLength),
        ], setting: PluginSession.Setting(launcher: launcher, reads: kind.reads(parameters)))
    } catch { throw .stage(error) }
  }

  /// Streams the whole signal through a new process.
  /// - Parameter cuts: block lengths, repeated cyclically.
  func answer(
    to signal: ConformanceSignal, cuts: [Int] = [blockLength]
  ) throws(ConformanceFailure) -> [Float] {
    let session = try open(signal)
    let given = try stream(signal, 0..<signal.count, cuts: cuts, through: session)
    try close(session)
    return given
  }

  /// Sends frames and returns the output.
  func stream(
    _ signal: ConformanceSignal, _ range: Range<Int>, cuts: [Int] = [blockLength],
    through session: PluginSession
  ) throws(ConformanceFailure) -> [Float] {
    var given: [Float] = []
    var (position, turn) = (range.lowerBound, 0)
    while position < range.upperBound {
      let count = min(cuts[turn % cuts.count], range.upperBound - position)
      send(signal.piece(position..<position + count), frames: count, to: session)
      given += try receive(frames: count, channels: signal.channels, at: position, from: session)
      position += count
      turn += 1
    }
    return given
  }

  func send(_ samples: ArraySlice<Float>, frames: Int, to session: PluginSession) {
    session.send(
      PluginMessage(
        "sound", ["frames": .integer(frames), "bytes": .integer(4 * samples.count)],
        payload: unsafe samples.withUnsafeBytes { unsafe Array($0) }))
  }

  /// Reads the output of one block.
  func receive(
    frames: Int, channels: Int, at position: Int, from session: PluginSession
  ) throws(ConformanceFailure) -> [Float] {
    let answer: PluginMessage
    do throws(SpoolError) { answer = try session.receive("sound") } catch { throw .stage(error) }
    let wanted = 4 * frames * channels
    guard answer.members["frames"]?.integer == frames, answer.payload.count == wanted else {
      throw .wrong(
        "it answered a block of \(frames) frames with "
          + "\(answer.members["frames"]?.compact ?? "no") frames and \(answer.payload.count) bytes, "
          + "not \(wanted)")
    }
    let samples = unsafe [Float](unsafeUninitializedCapacity: frames * channels) { buffer, count in
      unsafe UnsafeMutableRawBufferPointer(buffer).copyBytes(from: answer.payload)
      count = frames * channels
    }
    if let place = samples.firstIndex(where: { !$0.isFinite }) {
      throw .wrong("frame \(position + place / channels) of what it gave is no number")
    }
    return samples
  }

  /// The plugin's state after everything sent so far.
  func snapshot(of session: PluginSession) throws(ConformanceFailure) -> [UInt8] {
    do throws(SpoolError) {
      session.send(PluginMessage("snapshot"))
      return try session.receive("snapshot").payload
    } catch { throw .stage(error) }
  }

  func restore(_ state: [UInt8], in session: PluginSession) throws(ConformanceFailure) {
    do throws(SpoolError) {
      session.send(
        PluginMessage("restore", ["bytes": .integer(state.count)], payload: state))
      _ = try session.receive("restored")
    } catch { throw .stage(error) }
  }

  /// Ends a session as a run does.
  func close(_ session: PluginSession) throws(ConformanceFailure) {
    session.send(PluginMessage("end"))
    try session.awaitEnd()
  }

  /// Describes the first difference between two outputs; nil if they are bit-identical.
  static func difference(_ one: [Float], _ other: [Float], channels: Int) -> String? {
    guard one.count == other.count else {
      return "\(other.count / channels) frames instead of \(one.count / channels)"
    }
    guard let place = one.indices.first(where: { one[$0].bitPattern != other[$0].bitPattern })
    else { return nil }
    return "frame \(place / channels) is \(other[place]) instead of \(one[place])"
  }
}

enum ConformanceFailure: Error {
  case wrong(String)
  case stage(SpoolError)
  case notApplicable(String)

  var words: String {
    switch self {
    case .wrong(let words), .notApplicable(let words): words
    case .stage(let error):
      [error.message, error.reason].compactMap { $0 }.joined(separator: ": ")
    }
  }

  /// Whether the plugin timed out: every further attempt would take as long.
  var isHang: Bool {
    if case .stage(let error) = self { error.kind == .unanswered } else { false }
  }

  /// Whether the plugin reported the failure itself, in an `error` message.
  var isOwnWords: Bool {
    if case .stage(let error) = self { error.kind == .reported } else { false }
  }
}

extension PluginSession {
  /// Waits for the last message and the end of the program, as a run does.
  func awaitEnd() throws(ConformanceFailure) {
    let ending: String?
    do throws(SpoolError) {
      _ = try receive("done")
      ending = try finish(within: .seconds(5))
    } catch { throw .stage(error) }
    guard let ending else { return }
    throw .wrong(
      wasKilled
        ? "it said done, and did not end when its standard input did"
        : "it said done, but \(ending)")
  }
}
