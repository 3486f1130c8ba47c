import Hashing
import PipelineModel
import PluginHost
import Proof

/// What has become of the plugins that receipts name: as they are found here, they may be others by now.
/// That makes no receipt wrong.
struct PluginProgress {
  private let shelf: PluginShelf

  init(_ shelf: PluginShelf) { self.shelf = shelf }

  /// A line for each plugin that is not the one that worked on a receipt.
  func notes(on receipts: [VerifiedReceipt]) -> [String] {
    var made: [String: Set<String>] = [:]
    for receipt in receipts {
      for (name, version) in receipt.plugins { made[name, default: []].insert(version) }
    }
    return made.sorted { $0.key < $1.key }.flatMap { name, versions -> [String] in
      let found = shelf.plugins.filter { $0.manifest.name == name }
      guard found.count == 1, let plugin = found.first else { return [] }
      let now = "\(plugin.manifest.version) \(plugin.digest().short)"
      return versions.sorted().filter { $0 != now }.map {
        "the plugin \(name) was \($0) when it worked on this, and is \(now) here: a run would make "
          + "it anew"
      }
    }
  }
}
