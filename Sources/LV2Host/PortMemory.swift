import CLilvLoader

/// The memory that a plugin's ports are connected with. It stays where it is as long as this lives.
@safe final class PortMemory {
  /// The ports.
  let ports: [EffectPort]
  /// Where each port's memory begins; nil for those without any.
  private let starts: [UnsafeMutableRawPointer?]
  private let lengths: [Int]
  private let blockLength: Int

  /// Makes memory: a block for each port of sound, a number for each control, room for events.
  init(_ ports: [EffectPort], blockLength: Int) {
    self.ports = ports
    self.blockLength = blockLength
    lengths = ports.map { port in
      switch port.kind {
      case .audio, .cv: 4 * blockLength
      case .control: 4
      case .events: max(1 << 15, port.minimumSize)
      case .unknown: 0
      }
    }
    unsafe starts = lengths.map { length -> UnsafeMutableRawPointer? in
      guard length > 0 else { return nil }
      let start = UnsafeMutableRawPointer.allocate(byteCount: length, alignment: 64)
      unsafe start.initializeMemory(as: UInt8.self, repeating: 0, count: length)
      return unsafe start
    }
    for port in ports where port.kind == .control || port.kind == .cv {
      let standard = Float(port.control?.standard ?? 0)
      unsafe samples(port.index)?.update(repeating: standard)
    }
  }

  deinit {
    for index in unsafe starts.indices { unsafe starts[index]?.deallocate() }
  }

  /// What a port is connected with; nil where it has no memory.
  func start(_ port: Int) -> UnsafeMutableRawPointer? { unsafe starts[port] }

  /// The numbers of a port; nil where it carries none.
  func samples(_ port: Int) -> UnsafeMutableBufferPointer<Float>? {
    guard ports[port].kind != .events, let start = unsafe starts[port] else { return nil }
    let count = lengths[port] / 4
    return unsafe UnsafeMutableBufferPointer(
      start: start.bindMemory(to: Float.self, capacity: count), count: count)
  }

  /// The first number of a port: a control's value.
  func value(_ port: Int) -> Float { unsafe samples(port)?.first ?? 0 }

  /// Sets all numbers of a port.
  func fill(_ port: Int, with value: Double) {
    unsafe samples(port)?.update(repeating: Float(value))
  }

  /// The frames of the last block at which an event port says something.
  func eventFrames(_ port: Int) -> [Int] {
    var frames = [Int64](repeating: 0, count: 256)
    let count = unsafe spool_lv2_event_frames(
      starts[port], UInt32(lengths[port]), &frames, UInt32(frames.count))
    return frames.prefix(Int(count)).map { Int($0) }
  }

  /// Makes event ports ready for the next block: nothing comes in.
  func clearEvents() {
    for port in ports where port.kind == .events {
      unsafe spool_lv2_clear_sequence(starts[port.index], UInt32(lengths[port.index]), port.isInput)
    }
  }
}
