import Foundation
import Platform
import Testing

@Suite("A background thread")
struct BackgroundThreadTests {
  @Test("runs its work under its name, and is over once joined")
  func work() {
    let name = Shared("")
    let thread = BackgroundThread(name: "a-name-far-too-long") {
      let comm = try? String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)
      name.update { $0 = comm ?? "unreadable" }
    }
    thread.join()
    thread.join()
    #expect(name.value == "a-name-far-too-\n")
  }

  @Test("leaves signals to the main thread")
  func signals() {
    let isBlocked = Shared(false)
    BackgroundThread(name: "signals") {
      var mask = sigset_t()
      unsafe pthread_sigmask(SIG_BLOCK, nil, &mask)
      let blocked = unsafe sigismember(&mask, SIGINT) == 1
      isBlocked.update { $0 = blocked }
    }.join()
    #expect(isBlocked.value)
  }

  @Test("is waited for when its owner lets it go")
  func dropped() {
    let isDone = Shared(false)
    do {
      _ = BackgroundThread(name: "dropped") {
        usleep(20_000)
        isDone.update { $0 = true }
      }
    }
    #expect(isDone.value)
  }
}
