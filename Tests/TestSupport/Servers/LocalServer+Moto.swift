import Foundation

extension LocalServer {
  /// Whether the object store for tests is installed.
  package static let hasMoto: Bool =
    (try? Program(named: "python3")?.run(["-c", "import boto3, moto.server"]).exitCode) == 0

  /// An object store with the buckets `recordings` and `versioned`. The keys of its one user are in the
  /// files `access` and `secret`, for this user alone.
  /// - Parameter checks: whether it checks signatures, which it cannot in links.
  package static func moto(_ folder: ScratchFolder, checks: Bool = true) throws -> LocalServer {
    let port = try freePort()
    try folder.write(motoProgram, to: "store.py")
    let server = try LocalServer(
      Program(named: "python3")?.path ?? "", in: folder, port: port,
      ["store.py", "\(port)", "\(checks ? 0 : 1_000_000)"])
    let deadline = Date(timeIntervalSinceNow: 300)
    while !FileManager.default.fileExists(atPath: folder.file("secret")) {
      guard deadline.timeIntervalSinceNow > 0 else { throw Trouble(description: server.log) }
      usleep(20_000)
    }
    return server
  }

  /// What an object store holds: key and SHA-256.
  package func objects(in bucket: String) throws -> [String: String] {
    let script = """
      import boto3, hashlib, json, os
      os.environ["NO_PROXY"] = "127.0.0.1"
      s3 = boto3.client("s3", endpoint_url="http://127.0.0.1:\(port)", region_name="eu-central-1",
                        aws_access_key_id=open("access").read(), aws_secret_access_key=open("secret").read())
      found = {}
      for page in s3.get_paginator("list_objects_v2").paginate(Bucket="\(bucket)"):
          for entry in page.get("Contents", []):
              body = s3.get_object(Bucket="\(bucket)", Key=entry["Key"])["Body"].read()
              found[entry["Key"]] = hashlib.sha256(body).hexdigest()
      print(json.dumps(found))
      """
    let read = try Program(named: "python3")?.run(["-c", script], folder: folder.path)
    guard let read, read.exitCode == 0 else {
      throw Trouble(description: read?.errorOutput ?? "no python3")
    }
    return try JSONDecoder().decode([String: String].self, from: Data(read.text.utf8))
  }

  private static let motoProgram = #"""
    from json import dumps
    from os import environ, open as open_file, O_CREAT, O_WRONLY, fdopen, rename
    from sys import argv
    from threading import Event
    from urllib.request import ProxyHandler, Request, build_opener

    environ["NO_PROXY"] = "127.0.0.1"
    import boto3
    from moto.server import ThreadedMotoServer

    port = int(argv[1])
    url = f"http://127.0.0.1:{port}"
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=port, verbose=True)
    server.start()

    def client(name):
        return boto3.client(name, endpoint_url=url, region_name="eu-central-1",
                            aws_access_key_id="a", aws_secret_access_key="b")

    iam, s3 = client("iam"), client("s3")
    iam.create_user(UserName="anna")
    policy = {"Version": "2012-10-17",
              "Statement": [{"Effect": "Allow", "Action": "s3:*", "Resource": "*"}]}
    iam.put_user_policy(UserName="anna", PolicyName="all", PolicyDocument=dumps(policy))
    key = iam.create_access_key(UserName="anna")["AccessKey"]
    for name in ("recordings", "versioned"):
        s3.create_bucket(Bucket=name,
                         CreateBucketConfiguration={"LocationConstraint": "eu-central-1"})
    s3.put_bucket_versioning(Bucket="versioned", VersioningConfiguration={"Status": "Enabled"})
    # From now on it checks every signature, or none.
    build_opener(ProxyHandler({})).open(Request(url + "/moto-api/reset-auth", argv[2].encode(), {"Content-Type": "text/plain"}))
    for name, text in (("access", key["AccessKeyId"]), ("secret", key["SecretAccessKey"])):
        with fdopen(open_file(name + ".new", O_CREAT | O_WRONLY, 0o600), "w") as file:
            file.write(text)
        rename(name + ".new", name)
    Event().wait()
    """#
}
