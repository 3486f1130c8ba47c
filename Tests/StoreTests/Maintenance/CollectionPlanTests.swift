import PipelineModel
import Platform
@testable import Store
import TestSupport
import Testing

@Suite struct CollectionPlanTests {
  private let day = 86400.0
  private let now = 1000 * 86400.0

  private func digest(_ name: String) -> Digest { SHA256.digest(of: name) }

  private func holding(_ age: Double, _ keys: [String], isPinned: Bool = false)
    -> CollectionPlan.Holding
  {
    CollectionPlan.Holding(
      lastUse: now - age * day, isPinned: isPinned, keys: Set(keys.map(digest)))
  }

  private func file(_ count: Int, isProtected: Bool = false) -> CollectionPlan.File {
    CollectionPlan.File(byteCount: count, isProtected: isProtected)
  }

  private func mention(_ name: String, isSound: Bool = false) -> CollectionPlan.Mention {
    CollectionPlan.Mention(artifact: digest(name), isSound: isSound)
  }

  private func plan(
    _ policy: CollectionPolicy, _ holdings: [CollectionPlan.Holding],
    _ mentions: [String: [CollectionPlan.Mention]], _ files: [String: CollectionPlan.File],
    recent: [String] = []
  ) -> CollectionPlan {
    func keyed<Value>(_ values: [String: Value]) -> [Digest: Value] {
      Dictionary(values.map { (digest($0.key), $0.value) }, uniquingKeysWith: { first, _ in first })
    }
    return CollectionPlan(
      policy, now: now, holdings: holdings, mentions: keyed(mentions), files: keyed(files),
      isRecent: Set(recent.map(digest)))
  }

  private func names(_ digests: Set<Digest>, of names: [String]) -> [String] {
    names.filter { digests.contains(digest($0)) }
  }

  @Test("what a kept run needs stays, though an old one needs it too")
  func shared() {
    let plan = plan(
      CollectionPolicy(), [holding(40, ["a", "b"]), holding(3, ["b"])],
      ["a": [mention("fa"), mention("shared")], "b": [mention("fb"), mention("shared")]],
      ["fa": file(10), "fb": file(20), "shared": file(40), "orphan": file(1)])
    #expect(names(plan.keys, of: ["a", "b"]) == ["a"])
    #expect(names(plan.files, of: ["fa", "fb", "shared", "orphan"]) == ["fa", "orphan"])
    #expect(plan.freedBytes == 11 && plan.holdingCount == 1)
  }

  @Test("a pinned run stays, however old")
  func pinned() {
    let plan = plan(
      CollectionPolicy(), [holding(400, ["a"], isPinned: true), holding(400, ["b"])],
      ["a": [mention("fa")], "b": [mention("fb")]], ["fa": file(10), "fb": file(20)])
    #expect(names(plan.files, of: ["fa", "fb"]) == ["fb"])
  }

  @Test("what was wanted lately stays, and so does the checkpoint that names it")
  func protected() {
    let plan = plan(
      CollectionPolicy(), [holding(40, ["a", "b", "c"])],
      ["a": [mention("fa"), mention("fa2")], "b": [mention("fb")], "c": [mention("fc")]],
      ["fa": file(10, isProtected: true), "fa2": file(5), "fb": file(20), "fc": file(1)],
      recent: ["c"])
    #expect(names(plan.keys, of: ["a", "b", "c"]) == ["b"])
    #expect(names(plan.files, of: ["fa", "fa2", "fb", "fc"]) == ["fb"])
  }

  @Test(
    "to a size, the least recent runs go first, and no more than it takes",
    arguments: [
      (100, []), (69, ["fa"]), (60, ["fa"]), (59, ["fa", "fb"]), (0, ["fa", "fb", "fc"]),
    ] as [(Int, [String])])
  func size(limit: Int, gone: [String]) {
    var policy = CollectionPolicy()
    policy.keptBytes = limit
    let plan = plan(
      policy, [holding(1, ["c"]), holding(3, ["a"]), holding(2, ["b"])],
      ["a": [mention("fa")], "b": [mention("fb")], "c": [mention("fc")]],
      ["fa": file(40), "fb": file(30), "fc": file(30)])
    #expect(names(plan.files, of: ["fa", "fb", "fc"]) == gone)
  }

  @Test("an age and a size together free only what is older")
  func both() {
    var policy = CollectionPolicy()
    policy.keptBytes = 0
    policy.age = 2.5 * day
    let plan = plan(
      policy, [holding(1, ["c"]), holding(3, ["a"])],
      ["a": [mention("fa")], "c": [mention("fc")]], ["fa": file(40), "fc": file(30)])
    #expect(names(plan.files, of: ["fa", "fc"]) == ["fa"])
  }

  @Test("sound alone: checkpoints stay, and so does what is no sound, or is a file besides")
  func sound() {
    var policy = CollectionPolicy()
    policy.isSoundOnly = true
    let plan = plan(
      policy, [holding(1, ["a", "b"]), holding(0.5, ["b", "c"])],
      [
        "a": [mention("sa", isSound: true), mention("fa")], "b": [mention("sb", isSound: true)],
        "c": [mention("both", isSound: true), mention("both")],
      ],
      [
        "sa": file(100), "fa": file(10), "sb": file(200), "both": file(300), "orphan": file(1),
        "taken": file(5, isProtected: true),
      ])
    #expect(plan.keys == [])
    #expect(names(plan.sound, of: ["sa", "sb", "both"]) == ["sa", "sb"])
    #expect(names(plan.files, of: ["sa", "fa", "sb", "both", "orphan"]) == ["sa", "sb"])
    #expect(plan.freedBytes == 300)
  }

  @Test("words and receipts stay, however old and large; the sound that is kept with them goes")
  func permanent() {
    func words(_ name: String) -> CollectionPlan.Mention {
      CollectionPlan.Mention(artifact: digest(name), isSound: false, isPermanent: true)
    }
    let mentions = [
      "a": [words("wa"), mention("sa", isSound: true), mention("shared", isSound: true)],
      "b": [mention("fb"), mention("shared", isSound: true)], "orphan": [words("wo")],
    ]
    let files = [
      "wa": file(10), "sa": file(100), "shared": file(200), "fb": file(20), "wo": file(40),
    ]
    var size = CollectionPolicy()
    size.keptBytes = 0
    for (policy, order) in [(CollectionPolicy(), ["a", "b"]), (size, ["b", "a"])] {
      let plan = plan(
        policy, [holding(42, [order[0]]), holding(41, [order[1]]), holding(40, ["orphan"])],
        mentions, files)
      #expect(names(plan.keys, of: ["a", "b", "orphan"]) == ["b"])
      #expect(names(plan.sound, of: ["sa", "shared"]) == ["sa", "shared"])
      #expect(names(plan.files, of: ["wa", "sa", "shared", "fb", "wo"]) == ["sa", "shared", "fb"])
      #expect(plan.freedBytes == 320)
    }
  }

  @Test("sound that a pinned run keeps stays")
  func pinnedSound() {
    var policy = CollectionPolicy()
    policy.isSoundOnly = true
    let plan = plan(
      policy, [holding(1, ["a"]), holding(2, ["a"], isPinned: true)],
      ["a": [mention("sa", isSound: true)]], ["sa": file(100)])
    #expect(plan.files == [])
  }

  @Test("it is carried out in portions that grow, and no file goes before all that name it")
  func portions() throws {
    let keys = (0..<40).map { "k\($0)" }
    // Each names a file of its own, and one that it shares with some of the others.
    let mentions = Dictionary(
      uniqueKeysWithValues: keys.enumerated().map { index, key in
        (key, [mention("f\(index)"), mention("shared\(index % 3)")])
      })
    var files = ["orphan": file(7)]
    for index in keys.indices { files["f\(index)"] = file(100 * index) }
    for index in 0..<3 { files["shared\(index)"] = file(5) }
    let plan = plan(CollectionPolicy(), [holding(40, keys)], mentions, files)
    let portions = plan.portions
    #expect(portions.map(\.keys.count) == [0, 4, 8, 16, 12])
    #expect(portions[0].files == [digest("orphan")])
    #expect(portions[1].keys == [39, 38, 37, 36].map { digest("k\($0)") }, "most is freed first")
    #expect(Set(portions.flatMap(\.keys)) == plan.keys)
    let order = portions.flatMap(\.files)
    #expect(Set(order) == plan.files && order.count == plan.files.count)
    var struck: Set<Digest> = []
    for portion in portions {
      struck.formUnion(portion.keys)
      for file in portion.files {
        let namers = plan.mentions.filter { $0.value.contains { $0.artifact == file } }.keys
        #expect(struck.isSuperset(of: namers))
      }
    }
  }

  @Test("sound is struck and goes in the same portion")
  func soundPortions() {
    var policy = CollectionPolicy()
    policy.isSoundOnly = true
    let plan = plan(
      policy, [holding(40, ["a", "b"])],
      ["a": [mention("sa", isSound: true)], "b": [mention("sb", isSound: true)]],
      ["sa": file(10), "sb": file(20)])
    #expect(plan.portions.map(\.sound) == [[], [digest("sb"), digest("sa")]])
    #expect(plan.portions.map(\.files) == [[], [digest("sb"), digest("sa")]])
  }
}
