public import JSONText
import Glibc
import PluginHost

/// The plugin's side of the protocol, for effects that Spool itself hosts: it reads messages from
/// standard input and answers on standard output until the sound is over.
///
/// What libraries print to standard output would disturb it, and goes to standard error.
public final class WorkerLoop {
  /// What Spool asked for.
  public struct Greeting: Sendable {
    /// The parameters.
    public let parameters: JSONValue
    /// Frames a second.
    public let rate: Double
    /// Channels of the sound.
    public let channelCount: Int
    /// The most frames of a block.
    public let blockFrames: Int
    /// A folder for this process alone.
    public let folder: String
  }

  private let output: Int32
  private var pending: [UInt8] = []

  private init() {
    output = dup(STDOUT_FILENO)
    dup2(STDERR_FILENO, STDOUT_FILENO)
  }

  /// Serves one session with the effect that `make` makes.
  /// - Returns: the exit code.
  public static func serve(
    _ make: (Greeting) throws(EffectError) -> any HostedEffect
  ) -> Int32 {
    let loop = WorkerLoop()
    do throws(EffectError) {
      try loop.run(make)
      return 0
    } catch {
      var members: [String: JSONValue] = ["message": .text(error.message)]
      members["reason"] = error.reason.map { .text($0) }
      members["advice"] = error.advice.map { .text($0) }
      loop.send(PluginMessage("error", members))
      return 1
    }
  }

  private func run(
    _ make: (Greeting) throws(EffectError) -> any HostedEffect
  ) throws(EffectError) {
    guard let hello = next(), hello.type == "hello",
      case .number(let rate)? = hello.members["format"]?["rate"], let rate = Double(rate),
      let channels = hello.members["format"]?["channels"]?.integer,
      let block = hello.members["blockFrames"]?.integer
    else { throw EffectError("the session does not begin with hello") }
    let effect = try make(
      Greeting(
        parameters: hello.members["parameters"] ?? .object([:]), rate: rate,
        channelCount: channels, blockFrames: block,
        folder: hello.members["temporary"]?.text ?? "/tmp"))
    send(
      PluginMessage(
        "ready",
        [
          "protocol": .integer(PluginManifest.spokenProtocol), "latency": .integer(effect.latency),
          "snapshots": .boolean(effect.hasState),
        ]))
    var samples: [Float] = []
    while let message = next() {
      switch message.type {
      case "sound":
        let frames = message.members["frames"]?.integer ?? 0
        guard frames >= 0, message.payload.count == 4 * frames * channels else {
          throw EffectError("a block has not the length that it says")
        }
        samples = Self.samples(of: message.payload)
        try effect.process(&samples, frames: frames)
        send(
          PluginMessage("sound", ["frames": .integer(frames)], payload: Self.bytes(of: samples)))
      case "snapshot":
        let state = try effect.state()
        send(PluginMessage("snapshot", ["bytes": .integer(state.count)], payload: state))
      case "restore":
        try effect.restore(message.payload)
        send(PluginMessage("restored"))
      case "end":
        if let figures = effect.figures,
          let value = try? JSONReader.value(of: Array(figures.utf8), depthLimit: 64).value
        {
          send(PluginMessage("measurement", ["value": value]))
        }
        send(PluginMessage("done"))
        return
      default: break
      }
    }
  }

  /// The next message; nil at the end, or where what came is none.
  private func next() -> PluginMessage? {
    while true {
      if let end = pending.firstIndex(of: 10) {
        guard
          let members = try? JSONReader.value(of: Array(pending[..<end]), depthLimit: 64).value,
          let type = members["type"]?.text
        else { return nil }
        let count = max(0, members["bytes"]?.integer ?? 0)
        while pending.count - end - 1 < count { guard fill() else { return nil } }
        let payload = Array(pending[(end + 1)..<(end + 1 + count)])
        pending.removeFirst(end + 1 + count)
        return PluginMessage(type: type, members: members, payload: payload)
      }
      guard fill() else { return nil }
    }
  }

  private func fill() -> Bool {
    let length = pending.count
    let portion = 1 << 18
    pending.append(contentsOf: repeatElement(0, count: portion))
    var count = -1
    repeat {
      count = unsafe pending.withUnsafeMutableBytes { buffer -> Int in
        guard let start = buffer.baseAddress else { return 0 }
        return unsafe read(STDIN_FILENO, start + length, portion)
      }
    } while count < 0 && errno == EINTR
    pending.removeLast(portion - max(0, count))
    return count > 0
  }

  private func send(_ message: PluginMessage) {
    let bytes = message.line + message.payload
    var sent = 0
    while sent < bytes.count {
      let count = unsafe bytes.withUnsafeBytes { buffer -> Int in
        guard let start = buffer.baseAddress else { return 0 }
        return unsafe write(output, start + sent, bytes.count - sent)
      }
      if count > 0 { sent += count } else if errno != EINTR { exit(1) }
    }
  }

  private static func samples(of bytes: [UInt8]) -> [Float] {
    unsafe [Float](unsafeUninitializedCapacity: bytes.count / 4) { buffer, count in
      unsafe UnsafeMutableRawBufferPointer(buffer).copyBytes(from: bytes)
      count = bytes.count / 4
    }
  }

  private static func bytes(of samples: [Float]) -> [UInt8] {
    unsafe samples.withUnsafeBytes { unsafe Array($0) }
  }
}
