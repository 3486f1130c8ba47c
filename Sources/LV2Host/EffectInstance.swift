import PluginWorker

/// A plugin at work on one block after the other, whatever its format. One thread at a time.
protocol EffectInstance: AnyObject {
  /// Sets a control before the first block; what has no such control leaves it.
  func set(_ symbol: String, to value: Double)
  /// Everything is set: the first block may come.
  func activate()
  /// Runs one block: every input has been filled, and every output is to be read.
  func run(_ frames: Int)
  /// The memory of its ports.
  var memory: PortMemory { get }
}
