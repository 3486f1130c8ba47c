import PipelineEngine
import PipelineModel
import Stages
import Store
import Threading

/// The room that a run needs, held against what the disks have.
extension Workbench {
  /// What a forecast needs where the store and the output folder are.
  func need(_ forecast: Forecast, store option: String?, folder: String) -> RoomNeed {
    let store = DiskPlace(
      of: absolute(StoreLocation.resolve(option: option, environment: Environment.variables)))
    let exports = DiskPlace(of: folder)
    return RoomNeed(
      folder: folder, storeByteCount: forecast.storeByteCount,
      folderByteCount: forecast.publishedByteCount, storeFreeByteCount: store.freeByteCount,
      folderFreeByteCount: exports.freeByteCount, sharesDisk: store.isShared(with: exports))
  }

  /// Opens the store for a run of a plan. Where its disk has not even the room that opening takes, the
  /// run is refused with what it would need, as far as looking at the store tells.
  func store(
    for plan: Plan, at option: String?, _ options: Runner.Options
  ) throws(Refusal) -> DiskStore {
    do throws(Refusal) { return try store(at: option) } catch {
      guard error.isFullDisk, let readable = try? readableStore(at: option) else { throw error }
      let runner = Runner(
        store: readable.store, executors: [SoundPassExecutor(coreCount: CoreCount.online)],
        recorder: SilentRecorder(console), stop: StopRequest(), clock: SystemClock())
      guard let forecast = try? runner.forecast(plan, options),
        let refusal = need(forecast, store: option, folder: options.folder).finalRefusal
      else { throw error }
      throw Refusal(text: ErrorText(refusal).render(console), code: .failed)
    }
  }
}
