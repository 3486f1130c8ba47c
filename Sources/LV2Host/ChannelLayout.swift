/// How the channels of a sound go through instances of a plugin.
///
/// A plugin of one channel has an instance for each; one of two takes the channels in pairs. Where it
/// has more inputs than there are channels, they hear the same; where it has more outputs, their mean is
/// taken; where it has fewer, channels share them. A plugin that makes as many channels of one
/// as the sound has, a reverb say, hears their mean.
public struct ChannelLayout: Hashable, Sendable {
  /// One instance.
  public struct Instance: Hashable, Sendable {
    /// For each input the channels whose mean it hears.
    public let inputs: [[Int]]
    /// For each side-chain the channels whose mean it hears.
    public let sideChains: [[Int]]
    /// The channels that it makes, and of which outputs each is the mean.
    public let outputs: [Output]
  }

  /// A channel that an instance makes.
  public struct Output: Hashable, Sendable {
    /// The channel.
    public let channel: Int
    /// The outputs whose mean it is.
    public let ports: [Int]
  }

  /// The instances.
  public let instances: [Instance]

  /// Lays a plugin out.
  /// - Parameters:
  ///   - channelCount: channels of the sound, at least one.
  ///   - inputs: the plugin's main inputs, at least one.
  ///   - outputs: its outputs; a meter has none, and makes no channel.
  ///   - sideChains: its inputs that are only listened to.
  public init(channelCount: Int, inputs: Int, outputs: Int, sideChains: Int = 0) {
    if inputs == 1, outputs > 1, outputs == channelCount {
      let all = Array(0..<channelCount)
      instances = [
        Instance(
          inputs: [all], sideChains: Array(repeating: all, count: sideChains),
          outputs: all.map { Output(channel: $0, ports: [$0]) })
      ]
      return
    }
    instances = stride(from: 0, to: channelCount, by: inputs).map { first in
      let count = min(inputs, channelCount - first)
      return Instance(
        inputs: (0..<inputs).map { [first + $0 % count] },
        sideChains: (0..<sideChains).map { [first + $0 % count] },
        outputs: (0..<(outputs == 0 ? 0 : count)).map { place in
          let ports =
            outputs < count
            ? [place % outputs] : Array(stride(from: place, to: outputs, by: count))
          return Output(channel: first + place, ports: ports)
        })
    }
  }
}
