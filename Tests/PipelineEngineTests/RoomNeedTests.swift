import PipelineEngine
import PipelineModel
import Platform
import Testing

@Suite struct RoomNeedTests {
  private func need(
    store: Int, folder: Int, storeFree: Int, folderFree: Int, isShared: Bool = false
  ) -> RoomNeed {
    RoomNeed(
      folder: "/out", storeByteCount: store * 1_000_000, folderByteCount: folder * 1_000_000,
      storeFreeByteCount: storeFree * 1_000_000, folderFreeByteCount: folderFree * 1_000_000,
      sharesDisk: isShared)
  }

  @Test func `what fits on both disks is not refused`() {
    #expect(need(store: 10, folder: 5, storeFree: 10, folderFree: 5).refusal == nil)
    #expect(
      need(store: 10, folder: 5, storeFree: 15, folderFree: 15, isShared: true).refusal == nil)
  }

  @Test func `an output folder on a disk of its own is refused by its own figures`() throws {
    let need = need(store: 681, folder: 312, storeFree: 59_300, folderFree: 210)
    #expect(need.missingInStore == 0)
    #expect(need.missingInFolder == 102_000_000)
    let refusal = try #require(need.refusal)
    #expect(refusal.message == "there is not enough room in /out")
    #expect(refusal.cause == .fullDisk, "it is waited for, and no attempt is counted")
    #expect(
      refusal.reason == "the exports need about 312 MB, and 210 MB are free there; "
        + "the store needs about 681 MB, and 59.3 GB are free")
    #expect(
      refusal.advice == "free about 102 MB for the exports, or choose a folder with --out"
        + "; --ignore-room begins nevertheless, and pauses where a disk gets full")
    var resumed = need
    resumed.isResumed = true
    #expect(
      resumed.refusal?.advice == "free about 102 MB for the exports"
        + "; --ignore-room begins nevertheless, and pauses where a disk gets full",
      "its folder is chosen")
  }

  @Test func `two disks that are too small are both named`() throws {
    let refusal = try #require(
      need(store: 20, folder: 10, storeFree: 5, folderFree: 8).refusal)
    #expect(refusal.message == "there is not enough room in the store and in /out")
    #expect(refusal.advice?.contains("15.0 MB for the store") == true)
    #expect(refusal.advice?.contains("2.0 MB for the exports") == true)
  }

  @Test func `on one disk the sum counts, though each part alone would fit`() throws {
    let need = need(store: 10, folder: 5, storeFree: 12, folderFree: 12, isShared: true)
    #expect(need.missingInStore == 3_000_000)
    #expect(need.missingInFolder == 0)
    let refusal = try #require(need.refusal)
    #expect(refusal.message.contains("/out, which share a disk"))
    #expect(refusal.reason?.contains("15.0 MB there (10.0 MB for the store, 5.0 MB") == true)
  }
}
