import PipelineModel
import Store
import Watching

/// Has the store remember with what each inbox is watched from the moment on at which it is, and passes
/// all news on to the log.
struct WatchMemory: WatchRecorder {
  let store: DiskStore
  /// What the watch was begun with.
  let line: String
  let log: WatchLog

  func record(_ news: WatchNews) {
    if news.event == .watching, let inbox = news.inbox {
      // On a full disk the watch is worth more than the memory of how it was begun.
      try? store.remember(watch: line, ofInbox: inbox)
    }
    log.record(news)
  }
}
