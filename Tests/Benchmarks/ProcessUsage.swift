import Audio

/// What a program that has ended took of the machine.
struct ProcessUsage {
  /// From its start to its end.
  var wall: Seconds
  /// On all cores together, in user mode and in the kernel.
  var cpu: Seconds
  /// The most memory that was resident at once, in bytes.
  var peakMemory: Int

  /// One program after the other.
  static func + (a: ProcessUsage, b: ProcessUsage) -> ProcessUsage {
    ProcessUsage(
      wall: Seconds(a.wall.value + b.wall.value), cpu: Seconds(a.cpu.value + b.cpu.value),
      peakMemory: max(a.peakMemory, b.peakMemory))
  }
}
