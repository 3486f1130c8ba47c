import Hashing
import TestSupport
import Testing

@testable import Store

@Suite("The store's ledger of receipts only grows")
struct ReceiptLedgerTests {
  @Test("receipts keep their order, one that is there is not added again, and all survive")
  func order() throws {
    let scratch = try ScratchFolder()
    let leaves = (0..<20).map { SHA256.digest(of: "\($0)") }
    do {
      let store = try DiskStore(at: scratch.file("store"))
      #expect(try store.receiptLeaves() == [])
      for leaf in leaves {
        try store.append(receipt: leaf, at: "path")
        try store.append(receipt: leaf, at: "elsewhere")
        try store.append(receipt: leaves[0], at: "path")
      }
      #expect(try store.receiptLeaves() == leaves)
    }
    #expect(try DiskStore(at: scratch.file("store")).receiptLeaves() == leaves)
  }

  @Test("many at once get places of their own")
  func concurrent() async throws {
    let scratch = try ScratchFolder()
    let store = try DiskStore(at: scratch.file("store"))
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<40 {
        group.addTask { try store.append(receipt: SHA256.digest(of: "\(number % 30)"), at: "p") }
      }
      try await group.waitForAll()
    }
    let leaves = try store.receiptLeaves()
    #expect(leaves.count == 30)
    #expect(Set(leaves).count == 30)
  }
}
