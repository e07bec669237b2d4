"""A stand-in for a reviewer's CLI, with scripted faults: standard library only, run by path.

    python standin.py PLAN [flags of the CLI, which are not looked at]

PLAN is a JSON file; see `showcause.contract.standing`. It reads its input, takes the return codes and the
nonce out of it, and writes the plan's output with them filled in: right, cut, late, or not at all.
"""

import json
import os
import re
import signal
import sys
import time
from typing import Any


def main() -> None:
    with open(sys.argv[1], encoding="utf-8") as file:
        plan = json.load(file)
    if plan.get("ignore_term"):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    if plan.get("daemon"):
        _daemon(plan["daemon"])
    text = _sent(_read(plan))
    for path in plan.get("write", ()):
        try:
            with open(path, "w", encoding="utf-8") as file:
                file.write("written by the reviewer")
        except OSError as error:
            print(error, file=sys.stderr)
    _wait(plan.get("wait_s", 0))
    sys.stderr.write("x" * plan.get("stderr_bytes", 0))
    sys.stderr.flush()
    _write(plan, text)
    _wait(plan.get("linger_s", 0))
    if plan.get("signal"):
        os.kill(os.getpid(), plan["signal"])
    sys.stdout.flush()
    os._exit(plan.get("exit", 0))


def _read(plan: dict[str, Any]) -> str:
    """All of the input, or the share of it that the plan wants, and then no more."""
    if "-p" in sys.argv[:-1] and plan.get("in_argv"):
        return sys.argv[sys.argv.index("-p") + 1]
    if plan.get("acp"):
        for id, result in enumerate(({"protocolVersion": 1}, {"sessionId": "s"})):
            sys.stdin.buffer.readline()
            line = json.dumps({"jsonrpc": "2.0", "id": id, "result": result})
            print(line, flush=True)
            plan["told"] = plan.get("told", 0) + len(line) + 1
    share = plan.get("read")
    if share is None and plan.get("acp"):
        return sys.stdin.buffer.readline().decode("utf-8", "replace")
    if share is None:
        return sys.stdin.buffer.read().decode("utf-8", "replace")
    data = b""
    while len(data) < share:
        piece = os.read(0, min(share - len(data), 1 << 16))
        if not piece:
            break
        data += piece
    if plan.get("close", True):
        os.close(0)
    return data.decode("utf-8", "replace")


def critique_of(text: str, known: Any = None, findings: Any = ()) -> "dict[str, Any]":
    """A valid critique of the packet in `text`, with the marks that stand in it, or those in `known`."""
    known = known or {}
    codes = re.findall(r"^\[return code \d+ of \d+: ([0-9a-f]+)\]$", text, re.MULTILINE)
    first = re.search(r"^PACKET (\S+)$", text, re.MULTILINE)
    last = re.search(r"^END OF PACKET \S+ nonce (\S+)$", text, re.MULTILINE)
    return {
        "packet": first[1] if first else known.get("packet", ""),
        "codes": known.get("codes", codes),
        "nonce": last[1] if last else known.get("nonce", ""),
        "outcome": "findings" if findings else "no_finding",
        "findings": list(findings),
    }


def _write(plan: "dict[str, Any]", text: str) -> None:
    out = plan.get("out", "@ANSWER@")
    told = json.dumps(critique_of(text, plan.get("known"), plan.get("findings", ())))
    out = out.replace("@ANSWER_IN_JSON@", json.dumps(told)[1:-1]).replace("@ANSWER@", told)
    out = out.replace("@SENT_IN_JSON@", json.dumps(_sent(text))[1:-1])
    if "pad" in plan:
        room = plan["pad"] - plan.get("told", 0) - len(out.replace("@PAD@", "").encode())
        out = out.replace("@PAD@", "." * max(0, room))
    sys.stdout.write(out[: plan["cut"]] if "cut" in plan else out)
    sys.stdout.flush()


def _sent(text: str) -> str:
    """What was sent, also where it came wrapped into a message."""
    try:
        told = json.loads(text)
        parts = told["params"]["prompt"] if "params" in told else told["message"]["content"]
        return str(parts[0]["text"])
    except (ValueError, LookupError, TypeError):
        begun = text.partition('"text": "')[2]  # a message that was cut
        return begun.replace("\\n", "\n") if text.startswith("{") and begun else text


def _wait(seconds: float) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        time.sleep(min(0.05, max(0, until - time.monotonic())))


def _daemon(seconds: float) -> None:
    """Twice forked, in a session of its own, with all our pipes open."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(seconds)
        os._exit(0)


if __name__ == "__main__":
    main()
