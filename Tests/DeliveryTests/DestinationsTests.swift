import PipelineModel
import Platform
import Testing

@testable import Delivery

@Suite("The file of destinations says what is wrong, and where, and never holds a secret")
struct DestinationsTests {
  private func read(_ text: String) -> (destinations: Destinations, problems: [Problem]) {
    var problems: [Problem] = []
    let destinations = Destinations(
      ParsedDestinations(text), from: "/etc/spool/destinations.yaml", home: "/users/anna",
      problems: &problems)
    return (destinations, problems)
  }

  private let keys = [
    "age1za8eqgl8mn2cv07vvvwwvzt47sflfq7uh9w3tzvk8g396t598f5shmsftr",
    "age18j9fy8sj4whnlwnhnr2u7dazp3v3dwlg8w6wu8yu264z8l8j33usu8t966",
    "age12s549tkydcmls42h0wjk873wa8r23xqw7y764wfhkr2wnlflc3lqvsjwz5",
  ]

  private let sshKey =
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIP6dTub6Vyizkzs2f9aobLpv946GefCIvjIsZTEYuVcz anna"

  @Test("every kind is read, with paths from its folder and from the home")
  func kinds() throws {
    let (destinations, problems) = read(
      """
      destinations:
        nas: { folder: /mnt/nas/spool, rate: 2 MB/s }
        cloud: { webdav: "https://cloud.example/dav/anna", user: anna, password: { file: ~/cloud } }
        vault:
          s3: s3://recordings/spool
          endpoint: https://minio.example:9000
          region: eu-central-1
          style: host
          storage-class: COLD
          access-key: { env: KEY }
          secret-key: { credential: s3 }
        box: { sftp: "sftp://anna@box.example/spool", key: keys/id }
        other: { command: [rclone, copyto, "{file}", "x:{name}"], read: [rclone, cat, "x:{name}"] }
      """)
    #expect(problems == [])
    #expect(destinations.all.map(\.name) == ["nas", "cloud", "vault", "box", "other"])
    #expect(destinations.all[0].kind == .folder(Destination.Folder("/mnt/nas/spool")))
    #expect(destinations.all[0].bytesPerSecond == 2_000_000)
    guard case .webDAV(let cloud) = destinations.all[1].kind,
      case .s3(let vault) = destinations.all[2].kind, case .sftp(let box) = destinations.all[3].kind
    else { throw SpoolError("other kinds") }
    #expect(cloud.user == "anna" && cloud.password == .file("/users/anna/cloud"))
    #expect(vault.region == "eu-central-1" && !vault.isPathStyle)
    #expect(vault.storageClass == "COLD" && vault.secretKey == .credential("s3"))
    #expect(box.key == "/etc/spool/keys/id" && box.knownHosts == "/users/anna/.ssh/known_hosts")
    #expect(try destinations.destination(named: "box") == destinations.all[3])
  }

  @Test("hours, append-only, encryption and the kind of confirmation are read")
  func protections() throws {
    let (destinations, problems) = read(
      """
      destinations:
        a: { folder: /a, hours: 22:00-06:00, append-only: true, encrypt: \(keys[0]), identity: ~/key }
        b: { folder: /b, encrypt: [\(keys[1]), "\(sshKey)"] }
        c:
          s3: s3://c
          access-key: { env: A }
          secret-key: { env: B }
          confirm: checksum
        d: { webdav: "https://d.example/dav", public: "https://d.example/share" }
        e: { folder: /e, encrypt: [\(keys[2])] }
      """)
    #expect(problems == [])
    let all = destinations.all
    #expect(all[0].isAppendOnly && !all[1].isAppendOnly)
    #expect(all[0].hours?.beginning == "22:00")
    #expect(all[0].encryption == (try Encryption([keys[0]], identity: "/users/anna/key")))
    #expect(all[1].encryption?.recipients == [keys[1], sshKey])
    #expect(all[4].encryption?.recipients == [keys[2]])
    guard case .s3(let vault) = all[2].kind, case .webDAV(let web) = all[3].kind else {
      throw SpoolError("other kinds")
    }
    #expect(vault.isChecksumTrusted)
    #expect(web.publicAddress?.description == "https://d.example/share")
  }

  @Test("wrong hours and keys are told, and a private key is not repeated")
  func wrongProtections() {
    let (_, problems) = read(
      """
      destinations:
        a: { folder: /a, hours: 22:00 }
        b: { folder: /b, hours: 6:00-25:00 }
        c: { folder: /c, append-only: yes }
      """)
    #expect(problems.map { $0.location?.line } == [2, 3, 4])
    #expect(problems[2].suggestion == "true")
    let key = keys[0]
    for key in [
      "AGE-SECRET-KEY-1QQQ", "age2xyz", "age1foo", "age1/../x1qqqqqq", String(key.dropLast()),
      key.replacing("q", with: "b"), key + "q", String(key.dropLast()) + "q",
      String(sshKey.dropLast(12)), "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIkaputt",
    ] {
      let (_, problems) = read("destinations: { a: { folder: /a, encrypt: \(key) } }")
      #expect(problems.map { $0.location?.column } == [43], "\(key)")
      #expect(problems.first?.message.contains("1QQQ") != true)
    }
    #expect(throws: Never.self) {
      try Encryption([
        key, "age1yubikey1qwt50d05nh5vutpdzmlg5wn80xq5negm4uj9ghv0snvdd3yysf5yw3rhl3t",
      ])
    }
    let (_, lone) = read("destinations: { a: { folder: /a, identity: key } }")
    #expect(lone.count == 1)
    let (_, secret) = read(
      "destinations: { a: { folder: /a, encrypt: \(key), identity: AGE-SECRET-KEY-1QQQ } }")
    #expect(secret.count == 1 && secret.first?.message.contains("1QQQ") == false, "\(secret)")
    #expect(read("destinations: { a: { folder: \"https://a.example/x\" } }").problems.count == 1)
  }

  @Test("hours of the night go over midnight, and the last minute is not in them")
  func hours() throws {
    let night = try #require(DailyHours("22:00-06:00"))
    #expect([22 * 60, 23 * 60 + 59, 0, 5 * 60 + 59].allSatisfy { night.contains(minute: $0) })
    #expect(![6 * 60, 12 * 60, 22 * 60 - 1].contains { night.contains(minute: $0) })
    let evening = try #require(DailyHours("9:30 - 24:00"))
    #expect(evening.contains(minute: 23 * 60 + 59) && !evening.contains(minute: 0))
    #expect(evening.beginning == "09:30")
    for text in ["", "9-10", "9:00-9:00", "9:60-10:00", "24:01-2:00", "a:b-c:d", "1:00-2:00-3:00"] {
      #expect(DailyHours(text) == nil, "\(text)")
    }
  }

  @Test("every problem is told at once, each at its place")
  func problems() throws {
    let (_, problems) = read(
      """
      destinations:
        a: { folder: /a, passwrd: hunter2 }
        b: { webdav: https://b.example, password: hunter2 }
        c: { s3: s3://c, region: eu }
        d: { fodler: /d }
        e e: { folder: /e }
        f: { folder: /f, rate: fast }
        g: { webdav: https://g.example, password: { path: /g } }
        h: { webdav: "ftp://h.example", public: x, encrypt: age1foo, passwrd: hunter2 }
        i:
          s3: https://i.example
          endpoint: i.example
      destination: {}
      """)
    let places = problems.map { "\($0.location?.line ?? 0):\($0.location?.column ?? 0)" }
    #expect(
      places == [
        "2:20", "3:45", "4:3", "4:3", "5:3", "6:3", "7:26", "8:47", "9:16", "9:43", "9:55", "9:64",
        "10:3", "10:3", "11:9", "12:15", "13:1",
      ])
    #expect(problems[4].suggestion == "folder")
    #expect(problems[7].suggestion == "file")
    for problem in problems {
      #expect(!"\(problem.message) \(problem.allowed ?? "")".contains("hunter2"))
    }
  }

  @Test("an address that is none is told at its place, and a password in it is not repeated")
  func addresses() throws {
    let (_, problems) = read(
      """
      destinations:
        a: { webdav: "ftp://a.example" }
        b: { webdav: "https://anna:hunter2@b.example" }
        c: { sftp: "sftp://c.example:0/x" }
      """)
    #expect(problems.map { $0.location?.line } == [2, 3, 4])
    #expect(!problems.contains { "\($0.message)\($0.allowed ?? "")".contains("hunter2") })
  }

  @Test("a file of comments names none, and a name that is not there is told with the nearest")
  func unknown() throws {
    #expect(read("# nothing\n").problems == [])
    #expect(read(Destinations.example).problems == [], "the example can be used as it is")
    let (destinations, _) = read("destinations: { nas: { folder: /nas } }")
    let error = try #require(throws: SpoolError.self) {
      try destinations.destination(named: "nass")
    }
    #expect(error.advice == "did you mean nas?")
    #expect(error.remedy == .hold)
    let none = try #require(throws: SpoolError.self) {
      try Destinations().destination(named: "nas")
    }
    #expect(none.advice?.contains("spool deliver new") == true)
  }

  @Test("the example is right where its comments are taken away")
  func example() {
    let text = Destinations.example.split(separator: "\n", omittingEmptySubsequences: false)
      .map { $0.hasPrefix("  # ") ? "  " + $0.dropFirst(4) : String($0) }
      .filter { !$0.hasPrefix("  A ") && !$0.hasPrefix("  An ") && !$0.hasPrefix("  Any ") }
      .filter { !$0.hasPrefix("  that is not") }
      .joined(separator: "\n")
    let (destinations, problems) = read(text)
    #expect(problems == [], "\(text)")
    #expect(destinations.all.count == 5)
  }
}
