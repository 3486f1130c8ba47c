import Glibc
package import Platform

/// The plugin's side of the protocol, for effects that Spool hosts: reads messages from standard
/// input and answers on standard output until the end of the sound.
///
/// Text that libraries print to standard output is redirected to standard error.
package final class WorkerLoop {
  /// The content of `hello`.
  package struct Greeting: Sendable {
    /// The stage kind.
    package let kind: String
    package let parameters: JSONValue
    /// Frames a second.
    package let rate: Double
    package let channelCount: Int
    /// Maximum frames of a block.
    package let blockFrames: Int
    /// A private folder of this process.
    package let folder: String
  }

  private let output: Int32
  private var incoming = MessageBuffer()

  private init() {
    output = dup(STDOUT_FILENO)
    dup2(STDERR_FILENO, STDOUT_FILENO)
  }

  /// Serves one session with the effect that `make` creates.
  /// - Returns: the exit code.
  package static func serve(
    _ make: (Greeting) throws(SpoolError) -> any HostedEffect
  ) -> Int32 {
    let loop = WorkerLoop()
    do throws(SpoolError) {
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
    _ make: (Greeting) throws(SpoolError) -> any HostedEffect
  ) throws(SpoolError) {
    guard let hello = next(), hello.type == "hello",
      let rate = hello.members["format"]?["rate"]?.number,
      let channels = hello.members["format"]?["channels"]?.integer,
      let block = hello.members["blockFrames"]?.integer
    else { throw SpoolError("the session does not begin with hello") }
    let effect = try make(
      Greeting(
        kind: hello.members["stage"]?.text ?? "",
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
    while var message = next() {
      switch message.type {
      case "sound":
        let frames = message.members["frames"]?.integer ?? 0
        guard frames >= 0, message.payload.count == 4 * frames * channels else {
          throw SpoolError("a block has not the length that it says")
        }
        Self.copy(message.payload, into: &samples)
        try effect.process(&samples, frames: frames)
        guard samples.count == frames * channels else {
          throw SpoolError("the effect has changed the length of a block")
        }
        unsafe samples.withUnsafeBytes { bytes in
          unsafe message.payload.withUnsafeMutableBytes { unsafe $0.copyMemory(from: bytes) }
        }
        send(PluginMessage("sound", ["frames": .integer(frames)], payload: message.payload))
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

  /// The next message; nil at the end of the input or if it is invalid.
  private func next() -> PluginMessage? {
    while true {
      do throws(MessageBuffer.Garbage) {
        if let message = try incoming.next() { return message }
      } catch { return nil }
      var count = -1
      repeat { count = incoming.fill(from: STDIN_FILENO) } while count < 0 && errno == EINTR
      guard count > 0 else { return nil }
    }
  }

  private func send(_ message: PluginMessage) {
    // Spool has closed the pipe.
    if !OutgoingMessage.write(message, to: output) { exit(1) }
  }

  private static func copy(_ bytes: [UInt8], into samples: inout [Float]) {
    if samples.count != bytes.count / 4 {
      samples = [Float](repeating: 0, count: bytes.count / 4)
    }
    unsafe samples.withUnsafeMutableBytes { target in
      unsafe bytes.withUnsafeBytes { unsafe target.copyMemory(from: $0) }
    }
  }
}
