import Platform

/// Parallel instances of one plugin that process sound of any channel count. Blocks have a fixed
/// length, so that the output does not depend on how the input is divided.
final class EffectInstances: HostedEffect {
  /// Frames in a block. Fixed, since the output of many plugins depends on the block length.
  static let blockLength = 1024

  let latency: Int
  /// Always false: LV2 state holds settings, not signal history.
  let hasState = false

  private let effect: EffectDescription
  private let channelCount: Int
  private let layout: ChannelLayout
  private let instances: [EffectInstance]
  private let inputs: [Int]
  private let sideChains: [Int]
  private let outputs: [Int]
  /// Frames processed so far.
  private var heard = 0
  /// Event positions in frames, by port and instance.
  private var events: [String: [Int]] = [:]
  private static let mostEvents = 10_000
  /// Set after a shorter block, which ends the sound.
  private var isOver = false

  /// - Parameters:
  ///   - channelCount: channels of the sound.
  ///   - make: makes an instance with its controls set, not yet activated.
  init(
    _ effect: EffectDescription, channelCount: Int,
    make: () throws(SpoolError) -> EffectInstance
  ) throws(SpoolError) {
    if let reason = effect.refusal {
      throw SpoolError("\(effect.name) cannot treat sound", reason: reason)
    }
    self.effect = effect
    self.channelCount = channelCount
    inputs = effect.inputs.map(\.index)
    sideChains = effect.sideChains.map(\.index)
    outputs = effect.outputs.map(\.index)
    layout = ChannelLayout(
      channelCount: channelCount, inputs: inputs.count, outputs: outputs.count,
      sideChains: sideChains.count)
    // A meter does not delay the sound, whatever it reports.
    latency = effect.isMeter ? 0 : try Self.latency(of: effect, make)
    instances = try layout.instances.map { (_) throws(SpoolError) in
      let instance = try make()
      instance.activate()
      return instance
    }
  }

  /// Measures the latency with a separate instance: plugins report it only while they run.
  private static func latency(
    of effect: EffectDescription, _ make: () throws(SpoolError) -> EffectInstance
  ) throws(SpoolError) -> Int {
    guard let port = effect.ports.first(where: { $0.role == .latency }) else { return 0 }
    let probe = try make()
    probe.activate()
    for _ in 0..<8 { probe.run(blockLength) }
    let frames = probe.value(port.index)
    guard frames.isFinite, frames >= 0, frames < 1e9 else {
      throw SpoolError("\(effect.name) says that its latency is \(frames) frames")
    }
    return Int(frames.rounded())
  }

  func process(_ samples: inout [Float], frames: Int) throws(SpoolError) {
    var first = 0
    while first < frames {
      guard !isOver else { throw SpoolError("a block of another length was not the last one") }
      let count = min(Self.blockLength, frames - first)
      isOver = count < Self.blockLength
      for (instance, place) in zip(instances, layout.instances) {
        for (port, channels) in zip(inputs, place.inputs) {
          fill(instance, port, with: channels, of: samples, at: first, count)
        }
        for (port, channels) in zip(sideChains, place.sideChains) {
          fill(instance, port, with: channels, of: samples, at: first, count)
        }
        instance.run(Self.blockLength)
        if effect.isMeter { noteEvents(instance, from: heard + first, count) }
        for output in place.outputs {
          read(output, of: instance, into: &samples, first, count)
        }
      }
      first += count
    }
    heard += frames
  }

  /// Records the positions of events from a meter, up to the end of the sound.
  private func noteEvents(_ instance: EffectInstance, from start: Int, _ count: Int) {
    for port in effect.events {
      let frames = instance.eventFrames(port.index).filter { $0 < count }
      let room = Self.mostEvents - (events[port.symbol]?.count ?? 0)
      events[port.symbol, default: []] += frames.prefix(max(0, room)).map { start + $0 }
    }
  }

  /// Fills a port with the mean of some channels, and with silence after the end of the sound.
  private func fill(
    _ instance: EffectInstance, _ port: Int, with channels: [Int], of samples: [Float],
    at first: Int,
    _ count: Int
  ) {
    guard let target = unsafe instance.samples(port) else { return }
    let share = 1 / Float(channels.count)
    for frame in 0..<count {
      let start = (first + frame) * channelCount
      var sum: Float = 0
      for channel in channels { sum += samples[start + channel] }
      unsafe target[frame] = sum * share
    }
    for frame in count..<Self.blockLength { unsafe target[frame] = 0 }
  }

  /// Fills a channel with the mean of some outputs.
  private func read(
    _ output: ChannelLayout.Output, of instance: EffectInstance, into samples: inout [Float],
    _ first: Int, _ count: Int
  ) {
    let share = 1 / Float(output.ports.count)
    for (number, place) in output.ports.enumerated() {
      guard let source = unsafe instance.samples(outputs[place]) else { continue }
      for frame in 0..<count {
        let target = (first + frame) * channelCount + output.channel
        let value = unsafe source[frame] * share
        samples[target] = number == 0 ? value : samples[target] + value
      }
    }
  }

  func state() throws(SpoolError) -> [UInt8] {
    throw SpoolError("\(effect.name) cannot tell what it remembers")
  }

  func restore(_ state: [UInt8]) throws(SpoolError) {
    throw SpoolError("\(effect.name) cannot take over what another remembered")
  }

  /// The last meter values of each instance, as JSON.
  var figures: String? {
    let meters = effect.meters
    let readings = instances.map { instance in
      JSONValue.object(
        leavingOut: Dictionary(
          meters.map { port -> (String, JSONValue?) in
            let value = instance.value(port.index)
            return (port.symbol, value.isFinite ? .decimal(Double(value)) : nil)
          }, uniquingKeysWith: { first, _ in first }))
    }
    return JSONValue.object(leavingOut: [
      "plugin": .text(effect.identity), "latencyFrames": .integer(latency),
      "meters": .list(readings),
      "eventFrames": effect.isMeter && !effect.events.isEmpty
        ? .object(events.mapValues { .list($0.sorted().map { .integer($0) }) }) : nil,
    ]).canonical
  }
}

/// The assignment of channels to instances of a plugin.
///
/// A mono plugin gets one instance a channel; a stereo plugin gets the channels in pairs. If it has
/// more inputs than there are channels, inputs share a channel; if it has more outputs, their mean
/// is taken; if it has fewer, channels share them. A plugin that turns one channel into as many as
/// the sound has, such as a reverb, gets their mean.
package struct ChannelLayout: Sendable {
  package struct Instance: Sendable {
    /// For each input, the channels that are averaged into it.
    package let inputs: [[Int]]
    /// For each side-chain input, the channels that are averaged into it.
    package let sideChains: [[Int]]
    /// The channels that it produces.
    package let outputs: [Output]
  }

  /// A channel and the outputs that it is the mean of.
  package typealias Output = (channel: Int, ports: [Int])

  package let instances: [Instance]

  package init(channelCount: Int, inputs: Int, outputs: Int, sideChains: Int = 0) {
    if inputs == 1, outputs > 1, outputs == channelCount {
      let all = Array(0..<channelCount)
      instances = [
        Instance(
          inputs: [all], sideChains: Array(repeating: all, count: sideChains),
          outputs: all.map { (channel: $0, ports: [$0]) })
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
          return (channel: first + place, ports: ports)
        })
    }
  }
}
