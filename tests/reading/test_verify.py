"""Every fault that can be put into a root is found, and nothing else is."""

import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest

from collectord.landing import LandedName
from collectord.reading import FindingKind, Verification, digest_of, find_session
from collectord.reading.files import landed_files
from collectord.sessiondata import Kind, open_sd
from tests.reading.growing import Growing, append, cut_to, record, source


@pytest.fixture
def growing(quick_tmp: Path) -> Growing:
    return Growing(quick_tmp / "root")


def kinds(growing: Growing, **more: object) -> list[FindingKind]:
    return [f.kind for f in Verification(growing.path, **more)]  # type: ignore[arg-type]


def change(path: Path, old: bytes, new: bytes) -> None:
    mode = path.stat().st_mode
    path.chmod(0o600)
    whole = path.read_bytes()
    assert old in whole
    path.write_bytes(whole.replace(old, new, 1))
    path.chmod(mode)


def full(growing: Growing) -> list[Path]:
    """Fill a root with every kind of file; the last one is open."""
    paths = [growing.sealed(record(1), record(2))]
    closing = growing.open()
    append(closing, record(3))
    paths.append(closing.seal(closing_line=True)[0])
    paths.append(
        growing.sealed(record(1), of=source(stream="child/1", kind=Kind.AGENT_META, src="m"))
    )
    runs = (Kind.JOURNAL, Kind.WORKFLOW_MANIFEST, Kind.WORKFLOW_SCRIPT)
    of_run = [source(stream="", kind=kind, batch="run", src=kind) for kind in runs]
    paths += [growing.sealed(record(1), of=each) for each in of_run]
    paths.append(growing.sealed(record(1), of=source(stream="", kind=Kind.PROVIDER_BODY, src="b")))
    file = growing.open()
    append(file, record(4))
    paths.append(file.path)
    return paths


def test_what_the_daemon_lands_has_no_findings(growing: Growing) -> None:
    full(growing)
    growing.sealed(record(1), of=source("CON"))
    growing.sealed(record(1), of=source("Ü/..", "~x"))
    check = Verification(growing.path)
    assert list(check) == []
    assert (check.sessions, check.files, check.records) == (3, 10, 11)
    assert check.bytes == sum(p.stat().st_size for p in growing.path.rglob("*.sd*"))


FAULTS: dict[str, tuple[FindingKind, Callable[[Path], object]]] = {
    "another seq in the header": (
        FindingKind.NAME,
        lambda path: change(path, b'"seq":1,', b'"seq":9,'),
    ),
    "another kind in the header": (
        FindingKind.NAME,
        lambda path: change(path, b'"kind":"transcript"', b'"kind":"agent_meta"'),
    ),
    "another session in the header": (
        FindingKind.NAME,
        lambda path: change(path, b'"session":"s1"', b'"session":"s2"'),
    ),
    "another stream in the header": (
        FindingKind.NAME,
        lambda path: change(path, b'"stream":"main"', b'"stream":"x"'),
    ),
    "no schema": (FindingKind.HEADER, lambda path: change(path, b'"sd/1"', b'"sd/9"')),
    "an odd time": (FindingKind.HEADER, lambda path: change(path, b'"at":"2', b'"at":"x')),
    "no JSON": (FindingKind.RECORD, lambda path: change(path, b'{"ord":2', b'{"ord":')),
    "no UTF-8": (FindingKind.RECORD, lambda path: change(path, b"line 2", b"line \xff")),
    "a blank line": (FindingKind.RECORD, lambda path: change(path, b'{"ord":2', b'\n{"ord":2')),
    "no parts": (FindingKind.RECORD, lambda path: change(path, b'"parts"', b'"parcels"')),
    "an unknown sender": (FindingKind.RECORD, lambda path: change(path, b'"agent"', b'"angel"')),
    "ord that stands still": (FindingKind.ORDER, lambda path: change(path, b'"ord":2', b'"ord":1')),
    "a torn end": (FindingKind.TORN, lambda path: cut_to(path, path.stat().st_size - 1)),
    "half a header": (FindingKind.HEADER, lambda path: cut_to(path, 10)),
    "writable": (FindingKind.MODE, lambda path: path.chmod(0o600)),
    "readable by all": (FindingKind.MODE, lambda path: path.chmod(0o444)),
    "an open folder": (FindingKind.MODE, lambda path: path.parent.chmod(0o755)),
    "another file of the number": (
        FindingKind.TWICE,
        lambda path: path.with_name(path.name + ".open").write_bytes(b"else"),
    ),
    "the number in another folder": (
        FindingKind.TWICE,
        lambda path: path.with_name(path.name.replace("-2", "-3", 1)).hardlink_to(path),
    ),
    "removed": (FindingKind.GAP, lambda path: path.unlink()),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_found_in_its_file(growing: Growing, fault: str) -> None:
    path = full(growing)[0]
    kind, make = FAULTS[fault]
    make(path)
    found = list(Verification(growing.path))
    assert {finding.kind for finding in found} == {kind}
    assert all(finding.is_fault for finding in found)
    assert all(str(finding.path) in str(finding) for finding in found)


def test_a_finding_names_the_line(growing: Growing) -> None:
    path = growing.sealed(record(1), record(2), record(3))
    change(path, b'{"ord":2', b'{"ord":x')
    (finding,) = Verification(growing.path)
    assert str(finding).startswith(f"{path}:3: ")


def test_a_closing_line_is_held_against_the_bytes(growing: Growing) -> None:
    path = full(growing)[1]
    change(path, b"line 3", b"line 4")
    assert kinds(growing) == [FindingKind.DIGEST]


def test_something_after_a_closing_line_is_found(growing: Growing) -> None:
    path = full(growing)[1]
    change(path, b'"}\n', b'"}\n{}\n')
    assert FindingKind.RECORD in kinds(growing)


NOTES: dict[str, tuple[FindingKind, Callable[[Path], object]]] = {
    "a torn line": (FindingKind.WRITING, lambda path: cut_to(path, path.stat().st_size - 3)),
    "half a header": (FindingKind.WRITING, lambda path: cut_to(path, 20)),
    "read-only": (FindingKind.SEALING, lambda path: path.chmod(0o400)),
    "a leftover copy": (
        FindingKind.LEFTOVER,
        lambda path: path.with_name(path.name + ".new").touch(),
    ),
    "an NFS leftover": (
        FindingKind.FOREIGN,
        lambda path: path.with_name(".nfs000000000001").touch(),
    ),
    "a sync conflict": (
        FindingKind.FOREIGN,
        lambda path: path.with_name(path.name.replace(".sd", " (conflict).sd")).touch(),
    ),
    "a folder of someone else": (
        FindingKind.FOREIGN,
        lambda path: (path.parent.parent.parent / "mine").mkdir(mode=0o700),
    ),
}


@pytest.mark.parametrize("note", NOTES)
def test_a_note_is_no_fault(growing: Growing, note: str) -> None:
    path = full(growing)[-1]
    kind, make = NOTES[note]
    make(path)
    check = Verification(growing.path)
    assert [finding.kind for finding in check] == [kind]
    assert (check.faults, check.notes) == (0, 1)


def test_both_names_of_the_same_bytes_are_a_note(growing: Growing) -> None:
    path = full(growing)[0]
    path.with_name(path.name + ".open").hardlink_to(path)
    assert kinds(growing) == [FindingKind.SEALING]


def test_every_prefix_of_an_open_file_is_at_most_a_note(growing: Growing) -> None:
    file = growing.open()
    append(file, record(1), record(2))
    whole = file.path.read_bytes()
    for size in range(len(whole) + 1):
        file.path.write_bytes(whole[:size])
        ends = size > 0 and whole[size - 1 : size] == b"\n"
        assert kinds(growing) == ([] if ends else [FindingKind.WRITING])


def test_every_prefix_of_a_sealed_file_that_is_no_whole_lines_is_a_fault(growing: Growing) -> None:
    file = growing.open()
    append(file, record(1))
    path, _ = file.seal(closing_line=True)
    whole = path.read_bytes()
    for size in range(len(whole)):
        path.chmod(0o600)
        path.write_bytes(whole[:size])
        path.chmod(0o400)
        if not whole[:size].endswith(b"\n"):
            assert Verification(growing.path, growing.folder()).faults == 0
            assert any(f.is_fault for f in Verification(growing.path, growing.folder()))


def test_numbers_that_are_missing_are_told_as_ranges(growing: Growing) -> None:
    paths = [growing.sealed(record(ord_)) for ord_ in range(1, 8)]
    for number in (2, 4, 5):
        paths[number - 1].unlink()
    found = [finding.text for finding in Verification(growing.path)]
    assert [text.partition(" not")[0] for text in found] == ["number 2", "numbers 4 to 5"]


def test_what_retention_took_away_is_no_fault(growing: Growing) -> None:
    paths = [growing.sealed(record(ord_)) for ord_ in range(1, 6)]
    paths[0].unlink()
    paths[3].unlink()
    assert kinds(growing, removed={"s1": 2}) == [FindingKind.REMOVED, FindingKind.GAP]
    assert kinds(growing, removed={"s1": 5}) == [FindingKind.REMOVED, FindingKind.REMOVED]


def test_only_the_session_that_is_asked_for_is_verified(growing: Growing) -> None:
    change(growing.sealed(record(1), of=source("a")), b"agent", b"angel")
    growing.sealed(record(1), of=source("b"))
    assert kinds(growing, session_folder=growing.folder("b")) == []
    assert kinds(growing) == [FindingKind.RECORD]


def test_a_file_that_is_sealed_meanwhile_is_verified_once(
    growing: Growing, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = growing.open(source(stream="a"))
    append(first, record(1))
    second = growing.open(source(stream="b"))
    append(second, record(1))
    calls = 0

    def listed(folder: Path) -> list[LandedName]:
        nonlocal calls
        calls += 1
        names = landed_files(folder)
        if calls == 1:
            first.seal()
            growing.sealed(record(2), of=source(stream="a"))
            # What a listing misses while names change: number 2.
            names = [name for name in names if name.seq != 2]
        return names

    monkeypatch.setattr("collectord.reading.verify.landed_files", listed)
    check = Verification(growing.path)
    found = list(check)
    assert found == []
    assert check.files == 3


def test_the_digest_is_that_of_the_documented_lines(growing: Growing) -> None:
    paths = full(growing)
    digest = digest_of(find_session(growing.path, "s1"))
    lines = ""
    for path in paths:
        with open_sd(path) as sd:
            sha = hashlib.sha256(path.read_bytes()).hexdigest()
            lines += f"{sd.header.seq} {sd.header.kind} {sha}\n"
    assert digest.sha256 == hashlib.sha256(lines.encode()).hexdigest()
    assert (digest.files, digest.is_final) == (8, False)


def test_the_digest_does_not_change_when_a_file_is_sealed(growing: Growing) -> None:
    file = growing.open()
    append(file, record(1))
    with file.path.open("ab") as stream:
        stream.write(b'{"ord":')
    before = digest_of(find_session(growing.path, "s1"))
    cut_to(file.path, file.size)
    file.seal()
    after = digest_of(find_session(growing.path, "s1"))
    assert before.sha256 == after.sha256
    assert (before.is_final, after.is_final) == (False, True)


def test_the_digest_changes_with_any_byte(growing: Growing) -> None:
    path = growing.sealed(record(1), record(2))
    whole = path.read_bytes()
    seen = {digest_of(find_session(growing.path, "s1")).sha256}
    places = range(whole.index(b"\n") + 1, len(whole) - 1)
    path.chmod(0o600)
    for place in places:
        path.write_bytes(whole[:place] + b"?" + whole[place + 1 :])
        seen.add(digest_of(find_session(growing.path, "s1")).sha256)
    changed = sum(whole[place] != ord("?") for place in places)
    assert len(seen) == changed + 1


def test_a_folder_that_cannot_be_read_is_a_finding_and_ends_nothing(
    growing: Growing, monkeypatch: pytest.MonkeyPatch
) -> None:
    growing.sealed(record(1), of=source("a"))
    change(growing.sealed(record(1), of=source("b")), b"agent", b"angel")
    refused = growing.folder("a") / "streams"

    def listed(folder: Path) -> list[LandedName]:
        if folder == growing.folder("a"):
            raise PermissionError(13, "Permission denied", str(refused))
        return landed_files(folder)

    monkeypatch.setattr("collectord.reading.verify.landed_files", listed)
    found = list(Verification(growing.path))
    assert [finding.kind for finding in found] == [FindingKind.UNREADABLE, FindingKind.RECORD]
    assert str(found[0]) == f"{refused}: cannot be read: Permission denied"
