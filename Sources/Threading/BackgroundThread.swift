import Glibc

/// One system thread that runs one piece of blocking work, away from the cooperative pool.
public final class BackgroundThread: Sendable {
  private let handle: pthread_t
  private let isJoined = Monitor(false)

  /// Starts a thread; `name` is what debuggers and `top -H` show (its first 15 bytes).
  ///
  /// The thread takes no signals: those belong to the main thread.
  public init(name: String, _ work: @Sendable @escaping () -> Void) {
    let order = unsafe Unmanaged.passRetained(Order(name: name, work: work))
    var everySignal = sigset_t()
    var callersSignals = sigset_t()
    unsafe sigfillset(&everySignal)
    unsafe pthread_sigmask(SIG_SETMASK, &everySignal, &callersSignals)
    defer { unsafe pthread_sigmask(SIG_SETMASK, &callersSignals, nil) }
    var handle = pthread_t()
    let status = unsafe pthread_create(&handle, nil, runOrder, order.toOpaque())
    precondition(
      status == 0, "no thread could be made: \(unsafe String(cString: strerror(status)))")
    self.handle = handle
  }

  /// Waits for an unjoined thread, so that no work outlives its owner. A thread that drops the
  /// last reference to itself is let go instead.
  deinit {
    if pthread_equal(handle, pthread_self()) != 0 {
      pthread_detach(handle)
    } else {
      join()
    }
  }

  /// Waits for the end of the work; at once when it was waited for before. Never called by the
  /// thread itself.
  public func join() {
    isJoined.update { isJoined in
      guard !isJoined else { return }
      pthread_join(handle, nil)
      isJoined = true
    }
  }

  /// Lets the thread run on without anybody waiting for it, as long as the program lives.
  public func letGo() {
    isJoined.update { isJoined in
      guard !isJoined else { return }
      pthread_detach(handle)
      isJoined = true
    }
  }
}

/// What a starting thread needs.
private final class Order: Sendable {
  let name: String
  let work: @Sendable () -> Void

  init(name: String, work: @Sendable @escaping () -> Void) {
    self.name = String(decoding: name.utf8.prefix(15), as: UTF8.self)
    self.work = work
  }
}

private nonisolated func runOrder(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?
{
  guard let argument = unsafe argument else { return nil }
  let order = unsafe Unmanaged<Order>.fromOpaque(argument).takeRetainedValue()
  nameThisThread(order.name)
  order.work()
  return nil
}

/// Glibc's own call for this is not visible to Swift, as it is a GNU extension. A thread whose
/// name cannot be set works as well.
private func nameThisThread(_ name: String) {
  let file = unsafe open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
  guard file >= 0 else { return }
  _ = unsafe write(file, name, name.utf8.count)
  close(file)
}
