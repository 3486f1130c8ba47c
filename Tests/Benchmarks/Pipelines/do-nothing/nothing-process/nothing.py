import json, sys
source, target = sys.stdin.buffer, sys.stdout.buffer
def say(data=b"", **message):
    target.write(json.dumps(message | {"bytes": len(data)}).encode() + b"\n" + data); target.flush()
source.readline()
say(type="ready", protocol=1, snapshots=True)
for line in source:
    message = json.loads(line); data = source.read(message.get("bytes", 0))
    if message["type"] == "sound": say(data, type="sound", frames=message["frames"])
    elif message["type"] == "snapshot": say(type="snapshot")
    elif message["type"] == "restore": say(type="restored")
    elif message["type"] == "end": say(type="done")
