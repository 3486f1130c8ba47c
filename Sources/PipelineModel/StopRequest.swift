import Synchronization

/// A request to stop at the next clean point, shared between whoever asks and whoever works.
public final class StopRequest: Sendable {
  private let signal = Atomic<Int32>(0)

  /// Nothing is asked yet.
  public init() {}

  /// Asks to stop, on behalf of a signal's number. Safe in a signal handler.
  public func request(signal number: Int32) {
    _ = signal.compareExchange(expected: 0, desired: number, ordering: .sequentiallyConsistent)
  }

  /// Whether somebody asked.
  public var isRequested: Bool { signal.load(ordering: .relaxed) != 0 }

  /// The number of the signal that asked; nil while nobody did.
  public var signalNumber: Int32? {
    let number = signal.load(ordering: .relaxed)
    return number == 0 ? nil : number
  }

  /// Throws when somebody asked.
  public func check() throws(StageError) {
    if isRequested { throw .cancelled }
  }
}
