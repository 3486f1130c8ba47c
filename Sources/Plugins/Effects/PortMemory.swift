import CLilvLoader

/// The buffers that a plugin's ports are connected to. Their addresses stay valid for the life of
/// this object.
@safe final class PortMemory {
  let ports: [EffectPort]
  /// The address of each port's buffer; nil for ports without one.
  private let starts: [UnsafeMutableRawPointer?]
  private let lengths: [Int]
  private let blockLength: Int

  /// Allocates a block for each audio port, a number for each control, and a buffer for events.
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

  /// The address that a port is connected to; nil if it has no buffer.
  func start(_ port: Int) -> UnsafeMutableRawPointer? { unsafe starts[port] }

  /// The numbers of a port; nil if it carries none.
  func samples(_ port: Int) -> UnsafeMutableBufferPointer<Float>? {
    guard ports[port].kind != .events, let start = unsafe starts[port] else { return nil }
    let count = lengths[port] / 4
    return unsafe UnsafeMutableBufferPointer(
      start: start.bindMemory(to: Float.self, capacity: count), count: count)
  }

  /// The first number of a port, which is a control's value.
  func value(_ port: Int) -> Float { unsafe samples(port)?.first ?? 0 }

  func fill(_ port: Int, with value: Double) {
    unsafe samples(port)?.update(repeating: Float(value))
  }

  /// The frames of the last block at which an event port has events.
  func eventFrames(_ port: Int) -> [Int] {
    var frames = [Int64](repeating: 0, count: 256)
    let count = unsafe spool_lv2_event_frames(
      starts[port], UInt32(lengths[port]), &frames, UInt32(frames.count))
    return frames.prefix(Int(count)).map { Int($0) }
  }

  /// Resets event ports for the next block, with empty inputs.
  func clearEvents() {
    for port in ports where port.kind == .events {
      unsafe spool_lv2_clear_sequence(starts[port.index], UInt32(lengths[port.index]), port.isInput)
    }
  }
}

/// A running plugin of any format that processes blocks. Not thread-safe.
protocol EffectInstance: AnyObject {
  /// Sets a control before the first block; does nothing if the plugin has no such control.
  func set(_ symbol: String, to value: Double)
  /// Called once, after all controls are set and before the first block.
  func activate()
  /// Processes one block: reads the input ports, fills the output ports.
  func run(_ frames: Int)
  var memory: PortMemory { get }
}

/// Text that a C function wrote into a Swift buffer.
enum CText {
  /// The text before the terminating null.
  static func text(_ bytes: [CChar]) -> String {
    String(decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
