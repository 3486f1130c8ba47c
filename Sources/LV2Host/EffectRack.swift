import JSONText
import PluginWorker

/// A plugin's instances beside each other: sound of any number of channels goes through them in blocks of
/// one length, so that nothing depends on how it arrives.
final class EffectRack: HostedEffect {
  /// Frames in a block. Many plugins work in blocks of their own, and give other sound for others.
  static let blockLength = 1024

  let latency: Int
  /// What a plugin remembers of the sound cannot be had from it: LV2's states hold settings only.
  let hasState = false

  private let effect: EffectDescription
  private let channelCount: Int
  private let layout: ChannelLayout
  private let instances: [any EffectInstance]
  private let inputs: [Int]
  private let sideChains: [Int]
  private let outputs: [Int]
  /// Frames that have gone by.
  private var heard = 0
  /// Where a meter told something, by port and instance, in frames.
  private var events: [String: [Int]] = [:]
  private static let mostEvents = 10_000
  /// A block was shorter: the sound is over.
  private var isOver = false

  /// Sets instances up.
  /// - Parameters:
  ///   - channelCount: channels of the sound.
  ///   - make: makes an instance whose controls are set, and which has not been activated.
  init(
    _ effect: EffectDescription, channelCount: Int,
    make: () throws(EffectError) -> any EffectInstance
  ) throws(EffectError) {
    if let reason = effect.refusal {
      throw EffectError("\(effect.name) cannot treat sound", reason: reason)
    }
    self.effect = effect
    self.channelCount = channelCount
    inputs = effect.inputs.map(\.index)
    sideChains = effect.sideChains.map(\.index)
    outputs = effect.outputs.map(\.index)
    layout = ChannelLayout(
      channelCount: channelCount, inputs: inputs.count, outputs: outputs.count,
      sideChains: sideChains.count)
    // A meter's sound goes by, whatever it says of itself.
    latency = effect.isMeter ? 0 : try Self.latency(of: effect, make)
    var made: [any EffectInstance] = []
    for _ in layout.instances {
      let instance = try make()
      instance.activate()
      made.append(instance)
    }
    instances = made
  }

  /// Plugins know their latency only at work: one of its own hears silence first.
  private static func latency(
    of effect: EffectDescription, _ make: () throws(EffectError) -> any EffectInstance
  ) throws(EffectError) -> Int {
    guard let port = effect.ports.first(where: { $0.role == .latency }) else { return 0 }
    let probe = try make()
    probe.activate()
    for _ in 0..<8 { probe.run(blockLength) }
    let frames = probe.memory.value(port.index)
    guard frames.isFinite, frames >= 0, frames < 1e9 else {
      throw EffectError("\(effect.name) says that its latency is \(frames) frames")
    }
    return Int(frames.rounded())
  }

  func process(_ samples: inout [Float], frames: Int) throws(EffectError) {
    var first = 0
    while first < frames {
      guard !isOver else {
        throw EffectError("a block of another length was not the last one")
      }
      let count = min(Self.blockLength, frames - first)
      isOver = count < Self.blockLength
      for (instance, place) in zip(instances, layout.instances) {
        for (port, channels) in zip(inputs, place.inputs) {
          fill(instance.memory, port, with: channels, of: samples, at: first, count)
        }
        for (port, channels) in zip(sideChains, place.sideChains) {
          fill(instance.memory, port, with: channels, of: samples, at: first, count)
        }
        instance.run(Self.blockLength)
        if effect.isMeter { noteEvents(instance.memory, from: heard + first, count) }
        for output in place.outputs {
          read(output, of: instance.memory, into: &samples, first, count)
        }
      }
      first += count
    }
    heard += frames
  }

  /// Keeps the places of what a meter told in events. Behind the end of the sound nothing counts.
  private func noteEvents(_ memory: PortMemory, from start: Int, _ count: Int) {
    for port in effect.events {
      let frames = memory.eventFrames(port.index).filter { $0 < count }
      let room = Self.mostEvents - (events[port.symbol]?.count ?? 0)
      events[port.symbol, default: []] += frames.prefix(max(0, room)).map { start + $0 }
    }
  }

  /// Gives a port the mean of some channels, and silence behind the end of the sound.
  private func fill(
    _ memory: PortMemory, _ port: Int, with channels: [Int], of samples: [Float], at first: Int,
    _ count: Int
  ) {
    guard let target = unsafe memory.samples(port) else { return }
    let share = 1 / Float(channels.count)
    for frame in 0..<count {
      let start = (first + frame) * channelCount
      var sum: Float = 0
      for channel in channels { sum += samples[start + channel] }
      unsafe target[frame] = sum * share
    }
    for frame in count..<Self.blockLength { unsafe target[frame] = 0 }
  }

  /// Takes a channel from the mean of some outputs.
  private func read(
    _ output: ChannelLayout.Output, of memory: PortMemory, into samples: inout [Float],
    _ first: Int, _ count: Int
  ) {
    let share = 1 / Float(output.ports.count)
    for (number, place) in output.ports.enumerated() {
      guard let source = unsafe memory.samples(outputs[place]) else { continue }
      for frame in 0..<count {
        let target = (first + frame) * channelCount + output.channel
        let value = unsafe source[frame] * share
        samples[target] = number == 0 ? value : samples[target] + value
      }
    }
  }

  func state() throws(EffectError) -> [UInt8] {
    throw EffectError("\(effect.name) cannot tell what it remembers")
  }

  func restore(_ state: [UInt8]) throws(EffectError) {
    throw EffectError("\(effect.name) cannot take over what another remembered")
  }

  /// What its meters showed last, for each instance.
  var figures: String? {
    let meters = effect.meters
    let readings = instances.map { instance in
      JSONValue.object(
        leavingOut: Dictionary(
          meters.map { port -> (String, JSONValue?) in
            let value = instance.memory.value(port.index)
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
