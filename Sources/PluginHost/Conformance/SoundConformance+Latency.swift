import JSONText
import PipelineModel

/// Whether a plugin is as late as it says.
extension SoundConformance {
  /// Frames beyond the lateness that a plugin claims in which its sound is looked for.
  private static let searchedLateness = 6000

  /// Where the noise that comes out matches the noise that went in.
  func latency() throws(ConformanceFailure) -> String {
    let length = 512
    let noise = ConformanceSignal.noise(length)
    let session = try trial.open(noise)
    let ready = session.ready.members["latency"]
    let claimed = ready?.integer ?? 0
    guard ready == nil || ready?.integer != nil, (0...480_000).contains(claimed) else {
      throw .wrong(
        "it says that it is \(ready?.compact ?? "") frames late; 0 to 10 s is what can be")
    }
    let signal = ConformanceSignal.silence(claimed + Self.searchedLateness, channels: 1)
    trial.send(noise.piece(0..<length), frames: length, to: session)
    var given = try trial.receive(frames: length, channels: 1, at: 0, from: session)
    given += try trial.stream(signal, 0..<signal.count, through: session)
    try trial.close(session)
    guard let found = Correlation(of: noise.samples, in: given).lag else {
      return "it says \(claimed) frames; its sound is too different to measure"
    }
    guard found == claimed else {
      throw .wrong(
        "it says that it is \(claimed) frames late, and is \(found): say \"latency\":\(found)")
    }
    return claimed == 0 ? "none, as it says" : "\(claimed) frames, as it says"
  }
}
