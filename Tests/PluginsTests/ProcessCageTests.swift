@testable import Plugins
import Testing

@Suite(
  "The control group in which processes are counted is found, whichever version the kernel has")
struct ProcessCageTests {
  private static let first = """
    25 18 0:21 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755
    31 25 0:27 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory
    33 25 0:29 / /sys/fs/cgroup/pids rw,relatime shared:9 - cgroup cgroup rw,pids
    35 25 0:31 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw
    """
  private static let second = """
    25 18 0:21 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate
    """
  private static let inner = """
    25 18 0:21 /docker/abc /sys/fs/cgroup ro,nosuid - cgroup2 cgroup2 rw
    """

  @Test(
    "from what the kernel says of a process",
    arguments: [
      ("9:name=systemd:/\n8:pids:/\n0::/\n", first, "/sys/fs/cgroup/pids"),
      ("8:cpu,pids:/user.slice/me\n0::/x\n", first, "/sys/fs/cgroup/pids/user.slice/me"),
      ("0::/user.slice/a:b.scope\n", second, "/sys/fs/cgroup/user.slice/a:b.scope"),
      ("0::/docker/abc/inner\n", inner, "/sys/fs/cgroup/inner"),
      ("0::/docker/abc\n", inner, "/sys/fs/cgroup"),
      ("0::/\n", "", nil), ("", first, nil), ("8:memory:/\n", first, nil),
      ("nonsense", "nonsense - -", nil),
    ] as [(String, String, String?)])
  func place(groups: String, mounts: String, expected: String?) {
    #expect(ProcessCage.place(groups: groups, mounts: mounts) == expected)
  }
}
