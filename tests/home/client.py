#!/usr/bin/env python3
"""A stand-in for an agent's client: state all over its home, as such do.

Writes ~/.claude.json in place, without any care, when it starts; later through
a temporary file and a rename, under a lock directory; a lock file made with
O_EXCL; a data base with a write-ahead log; names that no earlier version had.
Argument 1 says what it does to its credential: none, inplace, rename or lock.
"""
import errno
import fcntl
import os
import sqlite3
import sys
import time

HOME = os.environ["HOME"]


def path(*names):
    return os.path.join(HOME, *names)


def write(name, text):
    with open(name, "w") as f:
        f.write(text)


def until(make):
    """Try until nobody else has it: at most a minute."""
    for _ in range(6000):
        try:
            return make()
        except OSError as e:
            if e.errno != errno.EEXIST:
                raise
        time.sleep(0.01)
    sys.exit("a lock was never free")


def start():
    # In two parts: who reads now sees a half of it.
    with open(path(".claude.json"), "w") as f:
        f.write('{"startups": ')
        f.flush()
        f.write("1}")
    os.makedirs(path(".claude", "projects", str(os.getpid())), exist_ok=True)
    os.makedirs(path(".config"), exist_ok=True)
    write(path(".config", "x"), "y")
    # Of a version that nobody had thought of.
    os.makedirs(path(".claude-next", "state"), exist_ok=True)
    write(path(".claude-next", "state", "v%d" % os.getpid()), "new")


def save():
    lock = path(".claude.json.lock")
    until(lambda: os.mkdir(lock))
    temp = path(".claude.json.tmp.%d.%s" % (os.getpid(), os.urandom(4).hex()))
    with open(temp, "w") as f:
        f.write('{"startups": 2}')
        f.flush()
        os.fsync(f.fileno())
    os.rename(temp, path(".claude.json"))
    os.rmdir(lock)


def lock_file():
    name = path(".claude", "ide.lock")
    fd = until(lambda: os.open(name, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
    fcntl.flock(fd, fcntl.LOCK_EX)
    os.write(fd, str(os.getpid()).encode())
    os.unlink(name)
    os.close(fd)


def database():
    db = sqlite3.connect(path(".claude", "history.db"), timeout=60)
    if db.execute("PRAGMA journal_mode=WAL").fetchone()[0] != "wal":
        sys.exit("no write-ahead log")
    db.execute("CREATE TABLE IF NOT EXISTS seen (token TEXT)")
    token = os.urandom(8).hex()
    db.execute("INSERT INTO seen VALUES (?)", (token,))
    db.commit()
    n = db.execute("SELECT COUNT(*) FROM seen WHERE token = ?",
                   (token,)).fetchone()[0]
    db.close()
    if n != 1:
        sys.exit("the data base lost a row")


def credential(how):
    name = path(".claude", ".credentials.json")
    text = '{"token": "new by %s"}' % how
    if how == "inplace":
        with open(name, "r+") as f:
            f.truncate()
            f.write(text)
    elif how == "rename":
        write(name + ".tmp", text)
        os.rename(name + ".tmp", name)
    elif how == "lock":
        until(lambda: os.mkdir(name + ".lock"))
        write(name, text)
        os.rmdir(name + ".lock")


start()
save()
lock_file()
database()
credential(sys.argv[1] if len(sys.argv) > 1 else "none")
with open(path(".claude.json")) as f:
    f.read()
print("fine")
