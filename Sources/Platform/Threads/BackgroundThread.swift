import Glibc
import Synchronization

/// A system thread for one piece of blocking work, away from the cooperative pool.
package final class BackgroundThread: Sendable {
  private let handle: pthread_t
  private let isJoined = Monitor(false)

  /// Starts a thread; debuggers and `top -H` show the first 15 bytes of `name`.
  ///
  /// The thread blocks all signals: the main thread handles them.
  package init(name: String, _ work: @Sendable @escaping () -> Void) {
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

  /// Joins the thread, so that no work outlives its owner. A thread that drops the last reference
  /// to itself is detached instead.
  deinit {
    if pthread_equal(handle, pthread_self()) != 0 {
      pthread_detach(handle)
    } else {
      join()
    }
  }

  /// Waits for the end of the work, once. Must not be called by the thread itself.
  package func join() {
    isJoined.update { isJoined in
      guard !isJoined else { return }
      pthread_join(handle, nil)
      isJoined = true
    }
  }

  /// Detaches the thread: it runs until the program exits.
  package func letGo() {
    isJoined.update { isJoined in
      guard !isJoined else { return }
      pthread_detach(handle)
      isJoined = true
    }
  }
}

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

/// Glibc's own call is a GNU extension that Swift does not see. A thread works without its name.
private func nameThisThread(_ name: String) {
  try? OpenFile("/proc/thread-self/comm", O_WRONLY).put(Array(name.utf8))
}

/// A pause between two pieces of work that another thread can end, permanently.
package final class Pause: Sendable {
  private let isOver = Monitor(false)

  package init() {}

  /// Waits on the monotonic clock.
  /// - Returns: false once the pause was ended; at once from then on.
  package func wait(_ duration: Duration) -> Bool {
    isOver.wait(atMost: duration) { $0 ? true : nil } == nil
  }

  /// Ends this wait and every later one.
  package func end() { isOver.update { $0 = true } }
}

/// A request to stop at the next safe point, shared between threads.
package final class StopRequest: Sendable {
  private let signal = Atomic<Int32>(0)

  package init() {}

  /// Requests a stop, for a signal's number. Safe in a signal handler.
  package func request(signal number: Int32) {
    _ = signal.compareExchange(expected: 0, desired: number, ordering: .sequentiallyConsistent)
  }

  package var isRequested: Bool { signal.load(ordering: .relaxed) != 0 }

  /// The number of the signal; nil without a request.
  package var signalNumber: Int32? {
    let number = signal.load(ordering: .relaxed)
    return number == 0 ? nil : number
  }

  package func check() throws(SpoolError) {
    if isRequested { throw .cancelled }
  }
}
