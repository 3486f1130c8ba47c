import array, json, math, sys
source, target = sys.stdin.buffer, sys.stdout.buffer
def say(data=b"", **message):
    target.write(json.dumps(message | {"bytes": len(data)}).encode() + b"\n" + data); target.flush()
hello = json.loads(source.readline()); p, form = hello["parameters"], hello["format"]
say(type="ready", protocol=1, snapshots=True)
low = 1 - math.exp(-2 * math.pi * p["frequency"] / form["rate"]); top = 10 ** (p["threshold"] / 20)
fall = math.exp(-1000 / (form["rate"] * p["release"])); state = [0.0] * (2 * form["channels"])
for line in source:
    message = json.loads(line); data = source.read(message.get("bytes", 0))
    if message["type"] == "sound":
        samples = array.array("f", data)
        for n, x in enumerate(samples):
            c = 2 * (n % form["channels"]); state[c] += low * (x - state[c]); high = x - state[c]
            state[c + 1] = level = max(abs(high), state[c + 1] * fall)
            if level > top: samples[n] = state[c] + high * top / level
        say(samples.tobytes(), type="sound", frames=message["frames"])
    elif message["type"] == "snapshot": say(json.dumps(state).encode(), type="snapshot")
    elif message["type"] == "restore": state = json.loads(data); say(type="restored")
    elif message["type"] == "end": say(type="done")
