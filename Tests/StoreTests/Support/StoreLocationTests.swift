import Foundation
import Store
import Testing

@Suite struct StoreLocationTests {
  @Test("the option comes first, then SPOOL_STORE, then the user's data folder")
  func order() {
    let all = ["SPOOL_STORE": "/b", "XDG_DATA_HOME": "/c", "HOME": "/d"]
    #expect(StoreLocation.resolve(option: "/a", environment: all) == "/a")
    #expect(StoreLocation.resolve(option: nil, environment: all) == "/b")
    #expect(
      StoreLocation.resolve(option: nil, environment: ["XDG_DATA_HOME": "/c", "HOME": "/d"])
        == "/c/spool")
    #expect(
      StoreLocation.resolve(option: nil, environment: ["HOME": "/d"]) == "/d/.local/share/spool")
  }

  @Test("empty words and a relative data folder count as absent")
  func absent() {
    let environment = ["SPOOL_STORE": "", "XDG_DATA_HOME": "relative", "HOME": "/d"]
    #expect(
      StoreLocation.resolve(option: "", environment: environment) == "/d/.local/share/spool")
  }

  @Test("without HOME, the user database is asked")
  func noHome() {
    let path = StoreLocation.resolve(option: nil, environment: [:])
    #expect(path.hasPrefix("/") && path.hasSuffix("/.local/share/spool"))
  }
}
