import PipelineModel
import Platform

/// Where the files of a recording lie together.
extension DeliveryQueue {
  /// A row that is of the same file.
  struct KnownRow {
    let id: Int64
    let state: String
    let clearPath: String
  }

  /// The rows of a file: the same bytes of the same recording, by the same name. The recording itself is
  /// the same by any name. O(log n).
  static func knownRows(
    of order: Order, in database: inout Database
  ) throws(SpoolError) -> [KnownRow] {
    try database.run(
      """
      SELECT id, state, coalesce(json_extract(facts, '$.path'), path) FROM deliveries
      WHERE destination = ?1 AND recording = ?2 AND digest = ?4
        AND (name = ?3 OR ?5 AND role = 'original')
      ORDER BY name <> ?3, id
      """, order.key + [.integer(order.file.isRecording ? 1 : 0)], to: reading
    ).compactMap { row in
      guard let id = row[0].integer, let state = row[1].text, let path = row[2].text else {
        return nil
      }
      return KnownRow(id: id, state: state, clearPath: path)
    }
  }

  /// The folder of the version that some files for one destination are: one that has all of them, else
  /// the first one, with a number if need be, in which none of their names is taken by other bytes. Nil
  /// where files of several recordings lie side by side. O(k log n) for k versions.
  static func versionFolder(
    of orders: [Order], in database: inout Database
  ) throws(SpoolError) -> String? {
    // What lies elsewhere already does not say where the version is.
    guard let first = orders.first(where: { $0.versionDepth != nil }),
      let usual = first.versionFolder
    else { return nil }
    let files = orders.filter {
      $0.about == nil && $0.file.content != .original && $0.versionDepth != nil
    }
    var shared: [ExactText: String]?
    var known: [[KnownRow]] = []
    for file in files {
      let rows = try knownRows(of: file, in: &database)
      known.append(rows)
      let ending = "/" + file.nameInVersion
      var folders: [ExactText: String] = [:]
      for path in rows.map(\.clearPath)
      where path.utf8.suffix(ending.utf8.count).elementsEqual(ending.utf8) {
        let folder = String(decoding: path.utf8.dropLast(ending.utf8.count), as: UTF8.self)
        folders[ExactText(folder)] = folder
      }
      shared = shared?.filter { folders[$0.key] != nil } ?? folders
    }
    if let folder = shared?.values.min(by: { ($0.utf8.count, $0) < ($1.utf8.count, $1) }) {
      return folder
    }
    for number in 1...10_000 {
      let folder = number == 1 ? usual : "\(usual) (\(number))"
      var isFree = true
      for (file, rows) in zip(files, known) where isFree {
        let path = "\(folder)/\(file.nameInVersion)"
        if rows.contains(where: { ExactText($0.clearPath) == ExactText(path) }) { continue }
        isFree = try database.run(
          """
          SELECT 1 FROM deliveries
          WHERE destination = ? AND coalesce(json_extract(facts, '$.path'), path) = ?
          """, [.text(first.destination), .text(path)], to: reading
        ).isEmpty
      }
      if isFree { return folder }
    }
    throw SpoolError(
      "queue \(usual) for \(first.destination)",
      reason: "10,000 versions of it are there or on their way there already",
      advice: "put {noteId} into the path in the pipeline")
  }
}

extension DeliveryQueue.Order {
  /// What makes two files the same, as the queue's rows have it.
  var key: [SQLValue] {
    [
      .text(destination), .text(file.recording?.hex ?? ""), .text(file.name),
      .text(file.digest.hex),
    ]
  }

  /// The path as people know it, whatever name an encrypted file has there.
  var clearPath: String { file.facts[QueuedDelivery.File.clearPath] ?? path }

  fileprivate var names: [Substring] {
    clearPath.split(separator: "/", omittingEmptySubsequences: false)
  }

  /// The folder of its version.
  fileprivate var versionFolder: String? {
    versionDepth.map { names.prefix($0).joined(separator: "/") }
  }

  /// The path in that.
  fileprivate var nameInVersion: String {
    names.dropFirst(versionDepth ?? 0).joined(separator: "/")
  }

  /// Moves the file into another folder of its version.
  mutating func move(to folder: String) {
    let moved = "\(folder)/\(nameInVersion)"
    if file.facts[QueuedDelivery.File.clearPath] == nil {
      path = moved
    } else {
      file.facts[QueuedDelivery.File.clearPath] = moved
    }
  }
}
