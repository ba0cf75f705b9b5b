"""The process that keeps the embedded servers: a script of its own, on the standard library alone.

It is started by `servers.py` with a plan (JSON, see `plan.py`) on standard input and goes to the background. Every
process that uses the servers holds a connection to its control socket, on which it is told the servers' addresses once
they are ready; when the last connection is gone, the servers are stopped. The kernel closes connections whatever way a
process ends, so the servers never outlive their users. Should this process be killed itself, the kernel stops them
(Linux; elsewhere the next start finds and stops what was left). A server that dies is started again.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:  # only for the types: as a script of its own it cannot import from the project
    from infra.embedded.plan import Plan, ServerPlan

FIRST_TRIES = 6  # before the first readiness: enough for the last back-ends of a killed server to be gone
STEADY_S = 10.0  # a server that was up for so long is started again at once
STOP_S = 20.0  # per stop signal
CLIENT_S = 10.0  # without any client for so long after the start: our starter died

PR_SET_PDEATHSIG = 1


def die_with_parent(number: int) -> Callable[[], None]:
    """For `preexec_fn`: have the kernel send signal `number` when this supervisor dies.

    It runs after the change of user, which would clear the setting, and then looks whether the parent died before it
    was set. The kernel ties it to the parent's thread: this process has only one.
    """
    supervisor = os.getpid()
    libc = ctypes.CDLL(None) if sys.platform == "linux" else None

    def set_signal() -> None:
        if libc is not None:
            libc.prctl(PR_SET_PDEATHSIG, number, 0, 0, 0)
            if os.getppid() != supervisor:
                os._exit(1)

    return set_signal


def say(text: str) -> None:
    """A line in the supervisor's log."""
    sys.stderr.write(f"{time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())} {text}\n")
    sys.stderr.flush()


class Server:
    """One server process, and its next life when it dies."""

    def __init__(self, plan: ServerPlan, uid: int | None, gid: int | None) -> None:
        self.plan, self.uid, self.gid = plan, uid, gid
        self.process: subprocess.Popen[bytes] | None = None
        self.is_ready = self.was_ready = False
        self.failures = 0
        self.started_at = self.next_try_at = time.monotonic()

    def spawn(self) -> None:
        """Start it; as root, as the unprivileged user of the plan."""
        self.started_at = time.monotonic()
        self.is_ready = False
        with Path(self.plan["log"]).open("ab") as log:
            self.process = subprocess.Popen(
                self.plan["argv"],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd="/",
                env={"LC_ALL": "C", "TZ": "UTC", "PATH": "/usr/bin:/bin"},
                umask=0o077,
                user=self.uid,
                group=self.gid,
                extra_groups=None if self.uid is None else [],
                start_new_session=True,
                preexec_fn=die_with_parent(self.plan["stop_signals"][0]),  # noqa: PLW1509 (there is one thread)
            )

    def tend(self) -> None:
        """Notice a death, start again when it is time, notice readiness.

        Raises ServerLost when it does not come up. One that was up is tried again for as long as it takes: the loss of
        one server does not end the other.
        """
        if self.process is not None and self.process.poll() is not None:
            self.failed(f"ended with code {self.process.returncode}")
            self.process = None
            self.is_ready = False
        if self.process is None and time.monotonic() >= self.next_try_at:
            try:
                self.spawn()
            except (OSError, subprocess.SubprocessError) as error:
                self.failed(f"cannot be executed: {error}")
        if self.process is not None and not self.is_ready and self.answers(self.process.pid):
            self.is_ready = self.was_ready = True
            say(f"{self.plan['name']} is ready as process {self.process.pid}")

    def failed(self, reason: str) -> None:
        """Count a failure and put off the next try, longer each time."""
        say(f"{self.plan['name']} {reason}")
        now = time.monotonic()
        self.failures = 1 if self.is_ready and now - self.started_at >= STEADY_S else self.failures + 1
        if self.failures >= FIRST_TRIES and not self.was_ready:
            raise ServerLost(self.plan["name"], reason, self.plan["log"])
        self.next_try_at = now + min(0.05 * 2.0**self.failures, 2.0)

    def answers(self, pid: int) -> bool:
        """PostgreSQL: the eighth line of its `postmaster.pid` says so. Valkey: it answers a PING."""
        if self.plan["ready_file"] is not None:
            with contextlib.suppress(OSError):
                lines = Path(self.plan["ready_file"]).read_text().split("\n")
                return len(lines) > 7 and lines[0] == str(pid) and lines[7].strip() == "ready"
        elif self.plan["ready_socket"] is not None:
            with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as probe:
                probe.settimeout(1.0)
                probe.connect(self.plan["ready_socket"])
                probe.sendall(b"PING\r\n")
                return probe.recv(64).startswith(b"+PONG")
        return False

    def stop(self) -> None:
        """Send the stop signals, milder first, until it is gone."""
        if self.process is None:
            return
        for number in [*self.plan["stop_signals"], signal.SIGKILL]:
            self.process.send_signal(number)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(STOP_S)
                say(f"{self.plan['name']} is stopped")
                return


class ServerLost(Exception):
    """A server that does not come up, or does not stay up."""

    def __init__(self, name: str, reason: str, log: str) -> None:
        super().__init__(f"{name} {reason}")
        self.report = {"server": name, "reason": reason, "log": log}


class Supervisor:
    """One loop over the control socket, its connections, the signals and the servers."""

    def __init__(self, plan: Plan, listener: socket.socket) -> None:
        self.plan, self.listener = plan, listener
        self.servers = [Server(each, plan["uid"], plan["gid"]) for each in plan["servers"]]
        self.clients: dict[socket.socket, bool] = {}  # connection → has it been told the addresses
        self.last: list[socket.socket] = []  # connections whose peers wait for the servers to have stopped
        self.told_to_stop = self.had_client = False
        self.born_at = time.monotonic()
        self.noted: list[int] = []
        self.selector = selectors.DefaultSelector()
        self.selector.register(listener, selectors.EVENT_READ)
        self.waker, self.wakened = socket.socketpair()
        for end in (self.waker, self.wakened):
            end.setblocking(False)
        self.selector.register(self.waker, selectors.EVENT_READ)
        signal.set_wakeup_fd(self.wakened.fileno())
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, self.on_stop_signal)
        signal.signal(signal.SIGCHLD, lambda *_: None)

    def on_stop_signal(self, number: int, _frame: object) -> None:
        """Stop the servers and end."""
        say(f"signal {number}: stopping")
        self.told_to_stop = True

    def run(self) -> None:
        """Tend the servers until nobody uses them, then stop them and clear away what lies about."""
        try:
            while not self.told_to_stop and not self.is_deserted():
                for server in self.servers:
                    server.tend()
                self.note_pids()
                is_up = all(server.is_ready for server in self.servers)
                if is_up:
                    self.tell_clients()
                for key, _ in self.selector.select(1.0 if is_up else 0.01):
                    self.serve(key.fileobj)
        except ServerLost as lost:
            say(f"giving up: {lost}")
            for client in self.clients:
                with contextlib.suppress(OSError):
                    client.sendall(json.dumps(lost.report).encode() + b"\n")
        finally:
            self.end()

    def is_deserted(self) -> bool:
        """Nobody uses the servers, and nobody is at the door either."""
        if self.clients:
            return False
        if not self.had_client and time.monotonic() - self.born_at < CLIENT_S:
            return False
        self.accept()
        return not self.clients

    def accept(self) -> None:
        """Take up whoever waits at the control socket."""
        with contextlib.suppress(BlockingIOError):
            client, _ = self.listener.accept()
            client.setblocking(False)
            self.clients[client] = False
            self.had_client = True
            for late in self.last:
                late.close()
            self.last.clear()
            self.selector.register(client, selectors.EVENT_READ)

    def serve(self, source: object) -> None:
        """A connection came, a connection ended, or a signal woke us."""
        if source is self.listener:
            self.accept()
        elif source is self.waker:
            with contextlib.suppress(BlockingIOError):
                self.waker.recv(4096)
        elif isinstance(source, socket.socket):
            try:
                is_open = source.recv(4096) != b""
            except BlockingIOError:
                return
            except OSError:
                is_open = False
            if not is_open:
                self.selector.unregister(source)
                del self.clients[source]
                if self.clients:
                    source.close()
                else:
                    self.last.append(source)

    def tell_clients(self) -> None:
        """The servers' addresses, one JSON line, once to each connection."""
        for client, was_told in self.clients.items():
            if not was_told:
                self.clients[client] = True
                with contextlib.suppress(OSError):
                    client.sendall(json.dumps(self.plan["answer"]).encode() + b"\n")

    def note_pids(self) -> None:
        """Into the lock file: who we are, where to connect, and the servers' process ids, should they be orphaned."""
        pids = [server.process.pid for server in self.servers if server.process is not None]
        if pids == self.noted:
            return
        self.noted = pids
        note = {"pid": os.getpid(), "control": self.plan["control"], "run": self.plan["run_folder"], "servers": pids}
        text = json.dumps(note).encode() + b"\n"
        os.pwrite(self.plan["lock_fd"], text, 0)
        os.ftruncate(self.plan["lock_fd"], len(text))

    def end(self) -> None:
        """Close the door first, so that a late comer waits for the lock and starts anew; let go of the lock last."""
        self.listener.close()
        Path(self.plan["control"]).unlink(missing_ok=True)
        for server in self.servers:
            server.stop()
        shutil.rmtree(self.plan["run_folder"], ignore_errors=True)
        os.ftruncate(self.plan["lock_fd"], 0)
        os.close(self.plan["lock_fd"])
        for client in [*self.clients, *self.last]:
            client.close()


def main() -> NoReturn:
    """Bind the control socket, so that our starter can connect as soon as this returns to it; go to the background."""
    plan: Plan = json.load(sys.stdin)
    os.umask(0o077)
    os.chdir("/")
    listener = socket.socket(socket.AF_UNIX)
    listener.setblocking(False)
    listener.bind(plan["control"])
    listener.listen(64)
    if os.fork():
        os._exit(0)
    os.setsid()
    Supervisor(plan, listener).run()
    sys.exit(0)


if __name__ == "__main__":
    main()
