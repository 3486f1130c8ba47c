internal import Hashing
internal import PipelineModel

/// The files that came with notes, as rows.
enum NoteFileTable {
  /// Files, by whatever follows `FROM note_files`.
  static func files(
    _ rest: String, _ values: [SQLValue], in database: inout Database
  ) throws(StoreError) -> [NoteFile] {
    try database.run(
      """
      SELECT note_files.id, note_files.note, note_files.inbox, role, path, location, inode,
        note_files.byte_count, modified_ns, changed_ns, place, target,
        note_files.digest
      FROM note_files \(rest)
      """, values, to: NoteTable.reading
    ).compactMap(file)
  }

  /// Records a file that lies in the inbox, inside a transaction.
  static func add(
    _ role: NoteFile.Role, path: String, stamp: NoteFileStamp, digest: Digest? = nil,
    inbox: String, deviceID: String? = nil, deviceName: String? = nil, to key: NoteKey,
    in database: inout Database
  ) throws(StoreError) {
    try database.run(
      """
      INSERT INTO note_files
        (note, inbox, role, path, location, inode, byte_count, modified_ns, changed_ns, place,
          device_id, device_name, digest)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 'inbox', ?, ?, ?)
      """,
      [.text(key.name), .text(inbox), .text(role.rawValue), .text(path), .text(path)]
        + values(stamp)
        + [SQLValue(deviceID), SQLValue(deviceName), SQLValue(digest?.hex)], to: NoteTable.recording
    )
  }

  /// The file of this path and version that still lies there; nil where none was taken in.
  static func known(
    path: String, stamp: NoteFileStamp, inbox: String, in database: inout Database
  ) throws(StoreError) -> NoteFile? {
    try files(
      """
      WHERE inbox = ? AND location = ? AND (inode, byte_count, modified_ns, changed_ns) = (?, ?, ?, ?)
        AND place IN ('inbox', 'quarantine', 'left') ORDER BY id DESC LIMIT 1
      """, [.text(inbox), .text(path)] + values(stamp), in: &database
    ).first
  }

  static func values(_ stamp: NoteFileStamp) -> [SQLValue] {
    [
      .integer(Int64(bitPattern: stamp.inode)), .integer(stamp.byteCount),
      .integer(stamp.modified), .integer(stamp.changed),
    ]
  }

  private static func file(_ row: SQLRow) -> NoteFile? {
    guard let id = row[0].integer, let note = row[1].text, let inbox = row[2].text,
      let role = row[3].text.flatMap(NoteFile.Role.init(rawValue:)), let path = row[4].text,
      let location = row[5].text, let inode = row[6].integer, let byteCount = row[7].integer,
      let modified = row[8].integer, let changed = row[9].integer,
      let place = row[10].text.flatMap(NoteFile.Place.init(rawValue:))
    else { return nil }
    return NoteFile(
      id: id, note: NoteKey(note), inbox: inbox, role: role, path: path,
      location: location,
      stamp: NoteFileStamp(
        inode: UInt64(bitPattern: inode), byteCount: byteCount, modified: modified,
        changed: changed),
      digest: row[12].text.flatMap(Digest.init(hex:)), place: place, target: row[11].text)
  }
}
